"""`jit`: `jax.jit` of a converted function, as an object that is also a method, can be copied and pickled by name.

Each function has a class of its own whose `__call__` is the jitted function, so a call costs what a call of `jax.jit` costs.
"""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import jax

from autograph.runtime.arrays import variable_ref as handles
from autograph.runtime.calls.commit import commit, reached
from autograph.runtime.calls.concrete import ConcreteFunction
from autograph.runtime.calls.fast_dispatch import are_plain, shortcut, takes
from autograph.runtime.calls.function_state import State
from autograph.runtime.calls.function_trace import Checks, look_again, result, traced_by, unknown_conditions
from autograph.runtime.calls.input_signature import as_abstract
from autograph.runtime.calls.lowered import StagedProgram
from autograph.runtime.calls.recalled_calls import Recalled
from autograph.runtime.effects.async_checks import check, enqueue, is_deferred
from autograph.runtime.effects.error_codes import Checked
from autograph.runtime.effects.output_values import settled
from autograph.runtime.effects.replay import forget
from autograph.runtime.errors.large_integers import argument_too_large
from autograph.runtime.host.effect_order import is_refused, without_order
from autograph.runtime.indexing.inplace_arguments import NeedsArrays, among, given, places, put_back, refuse, without_numpys
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi.traces import eval_trace, trace_state
from autograph.runtime.state.call_inputs import has_static
from autograph.runtime.state.locking import CHANGING
from autograph.runtime.state.object_graph import ObjectWalk
from autograph.runtime.state.overlaps import refuse_overlaps
from autograph.runtime.state.retrace import NeedsState
from autograph.runtime.state.trace_log import Traces
from autograph.runtime.state.variable_reads import recorders, refuse_watched, restorations
from autograph.runtime.tracing.adapter_registry import adapt
from autograph.runtime.tracing.jit_options import known_names
from autograph.runtime.tracing.trace_context import TRACING, watched


