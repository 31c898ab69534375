"""Which arrays are one, where that is data-dependent.

    c = a if p else b        `c` holds the value, and points to {a, b}; its tag is select(p, number of a, number of b)
    c[0] = 1            =>   a store into c, and a select of it into a and into b, where their number is the tag

An array of the user's is an `ArrayId`: a number, and the objects that may be it.  `PointsTo` says which arrays an object may be, and computes the
tag. An object that may be one of several is *tied* to them: a store into one is a store into each other where they are the same array.  So reading
costs nothing, and what nobody holds any more is not stored into.

A loop carries tags only if a store needs them and neither its structure nor the iteration decides (`NeedsTags` makes it begin again).  Tags that
nothing reads are dropped (`jaxapi/dead_outputs.py`).  Compare points-to sets: Andersen, Program Analysis and Specialization for C, 1994, chapter 4.
"""

from __future__ import annotations

import itertools
import weakref
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from jax import lax

from autograph.runtime.jaxapi.tracers import Array, home_trace
from autograph.runtime.tracing.trace_context import Retrace, frames

_numbers = itertools.count(1)


class NeedsTags(Retrace):
    """Not an error: a store has to know which array it is, and the trace has not carried that along.

    `entry` is the array that a variable of a loop held before it, if it is that which is stored into.
    """

    def __init__(self, entry: Any = None) -> None:
        self.entry = entry


class ArrayId:
    """One of Python's arrays: its number, and the objects that may be it."""

    __slots__ = ("_holders", "home", "number", "part")

    def __init__(self, home: Any = None, part: Any = None) -> None:
        self.home = home or weakref.ref(home_trace())  # the trace in which it was made
        self.part = part  # the view that it is
        root = frames()[0] if frames() else None
        self.number = next(_numbers if root is None else root.identities)
        self._holders: dict[int, Any] = {}

    def holds(self, x: Array) -> None:
        self._holders[id(x)] = weakref.ref(x)

    def live(self) -> list[Array]:
        found = [(k, ref()) for k, ref in self._holders.items()]
        for k, x in found:
            if x is None:
                del self._holders[k]
        return [x for _, x in found if x is not None]


class PointsTo:
    """Which arrays an object may be, and what tells which: a number, or a function that computes the traced one."""

    __slots__ = ("_tag", "entry", "lost", "place", "possible", "roots")

    def __init__(self, possible: Sequence[ArrayId], tag: Callable[[], Any] | None, entry: Any = None) -> None:
        self.possible, self._tag, self.entry = tuple(possible), tag, entry
        self.lost = False  # is it, perhaps, a view at a place that is not known any more?
        self.roots: tuple[Any, ...] = ()  # of these arrays, if it is
        self.place: Any = None  # of a variable of a loop: which loop, which variable, and the pairs of them that are never one

    def tag(self) -> Any:
        if len(self.possible) == 1:
            return np.int32(self.possible[0].number)
        if self._tag is None:
            raise NeedsTags(self.entry)
        return self._tag()


def points_to(x: Any) -> PointsTo:
    """Which array it may be; itself, if nothing else is known."""
    if x.who is None:
        set_points_to(x, PointsTo((_identity(x),), None))
    found: PointsTo = x.who
    return found


def _identity(x: Any) -> ArrayId:
    """The array that it is itself: all views of an array at one place are one."""
    if not _is_view(x):
        return ArrayId(x.home)
    if (place := x.place) is None:
        return ArrayId(x.home, x)
    root = x.root
    if root.views is None:
        root.views = {}
    found: ArrayId | None = root.views.get(place)
    if found is None:
        found = root.views[place] = ArrayId(x.home, x)
    return found


def _is_view(x: Any) -> bool:
    return hasattr(type(x), "part")


def set_points_to(x: Array, one_of: PointsTo) -> None:
    """Tie an object to the arrays that it may be."""
    x.who = one_of
    for identity in one_of.possible:
        identity.holds(x)
        if identity.part is not None and not _is_view(x):
            _note(x, identity.part.root)
    for root in one_of.roots:
        _note(x, root)


def _note(x: Array, root: Any) -> None:
    """An object may be a view of an array."""
    if not isinstance(root, Array) or not hasattr(root, "perhaps"):
        return
    root.perhaps = [ref for ref in root.perhaps if ref() is not None and ref() is not x] + [weakref.ref(x)]


