"""Which NumPy arrays change in place when a call ends: those that their places have held all along while they were stored into."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograph.runtime.frames import Frame, frames, in_block, lifting
from autograph.runtime.heap import Cell, HeapLocation, Variable
from autograph.runtime.places import here

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
    made = any(a() is old and b() is value for frame in lifting()[-1:] for a, b in frame.pairs)
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
        else:
            frame.stored[place] = MAYBE if before is None and in_block() else _BIND[before]


def _lasts(place: HeapLocation, frame: Frame) -> bool:
    """Whether a place has held a NumPy array since before the call: objects that the function makes are not remembered."""
    held = frame.saved[place] if place in frame.saved else place.get()
    return isinstance(held, np.ndarray) and (isinstance(place, (Variable, Cell)) or place in frame.reached)