class Function:
    """A staged function: call it as the original.  `lower`, `trace`, `eval_shape` and `clear_cache` are those of `jax.jit`."""

    _fn: Callable[..., Any]
    _jitted: Any
    _state: State
    _checks: Checks
    _options: dict[str, Any]
    traces: Traces  # what it has been traced with
    _later: bool  # are error codes read later?
    _shortcut: Any  # what takes calls with arrays, where nothing but Variables changes
    _recalled: Recalled | None  # what takes calls like earlier ones, of objects
    _deciding: dict[Any, Function]  # the functions for calls in which a condition has a value, by its number and the value
    _storing: dict[Any, Function]  # the functions for calls with NumPy arrays, by where these are
    _described: dict[str, Any]  # what a method of it is given: the name, the documentation
    __wrapped__: Callable[..., Any]

    @_jax.boundary
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The first calls; the class of a function of arrays without checks and state takes the jitted function itself from then on."""
        return self._ordered(Function._as_given, args, kwargs)

    def _ordered(self, run: Callable[..., Any], *given: Any) -> Any:
        """What `run` gives, which may trace; a program of several devices is traced as one that does things on the host without an order."""
        forget()
        if not self._checks.unordered:
            try:
                return run(self, *given)
            except ValueError as error:
                if not is_refused(error):
                    raise
            self._checks.unordered = True
            self.clear_cache()
        with without_order():
            return run(self, *given)

    def _as_given(self, args: Any, kwargs: Any) -> Any:
        while True:
            arrays = among(args, kwargs, self._checks.scalars)
            if arrays and (self._checks.numpys or self._checks.scalars):
                outside, given.decides = given.decides, self._may_decide()
                try:
                    return self._with_arrays(args, kwargs, arrays)
                except NeedsArrays:  # it is asked for numbers now
                    self._checks.scalars = True
                    continue
                finally:
                    given.decides = outside
            around, given.paths = (given.paths, given.decides), places(arrays) if arrays else ()
            given.seen, given.decides = True, self._may_decide()
            try:
                return self._called(args, kwargs)
            except NeedsArrays:
                pass
            finally:
                (given.paths, given.decides), given.seen = around, False
            self._checks.numpys = self._checks.numpys or not self._checks.scalars

    def _called(self, args: Any, kwargs: Any) -> Any:
        adapt()
        if self._checks.stale:
            self._checks.stale = False
            self.clear_cache()
        self._checks.around = None if trace_state.value is eval_trace else weakref.ref(_jax.current_trace())
        if self._state.needed or has_static(args) or has_static(kwargs.values()):
            return self._stateful(args, kwargs)
        if self._later:
            check(self)
        out, again = None, False
        try:
            out = self._jitted(*args, **kwargs)
        except NeedsState as need:
            self._state.note(need)
            again = True
        except OverflowError as error:
            raise argument_too_large(error) from None
        if again:  # outside of the `except`: an error of the program has no cause of ours
            return self._stateful(args, kwargs)
        if type(out) is Checked:
            return self._result(out) if out.decides is None else self._decided(out, args, kwargs)
        if trace_state.value is eval_trace and not self._checks.found and self._state.direct:
            self._checks.direct = True
            self._checks.undo = functools.partial(look_again, type(self), self._checks)
            self._checks.again = functools.partial(Function._as_given, self)
            looked_at = self._checks.numpys or self._checks.scalars or are_plain(args, kwargs) and self._state.mixed
            otherwise = functools.partial(Function.__call__, self)
            call = without_numpys(self._jitted, otherwise, numbers=not self._checks.scalars) if looked_at else self._jitted
            type(self).__call__ = staticmethod(call)  # type: ignore[assignment]
        return out

    def _stateful(self, args: Any, kwargs: Any, arrays: dict[Any, Any] | None = None) -> Any:
        """A call with arguments that are no arrays, or of a function that changes what lives outside it."""
        if not _jax.recording() and jax.config.jax_disable_jit:  # type: ignore[attr-defined]
            return self._fn(*args, **kwargs)
        self._state.direct = False  # there are calls that JAX would not take
        if self._later:
            check(self)
        if handles.used and arrays is None and self._shortcut is None and not self._later and takes(args, kwargs):
            found = shortcut(self._state, self._options, functools.partial(Function.__call__, self))
            if found is not None:
                self._shortcut, type(self).__call__ = found, staticmethod(found.call)  # type: ignore[assignment]
                return found.call(*args)
        with CHANGING if handles.used else nullcontext():
            return self._changing(args, kwargs, arrays)

    def _changing(self, args: Any, kwargs: Any, arrays: dict[Any, Any] | None) -> Any:
        before = self._checks.count
        out, walk, parts = self._state.run(lambda jitted: jitted, args, kwargs)
        if self._checks.count == before and arrays is None and out.decides is None and self._recalls():
            self._recall(out, walk, args, kwargs)
        return self._committed(out, walk, parts, args, kwargs, arrays)

    def _committed(self, out: Any, walk: ObjectWalk, parts: Sequence[Any], args: Any, kwargs: Any, arrays: dict[Any, Any] | None = None) -> Any:
        """The result of a call, after what it has changed has been put back."""
        if out.holds is not None and not bool(out.holds):
            raise unknown_conditions()
        if out.decides is not None:
            return self._decided(out, args, kwargs)
        made: dict[int, Any] = {}
        inputs = [change.number for change in out.changes.found if change.where == "input"] if out.changes is not None else []
        stored = {_name_of_argument(self._fn, path): (arrays or {})[path] for path in out.finals or () if len(path) == 1}
        if inputs or stored:
            refuse_overlaps(self._fn, inputs, stored, walk, args, kwargs)
        if out.changes is not None:
            if recorders.active:
                refuse_watched(out.changes.found, walk)
            with TRACING:
                made = commit(out.changes, walk, parts, out.code)
        if out.finals:
            refuse(args, kwargs, arrays or {}, list(out.finals), functools.partial(_name_of_argument, self._fn))
            put_back(arrays or {}, out.finals)
        return reached(self._result(out), walk.objects, made)

    def _may_decide(self) -> bool:
        """Whether a call can compute a condition first, and choose a program by its value: outside of all traces, with arguments that stay there."""
        inside = trace_state.value is not eval_trace or watched() or recorders.active
        return not inside and not any(name.startswith("donate") for name in self._options)

    def _decided(self, out: Checked, args: Any, kwargs: Any) -> Any:
        """The call of a function whose condition has been computed first: that of the function for this value.

        Sound, because the program that has computed it has changed nothing, and each later one computes the same up to there.
        """
        assert out.decides is not None
        key = out.decides, bool(self._result(Checked(out.value, out.code, None, out.values, None, out.holds)))
        if key not in self._deciding:
            self._deciding[key] = _made(self._fn, self._options)
            self._deciding[key]._checks.decided = {**self._checks.decided, key[0]: key[1]}
        return self._deciding[key](*args, **kwargs)

    def _recalls(self) -> bool:
        """Whether calls like the present one may be recalled: nothing around it is recorded or traced, and nothing is left for later."""
        around = trace_state.value is not eval_trace or watched() or recorders.active or restorations
        return not (around or self._options or self._later)

    def _recall(self, out: Any, walk: ObjectWalk, args: Any, kwargs: Any) -> None:
        """After a call that was not traced: others like it need no walk."""
        if self._recalled is None:
            self._recalled = Recalled(self._state, functools.partial(Function.__call__, self), self._committed)
        if self._recalled.add(walk, args, kwargs, out.code is not None):
            type(self).__call__ = staticmethod(self._recalled.call)  # type: ignore[assignment]

    def _result(self, out: Checked) -> Any:
        """What a call returns; raises its error, unless that is read later."""
        if out.holds is not None and not bool(out.holds):
            raise unknown_conditions()
        if self._later and out.code is not None and _jax.concrete(out.code):
            enqueue(self, out.code, out.values)
            return settled(out.value)
        return result(out)

    def _with_arrays(self, args: Any, kwargs: Any, arrays: dict[Any, Any]) -> Any:
        """A call with NumPy arrays that the function stores into, or of which it asks what they are."""
        return self._with(arrays)._stateful(args, kwargs, arrays)

    def _with(self, arrays: dict[Any, Any]) -> Any:
        """The function for calls with such arrays, and numbers, in the same places."""
        paths = places(arrays)
        if paths not in self._storing:
            self._storing[paths] = _made(self._fn, self._options, paths)
            self._storing[paths]._checks.scalars, self._storing[paths]._checks.decided = self._checks.scalars, self._checks.decided
        return self._storing[paths]

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        return StagedProgram(*self._lowered("lower", args, kwargs))

    def trace(self, *args: Any, **kwargs: Any) -> Any:
        return StagedProgram(*self._lowered("trace", args, kwargs))

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> Any:
        """The compiled program for some arguments, or `ag.TensorSpec`s of them: it is called as the function."""
        if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in inspect.signature(self).parameters.values()):
            return self.lower(*args, **kwargs).compile()  # it is called as it was made
        return ConcreteFunction(self, args, kwargs, self._options)

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        out = self._lowered("eval_shape", args, kwargs)[0]
        return out.value if type(out) is Checked else out

    def _lowered(self, method: str, args: Any, kwargs: Any) -> tuple[Any, Function, bool]:
        """The stage, the function that calls what is compiled of it, and whether it takes state."""
        args, kwargs = tuple(map(as_abstract, args)), {k: as_abstract(v) for k, v in kwargs.items()}
        return self._ordered(Function._lowered_as_given, method, args, kwargs)  # type: ignore[no-any-return]

    def _lowered_as_given(self, method: str, args: Any, kwargs: Any) -> tuple[Any, Function, bool]:
        checks = self._checks
        while True:
            arrays = among(args, kwargs, checks.scalars)
            if arrays and (checks.numpys or checks.scalars):
                function = self._with(arrays)
                try:
                    return function._staged(method, args, kwargs), function, True
                except NeedsArrays:  # it is asked for numbers now
                    checks.scalars = True
                    continue
            around, given.paths = given.paths, places(arrays) if arrays else ()
            given.seen = True
            try:
                if not (self._state.needed or has_static(args) or has_static(kwargs.values())):
                    try:
                        return getattr(self._jitted, method)(*args, **kwargs), self, False
                    except NeedsState as need:
                        self._state.note(need)
                return self._staged(method, args, kwargs), self, True
            except NeedsArrays:
                checks.numpys = checks.numpys or not checks.scalars
                if not among(args, kwargs, checks.scalars):
                    return self._staged(method, args, kwargs), self, True
            finally:
                given.paths, given.seen = around, False

    def _staged(self, method: str, args: Any, kwargs: Any) -> Any:
        """What a method of JAX's gives for the arguments and the state."""
        return self._state.run(lambda jitted: getattr(jitted, method), args, kwargs, abstract=True)[0]

    def called_by(self, compiled: Any, stateful: bool, args: Any, kwargs: Any) -> Any:
        """A call of a program that `lower` has made and that is compiled: what it gives, after what it changes has been put back."""
        if not stateful:
            out = compiled(*args, **kwargs)
            return self._result(out) if type(out) is Checked else out
        with CHANGING:
            out, walk, parts = self._state.run(lambda _: compiled, args, kwargs)
            return self._committed(out, walk, parts, args, kwargs, among(args, kwargs, self._checks.scalars)) if type(out) is Checked else out

    def again(self, options: dict[str, Any]) -> Function:
        """The same function with more options."""
        return _made(self._fn, {**self._options, **options}) if options else self  # type: ignore[no-any-return]

    def clear_cache(self) -> None:
        self._jitted.clear_cache()
        self._state.jitted.clear_cache()
        self._deciding.clear()

    def __get__(self, obj: Any, owner: type | None = None) -> Any:
        return self if obj is None else Method(self, obj)

    def __repr__(self) -> str:
        return f"<ag.function {getattr(self, '__qualname__', '?')}>"

    def __copy__(self) -> Function:
        return self

    def __deepcopy__(self, memo: Any) -> Function:
        return self

    def __reduce__(self) -> str:
        return str(getattr(self, "__qualname__", ""))  # by name, as functions are

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self.__wrapped__)

    @property
    def __globals__(self) -> Any:
        return self.__wrapped__.__globals__  # type: ignore[attr-defined]


