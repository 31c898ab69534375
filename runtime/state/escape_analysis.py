"""What was done to objects that nothing holds any more, but we, is no change of anything.

    for v in xs:                         `p` is made in each iteration, its attribute is written, and nothing holds it after the iteration:
        p = Point(v); p.x += 1           no part of the carry, and no error, though `record_write` has noted `p.x`
        s += p.x

When a block ends, `forget_local` drops the locations of objects that it has made and that only the block's own records hold.  Which objects are fresh
is found by counting references: what is counted beside our records, the block's result and the objects that are dropped themselves, is a holder
outside.  The reference counts of CPython decide here; `reference_counts.py` says how many are ours.  (For an object that a debugger holds the
answer is the safe one: it escapes.)
"""

from __future__ import annotations

import contextlib
import enum
import gc
import inspect
import struct
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from types import CellType, FunctionType, MemberDescriptorType, ModuleType
from typing import Any

import numpy as np

from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi import trees
from autograph.runtime.state.captured_state import Location, _settle
from autograph.runtime.state.fresh_objects import codes_before, held_before, made_for, reached
from autograph.runtime.state.object_graph import is_state
from autograph.runtime.state.reference_counts import VARIABLE
from autograph.runtime.state.state_refs import AttributeRef, ContainerItems, ContentsRef, StateRef, changed_under, namespace
from autograph.runtime.tracing.trace_context import TraceContext, frames
from autograph.runtime.values.abstract_values import (
    AbstractValue,
    is_container,
)
from autograph.runtime.values.values import ARRAYS, NUMBERS, Maybe, Poison, held_by_us, ours


def fewer(container: Any) -> None:
    """An item of a dict is taken away: if the blocks around cannot take that, this is the line to show."""
    for frame in frames() if isinstance(container, dict) else ():
        frame.places[ContentsRef(container)] = here()


def forget_local(frame: TraceContext, out: list[Any], conflict: Callable[..., None] = lambda location, specs: None) -> None:
    """Forget what was done to objects that the block made, and that nothing holds but places which it changes; `out` holds its result.

    Raises AG405 if an error before such a change would prevent it, unless `conflict` knows a way.
    """
    inside = _forget_dead(frame, out)
    if any(isinstance(x, StateRef) for x in frame.written):
        frame.own = made_for(frame, inside)
        mine = [x for x in _changed(frame) if id(x.obj) in frame.own]
        bound = codes_before(frame)  # if an error had occurred by then, nothing holds them
        for location in mine:
            _settle(location, [(code, held) for code, held in frame.late.get(location, ()) if id(code) not in bound], conflict)
        if frame.root and frame.born:
            mine += _in_result(frame, out)
        if _forgotten(frame, mine):
            _forget_dead(frame, out)
    refuse_beneath(frame)


def refuse_beneath(frame: TraceContext) -> None:
    """Raise AG405 for a place that a function under a transformation has changed, and that would keep a value of its trace."""
    for location, (name, place) in frame.beneath.items():
        if location in frame.saved and not holds_no_array(location.get(), frame.saved[location], live=True):
            raise changed_under(location, name, place)


def forget_born(frame: TraceContext, fn: Any) -> None:
    """Objects that a function under a transformation has made keep the arrays that it has set, and nothing else has changed.

    Sound because nobody around knows such an object yet: who takes it out of the trace takes values of the trace with it, and JAX names the leak when
    one is used, as without us.  One without attributes that the function knows by name is one of the code around.
    """
    mine = [x for x in frame.written if isinstance(x, AttributeRef) and id(x.obj) in frame.born and not holds_no_array(x.get(), frame.saved[x])]
    if mine:
        known = reached(_named_by(inspect.unwrap(fn)))
        _forgotten(frame, [x for x in mine if id(x.obj) not in known])


def _named_by(fn: Any) -> list[Any]:
    """What a function knows by name: its globals, the variables of functions around, its defaults, its object."""
    named = [getattr(fn, "__self__", None)]
    fn = getattr(fn, "__func__", fn)
    if isinstance(fn, FunctionType):
        named += [fn.__globals__[name] for name in fn.__code__.co_names if name in fn.__globals__]
        named += [x for cell in fn.__closure__ or () for x in gc.get_referents(cell)]
        named += fn.__defaults__ or ()
    return named


def restore_traced(frame: TraceContext) -> None:
    """After an error: what holds values of the trace holds what it held before; other changes stay, as those of a function that raises."""
    for location, before in reversed(frame.saved.items()):
        if not holds_no_array(location.get(), before):
            location.put(before)


