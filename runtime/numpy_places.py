"""Which NumPy arrays change in place when a call ends: those that were stored into while the places held them that held them before the call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from autograph.runtime.buffers import GivenAnother, check_in_place, given_another
from autograph.runtime.frames import Frame, frames, in_block, lifting
from autograph.runtime.heap import Cell, Contents, Entry, HeapLocation, Variable, entries
from autograph.runtime.lifted import may_have_failed
from autograph.runtime.places import here
from autograph.runtime.points_to import doubtful
from autograph.runtime.replaced import log
from autograph.runtime.shared import aliasable, origin

STORED, BOUND, MAYBE, BOTH = "stored", "bound", "maybe bound", "both"  # MAYBE: on a side that traced values decide about
_STORE = {None: STORED, STORED: STORED, BOUND: BOUND, MAYBE: BOTH, BOTH: BOTH}
_BIND = {None: BOUND, STORED: BOTH, BOUND: BOUND, MAYBE: BOUND, BOTH: BOTH}


def note_store(place: HeapLocation, bound: bool = False, picked: bool = False) -> None:
    """What a place holds is stored into; `bound`: the place is bound to the new array by `note_binding`; `picked`: only traced values know of it."""
    for frame in frames():
        if frame.root and (buffers := frame.buffers) is not None and place in buffers.tags:
            if picked:
                raise given_another(place, here(), "only traced values decide which item of the list is stored into")
        elif frame.root:
            frame.stored[place] = _STORE[frame.stored.get(place)]
            if place not in frame.places:
                frame.places[place] = here()
            _settle(place, frame)
            if bound:
                frame.pending.append(place)


def _settle(place: HeapLocation, frame: Frame) -> None:
    if place in frame.pending:
        frame.pending.remove(place)


@contextmanager
def within_call() -> Iterator[None]:
    """While a function runs that stores into its arguments: places that its caller will bind have nothing to do with its own stores."""
    around = [(frame, frame.pending) for frame in frames() if frame.root]
    for frame, _ in around:
        frame.pending = []
    try:
        yield
    finally:
        for frame, pending in around:
            frame.pending = pending


def note_binding(place: HeapLocation, value: Any, maybe: bool = False) -> None:
    """A place is given another value, perhaps only `maybe`, or the array that a store has made: perhaps through another name."""
    old = place.get()
    made = bool(lifting()) and (log().became(old, value) or log().became(origin(old), value))
    for frame in frames():
        if not frame.root:
            continue
        if (buffers := frame.buffers) is not None and place in buffers.tags:
            buffers.bound(place, value, maybe)
            continue
        before = frame.stored.get(place)
        if place in frame.pending:  # what else holds the array may be told of the new one before
            _settle(place, frame)
        elif origin(value) is origin(old) or (before is None and not _lasts(place, frame)):
            pass
        elif made:
            frame.stored[place] = _STORE[before]
            frame.places.setdefault(place, here())
        else:
            _let_go(place, old, before, frame, in_block() or maybe)
            if not in_block() and before != BOTH and (owner := _owner(value, frame)) is not None:
                frame.adopted[place] = owner
                frame.stored.pop(place, None)


@contextmanager
def moved_items(container: Any) -> Iterator[None]:
    """While a list or dict is changed otherwise than item by item: what has held an array, and holds another, is noted."""
    roots = [frame for frame in frames() if frame.root and isinstance(container, (list, dict)) and Contents(container) in frame.reached]
    before = Contents(container).get() if roots else None
    try:
        yield
    finally:
        for frame in roots:
            note_moves(container, before, frame)


def note_moves(container: Any, before: Any, frame: Frame) -> None:
    """The same, given the contents before the change."""
    if (buffers := frame.buffers) is not None:
        buffers.moved(container, before)
    for place in entries(container, before):
        if buffers is not None and place in buffers.tags:
            continue
        old, how = place.inside(before), frame.stored.get(place)
        if old is not place.get() and (how or _lasts(place, frame)):
            _let_go(place, old, how, frame, in_block())


def _let_go(place: HeapLocation, old: Any, before: str | None, frame: Frame, maybe: bool) -> None:
    """A place is given another array, `maybe` only: what it has held until then stays what it is, unless others store into it."""
    if maybe:
        if before is None:
            frame.let_go.setdefault(place, (origin(old), False))
        frame.stored[place] = MAYBE if before is None else _BIND[before]
        return
    frame.stored[place] = BOUND if before == STORED else _BIND[before]
    owner: HeapLocation | None = frame.adopted.pop(place, None)
    if before not in (None, STORED):
        pass
    elif owner is None:
        if isinstance(before_the_call(place, frame), np.ndarray):
            frame.let_go.setdefault(place, (old, before == STORED))
    elif owner in frame.let_go and before == STORED:
        frame.let_go[owner] = old, True


def _owner(value: Any, frame: Frame) -> HeapLocation | None:
    """The place that has held an array of NumPy's since before the call, if a value is what became of it, and no error can have occurred."""
    if not aliasable(value) or may_have_failed():
        return None
    let_go = ((place, held) for place, (held, _) in frame.let_go.items())
    places = (p for place in frame.reached for p in (entries(place.obj, place.get()) if isinstance(place, Contents) else [place]))
    holding = ((frame.adopted.get(place, place), place.get()) for place in places if frame.stored.get(place) in (None, STORED))
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
    found = {place: held for place, (held, changed) in frame.let_go.items() if changed}
    for place in found:
        _check_in_place(place, frame)
    return found


def stored_at_home(frame: Frame) -> dict[HeapLocation, Any]:
    """What the places hold of which the arrays of NumPy's are stored into that they have held since before the call.

    Raises ArrayStoreError (AG403) where a place may hold another, and where what is stored cannot be put back.
    """
    found: dict[HeapLocation, Any] = {}
    for place, how in frame.stored.items():
        if how in (STORED, BOTH) and place not in frame.adopted and _lasts(place, frame):
            if how == BOTH:
                raise given_another(place, frame.places.get(place) or here(), "the first would not change")
            _check_in_place(place, frame)
            found[place] = place.get()
    return found


def maybe_at_home(frame: Frame) -> GivenAnother | None:
    """Whether a place may hold the array of NumPy's that it has held since before the call, or another: its next store would need to know."""
    place = next((place for place, how in frame.stored.items() if how == MAYBE and _lasts(place, frame)), None)
    if place is None:
        return None
    error = given_another(place, frame.places.get(place) or here(), "only traced values decide which of the two it holds afterwards")
    error.harmless = True
    return error


def _check_in_place(place: HeapLocation, frame: Frame) -> None:
    check_in_place(before_the_call(place, frame), place.name, frame.places.get(place) or here())


def _lasts(place: HeapLocation, frame: Frame) -> bool:
    """Whether a place has held a NumPy array since before the call: objects that the function makes are not remembered."""
    if not isinstance(before_the_call(place, frame), np.ndarray):
        return False
    return isinstance(place, (Variable, Cell)) or (Contents(place.obj) if isinstance(place, Entry) else place) in frame.reached


def before_the_call(place: HeapLocation, frame: Frame) -> Any:
    """What a place held when the call began."""
    if isinstance(place, Entry):
        return place.inside(frame.saved.get(Contents(place.obj)))
    return frame.saved[place] if place in frame.saved else place.get()
