"""What was done to objects that nothing holds any more, but we, is no change of anything."""

from __future__ import annotations

import gc
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from types import CellType, FunctionType, ModuleType
from typing import Any

from autograph.runtime.frames import Frame, frames
from autograph.runtime.messages.places import here
from autograph.runtime.state.counting import VARIABLE
from autograph.runtime.state.lifted import Location, _settle
from autograph.runtime.state.made import codes_before, held_before, made_for, reached
from autograph.runtime.state.objects import is_state
from autograph.runtime.values.heap import Attribute, Contents, HeapLocation, Items
from autograph.runtime.values.specs import (
    Spec,
    is_container,
)
from autograph.runtime.values.values import ARRAYS, NUMBERS, Maybe, Stale, held_by_us, ours


def fewer(container: Any) -> None:
    """An item of a dict is taken away: if the blocks around cannot take that, this is the line to show."""
    for frame in frames() if isinstance(container, dict) else ():
        frame.places[Contents(container)] = here()


def forget_local(frame: Frame, out: list[Any], conflict: Callable[..., None] = lambda location, specs: None) -> None:
    """Forget what was done to objects that the block made, and that nothing holds but places which it changes; `out` holds its result.

    Raises AG405 if an error before such a change would prevent it, unless `conflict` knows a way.
    """
    inside = occurrences(out)
    _forget_dead(frame, inside)
    if any(isinstance(x, HeapLocation) for x in frame.written):
        frame.own = made_for(frame, inside)
        mine = [x for x in _changed(frame) if id(x.obj) in frame.own]
        bound = codes_before(frame)  # if an error had occurred by then, nothing holds them
        for location in mine:
            _settle(location, [(code, held) for code, held in frame.late.get(location, ()) if id(code) not in bound], conflict)
        if frame.root and frame.born:
            mine += _in_result(frame, out)
        if _forgotten(frame, mine):
            _forget_dead(frame, inside)


def _in_result(frame: Frame, out: list[Any]) -> list[HeapLocation]:
    """The attributes of objects that a whole function has made, and that its result holds: they go out with it, whoever else may know them.

    Sound because what was there before has attributes.  A namespace without any that the code around has made, and that the function fills and
    returns, is taken for one that it makes: the one around stays empty, and a read of an attribute of it is Python's AttributeError.
    """
    left = [x for x in frame.written if isinstance(x, Attribute) and id(x.obj) in frame.born and id(x.obj) not in frame.own]
    held = reached(out) if left else {}
    return [x for x in left if id(x.obj) in held]


def _forget_dead(frame: Frame, inside: Counter[int]) -> None:
    """Forget the places of objects that nobody holds: an object that is forgotten may have held others.

    What a place held before is there again when the block ends, though nothing holds it now: another side, or an iteration that is
    not made, reads it.
    """
    while dead := _dead(_changed(frame), inside, held_before(frame)):
        _forgotten(frame, dead)


def forget_object(obj: Any) -> None:
    """What has been done to an object is no change of a place: nothing but a record of ours holds it."""
    for frame in frames():
        _forgotten(frame, [x for x in {**frame.saved, **frame.late, **frame.written} if isinstance(x, HeapLocation) and x.obj is obj])


def _changed(frame: Frame) -> list[HeapLocation]:
    found = [x for x in {**frame.saved, **frame.late} if x not in frame.preset]
    return [x for x in found if not _is_hidden(x) or frame.root and not _comes_back(x.obj, frame)]  # only the home holds what it has become


def _is_hidden(place: HeapLocation) -> bool:
    return isinstance(place, Contents) and type(place.obj) is list and bool(place.obj) and type(place.obj[0]) is Stale


def _comes_back(hidden: list[Any], frame: Frame) -> bool:
    """Whether the home of a list, which holds another in its place, will hold the list again when the trace ends."""
    home = getattr(getattr(hidden[0].make, "bound", None), "home", None)
    before = frame.saved.get(home.location) if home is not None else None
    return any(x is hidden for x in (before.values if isinstance(before, Items) else (before,)))


def _forgotten(frame: Frame, places: list[HeapLocation]) -> bool:
    for location in places:
        for noted in (frame.written, frame.saved, frame.late, frame.places):
            noted.pop(location, None)
    return bool(places)


def forget_dead(places: dict[Location, Spec]) -> None:
    """Forget the places of objects that an earlier run of the block around has made: it is only remembered what they held."""
    while dead := _dead([x for x in places if isinstance(x, HeapLocation)], Counter()):
        for place in dead:
            del places[place]


def _dead(places: list[HeapLocation], inside: Counter[int], before: Collection[int] = ()) -> list[HeapLocation]:
    """The places in objects that nobody holds but we, what is `inside` of a result, and objects of which the same is true; none of those `before`."""
    places = [x for x in places if id(x.obj) not in before]
    found = [x for x in places if sys.getrefcount(x.obj) <= ours(x.obj) + inside[id(x.obj)] + 1]
    if found or not places:
        return found
    # References beside ours: the list, and this variable.
    alone = [x for x in held_by_us() if sys.getrefcount(x) <= ours(x) + 1 + VARIABLE and (is_container(x) or is_state(x) or isinstance(x, CellType))]
    within = occurrences(alone)
    within.subtract(map(id, alone))
    return [x for x in places if within[id(x.obj)] > 0 and sys.getrefcount(x.obj) <= ours(x.obj) + inside[id(x.obj)] + within[id(x.obj)] + 1]


def occurrences(out: list[Any]) -> Counter[int]:
    """How often objects are held by the tuples, lists, dicts and objects that the block made and that its result consists of."""
    found: Counter[int] = Counter()
    pending: list[Any] = [out]
    while pending:
        x = pending.pop()
        inside: Iterable[Any] = x.values() if isinstance(x, dict) else x if isinstance(x, (tuple, list)) else ()
        if isinstance(x, Maybe):
            inside = (x.value,)
        elif isinstance(x, CellType):
            inside = gc.get_referents(x)
        elif not isinstance(x, (dict, tuple, list)) and hasattr(x, "__dict__"):
            held = vars(x)
            found[id(held)] += 1  # code may have changed it itself (`self.__dict__.update(...)`)
            inside = held.values()
        for child in inside:
            if isinstance(child, (*ARRAYS, *NUMBERS, str, type, ModuleType, FunctionType, Stale)):
                continue
            found[id(child)] += 1
            if found[id(child)] == 1 and sys.getrefcount(child) <= ours(child) + 1 + VARIABLE:  # the container, and this variable
                pending.append(child)
    return found
