"""Every name of JAX that is not public, in one place, with the version switches.

`tests/project/test_private_names.py` names this file when one of them has moved.
"""

from __future__ import annotations

import functools
import itertools
import os
import re
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

import jax
import numpy as np
from jax import lax

from autograph.runtime.jaxapi.private import ArrayImpl
from autograph.runtime.jaxapi.private import ad as _ad
from autograph.runtime.jaxapi.private import batching as _batching
from autograph.runtime.jaxapi.private import config as _config
from autograph.runtime.jaxapi.private import core as _core
from autograph.runtime.jaxapi.private import dtypes as _dtypes
from autograph.runtime.jaxapi.private import linear_util as _lu
from autograph.runtime.jaxapi.private import partial_eval as _pe
from autograph.runtime.jaxapi.private import source_info_util as _source_info
from autograph.runtime.jaxapi.private import traceback_util as _tracebacks
from autograph.runtime.jaxapi.tracers import home_trace

# isort: split
from jax.core import ShapedArray, Tracer
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal, Primitive, Var, jaxpr_as_fun, unmapped_aval
from jax.extend.core.primitives import custom_jvp_call_p
from jax.interpreters import ad, batching, mlir
from jax.interpreters import partial_eval as pe
from jax.ref import AbstractRef

FULL = os.environ.get("AUTOGRAPH_TRACEBACK") == "full"  # tracebacks keep all frames
if FULL:
    jax.config.update("jax_traceback_filtering", "off")


def hide_frames(file: str) -> None:
    """Let the frames of a file and those beside it stay out of the user's tracebacks, and equations be located at the user's lines."""
    for folder in {os.path.dirname(f(file)) + os.sep for f in (os.path.abspath, os.path.realpath)}:
        _tracebacks.register_exclusion(folder)
        _source_info.register_exclusion(folder)


hide_frames(os.path.dirname(__file__))  # all rooms

__all__ = [
    "INT32", "ArrayImpl", "ClosedJaxpr", "Literal", "Primitive", "ShapedArray", "Tracer", "Var", "ad", "batching", "bind_in", "boundary",
    "concrete", "current_trace", "known_value", "equations", "eval_trace", "jaxpr_as_fun", "mlir", "pe", "recording", "set_current_trace", "staging",
    "trace", "trace_state",
]  # fmt: skip

_FOLDER = os.path.dirname(jax.__file__) + os.sep
_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
INT32 = np.dtype("int32")

# `trace_state.value is eval_trace` outside every trace: the cheap question that a converted function asks on entry.
trace_state = _core.trace_state_strong_ref
eval_trace = _core.eval_trace
set_current_trace = _core.set_current_trace
current_trace = home_trace  # JAX's trace that operations are recorded in now; compare by identity


