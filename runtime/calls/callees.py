"""Calls of functions that may be the user's: the transpiler, where it is installed, converts them when they are reached.

The runtime does not know the transpiler: the function that converts is handed in.  A transpiled file works without it; then callees in
other modules run as they are.
"""

from __future__ import annotations

import functools
import importlib
import operator
from collections.abc import Callable
from types import BuiltinMethodType, FunctionType, MethodDescriptorType, MethodType, MethodWrapperType, WrapperDescriptorType
from typing import Any

import numpy as np

from autograph.runtime.arrays import variable_ref as handles
from autograph.runtime.arrays.numpy_array import numpys, plain, with_values
from autograph.runtime.calls.transforms import is_transformation, threaded
from autograph.runtime.errors.errors import ConcreteValueError, NotStagedError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.host.host_effects import GENERATORS, check_stored, draws, effect_of, keeping, makes, shuffled, taking
from autograph.runtime.host.traced_logging import saying
from autograph.runtime.indexing.slice_functions import function_of
from autograph.runtime.jaxapi import trees
from autograph.runtime.jaxapi.tracers import Array
from autograph.runtime.jaxapi.traces import recording
from autograph.runtime.native.run_natively import call_natively, may_be_known
from autograph.runtime.operators.changing_methods import MUTATING, changing_method
from autograph.runtime.operators.math_functions import math_call
from autograph.runtime.operators.numpy_functions import numpy_call
from autograph.runtime.operators.scipy_functions import scipy_call
from autograph.runtime.sequences.bounded_list import refuse_hidden
from autograph.runtime.sequences.derived_lists import as_section
from autograph.runtime.sequences.dynamic_slices import PaddedSlice
from autograph.runtime.sequences.rows import traced_part
from autograph.runtime.sequences.stacked_lists import MAKERS, made_of_column
from autograph.runtime.sequences.truth import truth
from autograph.runtime.state.captured_state import record_write
from autograph.runtime.state.decisions import decided, watching
from autograph.runtime.state.formatting import joined
from autograph.runtime.state.snapshot_diff import makes_keys, making_keys
from autograph.runtime.state.state_refs import ContentsRef
from autograph.runtime.tracing import hooks
from autograph.runtime.tracing.trace_context import in_block, watched
from autograph.runtime.values.abstract_values import is_container
from autograph.runtime.values.values import counted_in, traced

_resolve: Callable[[Any], Any] | None = None
_why: Callable[[Any], str | None] | None = None


def install(
    resolve: Callable[[Any], Any],
    adopted: Callable[[type], None] = lambda cls: None,
    why: Callable[[Any], str | None] | None = None,
) -> None:
    """Hand in what converts a callee, what converts the special methods of a class, and what says why a function is not converted:
    nothing of one that is, None of what is no matter.
    """
    global _resolve, _adopted, _why
    _resolve, _adopted, _why = resolve, adopted, why


_adopted: Callable[[type], None] = lambda cls: None  # noqa: E731


def adopt(cls: type) -> None:
    """Convert the special methods and properties of a class of the user's."""
    _adopted(cls)


