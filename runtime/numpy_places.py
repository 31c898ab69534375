"""Which NumPy arrays change in place when a call ends: those that were stored into while the places held them that held them before the call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.runtime.errors import ArrayStoreError, Place
from autograph.runtime.frames import Frame, frames, in_block, lifting
from autograph.runtime.heap import Cell, HeapLocation, Variable
from autograph.runtime.lifted import may_have_failed
from autograph.runtime.places import here
from autograph.runtime.points_to import doubtful
from autograph.runtime.shared import aliasable, origin

STORED, BOUND, MAYBE, BOTH = "stored", "bound", "maybe bound", "both"  # MAYBE: on a side that traced values decide about
_STORE = {None: STORED, STORED: STORED, BOUND: BOUND, MAYBE: BOTH, BOTH: BOTH}
_BIND = {None: BOUND, STORED: BOTH, BOUND: BOUND, MAYBE: BOUND, BOTH: BOTH}


def note_store(place: HeapLocation, bound: bool = False) -> None:
    """What a place holds is stored into; `bound`: the place is bound to the new array by `note_binding`."""
    for frame in frames():
        if frame.root:
            frame.stored[place] = _STORE[frame.stored.get(place)]
            if place not in frame.places:
                frame.places[place] = here()
            frame.pending = place if bound else None


def note_binding(place: HeapLocation, value: Any) -> None:
    """A place is given another value, or the array that a store has made: perhaps through another name."""
    old = place.get()
    made = any(b() is value and origin(a()) is origin(old) for frame in lifting()[-1:] for a, b in frame.pairs)
    for frame in frames():
        if not frame.root:
            continue
        before = frame.stored.get(place)
        if frame.pending == place:  # what else holds the array may be told of the new one before
            frame.pending = None
        elif value is old or (before is None and not _lasts(place, frame)):
            pass
        elif made:
            frame.stored[place] = _STORE[before]
            frame.places.setdefault(place, here())
        elif in_block():
            if before is None:
                frame.let_go.setdefault(place, (origin(old), False))
            frame.stored[place] = MAYBE if before is None else _BIND[before]
        else:
            _let_go(place, old, before, frame)
            owner = _owner(value, frame)
            if owner is None or before == BOTH:
                frame.stored[place] = BOUND if before == STORED else _BIND[before]
            else:
                frame.adopted[place] = owner
                frame.stored.pop(place, None)


def _let_go(place: HeapLocation, old: Any, before: str | None, frame: Frame) -> None:
    """A place is given another array, beyond doubt: what it has held until then stays what it is, unless others store into it."""
    owner: HeapLocation | None = frame.adopted.pop(place, None)
    if before not in (None, STORED):
        pass
    elif owner is None:
        if isinstance(_before_the_call(place, frame), np.ndarray):
            frame.let_go.setdefault(place, (old, before == STORED))
    elif owner in frame.let_go and before == STORED:
        frame.let_go[owner] = old, True


def _owner(value: Any, frame: Frame) -> HeapLocation | None:
    """The place that has held an array of NumPy's since before the call, if a value is what became of it, and no error can have occurred."""
    if not aliasable(value) or may_have_failed():
        return None
    let_go = ((place, held) for place, (held, _) in frame.let_go.items())
    holding = ((frame.adopted.get(place, place), place.get()) for place in frame.reached if frame.stored.get(place) in (None, STORED))
    for place, held in (*let_go, *holding):
        if aliasable(held) and origin(held) is origin(value) and _lasts(place, frame):
            owner: HeapLocation = place
            return owner
    return None


def let_go_became(x: Any, after: Callable[[Any], Any]) -> None:
    """A store makes one array of another: it may be one that a place has let go, which is `after` of what it held."""
    for frame in frames():
        for place, (held, _) in frame.let_go.items():
            if origin(held) is origin(x):
                if not in_block():
                    frame.let_go[place] = after(held), True
            elif doubtful(held, x):
                raise given_another(place, here(), "only traced values decide whether the first is stored into afterwards")


def let_go_and_changed(frame: Frame) -> dict[HeapLocation, Any]:
    """What NumPy's arrays that their places have let go hold at the end, of those that were stored into.

    Raises ArrayStoreError (AG403) where a branch or loop has stored into one, and no place holds it: what is in it then is not known.
    """
    for place, owner in frame.adopted.items():
        how = frame.stored.get(place)
        if owner in frame.let_go and how == STORED:
            frame.let_go[owner] = place.get(), True
        elif owner in frame.let_go and how == BOTH:
            raise given_another(owner, frame.places.get(place) or here(), "another place that holds the first changes it")
    for place, (held, _) in frame.let_go.items():
        if (stored := frame.replaced.get(id(origin(held)))) is not None:
            raise given_another(place, stored[1], "the first is stored into afterwards as well, in a branch or loop")
    return {place: held for place, (held, changed) in frame.let_go.items() if changed}


def stored_at_home(frame: Frame) -> dict[HeapLocation, Any]:
    """What the places hold of which the arrays of NumPy's are stored into that they have held since before the call."""
    return {
        place: place.get()
        for place, how in frame.stored.items()
        if how in (STORED, BOTH) and place not in frame.adopted and isinstance(frame.saved.get(place), np.ndarray)
    }


def given_another(place: HeapLocation, at: Place | None, why: str) -> ArrayStoreError:
    """AG403: a NumPy array that is stored into, and cannot be given the new values because its place holds another then."""
    return ArrayStoreError(
        f"{place.name} is a NumPy array that is stored into, and is given another array in the same call: {why}", at,
        "make it a `jnp` array before, or store into a copy (`.copy()`)",
    )  # fmt: skip


def _lasts(place: HeapLocation, frame: Frame) -> bool:
    """Whether a place has held a NumPy array since before the call: objects that the function makes are not remembered."""
    held = _before_the_call(place, frame)
    return isinstance(held, np.ndarray) and (isinstance(place, (Variable, Cell)) or place in frame.reached)


def _before_the_call(place: HeapLocation, frame: Frame) -> Any:
    return frame.saved[place] if place in frame.saved else place.get()
