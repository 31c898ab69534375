"""`jit`: `jax.jit` of a converted function, as an object that is also a method, can be copied and pickled by name.

Each function has a class of its own whose `__call__` is the jitted function, so a call costs what a call of `jax.jit` costs.
"""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph.runtime.arrays import handles
from autograph.runtime.arrays.numpys import Numpys
from autograph.runtime.arrays.ties import NeedsTags
from autograph.runtime.calls.calls import call
from autograph.runtime.calls.changes import Begin
from autograph.runtime.calls.commit import commit, reached
from autograph.runtime.calls.loading import adapt
from autograph.runtime.calls.shortcut import shortcut, takes
from autograph.runtime.calls.state import State
from autograph.runtime.effects.deferred import Checked, Exit, defer, received, values_of
from autograph.runtime.effects.later import check, is_deferred, leave
from autograph.runtime.effects.leaving import has_late, leaving, packed, settled
from autograph.runtime.effects.optional import optional_result
from autograph.runtime.explaining.raw_errors import UNFINISHED, named, unfinished
from autograph.runtime.frames import TRACING, root, unwatched
from autograph.runtime.garbage import paused
from autograph.runtime.jaxapi import _jax, trees
from autograph.runtime.jaxapi._jax import eval_trace, trace_state
from autograph.runtime.jaxapi.tracers import Array, content, objects_in, of_objects
from autograph.runtime.messages.raised import ENTRIES
from autograph.runtime.options import known_names, name_of
from autograph.runtime.state.arguments import has_static
from autograph.runtime.state.lifted import ERROR, may_have_failed, restore
from autograph.runtime.state.locking import CHANGING
from autograph.runtime.state.needs import NeedsState
from autograph.runtime.state.overlaps import refuse_overlaps
from autograph.runtime.state.reading import Created, recorders, refuse_watched
from autograph.runtime.state.retraces import Traces
from autograph.runtime.stores.numpy_arguments import Arguments, NeedsArrays, among, given, places, put_back, refuse, without_numpys
from autograph.runtime.stores.stores import unknown_array
from autograph.runtime.values.fitting import argument_too_large
from autograph.runtime.values.values import Blank, has_maybe, is_value, map_maybe


class _Checks:
    """What the traces of a function have shown: does it fail, give optionals, or change state; do its calls go to JAX directly?"""

    def __init__(self, always: bool) -> None:
        self.found, self.direct, self.always = always, False, always
        self.tagging = False  # do its traces have to carry which array is which?
        self.numpys = False  # does it matter whether arguments are arrays of NumPy's?
        self.undo: Callable[[], None] = lambda: None  # let calls be looked at again
        self.created = Created()  # the Variables that the traces of the present call have made
        self.around: Any = None  # a reference to the trace that the present call stands in; none outside of all