def call(f: Any) -> Any:
    """What to call in the place of `f`: `call(f)(x)` is `f(x)` with `f` converted, if it is the user's and can be."""
    if type(f) is FunctionType and recording() and may_be_known(f):
        return functools.partial(call_natively, f, _called)
    if watched():
        if type(f) in _CHANGING or getattr(f, "__module__", None) == "_operator":
            found = importlib.import_module("autograph.runtime.operators.unbound_methods").instead_of(f)
            if found is not None:
                return found  # type: ignore[no-any-return]
        if isinstance(f, type) and makes_keys(f) and recording():
            return making_keys((_resolve or _find())(f))
        if type(f) in _NATIVE:
            owner = f.__self__
            if type(owner) is str and f.__name__ == "join":
                return functools.partial(joined, owner)
            if f.__name__ in ("count", "index") and isinstance(owner, (list, tuple)):
                return functools.partial(_searched, owner, f)
            if is_container(owner):
                return changing_method(f)
        if type(f) is MethodType and getattr(f.__func__, "__module__", None) in ("collections", "collections.abc", "_collections_abc"):
            return changing_method(f) if is_container(f.__self__) else functools.partial(_of_user_list, f)  # of a `Counter`; of a `UserList`
        if recording():
            if getattr(f, "__name__", "") == "shuffle" and (draws(f) or isinstance(getattr(f, "__self__", None), GENERATORS)):
                return functools.partial(_shuffle, effect_of(f) or functools.partial(shuffled, f))
            if (instead := effect_of(f)) is not None:
                return functools.partial(_own_arrays, instead) if draws(f) else instead
            if (getattr(f, "__module__", None) or "").startswith("tqdm"):
                return importlib.import_module("autograph.runtime.host.progress").of_tqdm(f) or f  # type: ignore[no-any-return]
            if draws(f):
                return functools.partial(_own_arrays, f)
            if is_transformation(f):
                handing = threaded(f, (_resolve or _find())(f), call)
                return functools.partial(_needs_lengths, f, handing) if f.__name__ in _ALONG else handing
            if getattr(f, "__module__", None) in _COMPARING:
                return functools.partial(_compared, f)
            if makes(f):
                return keeping(replaced(f) or (_resolve or _find())(f))
            if (getattr(f, "__module__", None) or "").startswith(_OF_TREES):
                return functools.partial(_needs_lengths, f, (_resolve or _find())(f))
            if (getattr(f, "__module__", None) or "").startswith(_OF_ARRAYS):
                return functools.partial(_of_sections, f)
    new = replaced(f) or saying(f, getattr(f, "__self__", None))
    if in_block() and getattr(f, "__module__", None) in _TAKING and not isinstance(f, FunctionType):
        new = taking(new or (_resolve or _find())(f))
    if new is not None and handles.used:
        new = functools.partial(_of_values, new)
    if watching():
        return _told(f, new, (_resolve or _find())(f) if new is None else new)
    return new or (_resolve or _find())(f)


def _called(f: Any) -> Any:
    """A function in its converted form."""
    return (_resolve or _find())(f)


