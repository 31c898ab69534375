"""The staged form of a function, as code that is not converted calls it inside a trace: under plain `jax.jit`, `jax.vmap`, `lax.scan` ..."""

from __future__ import annotations

import enum
import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from autograph.runtime.arrays.ties import NeedsTags
from autograph.runtime.calls.loading import adapt
from autograph.runtime.effects.deferred import Exit, received, values_of
from autograph.runtime.effects.optional import optional_result
from autograph.runtime.effects.replay import EffectsOnce
from autograph.runtime.explaining.raw_errors import mark_of, named
from autograph.runtime.frames import Frame, root, watched
from autograph.runtime.jaxapi import _jax
from autograph.runtime.jaxapi._jax import eval_trace, trace_state
from autograph.runtime.jaxapi.dead_outputs import drop_recorded
from autograph.runtime.jaxapi.tracers import arrays_among, given, objects_of, taken
from autograph.runtime.messages.errors import ArrayStoreError, NotStagedError
from autograph.runtime.messages.places import here, transformation
from autograph.runtime.sequences.regrown import refuse_left
from autograph.runtime.state.forgetting import forget_local
from autograph.runtime.state.lifted import ERROR, reachable, restore, touch
from autograph.runtime.state.made import reached
from autograph.runtime.state.reading import refuse_assigned
from autograph.runtime.stores.outside import adopt_arrays, changed_outside
from autograph.runtime.stores.stores import unknown_array
from autograph.runtime.values.heap import HeapLocation, Items, changed_under
from autograph.runtime.values.identity import settle
from autograph.runtime.values.values import counted_in, has_maybe


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
                _refuse_arrays(frame)
                refuse_assigned(frame)
                if watched():  # a function of ours around has handed this one to JAX
                    _hand_on(frame, fresh, (args, kwargs))
                if type(code := frame.values.pop(ERROR)) is not int:
                    received(code, values_of(frame.values))
                out = taken(out)
        if (counted := counted_in(out)) is not None and mark_of(sys._getframe(2).f_code) != "Staged":
            raise counted.refusal("it is returned to code that is not converted")
        if has_maybe(out) and mark_of(sys._getframe(2).f_code) != "Staged":  # the frame below is the plain form, which enters
            raise optional_result()
        return out

    return outside


def _hand_on(frame: Frame, fresh: bool, given: tuple[Any, Any]) -> None:
    """What a function under a transformation of JAX's has changed of the code around.

    Values that hold no array stay, as when Python runs it.  Sound because such values cannot hold a tracer of the trace that has ended (a list or
    object of the code around may), and because the function is traced again whenever the code around is: JAX would not trace one again that it knows,
    and a change of it would be missing then.

    Objects that it is given stay as it leaves them: JAX makes them anew for the call, and a library that passes one on is in the same trace, and
    may read it.  If it is one of the code around after all, JAX names the leak, as without us.
    """
    changed = [(place, place.get()) for place in frame.written if isinstance(place, HeapLocation)]
    outside = [place for place, value in changed if not (fresh and _holds_no_array(value, frame.saved[place]))]
    args, kwargs = given
    passed = reached([*args, *kwargs.values()]) if outside else {}
    for place in outside:
        if id(place.obj) not in passed:
            restore(frame)
            raise changed_under(place, transformation())
    if changed:
        restore(frame)
        for place, value in changed:
            if place not in outside:
                touch(place, beneath=True)
            place.put(value)


def _holds_no_array(value: Any, before: Any = None) -> bool:
    if isinstance(value, Items):
        held = before.values if isinstance(before, Items) else ()
        return all(any(v is x for x in held) or _holds_no_array(v) for v in value.values)
    return type(value) in _PLAIN or isinstance(value, enum.Enum) or type(value) is tuple and all(map(_holds_no_array, value))


_PLAIN = frozenset({bool, int, float, complex, str, bytes, type(None), type})


def _traced(staged: Callable[..., Any], fn: Callable[..., Any], begin: Callable[[], None], args: Any, kwargs: Any) -> tuple[Any, Frame]:
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
                    drop_recorded(recorded, frame.selectors)
                    return box.pop(), frame
                except Exit:
                    raise NotStagedError("every path through this function ends in an error") from None
                except NeedsTags:
                    if tagging:
                        raise unknown_array() from None
                    restore(frame)
            effects.rewind()
            _jax.drop_effects(recorded)
            for x, now in before:
                x.now = now
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


def _refuse_stored(frame: Frame) -> None:
    """An array of the code around that was stored into: nobody would put the values back."""
    if places := changed_outside(frame):
        raise ArrayStoreError(
            f"a traced value is stored into {places[0].name}, an array that this function did not make",
            here(),
            "use `@ag.function`, or return the array",
        )


def _refuse_arrays(frame: Frame) -> None:
    """A NumPy array of the code around that was stored into: nobody would put the values back."""
    for location, old in frame.saved.items():
        if isinstance(old, np.ndarray) and isinstance(location.get(), jax.core.Tracer):
            location.put(old)
            raise ArrayStoreError(
                f"a traced value is stored into {location.name}, a NumPy array that this function did not make", frame.places.get(location),
                "use `@ag.function`, or return the array",
            )  # fmt: skip