def also_of(x: Array, roots: Sequence[Any]) -> None:
    """What may be a lost view may be one of these arrays, too."""
    x.who.roots = tuple({id(root): root for root in (*x.who.roots, *roots) if root is not x}.values())
    for root in x.who.roots:
        _note(x, root)


def lost_views(x: Any) -> list[Any]:
    """The objects that may be a view of an array at a place that is not known any more."""
    here = {id(frame.trace) for frame in frames() if frame.trace is not None}
    live = [y for ref in getattr(x, "perhaps", ()) if (y := ref()) is not None and id(y.home()) in here]
    return [y for y in live if y.who is not None and any(root is x for root in y.who.roots)]


def _lost_in(x: Any, ended: Any) -> tuple[bool, list[Any]]:
    """Whether an object is, perhaps, a view at a place that only a trace knows which ends; and of which arrays."""
    if _is_view(x):
        parts = [x] if x.home() is ended else []
    else:
        parts = [i.part for i in x.who.possible if i.part is not None and i.part.home() is ended] if x.who is not None else []
    roots = [*(x.who.roots if x.who is not None else ()), *(part.root for part in parts)]
    roots += [y for root in roots if root.who is not None for i in root.who.possible for y in i.live()]  # a parameter, and what it may stand for
    return bool(parts) or (x.who is not None and x.who.lost), roots


def dependents(x: Any) -> list[tuple[Array, Array, Any]]:
    """The objects that may be a view of an array: each with the view, and whether it is that."""
    found = []
    here = {id(frame.trace) for frame in frames() if frame.trace is not None}
    for ref in getattr(x, "perhaps", ()):
        if (y := ref()) is not None and y.who is not None and id(y.home()) in here:
            for identity in y.who.possible:
                if identity.part is not None and identity.part.root is x and identity.part.shape == y.shape:
                    found.append((y, identity.part, lax.eq(y.who.tag(), np.int32(identity.number))))
    return found


def others(x: Array) -> list[Array]:
    """The other objects, still held by anybody, that may be the same array."""
    if x.who is None:
        return []
    found = {id(y): y for identity in x.who.possible for y in identity.live() if not _is_view(y) or y is identity.part}  # one view for all at a place
    found.pop(id(x), None)
    here = {id(frame.trace) for frame in frames() if frame.trace is not None}
    live = [y for y in found.values() if id(y.home()) in here]  # a trace that has ended may still be referred to
    return [y for y in live if y.shape == x.shape and not _apart(x.who, y.who)]


def _apart(a: PointsTo, b: PointsTo) -> bool:
    """Whether two variables of a loop are never one array."""
    if a.place is None or b.place is None or a.place[0] != b.place[0]:
        return False
    return (min(a.place[1], b.place[1]), max(a.place[1], b.place[1])) in a.place[2]


def check_bound(x: Array) -> None:
    """Called before a store: a variable that held no array before its loop is one that an iteration has given it, which its tag tells.

    Raises NeedsTags where the loop does not carry that.
    """
    if x.who is not None and x.who.entry is not None and not isinstance(x.who.entry, Array):
        x.who.tag()


def same(x: Array, y: Array) -> Any:
    """Whether two objects are one array: a traced truth value."""
    for z in (x, y):
        if z.who is not None and z.who.entry is not None:
            z.who.tag()
    return lax.eq(points_to(x).tag(), points_to(y).tag())


def join_aliases(x: Array, sides: Sequence[PointsTo], choose: Callable[[Sequence[Any]], Any]) -> None:
    """An object is one of several arrays: `choose` selects one of their tags."""
    possible = {identity.number: identity for side in sides for identity in side.possible}
    one_of = PointsTo(tuple(possible.values()), lambda: choose([side.tag() for side in sides]))
    one_of.lost = any(side.lost for side in sides)
    one_of.roots = tuple({id(root): root for side in sides for root in side.roots}.values())
    set_points_to(x, one_of)


def counts(x: Any) -> bool:
    """Whether it matters which array a value is: not of one without axes, which nothing is stored into, unless a tape asks."""
    return isinstance(x, Array) and (bool(x.aval.shape) or bool(frames()) and frames()[0].tagging)