def _of_values(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A call of a builtin, or of a function of `math` or NumPy, which takes Variables as the arrays that they hold."""
    return f(*map(handles.values_in, args), **{k: handles.values_in(v) for k, v in kwargs.items()})


def _told(f: Any, instead: Any, new: Any) -> Any:
    """What is called, after `ag.explain` has been told."""
    name = getattr(f, "__qualname__", None) or type(f).__name__
    if instead is not None:
        decided("call", "replaced", "by one that takes traced values as well", [name])
    elif _why is not None and (reason := _why(f)) is not None:
        decided("call", "as it is" if reason else "converted", reason, [name])
    return new


def _own_arrays(draw: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A call that draws random numbers: an array of them is the function's own, which may store into it.

    A copy, because a trace that is made again is given the numbers of the first (`effects/replay.py`), and a store into known numbers changes them
    in place.
    """
    out = draw(*args, **kwargs)
    return numpys(out.copy()) if type(out) is np.ndarray else out


def _shuffle(of_copy: Callable[..., Any], x: Any, *args: Any, **kwargs: Any) -> None:
    """A call of `shuffle`: what is shuffled is a copy, and what it holds is stored."""
    held = of_copy(plain(x), *args, **kwargs)
    if is_container(x):
        record_write(ContentsRef(x))
    if type(x) is list:
        held = [x[k] for k in held]
    if not isinstance(x, Array) or x.ndim:
        x[... if isinstance(x, (Array, np.ndarray)) else slice(None)] = held


def _needs_lengths(f: Any, called: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A call of a function of JAX that takes a list or slice of unknown length apart, or goes along its rows."""
    if (found := counted_in((args, kwargs))) is not None:
        raise found.refusal(f"`{f.__name__}` is given it")
    return called(*args, **kwargs)


def _of_sections(f: Any, *args: Any, **kwargs: Any) -> Any:
    """A call of a function of `jax.numpy` that slices of unknown length may be given to."""
    if f.__name__ in MAKERS and (made := made_of_column(f.__name__, f, args, kwargs)) is not NotImplemented:
        return made
    if f.__name__ in ("array", "asarray") and args:
        args = (as_section(args[0]), *args[1:])
    given = any(isinstance(x, PaddedSlice) for x in (*args, *kwargs.values()))
    return function_of(f.__name__, args, kwargs) if given else f(*args, **kwargs)


def _compared(f: Any, *args: Any, **kwargs: Any) -> Any:
    """A call of a function of `heapq` or `bisect`: it compares, and changes the list that it is given.

    Raises:
      NotStagedError: (AG501) what it would compare is traced.
      PredicateError: (AG204) it is an array of several elements.
    """
    for x in trees.leaves((args, kwargs)):
        if traced(x) and x.size != 1:
            truth(x)
    if traced(args, kwargs):
        raise NotStagedError(
            f"`{f.__module__.lstrip('_')}.{f.__name__}` compares its arguments in Python, and they are traced", here(),
            "use `jnp.sort`, `jnp.argmin` or `jnp.searchsorted` on an array, or a `for` loop",
        )  # fmt: skip
    return _changes_arguments(f, *args, **kwargs)


def _changes_arguments(f: Any, *args: Any, **kwargs: Any) -> Any:
    """A call of a function of Python's that changes the lists that it is given."""
    for x in args:
        if is_container(x):
            record_write(ContentsRef(x))
    return f(*args, **kwargs)


def _of_user_list(method: Any, /, *args: Any, **kwargs: Any) -> Any:
    """A call of a method of a `UserList` or its kin, which would keep traced values."""
    if method.__name__ in MUTATING:
        check_stored(method.__self__, args, kwargs)
    return method(*args, **kwargs)


def _searched(owner: Any, method: Callable[..., Any], /, *args: Any) -> Any:
    """`items.count(x)` and `items.index(x)`."""
    refuse_hidden(owner)
    if args and any(map(traced_part, (args[0], owner))):
        method = functools.partial(importlib.import_module("autograph.runtime.operators.searches").SEARCHES[method.__name__], owner)
    return method(*args)


def replaced(f: Any) -> Callable[..., Any] | None:
    """What stands for a builtin or a function of `math` or NumPy that also takes traced values; None for any other function."""
    if type(f) in (type, BuiltinMethodType):
        if f.__module__ == "math":
            return math_call(f)
        if f.__module__ == "builtins" and f in _BUILTINS:
            own = _BUILTINS[f]
            return getattr(hooks.face, own) if own else _needs_value(f)  # type: ignore[no-any-return]
    return numpy_call(f, call) or scipy_call(f, call)


def _needs_value(f: Any) -> Callable[..., Any]:
    def function(*args: Any, **kwargs: Any) -> Any:
        if traced(*args, *kwargs.values()):
            raise ConcreteValueError(f"`{f.__name__}` of a traced value", here(), "return the array, and convert it outside of the compiled function")
        return with_values(f)(*args, **kwargs)

    return function


_BUILTINS: dict[Any, str] = {f: f.__name__ for f in (min, max, sum, any, all, int, float, bool, complex, sorted, list)}
_BUILTINS |= {bytes: "", bytearray: "", memoryview: "", ascii: ""}
_ALONG = frozenset({"scan", "map", "associative_scan"})
_OF_TREES = ("jax.tree", "jax._src.tree")
_OF_ARRAYS = ("jax.numpy", "jax._src.numpy")
_COMPARING = ("heapq", "_heapq", "bisect", "_bisect")
_TAKING = frozenset("builtins itertools collections _collections functools _functools math operator _operator array numpy".split())
_NATIVE = (BuiltinMethodType, MethodWrapperType)
_CHANGING = (MethodDescriptorType, WrapperDescriptorType, MethodWrapperType, operator.methodcaller)


def _find() -> Callable[[Any], Any]:
    try:
        importlib.import_module("autograph.forms.sites")  # `callees` hands its function in
    except ImportError:  # the runtime alone is installed
        install(importlib.import_module("autograph.runtime.calls.library_callbacks").with_entries)
    assert _resolve is not None
    return _resolve
