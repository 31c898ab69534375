"""The staged form of a function, as code that is not converted calls it inside a trace: under plain `jax.jit`, `jax.vmap`, `lax.scan` ..."""

from __future__ import annotations

import functools
import gc
import inspect
import sys
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from autograph.runtime.arrays.array_aliasing import NeedsTags
from autograph.runtime.effects.error_codes import PathEnds, received, values_of
from autograph.runtime.effects.optional_values import optional_result
from autograph.runtime.effects.replay import EffectsOnce
from autograph.runtime.errors.errors import ArrayStoreError, NotStagedError
from autograph.runtime.errors.source_spans import here, mark_of, transformation
from autograph.runtime.indexing.class_patching import adopt_arrays, changed_outside
from autograph.runtime.indexing.stores import unknown_array
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi.dead_outputs import drop_recorded
from autograph.runtime.jaxapi.jax_errors import named
from autograph.runtime.jaxapi.tracers import arrays_among, given, objects_of, taken
from autograph.runtime.jaxapi.traces import eval_trace, trace_state
from autograph.runtime.sequences.escaped_lists import refuse_left
from autograph.runtime.state.captured_state import ERROR, reachable, record_write, restore
from autograph.runtime.state.container_aliasing import settle
from autograph.runtime.state.escape_analysis import forget_born, forget_local, holds_no_array, refuse_beneath, restore_traced
from autograph.runtime.state.formatting import show_tracers
from autograph.runtime.state.fresh_objects import reached
from autograph.runtime.state.state_refs import StateRef, changed_under
from autograph.runtime.state.variable_reads import refuse_assigned
from autograph.runtime.tracing.adapter_registry import adapt
from autograph.runtime.tracing.trace_context import TraceContext, frames, root, stands, watched
from autograph.runtime.values.values import counted_in, has_maybe

CALLS_FUNCTIONS_OF_THE_USER = True  # and not blocks: see `handed_to`


def entered(fn: Callable[..., Any], begin: Callable[[], None] = lambda: None, fresh: bool = False) -> Callable[..., Any]:
    """`fn`, whose errors are named; deferred ones are raised by the compiled program, where no `ag.function` reads them.

    `begin` is called first in its trace.  One that is `fresh` is another function for JAX each time, which so traces it each time.
    """
    staged = named(fn)

    def outside(*args: Any, **kwargs: Any) -> Any:
        if reachable() or not _jax.recording():
            begin()
            out = staged(*args, **kwargs)
        else:
            adapt()
            with objects_of(_jax.current_trace()):
                args, kwargs = tuple(map(given, args)), {k: given(v) for k, v in kwargs.items()}
                out, frame = _traced(staged, fn, begin, args, kwargs)
                stands()
                _refuse_arrays(frame)
                refuse_assigned(frame)
                if watched():  # a function of ours around has handed this one to JAX
                    box = [out]
                    del out  # references are counted
                    _hand_on(frame, fn, fresh, (args, kwargs), box)
                    out = box.pop()
                if type(code := frame.values.pop(ERROR)) is not int:
                    received(code, values_of(frame.values))
                out = taken(out)
        if (counted := counted_in(out)) is not None and mark_of(sys._getframe(2).f_code) != "Staged":
            raise counted.refusal("it is returned to code that is not converted")
        if has_maybe(out) and mark_of(sys._getframe(2).f_code) != "Staged":  # the frame below is the plain form, which enters
            raise optional_result()
        return out

    return outside