class Function:
    """A staged function: call it as the original.  `lower`, `trace`, `eval_shape` and `clear_cache` are those of `jax.jit`."""

    _fn: Callable[..., Any]
    _jitted: Any
    _state: State
    _checks: _Checks
    _options: dict[str, Any]
    traces: Traces  # what it has been traced with
    _later: bool  # are error codes read later?
    _shortcut: Any  # what takes calls with arrays, where nothing but Variables changes
    _storing: dict[Any, Function]  # the functions for calls with NumPy arrays, by where these are
    __wrapped__: Callable[..., Any]

    @_jax.boundary
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The first calls; the class of a function of arrays without checks and state takes the jitted function itself from then on."""
        arrays = among(args, kwargs)
        if arrays and self._checks.numpys:
            return self._with_arrays(args, kwargs, arrays)
        around, given.paths = given.paths, places(arrays) if arrays else ()
        try:
            return self._called(args, kwargs)
        except NeedsArrays:
            pass
        finally:
            given.paths = around
        self._checks.numpys = True
        return self._with_arrays(args, kwargs, arrays)

    def _called(self, args: Any, kwargs: Any) -> Any:
        adapt()
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
            return self._result(out)
        if trace_state.value is eval_trace and not self._checks.found and self._state.direct:
            self._checks.direct = True
            self._checks.undo = functools.partial(_look_again, type(self), self._checks)
            call = without_numpys(self._jitted, functools.partial(Function.__call__, self)) if self._checks.numpys else self._jitted
            type(self).__call__ = staticmethod(call)  # type: ignore[assignment]
        return out

    def _stateful(self, args: Any, kwargs: Any, arrays: dict[Any, Any] | None = None) -> Any:
        """A call with arguments that are no arrays, or of a function that changes what lives outside it."""
        if not _jax.recording() and jax.config.jax_disable_jit:  # type: ignore[attr-defined]
            return self._fn(*args, **kwargs)
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
        out, walk, parts = self._state.run(lambda jitted: jitted, args, kwargs)
        made: dict[int, Any] = {}
        inputs = [change.number for change in out.changes.found if change.where == "input"] if out.changes is not None else []
        if inputs:
            refuse_overlaps(self._fn, inputs, {}, walk, args, kwargs)
        if out.changes is not None:
            if recorders.active:
                refuse_watched(out.changes.found, walk)
            with TRACING:
                made = commit(out.changes, walk, parts, out.code)
        if out.finals:
            refuse(args, kwargs, arrays or {}, list(out.finals), functools.partial(_name_of_argument, self._fn))
            put_back(arrays or {}, out.finals)
        return reached(self._result(out), walk, made)

    def _result(self, out: Checked) -> Any:
        """What a call returns; raises its error, unless that is read later."""
        if self._later and out.code is not None and _jax.concrete(out.code):
            leave(self, out.code, out.values)
            return settled(out.value)
        return result(out)

    def _with_arrays(self, args: Any, kwargs: Any, arrays: dict[Any, Any]) -> Any:
        """A call with NumPy arrays that the function stores into."""
        paths = places(arrays)
        if paths not in self._storing:
            self._storing[paths] = _made(self._fn, self._options, paths)
        return self._storing[paths]._stateful(args, kwargs, arrays)

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        return self._lowered("lower", args, kwargs)

    def trace(self, *args: Any, **kwargs: Any) -> Any:
        return self._lowered("trace", args, kwargs)

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        out = self._lowered("eval_shape", args, kwargs)
        return out.value if type(out) is Checked else out

    def _lowered(self, method: str, args: Any, kwargs: Any) -> Any:
        if not (self._state.needed or has_static(args) or has_static(kwargs.values())):
            try:
                return getattr(self._jitted, method)(*args, **kwargs)
            except NeedsState as need:
                self._state.note(need)
        return self._state.run(lambda jitted: getattr(jitted, method), args, kwargs)[0]

    def again(self, options: dict[str, Any]) -> Function:
        """The same function with more options."""
        return _made(self._fn, {**self._options, **options}) if options else self  # type: ignore[no-any-return]

    def clear_cache(self) -> None:
        self._jitted.clear_cache()
        self._state.jitted.clear_cache()

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


class Method:
    """A staged function bound to an object, which is its first argument: a pytree is traced, of another object the arrays that it holds are."""

    def __init__(self, function: Function, obj: Any) -> None:
        self.__func__, self.__self__ = function, obj
        functools.update_wrapper(self, function.__wrapped__, updated=())
        vars(self).pop("__wrapped__")  # it takes one argument more

    @property
    def __signature__(self) -> inspect.Signature:
        own = inspect.signature(self.__func__)
        return own.replace(parameters=list(own.parameters.values())[1:])

    @_jax.boundary
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__func__(self.__self__, *args, **kwargs)

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        return self.__func__.lower(self.__self__, *args, **kwargs)

    def trace(self, *args: Any, **kwargs: Any) -> Any:
        return self.__func__.trace(self.__self__, *args, **kwargs)

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        return self.__func__.eval_shape(self.__self__, *args, **kwargs)

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


def _look_again(cls: type, checks: _Checks) -> None:
    """Let calls of a function no longer go to JAX directly."""
    checks.direct = False
    if "__call__" in vars(cls):
        del cls.__call__  # type: ignore[operator]


def traced_by(
    fn: Callable[..., Any], checks: _Checks, traces: Traces, state: State | None = None, stored: tuple[Any, ...] | None = None
) -> Callable[..., Any]:
    """`fn` as JAX traces it: it returns its error code and what it changed beside its result.

    With `state` its first argument is what the objects hold that it reaches; with `stored` it also gives what the parameters hold that it
    stores into.
    """

    @functools.wraps(fn)
    def traced(*args: Any, **kwargs: Any) -> Any:
        passed = args[state is not None :], kwargs
        of_objects(_jax.current_trace())
        with unwatched():
            args, kwargs = objects_in((args, kwargs))
        if state is not None:
            held, *args = args  # type: ignore[assignment]
            args, kwargs = state.arguments(args, kwargs)
        if not _jax.recording():  # `jax.disable_jit`
            return fn(*args, **kwargs)
        holding = held if state is not None else None
        before = [(x, x.now) for x in trees.leaves((holding, args, kwargs), is_leaf=is_value) if isinstance(x, Array)]
        recorded = _jax.equations()
        try:
            try:
                out = compiled(passed, holding, args, kwargs)
            except NeedsTags:
                if checks.tagging:
                    raise unknown_array() from None
                checks.tagging = True
                _jax.drop_effects(recorded)
                for x, now in before:
                    x.now = now
                out = compiled(passed, holding, args, kwargs)
        except (NeedsState, NeedsArrays):
            _jax.abandon()
            raise
        except Exception:
            checks.created = Created()
            raise
        checks.created = Created()
        return out

    def compiled(passed: Any, held: Any, args: Any, kwargs: Any) -> Any:
        box: list[Any] = []
        finals: dict[Any, Any] = {}
        with TRACING, paused(), root(_jax.current_trace(), {ERROR: 0}, checked=True) as frame:
            begin = state.begin(held, args, kwargs, frame) if state is not None else Begin(args, kwargs)
            frame.outside, frame.around = begin.containers, checks.around() if checks.around is not None else eval_trace
            frame.created, frame.tagging = checks.created, checks.tagging
            frame.created.begin()
            frame.function = inspect.unwrap(fn)
            mine = Arguments(begin.args, begin.kwargs, given.paths if stored is None else stored)
            if stored is not None:
                mine.lasting()
            try:
                try:
                    box.append(named(call(fn))(*mine.args, **mine.kwargs))  # the staged form itself
                except Exit:
                    pass
                except Exception as error:
                    changed = may_have_failed() or frame.written or mine.stored() or begin.stored()
                    changed = changed or frame.printed
                    if not (changed and defer(error)):  # what was changed before is committed
                        raise
                finals.update(mine.stored())
                if finals and stored is None:
                    raise NeedsArrays
                checks.numpys = checks.numpys or mine.would_change()
                if handles.used and box and any(isinstance(x, handles.Handle) for x in trees.leaves(box[0], is_leaf=is_value)):
                    box.append(trees.map(handles.value_of, box.pop(), is_leaf=is_value))  # of a Variable what it holds
                if box and isinstance(box[0], UNFINISHED):
                    raise unfinished(fn)
                frame.memory.clear()  # what it remembers may hold objects that the function made
                changes = begin.changes(frame, box, checks.direct, getattr(inspect.unwrap(fn), "__globals__", {}))
                box[:] = [begin.given(x) for x in box]
            finally:
                begin.put_back(frame)
                restore(frame)
        if checks.direct and checks.numpys:
            checks.undo()
        traces.note(passed[0], passed[1], held.guards if state is not None else ())
        out = leaving(box.pop(), name) if box else None
        if any(isinstance(x, Numpys) for x in trees.leaves(out, is_leaf=is_value)):
            with unwatched():
                out = trees.map(content, out, is_leaf=is_value)
        if type(frame.values[ERROR]) is not int:
            out = trees.map(lambda x: 0 if isinstance(x, Blank) else x, out, is_leaf=is_value)  # no path ends without an error
        code = frame.values.pop(ERROR)
        if type(code) is int and not has_maybe(out) and not has_late(out) and trees.is_sortable(out) and not checks.always and state is None:
            return out
        checks.found = True
        if checks.direct:  # earlier traces had no checks, and what is returned now goes to the user as it is
            received(code, values_of(frame.values))
            if has_maybe(out):
                raise optional_result("this call may return None where earlier ones could not")
            return out
        number = None if type(code) is int and not checks.always else jnp.asarray(code, np.int32)
        return Checked(trees.boxed(map_maybe(packed, out)), number, changes if changes.found else None, values_of(frame.values), finals)

    name = name_of(fn)
    ENTRIES.add(compiled.__code__)
    if state is not None:
        first = inspect.Parameter("state_", inspect.Parameter.POSITIONAL_ONLY)
        try:
            own = inspect.signature(fn)
        except (TypeError, ValueError):
            return traced
        traced.__signature__ = inspect.Signature([first, *own.parameters.values()])  # type: ignore[attr-defined]
    return traced


def result(out: Checked) -> Any:
    """What a compiled function that may fail returns; raises its error."""
    if out.code is not None:
        received(out.code, out.values)
    return settled(out.value)


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
    checks = _Checks(always="out_shardings" in options)
    if checks.always:
        options = {**options, "out_shardings": Checked(options["out_shardings"], None, None)}
    traces = Traces(fn)
    jitted = jax.jit(traced_by(fn, checks, traces), **options)
    cls = type("Function", (Function,), {"__doc__": fn.__doc__, "__module__": __name__})
    new: Any = object.__new__(cls)
    new._checks, new.traces, new._later = checks, traces, later
    functools.update_wrapper(new, fn)
    new._fn, new._jitted, new._options, new._storing, new._shortcut = fn, jitted, given, {}, None
    new._state = State(fn, options, lambda state: traced_by(fn, checks, traces, state, stored))
    new.__wrapped__ = inspect.unwrap(fn)
    new.__defaults__, new.__kwdefaults__ = getattr(fn, "__defaults__", None), getattr(fn, "__kwdefaults__", None)
    return new