def boundary(fn: Callable[..., Any]) -> Callable[..., Any]:
    """`fn`, whose errors are raised without the frames of JAX and of this package, as JAX does for its own functions."""
    if FULL:
        return fn

    @functools.wraps(fn)
    def noted(*args: Any, **kwargs: Any) -> Any:
        try:
            return fn(*args, **kwargs)
        except Exception as error:
            seen.at = {tb.tb_frame: tb.tb_lasti for tb in _entries(error)}
            raise

    hidden: Callable[..., Any] = _tracebacks.api_boundary(noted)
    seen = threading.local()

    @functools.wraps(fn)
    def placed(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        try:
            return hidden(*args, **kwargs)
        except Exception as error:
            _place(error, seen.__dict__.pop("at", {}))
            raise

    return placed


def _entries(error: BaseException) -> list[TracebackType]:
    tb, found = error.__traceback__, []
    while tb is not None:
        found.append(tb)
        tb = tb.tb_next
    return found


def _place(error: BaseException, at: dict[FrameType, int]) -> None:
    """JAX places frames at the instruction where they stand now, which may be the end of a `try`; and says that it hid frames if only ours were."""
    out: TracebackType | None = None
    for tb in reversed(_entries(error)[1:]):
        out = TracebackType(out, tb.tb_frame, at.get(tb.tb_frame, tb.tb_lasti), tb.tb_lineno)
    error.__traceback__ = out
    notes: list[str] = getattr(error, "__notes__", [])
    if not any(frame.f_code.co_filename.startswith(_FOLDER) for frame in at):
        notes[:] = [note for note in notes if not note.endswith(_tracebacks._simplified_tb_msg)]


def full() -> bool:
    """Whether tracebacks keep all frames, and errors those of JAX's that they stand for."""
    return FULL or jax.config.jax_traceback_filtering == "off"  # type: ignore[attr-defined]


@contextmanager
def evaluating() -> Iterator[None]:
    """Evaluate operations, whatever is traced; other than in `jax.ensure_compile_time_eval` a function that is compiled meanwhile is one program."""
    with set_current_trace(eval_trace), _config.eager_constant_folding(False):
        yield


_attempt = jax.make_user_context(0)
_attempts = itertools.count(1)


def another_attempt() -> Any:
    """A context in which JAX traces jitted functions and bodies of loops that it has traced before."""
    return _attempt(next(_attempts))


def innermost_trace() -> Any:
    """The trace that is given operations now, which may be `Passing`."""
    return _core.trace_ctx.trace


def staging() -> bool:
    """Whether operations are being recorded in a jaxpr now (under `jit` and inside staged blocks), not evaluated."""
    return isinstance(home_trace(), _pe.DynamicJaxprTrace)


def recording() -> bool:
    """Whether operations are being transformed or recorded now, not evaluated."""
    return not isinstance(home_trace(), _core.EvalTrace)


def abandon() -> None:
    """The trace that is recorded now is given up: JAX would keep the arrays that it closes over for ever."""
    home_trace().invalidate()


def being_called() -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """The arguments of the call of a jitted function for which it is traced now; None if that was not found.

    Python has them: JAX's C++ calls `cache_miss` for a call of which it knows no program, and that traces.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "cache_miss" and frame.f_code.co_filename.endswith("pjit.py"):
            return frame.f_locals["args"], frame.f_locals["kwargs"]
        frame = frame.f_back
    return None


def recorder() -> Any:
    """The trace that records what transformations around the current operations make of them, as `jax.grad` in `jax.jit`; or None."""
    return _recorder(home_trace())


def _recorder(found: Any) -> Any:
    while not isinstance(found, _pe.DynamicJaxprTrace) and hasattr(found, "parent_trace"):
        found = found.parent_trace
    return found if isinstance(found, _pe.DynamicJaxprTrace) else None


def compiling() -> bool:
    """Whether operations go into a jaxpr in the end, which transformations may stand around."""
    return recorder() is not None


def trace_around() -> Any:
    """The trace around the one that a jitted function is recorded in now."""
    return home_trace().parent_trace


def compiled_in(around: Any) -> bool:
    """Whether operations in a trace go into a jaxpr in the end."""
    return _recorder(around) is not None


def equations() -> int:
    """How many equations the jaxpr that is being recorded has so far; 0 where nothing is recorded."""
    trace_ = recorder()
    return len(trace_.frame.tracing_eqns) if trace_ is not None else 0


def recorded(start: int) -> list[Any]:
    """The equations recorded since there were `start`; those that nothing uses may be gone."""
    trace_ = recorder()
    if trace_ is None:
        return []
    eqns = [e() if isinstance(e, weakref.ReferenceType) else e for e in trace_.frame.tracing_eqns[start:]]
    return [e for e in eqns if e is not None]


def drop_effects(start: int) -> None:
    """Forget what has been recorded since there were `start` equations and would be done again: effects, and what uses their results."""
    trace_ = recorder()
    if trace_ is None:
        return
    gone: set[Any] = set()
    dropped: set[int] = set()
    for eqn in recorded(start):
        if eqn.effects or any(getattr(t, "val", None) in gone for t in eqn.invars if not isinstance(getattr(t, "val", None), Literal)):
            gone.update(eqn.outvars)
            dropped.add(id(eqn))
    kept = trace_.frame.tracing_eqns
    kept[start:] = [e for e in kept[start:] if id(e() if isinstance(e, weakref.ReferenceType) else e) not in dropped]


def made_here(x: Any) -> bool:
    """Whether a traced value belongs to the current trace, and not to one around it."""
    home = getattr(type(x), "home", None) and x.home()  # of an array that is an object
    return (home or getattr(x, "_trace", None)) is home_trace()


def is_live(x: Any) -> bool:
    """Whether an array belongs to the current trace or one around it, or its value is known."""
    home = getattr(type(x), "home", None) and x.home()
    mine, trace = home or getattr(x, "_trace", None), home_trace()
    while trace is not None and trace is not mine:
        trace = getattr(trace, "parent_trace", None)
    return trace is mine


def bind_in(trace: Any, primitive: Primitive, **params: Any) -> Any:
    """Bind a primitive without operands in a given trace, whichever is current."""
    with _core.set_current_trace(trace):
        return primitive.bind(**params)


def concrete(x: Any) -> bool:
    """Whether the value of an array is known now (also that of a JVP tracer under eager `jax.grad`)."""
    return not isinstance(x, Tracer) or _core.is_concrete(x)


def number(x: Any) -> int:
    """The value of an integer array that is known now.  By way of NumPy's buffers it takes a fifth of the time of `int(x)`."""
    return int(np.asarray(x)) if type(x) is ArrayImpl else int(x)


def known_value(x: Any) -> Any:
    """The value of an array that is known now, without its tangent."""
    return _core.to_concrete_value(x) if isinstance(x, Tracer) else x


def trace(fn: Callable[..., Sequence[Any]], avals: Sequence[ShapedArray]) -> tuple[Any, list[Any]]:
    """Trace a flat function once: its jaxpr, and the values of its constant variables (outer tracers among them)."""
    jaxpr, _, consts = _pe.trace_to_jaxpr_dynamic(_wrapped(fn), list(avals))
    if len(jaxpr.constvars) != len(consts):  # from 0.11 on, constants without attached values are leading inputs
        jaxpr = jaxpr.with_consts(consts)
    return jaxpr, list(consts)


def _wrapped(fn: Callable[..., Any]) -> Any:
    """A flat function as JAX's tracing takes it; `jax.api_util.debug_info` asks for its signature, which takes as long as tracing a small one."""
    code = fn.__code__
    info = _lu.DebugInfo("autograph", f"{fn.__name__} at {code.co_filename}:{code.co_firstlineno}", None, _lu.initial_result_paths)
    return _lu.wrap_init(fn, debug_info=info)


def bind_custom_jvp(fn: Callable[..., list[Any]], derivative: Callable[..., list[Any]], operands: Sequence[Any]) -> list[Any]:
    """`jax.custom_jvp` of a flat function: `derivative` is given the operands and their tangents, and gives results and theirs, in one list each.

    Tangents that are zero are `SymbolicZero`.
    """
    return list(custom_jvp_call_p.bind(*operands, subfuns=(_wrapped(fn), _wrapped(derivative)), symbolic_zeros=True))


def jaxpr_with(jaxpr: Any, invars: Sequence[Var], outvars: Sequence[Any], eqns: Sequence[Any]) -> ClosedJaxpr:
    """A closed jaxpr without constants that has these inputs, outputs and equations."""
    effects = _pe.make_jaxpr_effects((), invars, outvars, eqns) if jaxpr.effects else jaxpr.effects
    return ClosedJaxpr(
        jaxpr.replace(
            constvars=[], invars=list(invars), outvars=list(outvars), eqns=list(eqns), effects=effects,
            debug_info=jaxpr.debug_info.with_unknown_names(),
        ), [],
    )  # fmt: skip


def convert_type(x: Any, dtype: Any, weak: bool) -> jax.Array:
    """`lax.convert_element_type` that can also give a weak type, which the public function cannot."""
    out: jax.Array = lax.convert_element_type_p.bind(x, new_dtype=dtype, weak_type=weak, sharding=None)
    return out


def takes_as_array(cls: type, value: Callable[[Any], Any], typed: Callable[[Any], Any]) -> None:
    """Let JAX take objects of a class as the arrays that `value` gives; `typed` gives one of the same type."""
    _dtypes.register_canonicalize_value_handler(cls, value)
    _core.pytype_aval_mappings[cls] = lambda x: _core.typeof(typed(x))


def aval_of(x: Any) -> Any:
    """The abstract value of an array or constant."""
    return _core.typeof(x)


def with_axis(size: int, aval: Any, mesh: Any = None) -> Any:
    """A type with an axis in front."""
    return unmapped_aval(size, 0, aval, mesh)


def axes_of(aval: Any) -> frozenset[str]:
    """The axes of a mesh that values of a type vary over, inside `jax.shard_map`; the attribute of the type has moved between versions."""
    kind = getattr(aval, "manual_axis_type", None)
    axes = kind.varying if kind is not None else getattr(aval, "vma", None)
    return frozenset(axes or ())


def shaped(shape: tuple[int, ...], dtype: Any, weak: bool, axes: frozenset[str]) -> ShapedArray:
    """The type of an array that varies over some axes of a mesh."""
    if not axes:
        return ShapedArray(shape, dtype, weak_type=weak)
    made = jax.make_jaxpr(lambda: varying(lax.full(shape, 0, dtype), axes))().out_avals[0]  # with the mesh of the context
    return made.update(weak_type=weak)


def varying(x: Any, axes: frozenset[str]) -> Any:
    """A value, marked as one that varies over some axes of a mesh."""
    more = axes - axes_of(_core.typeof(x)) if axes else axes
    return lax.pcast(x, tuple(sorted(more)), to="varying") if more else x


def is_reference(x: Any) -> bool:
    """Whether a value is a `jax.Ref`."""
    return isinstance(_core.typeof(x), AbstractRef)


def used_inputs(jaxpr: Any, outputs: Sequence[bool]) -> list[bool]:
    """Which inputs of a jaxpr some of its outputs depend on."""
    return list(_pe.dce_jaxpr(jaxpr, list(outputs))[1])


def jaxprs_in(value: Any) -> list[Any]:
    """The jaxprs that a parameter of an equation is or holds."""
    return [v for v in (value if isinstance(value, (tuple, list)) else (value,)) if isinstance(v, (ClosedJaxpr, Jaxpr))]


def lanes(trace_: Any) -> int:
    """How many values `jax.vmap` has beside each other for one of a trace."""
    count = 1
    while isinstance(trace_, (_batching.BatchTrace, _ad.JVPTrace)):
        if isinstance(trace_, _batching.BatchTrace) and isinstance(size := trace_.axis_data.size, int):
            count *= size
        trace_ = trace_.parent_trace
    return count


def operation(eqn: Any) -> str:
    """The name of what an equation computes: of its primitive, or of a jitted function of JAX's or ours; `jit` of one of the user's."""
    if eqn.primitive.name not in ("jit", "pjit"):
        return str(eqn.primitive.name)
    file = eqn.params["jaxpr"].jaxpr.debug_info.func_filename or ""
    return str(eqn.params["name"]) if file.startswith((_FOLDER, _OURS)) else "jit"


def primitives(jaxpr: Any) -> set[str]:
    """The names of the primitives in a jaxpr, and in the jaxprs of its equations."""
    found: set[str] = set()
    for eqn in getattr(jaxpr, "jaxpr", jaxpr).eqns:
        found.add(eqn.primitive.name)
        for value in eqn.params.values():
            found.update(*map(primitives, jaxprs_in(value)))
    return found


def about_derivatives(error: Exception) -> bool:
    """Whether an error of JAX's says that something has no derivative."""
    return re.search(r"[Dd]ifferentiat|[Dd]erivative|JVP|jvp|[Tt]ranspos", str(error)) is not None
