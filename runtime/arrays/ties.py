"""Which arrays are one, where only traced values decide that.

A branch or loop that gives one of several arrays gives an object of its own, which holds the value, and is *tied* to those that it may be: a
store into one is a store into each other where they are the same array.  So reading costs nothing, and what nobody holds any more is not stored
into.  Which array it is tells a number, its *tag*: the number of the array itself, or the one that traced values choose.
"""

from __future__ import annotations

import functools
import itertools
import weakref
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from autograph.runtime.frames import frames
from autograph.runtime.jaxapi.private import core
from autograph.runtime.jaxapi.tracers import Array, content

_numbers = itertools.count(1)


class NeedsTags(BaseException):
    """Not an error: a store has to know which array it is, and the trace has not carried that along.

    `entry` is the array that a variable of a loop held before it, if it is that which is stored into.
    """

    def __init__(self, entry: Any = None) -> None:
        self.entry = entry


class Identity:
    """One of Python's arrays: its number, and the objects that may be it."""

    __slots__ = ("_holders", "home", "number", "part")

    def __init__(self, home: Any = None, part: Any = None) -> None:
        self.home = home or weakref.ref(core.trace_ctx.trace)  # the trace in which it was made
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


class Who:
    """Which arrays an object may be, and what tells which: a number, or a function that computes the traced one."""

    __slots__ = ("_tag", "entry", "lost", "place", "possible")

    def __init__(self, possible: Sequence[Identity], tag: Callable[[], Any] | None, entry: Any = None) -> None:
        self.possible, self._tag, self.entry = tuple(possible), tag, entry
        self.lost = False  # is it, perhaps, a view at a place that is not known any more?
        self.place: Any = None  # of a variable of a loop: which loop, which variable, and the pairs of them that are never one

    def tag(self) -> Any:
        if len(self.possible) == 1:
            return np.int32(self.possible[0].number)
        if self._tag is None:
            raise NeedsTags(self.entry)
        return self._tag()


def who(x: Any) -> Who:
    """Which array it may be; itself, if nothing else is known."""
    if x.who is None:
        be(x, Who((Identity(x.home, x if hasattr(x, "whole") else None),), None))
    found: Who = x.who
    return found


def be(x: Array, one_of: Who) -> None:
    """Tie an object to the arrays that it may be."""
    x.who = one_of
    for identity in one_of.possible:
        identity.holds(x)
        if identity.part is not None and identity.part is not x:
            _dependents.setdefault(id(identity.part.root), []).append((weakref.ref(identity.part.root), weakref.ref(x)))


_dependents: dict[int, list[tuple[Any, Any]]] = {}  # by identity of an array: those that may be a part of it


def dependents(x: Array) -> list[tuple[Array, Array, Any]]:
    """The objects that may be a view of an array: each with the view, and whether it is that."""
    found = []
    here = {id(frame.trace) for frame in frames() if frame.trace is not None}
    for root, ref in _dependents.get(id(x), ()):
        if root() is x and (y := ref()) is not None and y.who is not None and id(y.home()) in here:
            for identity in y.who.possible:
                if identity.part is not None and identity.part.root is x:
                    found.append((y, identity.part, lax.eq(y.who.tag(), np.int32(identity.number))))
    return found


def others(x: Array) -> list[Array]:
    """The other objects, still held by anybody, that may be the same array."""
    if x.who is None:
        return []
    found = {id(y): y for identity in x.who.possible for y in identity.live()}
    found.pop(id(x), None)
    here = {id(frame.trace) for frame in frames() if frame.trace is not None}
    return [y for y in found.values() if id(y.home()) in here and not _apart(x.who, y.who)]  # a trace that has ended may still be referred to


def _apart(a: Who, b: Who) -> bool:
    """Whether two variables of a loop are never one array."""
    if a.place is None or b.place is None or a.place[0] != b.place[0]:
        return False
    return (min(a.place[1], b.place[1]), max(a.place[1], b.place[1])) in a.place[2]