def note_handed_on(values: Sequence[Any]) -> None:
    """A branch or loop hands arrays on: if a tape asks which is which, that has to be carried along."""
    if values and frames() and not frames()[0].tagging:
        frames()[0].memory["hands on"] = True


def are_told_apart() -> bool:
    """Whether it is known, where that matters for a tape, which array each is."""
    return not frames() or "hands on" not in frames()[0].memory


class RegionArray(NamedTuple):
    """An array that a block gives, when it has ended: one that lasts, or one of the block's, which may be some arrays that last."""

    array: Any
    key: int
    possible: tuple[ArrayId, ...]
    shared: bool
    lost: bool = False  # is it, perhaps, a view at a place that only the block knows?
    roots: tuple[Any, ...] = ()  # of these arrays, if it is
    inner: frozenset[int] = frozenset()  # and of these of the block's, by their keys
    tag: Any = None  # the location that says which of the possible

    def who(self, made: dict[Any, PointsTo], side: int = 0, tags: Mapping[Any, Any] = MappingProxyType({})) -> PointsTo:
        """Which array it is: one of the block's gets a number of its own."""
        if self.array is not None:
            return points_to(self.array)
        if self.possible:
            found = tags.get(self.tag)
            return self._lost(PointsTo(self.possible, None if found is None else lambda: found))
        if (side, self.key) not in made:
            made[side, self.key] = self._lost(PointsTo((ArrayId(),), None))
        return made[side, self.key]

    def _lost(self, found: PointsTo) -> PointsTo:
        found.lost, found.roots = self.lost, self.roots
        return found

    @property
    def is_new(self) -> bool:
        """Whether nothing else is this array."""
        return self.array is None and not self.possible and not self.shared and not self.lost


def described(values: Sequence[Any], tags: Mapping[int, Any] = MappingProxyType({})) -> list[RegionArray | None]:
    """At the end of a block: which arrays it gives."""
    here = home_trace()
    note_handed_on([x for x in values if isinstance(x, Array) and not x.ndim and x.home() is not here])
    arrays = [x for x in values if counts(x)]
    count = Counter(map(id, arrays))
    keys = {k: n for n, k in enumerate(count)}

    def given(x: Array) -> RegionArray:
        if x.home() is not here:
            return RegionArray(x, keys[id(x)], (), count[id(x)] > 1)
        lost, found = _lost_in(x, here)
        roots = {id(root): root for root in found}
        return RegionArray(
            None, keys[id(x)], () if x.who is None else x.who.possible, count[id(x)] > 1, lost,
            tuple(root for root in roots.values() if root.home() is not here), frozenset(keys[k] for k in roots if k in keys), tags.get(id(x)),
        )  # fmt: skip

    return [given(x) if counts(x) else None for x in values]


def lasting(x: Any) -> Any:
    """An array of the trace around, which a side leaves as it is; anything else as it is."""
    return RegionArray(x, 0, (), False) if counts(x) else x


def tie(results: list[Any], sides: Sequence[Sequence[RegionArray | None]], choose: Callable[[Sequence[Any]], Any], tags: Mapping[Any, Any]) -> None:
    """Tie what a branch gives to what each of its sides gives, and make one object of two results that are one array on all sides."""
    made: dict[Any, PointsTo] = {}
    one: dict[tuple[Any, ...], Any] = {}
    for i, result in enumerate(results):
        given = [side[i] if type(side[i]) is RegionArray else None for side in sides]
        if not counts(result) or all(g is None or g.is_new for g in given):
            continue
        if all(g is not None for g in given):
            key = tuple((id(g.array), g.key) for g in given if g is not None)
            if (first := one.setdefault(key, result)) is not result:
                results[i] = first
                continue
        sources = [g.who(made, k, tags) if g is not None else PointsTo((ArrayId(),), None) for k, g in enumerate(given)]
        join_aliases(result, sources, choose)
    for result, *given in zip(results, *sides, strict=False):
        if isinstance(result, Array) and result.who is not None and result.who.lost:
            inner = [(side, key) for side, g in zip(sides, given, strict=True) if type(g) is RegionArray for key in g.inner]
            found = [
                r for side, key in inner for r, g in zip(results, side, strict=False) if type(g) is RegionArray and g.array is None and g.key == key
            ]
            also_of(result, found)