def _hand_on(frame: TraceContext, fn: Callable[..., Any], fresh: bool, given: tuple[Any, Any], out: list[Any]) -> None:
    """What a function under a transformation of JAX's has changed of the code around.

    Values that hold no array stay, as when Python runs it.  Sound because such values cannot hold a tracer of the trace that has ended (a list or
    object of the code around may).  A function that is not `fresh` JAX may know, and not trace when the code around is traced again: it is traced
    in another context of JAX's then (`restore`).

    Objects that it is given stay as it leaves them: JAX makes them anew for the call, and a library that passes one on is in the same trace, and
    may read it.  If it is one of the code around after all, JAX names the leak, as without us.
    """
    forget_born(frame, fn)
    if _left(frame, given):
        gc.collect()  # closures that hold themselves; what else is left is an error, so that the time does not matter
        forget_local(frame, out)
    changed = [(place, place.get()) for place in frame.written if isinstance(place, StateRef)]
    if left := _left(frame, given):
        restore(frame)
        raise changed_under(left[0], transformation(), here())
    if changed:
        saved, frame.handed = frame.saved, False
        restore(frame)
        for around in () if fresh else frames():
            around.handed = True
        for place, value in changed:
            if holds_no_array(value, saved[place]):
                record_write(place, beneath=True)
            place.put(value)


def _left(frame: TraceContext, given: tuple[Any, Any]) -> list[StateRef]:
    """The places that would keep a value of the trace of a function, in objects that it was not given."""
    found = [p for p in frame.written if isinstance(p, StateRef) and not holds_no_array(p.get(), frame.saved[p])]
    args, kwargs = given
    passed = reached([*args, *kwargs.values()]) if found else {}
    return [p for p in found if id(p.obj) not in passed]


def _traced(staged: Callable[..., Any], fn: Callable[..., Any], begin: Callable[[], None], args: Any, kwargs: Any) -> tuple[Any, TraceContext]:
    """What the staged form gives, and the frame of its trace; traced again where a store has to know which array is which."""
    before = [(x, x.now) for x in arrays_among((args, kwargs))]
    recorded = _jax.equations()
    with EffectsOnce(inspect.unwrap(fn), *args, *kwargs.values()) as effects:
        for tagging in (False, True):
            with root(_jax.current_trace(), {ERROR: 0}, checked=False) as frame:
                frame.tagging = tagging
                try:
                    begin()
                    adopt_arrays(fn)
                    box = [staged(*args, **kwargs)]
                    _refuse_stored(frame)
                    settle(frame, box)
                    refuse_left(frame, box)
                    if watched():
                        forget_local(frame, box)
                    refuse_beneath(frame)
                    drop_recorded(recorded, frame.selectors)
                    return box.pop(), frame
                except PathEnds:
                    raise NotStagedError("every path through this function ends in an error") from None
                except NeedsTags:
                    if tagging:
                        raise unknown_array() from None
                    restore(frame)
                except Exception as error:
                    restore_traced(frame)
                    show_tracers(error)
                    raise
                except BaseException:  # what is around is traced again
                    restore(frame)
                    raise
            effects.rewind()
            _jax.drop_effects(recorded)
            for x, now in before:
                x.now, x.who = now, None  # its number was one of the trace that is given up
    raise AssertionError("the second trace returns or raises")


def converted(fn: Callable[..., Any], fresh: bool = False) -> Callable[..., Any]:
    """A staged function as JAX and other libraries call it: in a trace of theirs it is entered, so that arrays are objects in it.

    The transpiler writes it as a decorator; one that is made for a call is `fresh`.  The body of a generator or coroutine is run by others than who
    calls it, in whatever trace they are.
    """
    if fn.__code__.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        return fn
    inside = entered(fn, fresh=fresh)

    @functools.wraps(fn)
    def called(*args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs) if trace_state.value is eval_trace else inside(*args, **kwargs)

    return called


def _refuse_stored(frame: TraceContext) -> None:
    """An array of the code around that was stored into: nobody would put the values back."""
    if places := changed_outside(frame):
        raise ArrayStoreError(
            f"a traced value is stored into {places[0].name}, an array that this function did not make",
            here(),
            "use `@ag.function`, or return the array",
        )


def _refuse_arrays(frame: TraceContext) -> None:
    """A NumPy array of the code around that was stored into: nobody would put the values back."""
    for location, old in frame.saved.items():
        if isinstance(old, np.ndarray) and isinstance(location.get(), jax.core.Tracer):
            location.put(old)
            raise ArrayStoreError(
                f"a traced value is stored into {location.name}, a NumPy array that this function did not make", frame.places.get(location),
                "use `@ag.function`, or return the array",
            )  # fmt: skip