def same(x: Array, y: Array) -> Any:
    """Whether two objects are one array: a traced truth value."""
    for z in (x, y):
        if z.who is not None and z.who.entry is not None:
            z.who.tag()
    return lax.eq(who(x).tag(), who(y).tag())


def chosen(x: Array, sides: Sequence[Who], choose: Callable[[Sequence[Any]], Any]) -> None:
    """An object is one of several arrays: `choose` selects one of their tags."""
    possible = {identity.number: identity for side in sides for identity in side.possible}
    be(x, Who(tuple(possible.values()), lambda: choose([side.tag() for side in sides])))
    x.who.lost = any(side.lost for side in sides)


class Given(NamedTuple):
    """An array that a block gives, when it has ended: one that lasts, or one of the block's, which may be some arrays that last."""

    array: Any
    key: int
    possible: tuple[Identity, ...]
    shared: bool
    lost: bool = False  # a view at a place that only the block knows
    tag: Any = None  # the location that says which of the possible

    def who(self, made: dict[Any, Who], side: int = 0, tags: Mapping[Any, Any] = MappingProxyType({})) -> Who:
        """Which array it is: one of the block's gets a number of its own."""
        if self.array is not None:
            return who(self.array)
        if self.possible:
            found = tags.get(self.tag)
            return Who(self.possible, None if found is None else lambda: found)
        if (side, self.key) not in made:
            made[side, self.key] = Who((Identity(),), None)
            made[side, self.key].lost = self.lost
        return made[side, self.key]

    @property
    def is_new(self) -> bool:
        """Whether nothing else is this array."""
        return self.array is None and not self.possible and not self.shared and not self.lost


def described(values: Sequence[Any], tags: Mapping[int, Any] = MappingProxyType({})) -> list[Given | None]:
    """At the end of a block: which arrays it gives."""
    here = core.trace_ctx.trace
    arrays = [x for x in values if isinstance(x, Array) and x.ndim]
    count = Counter(map(id, arrays))
    keys = {k: n for n, k in enumerate(count)}

    def given(x: Array) -> Given:
        lasts = x.home() is not here
        return Given(
            x if lasts else None,
            keys[id(x)],
            () if lasts or x.who is None else x.who.possible,
            count[id(x)] > 1,
            not lasts and hasattr(type(x), "part"),
            tags.get(id(x)),
        )

    return [given(x) if isinstance(x, Array) and x.ndim else None for x in values]


def lasting(x: Any) -> Any:
    """An array of the trace around, which a side leaves as it is; anything else as it is."""
    return Given(x, 0, (), False) if isinstance(x, Array) and x.ndim else x


def tie(results: list[Any], sides: Sequence[Sequence[Given | None]], choose: Callable[[Sequence[Any]], Any], tags: Mapping[Any, Any]) -> None:
    """Tie what a branch gives to what each of its sides gives, and make one object of two results that are one array on all sides."""
    made: dict[Any, Who] = {}
    one: dict[tuple[Any, ...], Any] = {}
    for i, result in enumerate(results):
        given = [side[i] if type(side[i]) is Given else None for side in sides]
        if not isinstance(result, Array) or not result.ndim or all(g is None or g.is_new for g in given):
            continue
        if all(g is not None for g in given):
            key = tuple((id(g.array), g.key) for g in given if g is not None)
            if (first := one.setdefault(key, result)) is not result:
                results[i] = first
                continue
        sources = [g.who(made, k, tags) if g is not None else Who((Identity(),), None) for k, g in enumerate(given)]
        chosen(result, sources, choose)