class Method(functools.partial[Any]):
    """A staged function bound to an object, which is its first argument: a pytree is traced, of another object the arrays that it holds are.

    It is a `partial`, as a call of that has no frame of ours.
    """

    def __init__(self, function: Function, obj: Any) -> None:
        vars(self).update(function._described)

    @property
    def __func__(self) -> Function:
        return self.func  # type: ignore[return-value]

    @property
    def __self__(self) -> Any:
        return self.args[0]

    @property
    def __signature__(self) -> inspect.Signature:
        own = inspect.signature(self.__func__)
        return own.replace(parameters=list(own.parameters.values())[1:])

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        return self.__func__.lower(self.__self__, *args, **kwargs).bound(self.__self__)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> Any:
        return self.__func__.get_concrete_function(self.__self__, *args, **kwargs)

    def trace(self, *args: Any, **kwargs: Any) -> Any:
        return self.__func__.trace(self.__self__, *args, **kwargs).bound(self.__self__)

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        return self.__func__.eval_shape(self.__self__, *args, **kwargs)

    def __repr__(self) -> str:
        return f"<bound {self.__func__!r} of {self.__self__!r}>"

    def __reduce__(self) -> Any:
        return Method, (self.__func__, self.__self__)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Method) and self.__func__ is other.__func__ and self.__self__ is other.__self__

    def __hash__(self) -> int:
        return hash((id(self.__func__), id(self.__self__)))


