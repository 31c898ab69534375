"""A function as JAX traces it: it gives its error code, and what it has changed, beside its result."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, NoReturn

import jax.numpy as jnp
import numpy as np
from jax import lax

from autograph.runtime.arrays import variable_ref as handles
from autograph.runtime.arrays.array_aliasing import NeedsTags
from autograph.runtime.arrays.numpy_array import MutableArray
from autograph.runtime.calls.callees import call
from autograph.runtime.calls.function_state import State
from autograph.runtime.calls.side_effects import EntryState
from autograph.runtime.effects.error_codes import Checked, PathEnds, defer, received, values_of
from autograph.runtime.effects.optional_values import optional_result
from autograph.runtime.effects.output_values import has_late, leaving, packed, settled
from autograph.runtime.effects.replay import EffectsOnce
from autograph.runtime.errors.errors import AutographError, EffectError
from autograph.runtime.errors.raise_sites import ENTRIES
from autograph.runtime.errors.source_spans import here
from autograph.runtime.indexing.inplace_arguments import Arguments, NeedsArrays, among, given
from autograph.runtime.indexing.stores import unknown_array
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi import trees
from autograph.runtime.jaxapi.dead_outputs import drop_recorded
from autograph.runtime.jaxapi.jax_errors import UNFINISHED, named, unfinished
from autograph.runtime.jaxapi.tracers import CHANGED, Array, content, objects_in, of_objects
from autograph.runtime.jaxapi.traces import eval_trace
from autograph.runtime.state.attribute_reads import EVERYTHING, ReadWatch
from autograph.runtime.state.captured_state import ERROR, may_have_failed, restore
from autograph.runtime.state.formatting import show_tracers, shows_values
from autograph.runtime.state.retrace import NeedsState, StopTracing
from autograph.runtime.state.trace_log import Traces
from autograph.runtime.state.variable_reads import Created
from autograph.runtime.tracing.garbage import paused
from autograph.runtime.tracing.jit_options import name_of
from autograph.runtime.tracing.trace_context import TRACING, Condition, Decide, Decisions, Retrace, TraceContext, frames, root, stands, unwatched
from autograph.runtime.values.values import Blank, has_maybe, is_value, map_maybe


class Checks:
    """What the traces of a function have shown: does it fail, give optionals, or change state; do its calls go to JAX directly?"""

    def __init__(self, always: bool) -> None:
        self.found, self.direct, self.always = always, False, always
        self.stale = False  # are there traces whose errors JAX's runtime raises, as calls went to JAX directly?
        self.tagging = False  # do its traces have to carry which array is which?
        self.unordered = False  # is it a program of several devices, for which JAX keeps no order of what is done on the host?
        self.numpys = False  # does it matter whether arguments are arrays of NumPy's?
        self.scalars = False  # and whether they are numbers?
        self.count = 0  # of its traces
        self.undo: Callable[[], None] = lambda: None  # let calls be looked at again
        self.again: Callable[[Any, Any], Any] = lambda args, kwargs: None  # a call that is looked at
        self.created = Created()  # the Variables that the traces of the present call have made
        self.decided: dict[int, bool] = {}  # the conditions whose values its calls have, by their numbers: others call other functions
        self.around: Any = None  # a reference to the trace that the present call stands in; none outside of all


def look_again(cls: type, checks: Checks) -> None:
    """Let calls of a function no longer go to JAX directly."""
    checks.direct = False
    if "__call__" in vars(cls):
        del cls.__call__  # type: ignore[operator]


class NeedsCheck(Retrace):
    """Not an error: the result of a call that went to JAX directly has to be looked at, since it may fail or give an optional."""


def _looked_at(checks: Checks, around: Any, args: Any, kwargs: Any) -> Any:
    """What a call gives that went to JAX directly, and of which the trace has shown that its arguments or its result have to be looked at.

    It is made again, in the trace of the first, whose program gives what it gave: the next call clears that away.  Calls go to JAX directly where
    no trace before had checks or asked for the arguments; nothing but a trace can find that one does.
    """
    checks.undo()
    checks.stale = True
    with _jax.set_current_trace(around):
        return checks.again(args, kwargs)


_AGAIN = object()
_NOT_FIRST = "the condition is not computed first, since a `print` or another effect on the host comes before it"
_MOST_TAGGED = 3  # traces: tags may show that more loops have to carry them


def _look_for_state(begin: EntryState, frame: TraceContext, variables: dict[str, Any], seen: frozenset[str]) -> NoReturn:
    """Raises NeedsState, if a trace that has ended early has shown that it will be; else StopTracing."""
    frame.memory.clear()
    try:
        begin.changes(frame, [], False, variables, seen)
    except AutographError:  # the rest of the function may mend that
        pass
    raise StopTracing


def traced_by(
    fn: Callable[..., Any], checks: Checks, traces: Traces, state: State | None = None, stored: tuple[Any, ...] | None = None
) -> Callable[..., Any]:
    """`fn` as JAX traces it: it returns its error code and what it changed beside its result.

    With `state` its first argument is what the objects hold that it reaches; with `stored` it also gives what the parameters hold that it
    stores into.
    """

    @functools.wraps(fn)
    def traced(*args: Any, **kwargs: Any) -> Any:
        if state is not None:
            state.prepared()
        checks.count += 1
        seen, given.seen = given.seen, False
        called = None if seen or state is not None or stored is not None or not checks.direct or frames() else _jax.being_called()
        around = _jax.trace_around() if called is not None else None  # of the call
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
        rehearsed, tries = state is not None and not state.first, 0
        decides = given.decides and not checks.always  # may the value of a condition be the result?
        wanted: int | None = None
        try:
            with EffectsOnce(inspect.unwrap(fn), *args, *kwargs.values()) as effects:
                while True:
                    try:
                        decisions = Decisions(checks.decided, wanted) if decides or called is not None else None
                        out = compiled(passed, holding, args, kwargs, rehearsed, called is not None and not _jax.compiled_in(around), decisions)
                        break
                    except Decide as decide:
                        if called is not None:
                            raise NeedsCheck from None
                        if effects.any_made() or any(e.effects for e in _jax.recorded(recorded)):
                            decide.error.add_note(_NOT_FIRST)
                            raise decide.error from None
                        wanted = decide.number
                    except NeedsTags:
                        tries += 1
                        if tries == _MOST_TAGGED:
                            raise unknown_array() from None
                        checks.tagging = True
                    except StopTracing:
                        rehearsed = True
                    effects.rewind()
                    _jax.drop_effects(recorded)
                    for x, now in before:
                        x.now, x.who = now, None  # its number was one of the trace that is given up
                if called is not None and (checks.numpys or checks.scalars) and among(*called, scalars=checks.scalars):
                    raise NeedsArrays
        except (NeedsState, NeedsArrays, NeedsCheck) as need:
            if called is None or isinstance(need, NeedsState):
                _jax.abandon()
                raise
            out = _AGAIN
        except Exception:
            checks.created = Created()
            raise
        checks.created = Created()
        return out if out is not _AGAIN else _looked_at(checks, around, *called)  # type: ignore[misc]

    def compiled(passed: Any, held: Any, args: Any, kwargs: Any, rehearsed: bool, again: bool, decisions: Decisions | None) -> Any:
        box: list[Any] = []
        finals: dict[Any, Any] = {}
        direct = checks.direct and state is None  # what this trace gives goes to the user, also if later calls do not
        recorded = _jax.equations()
        with TRACING, paused(), root(_jax.current_trace(), {ERROR: 0}, checked=True) as frame:
            begin = state.begin(held, args, kwargs, frame) if state is not None else EntryState(args, kwargs)
            frame.outside, frame.around = begin.containers, checks.around() if checks.around is not None else eval_trace
            frame.created, frame.tagging = checks.created, checks.tagging
            frame.created.begin()
            frame.rehearsal = None if rehearsed else {place for place, _ in begin.walk.slots} if begin.walk is not None else set()
            early = decides = False
            around = CHANGED.begin()
            frame.function, frame.decisions = inspect.unwrap(fn), decisions
            mine = Arguments(begin.args, begin.kwargs, given.paths if stored is None else stored, checks.scalars)
            if stored is not None:
                mine.lasting()
            try:
                watch = ReadWatch(*((begin.walk.objects, begin.walk.view) if begin.walk is not None else ((), EVERYTHING)))
                try:
                    with watch:
                        box.append(named(call(fn))(*mine.args, **mine.kwargs))  # the staged form itself
                except PathEnds:
                    pass
                except StopTracing:
                    early = True
                except Condition as found:
                    box.append(content(found.value))
                    decides = True
                except Exception as error:
                    changed = may_have_failed() or frame.written or mine.stored() or begin.stored()
                    changed = changed or frame.printed or shows_values(error)
                    if not (changed and defer(error)):  # what was changed before is committed
                        show_tracers(error)
                        raise
                if early:
                    _look_for_state(begin, frame, getattr(inspect.unwrap(fn), "__globals__", {}), frozenset(watch.seen))
                finals.update(mine.stored())
                if CHANGED.needs_numbers() and not checks.scalars:
                    checks.scalars = True
                    raise NeedsArrays
                if stored is None and (finals or given.paths and CHANGED.numpys):
                    raise NeedsArrays
                checks.numpys = checks.numpys or not given.paths and CHANGED.other
                if handles.used and box and any(isinstance(x, handles.VariableRef) for x in trees.leaves(box[0], is_leaf=is_value)):
                    box.append(trees.map(handles.value_of, box.pop(), is_leaf=is_value))  # of a Variable what it holds
                if box and isinstance(box[0], UNFINISHED):
                    raise unfinished(fn)
                frame.memory.clear()  # what it remembers may hold objects that the function made
                changes = begin.changes(frame, box, direct, getattr(inspect.unwrap(fn), "__globals__", {}), frozenset(watch.seen))
                if begin.makes and state is not None and begin.walk is not None:
                    state.makers = state.makers | {tuple(begin.walk.guards)}
                box[:] = [begin.given(x) for x in box]
                drop_recorded(recorded, frame.selectors)
            finally:
                begin.put_back(frame)
                restore(frame)
                CHANGED.end(around)
        stands()
        if checks.direct and (checks.numpys or checks.scalars):
            checks.undo()
        traces.note(passed[0], passed[1], held.guards if state is not None else ())
        holds = _hold(decisions)
        if decides:
            return _decides(box.pop(), decisions, frame, holds)
        out = leaving(box.pop(), name) if box else None
        return _delivered(checks, direct, again, out, frame, changes, finals, state is None, holds)

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


def _delivered(
    checks: Checks, direct: bool, again: bool, out: Any, frame: TraceContext, changes: Any, finals: dict[Any, Any], stateless: bool, holds: Any
) -> Any:
    """What a trace gives to JAX: its result as it is, if nothing has to be done after the call; else beside its error code and changes.

    With `direct` calls go to JAX directly, and so it goes to the user as it is; NeedsCheck, if that will not do and the call can be made `again`.
    """
    if any(isinstance(x, MutableArray) for x in trees.leaves(out, is_leaf=is_value)):
        with unwatched():
            out = trees.map(content, out, is_leaf=is_value)
    if type(frame.values[ERROR]) is not int:
        out = trees.map(lambda x: 0 if isinstance(x, Blank) else x, out, is_leaf=is_value)  # no path ends without an error
    code = frame.values.pop(ERROR)
    if (
        type(code) is int
        and not has_maybe(out)
        and not has_late(out)
        and trees.is_sortable(out)
        and not checks.always
        and stateless
        and holds is None
    ):
        return out
    checks.found = True
    if direct:  # earlier traces had no checks
        if again:
            raise NeedsCheck
        checks.undo()
        checks.stale = True
        received(code, values_of(frame.values))
        if has_maybe(out):
            raise optional_result("this call may return None where earlier ones could not")
        return out
    number = None if type(code) is int and not checks.always else jnp.asarray(code, np.int32)
    return Checked(trees.boxed(map_maybe(packed, out)), number, changes if changes.found else None, values_of(frame.values), finals, holds)


def _hold(decisions: Decisions | None) -> Any:
    """Whether the conditions that a trace was made for have their values: what it gives holds for no others."""
    if decisions is None or not decisions.made:
        return None
    if len(decisions.used) < len(decisions.made):
        raise unknown_conditions()
    return functools.reduce(lax.bitwise_and, [jnp.asarray(content(p), bool) == known for p, known in decisions.used])


def unknown_conditions() -> EffectError:
    return EffectError(
        "the branches of a condition leave other keys or attributes, and it is not the same condition in each trace", here(),
        "give the dict all keys, or the object all attributes, before the branch",
    )  # fmt: skip


def _decides(value: Any, decisions: Decisions | None, frame: TraceContext, holds: Any) -> Checked:
    """What the trace of a function gives whose condition is computed first: its value, and the error code so far.  What has changed is left out."""
    assert decisions is not None
    code = frame.values.pop(ERROR)
    number = None if type(code) is int else jnp.asarray(code, np.int32)
    return Checked(value, number, None, values_of(frame.values), None, holds, decisions.wanted)


def result(out: Checked) -> Any:
    """What a compiled function that may fail returns; raises its error."""
    if out.code is not None:
        received(out.code, out.values)
    return settled(out.value)