class Turns:
    """The arrays among the variables of a loop: what they held before it, what a turn begins with, and what it ends with.

    Where a store has to know which array one is, the loop carries their tags (`tagged`).  An array that a turn makes has the number of the first
    variable that holds it when the turn ends; two variables that no turn can make one (`apart`) are never tied.
    """

    def __init__(self, before: Sequence[Any], tagged: bool = False, apart: Collection[tuple[int, int]] = (), more: Sequence[Identity] = ()) -> None:
        self.before = [x if isinstance(x, Array) and x.ndim else None for x in before]
        self.ends: list[Given | None] = []
        self.alike: list[tuple[Identity, ...]] = []
        self.params: list[Any] = []
        self.tagged, self.apart = tagged, apart
        self.slots = [Identity() if x is not None else None for x in self.before]
        self.moves: list[Any] = []
        self.more = list(more)  # the arrays from outside that turns give

    def _every(self, shape: tuple[int, ...] | None = None) -> tuple[Identity, ...]:
        """All that a variable may be, of a shape."""
        held = [(x, slot) for x, slot in zip(self.before, self.slots, strict=True) if x is not None and shape in (None, x.shape)]
        every = [*(slot for _, slot in held if slot is not None), *(i for x, _ in held for i in who(x).possible), *self.more]
        return tuple({i.number: i for i in every}.values())

    def given(self) -> list[Identity]:
        """The arrays from outside that the last turn has given, which are not yet among those that a variable may be."""
        known = {i.number for i in self._every()}
        found = [i for given in self.ends if given is not None and given.array is not None for i in who(given.array).possible]
        return [i for i in found if i.number not in known]

    @property
    def arrays(self) -> list[int]:
        """The variables that hold arrays."""
        return [k for k, x in enumerate(self.before) if x is not None]

    def first(self) -> list[Any]:
        """The tags before the loop."""
        return [who(x).tag() for x in self.before if x is not None]

    def begin(self, params: Sequence[Any], tags: Sequence[Any] = ()) -> None:
        """A turn begins: a variable may hold what it held before the loop, or what a turn before has given it."""
        self.params = list(params)[: len(self.before)]
        for k, tag in zip(self.arrays, tags or [None] * len(self.arrays), strict=True):
            x, p, slot = self.before[k], self.params[k], self.slots[k]
            if not isinstance(p, Array) or p is x or slot is None:
                continue
            if tag is None:
                be(p, Who((slot, *who(x).possible), None, x))
            else:
                be(p, Who(self._every(p.shape), functools.partial(_known, content(tag))))
                p.who.place = id(self), k, self.apart

    def numbers(self, ends: Sequence[Any]) -> list[Any]:
        """The tags when a turn ends, one for each variable that holds an array."""
        mine = [(k, ends[k]) for k in self.arrays]
        own, here = {id(slot) for slot in self.slots}, core.trace_ctx.trace
        made: dict[int, int] = {}

        def raw(x: Any) -> Any:
            if x.who is None and x.home() is core.trace_ctx.trace:
                return np.int32(made.setdefault(id(x), -2 - len(made)))
            return who(x).tag()

        raws = [raw(x) if isinstance(x, Array) else np.int32(-1) for _, x in mine]
        out = []
        for n, (k, x) in enumerate(mine):
            slot = self.slots[k]
            assert slot is not None
            if not isinstance(x, Array):
                out.append(np.int32(slot.number))
                continue
            outer: list[int] = [i.number for i in x.who.possible if id(i) not in own and i.home() is not here] if x.who is not None else []
            number: Any = np.int32(slot.number)
            for j in reversed(range(n)):  # the first variable that holds the same array
                if not isinstance(mine[j][1], Array) or mine[j][1].shape != x.shape:
                    continue
                other = self.slots[self.arrays[j]]
                assert other is not None
                if type(raws[j]) is np.int32 and type(raws[n]) is np.int32:
                    number = np.int32(other.number) if raws[j] == raws[n] else number
                else:
                    number = lax.select(jnp.asarray(lax.eq(raws[j], raws[n])), jnp.int32(other.number), jnp.asarray(number, np.int32))
            if outer:
                is_outer = functools.reduce(lax.bitwise_or, [jnp.asarray(lax.eq(raws[n], np.int32(o))) for o in outer])
                number = lax.select(is_outer, jnp.asarray(raws[n], np.int32), jnp.asarray(number, np.int32))
            out.append(number)
        return out

    def chooses(self) -> bool:
        """Whether which array a variable holds afterwards depends on how many turns are made."""
        return any(end is not None and bool(end.possible) for end in self.ends)

    def end(self, ends: Sequence[Any]) -> None:
        """A turn ends: which arrays the variables hold."""
        self.ends = described(ends)
        place = {id(p): k for k, p in enumerate(self.params)}
        self.moves = [_move(ends[k], place) if k < len(ends) else None for k in range(len(self.before))]
        self.alike = [(p.who.possible if isinstance(p, Array) and p.who is not None else ()) for p in self.params]
        self.params = []

    def never_one(self) -> set[tuple[int, int]]:
        """The pairs of variables that are never one array, by what a turn moves; none where a turn chooses."""
        arrays = self.arrays
        pairs = {(k, j) for k in arrays for j in arrays if k < j}
        if any(self.moves[k] is None for k in arrays):
            return set()
        maybe = {(k, j) for k, j in pairs if _may_be_one(self.before[k], self.before[j])}
        outside = {k: {i.number for i in who(self.before[k]).possible} for k in arrays}
        while True:
            for k in arrays:  # what of outside a variable may hold
                kind, what = self.moves[k]
                outside[k] = outside[k] | (outside[what] if kind == "of" else {i.number for i in what} if kind == "outside" else set())
            new = set()
            for k, j in pairs - maybe:
                (a, x), (b, y) = self.moves[k], self.moves[j]
                if a == b == "of":
                    one = x == y or (min(x, y), max(x, y)) in maybe
                elif a == b == "made":
                    one = x == y
                elif "made" in (a, b):
                    one = False
                else:
                    one = bool(outside[k] & outside[j])
                if one:
                    new.add((k, j))
            if not new:
                return pairs - maybe
            maybe |= new

    def results(self, results: list[Any], before: Sequence[Any], made: Callable[[], Any] | None, tags: Sequence[Any] = ()) -> None:
        """Tie what the loop gives to what its last turn gave, and, unless it is certain that one is `made`, to what there was before."""
        if self.tagged:
            for k, tag in zip(self.arrays, tags, strict=True):
                if isinstance(results[k], Array) and results[k] is not before[k]:
                    be(results[k], Who(self._every(results[k].shape), functools.partial(_known, content(tag))))
                    results[k].who.place = id(self), k, self.apart
            return
        new: dict[Any, Who] = {}
        one: dict[Any, Any] = {}
        ends = [*self.ends, *[None] * (len(results) - len(self.ends))]  # an error code may have been added
        for k, (result, x, end) in enumerate(zip(results, before, ends, strict=True)):
            if not isinstance(result, Array) or not result.ndim or result is x or end is None:
                continue
            x = x if isinstance(x, Array) and x.ndim else None
            if end.is_new and (made is None or x is None):
                continue
            key = id(end.array), end.key, id(x) if made is not None else 0
            if (first := one.setdefault(key, result)) is not result:
                results[k] = first
                continue
            after = end.who(new) if not end.possible else Who(self._closed(end.possible), None)
            if made is None or x is None:
                be(result, after)
            else:
                chosen(result, [who(x), after], functools.partial(_last, made))

    def _closed(self, possible: Sequence[Identity]) -> list[Identity]:
        """With what the variables may hold whose arrays are possible."""
        found = {i.number: i for i in possible}
        for alike in self.alike:
            if any(i.number in found for i in alike):
                found |= {i.number: i for i in alike}
        return list(found.values())


def _known(tag: Any) -> Any:
    return tag


def _may_be_one(x: Any, y: Any) -> bool:
    mine = {i.number for i in who(x).possible}
    return x is y or any(i.number in mine for i in who(y).possible)


def _move(end: Any, place: dict[int, int]) -> Any:
    """What a turn does to a variable: it takes the array of another, one of outside, or makes one; None where traced values choose."""
    if not isinstance(end, Array):
        return None
    if id(end) in place:
        return "of", place[id(end)]
    if end.home() is core.trace_ctx.trace:
        return ("made", id(end)) if end.who is None else None
    return "outside", who(end).possible


def _last(made: Callable[[], Any], tags: Sequence[Any]) -> Any:
    before, after = (jnp.asarray(t, np.int32) for t in tags)
    return lax.select(made(), after, before)