def _name_of_argument(fn: Any, path: Any) -> str:
    """The parameter that takes an argument."""
    if isinstance(path[0], str):
        return path[0]
    names = list(inspect.signature(fn).parameters)
    return names[path[0]] if path[0] < len(names) else f"argument {path[0] + 1}"


def jit(fn: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """`jax.jit` of a converted function, with its options, and `checks`; also as a decorator with arguments.

    >>> import autograph.runtime as ag
    >>> @ag.jit
    ... def double(x):
    ...     return x + x
    >>> double(2)
    Array(4, dtype=int32, weak_type=True)
    """
    if fn is None:
        return functools.partial(jit, **options)
    if isinstance(fn, (staticmethod, classmethod)):
        return type(fn)(jit(fn.__func__, **options))
    return _made(fn, options)


def _made(fn: Callable[..., Any], options: dict[str, Any], stored: tuple[Any, ...] | None = None) -> Any:
    known_names(fn, options)
    given = options
    later = is_deferred(options.get("checks", "immediate"))
    options = {name: value for name, value in options.items() if name != "checks"}
    checks = Checks(always="out_shardings" in options)
    if checks.always:
        options = {**options, "out_shardings": Checked(options["out_shardings"], None, None)}
    traces = Traces(fn)
    jitted = jax.jit(traced_by(fn, checks, traces), **options)
    cls = type("Function", (Function,), {"__doc__": fn.__doc__, "__module__": __name__})
    new: Any = object.__new__(cls)
    new._checks, new.traces, new._later = checks, traces, later
    functools.update_wrapper(new, fn)
    new._fn, new._jitted, new._options, new._storing, new._shortcut, new._recalled = fn, jitted, given, {}, None, None
    new._deciding = {}
    new._state = State(fn, options, lambda state: traced_by(fn, checks, traces, state, stored))
    new.__wrapped__ = inspect.unwrap(fn)
    new._described = {n: getattr(new.__wrapped__, n) for n in functools.WRAPPER_ASSIGNMENTS if hasattr(new.__wrapped__, n)}
    new.__defaults__, new.__kwdefaults__ = getattr(fn, "__defaults__", None), getattr(fn, "__kwdefaults__", None)
    return new