def holds_no_array(value: Any, before: Any = None, live: bool = False, seen: frozenset[int] = frozenset()) -> bool:
    """Whether a value cannot hold a tracer of a trace that has ended, or is what was there before; with `live`, arrays of traces that last may be it.

    Sound for trees as JAX takes them apart, and for objects of Python's classes, which hold what their attributes do: another leaf may hold anything.
    A class of trees that hides an array in its definition hides it here, too, and so does a class: JAX names the leak when the array is used.
    `seen` are the objects around.
    """
    if isinstance(value, ContainerItems):
        held = before.values if isinstance(before, ContainerItems) else ()
        return all(any(v is x for x in held) or holds_no_array(v, None, live, seen) for v in value.values)
    if value is before or type(value) in _PLAIN or isinstance(value, (enum.Enum, type, np.dtype)) or id(value) in seen:
        return True
    if live and isinstance(value, ARRAYS) and _jax.is_live(value):
        return True
    seen |= {id(value)}
    inside = trees.leaves(value)
    if len(inside) == 1 and inside[0] is value:
        held_in = _attributes(value)
        return held_in is not None and all(holds_no_array(v, None, live, seen) for v in held_in)
    return all(holds_no_array(v, None, live, seen) for v in inside)


def _attributes(value: Any) -> list[Any] | None:
    """What an object holds in its `__dict__` and slots; None if its class has room for more than these."""
    kind = type(value)
    slots = [x for k in kind.__mro__ for x in vars(k).values() if isinstance(x, MemberDescriptorType)]
    bare = _BARE[bool(kind.__dictoffset__), bool(kind.__weakrefoffset__)]
    if kind.__itemsize__ or kind.__basicsize__ != bare.__basicsize__ + struct.calcsize("P") * len(slots):
        return None
    held = [*(namespace(value) or {}).values()]
    for slot in slots:
        with contextlib.suppress(AttributeError):  # not set
            held.append(slot.__get__(value))
    return held


class _WithDict:
    __slots__ = ("__dict__",)


class _WithReferences:
    __slots__ = ("__weakref__",)


class _WithBoth:
    __slots__ = ("__dict__", "__weakref__")


_BARE: dict[tuple[bool, bool], type] = {  # by whether there is room for attributes, and for weak references
    (False, False): object, (True, False): _WithDict, (False, True): _WithReferences, (True, True): _WithBoth,
}  # fmt: skip
_PLAIN = frozenset({bool, int, float, complex, str, bytes, type(None), type})


def _in_result(frame: TraceContext, out: list[Any]) -> list[StateRef]:
    """The attributes of objects that a whole function has made, and that its result holds: they go out with it, whoever else may know them.

    Sound because what was there before has attributes.  A namespace without any that the code around has made, and that the function fills and
    returns, is taken for one that it makes: the one around stays empty, and a read of an attribute of it is Python's AttributeError.
    """
    left = [x for x in frame.written if isinstance(x, AttributeRef) and id(x.obj) in frame.born and id(x.obj) not in frame.own]
    held = reached(out) if left else {}
    return [x for x in left if id(x.obj) in held]


def _forget_dead(frame: TraceContext, out: list[Any]) -> Counter[int]:
    """Forget the places of objects that nobody holds: an object that is forgotten may have held others.  How often the result holds which objects.

    What a place held before is there again when the block ends, though nothing holds it now: another side, or an iteration that is
    not made, reads it.
    """
    inside = occurrences(out)
    while (changed := _changed(frame)) and _forgotten(frame, _dead(changed, inside, held_before(frame))):
        inside = occurrences(out)  # what a forgotten object held as well may now be the result's alone
    return inside


def forget_object(obj: Any) -> None:
    """What has been done to an object is no change of a place: nothing but a record of ours holds it."""
    for frame in frames():
        _forgotten(frame, [x for x in {**frame.saved, **frame.late, **frame.written} if isinstance(x, StateRef) and x.obj is obj])


def _changed(frame: TraceContext) -> list[StateRef]:
    found = [x for x in {**frame.saved, **frame.late} if x not in frame.preset]
    return [x for x in found if not _is_hidden(x) or frame.root and not _comes_back(x.obj, frame)]  # only the home holds what it has become


def _is_hidden(place: StateRef) -> bool:
    return isinstance(place, ContentsRef) and type(place.obj) is list and bool(place.obj) and type(place.obj[0]) is Poison


def _comes_back(hidden: list[Any], frame: TraceContext) -> bool:
    """Whether the home of a list, which holds another in its place, will hold the list again when the trace ends."""
    home = getattr(getattr(hidden[0].make, "bound", None), "home", None)
    before = frame.saved.get(home.location) if home is not None else None
    return any(x is hidden for x in (before.values if isinstance(before, ContainerItems) else (before,)))


def _forgotten(frame: TraceContext, places: list[StateRef]) -> bool:
    for location in places:
        for noted in (frame.written, frame.saved, frame.late, frame.places):
            noted.pop(location, None)
    return bool(places)


def forget_dead(places: dict[Location, AbstractValue]) -> None:
    """Forget the places of objects that an earlier run of the block around has made: it is only remembered what they held."""
    while dead := _dead([x for x in places if isinstance(x, StateRef)], Counter()):
        for place in dead:
            del places[place]


def _dead(places: list[StateRef], inside: Counter[int], before: Collection[int] = ()) -> list[StateRef]:
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
            if isinstance(child, (*ARRAYS, *NUMBERS, str, type, ModuleType, FunctionType, Poison)):
                continue
            found[id(child)] += 1
            if found[id(child)] == 1 and sys.getrefcount(child) <= ours(child) + 1 + VARIABLE:  # the container, and this variable
                pending.append(child)
    return found
