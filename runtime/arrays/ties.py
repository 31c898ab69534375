"""Which arrays are one, where only traced values decide that.

A branch or loop that gives one of several arrays gives an object of its own, which holds the value, and is *tied* to those that it may be: a
store into one is a store into each other where they are the same array.  So reading costs nothing, and what nobody holds any more is not stored
into.  Which array it is tells a number, its *tag*: the number of the array itself, or the one that traced values choose.
"""

from __future__ import annotations

import itertools
import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jax import lax

from autograph.runtime.arrays.objects import Array
from autograph.runtime.frames import frames

_numbers = itertools.count(1)


class NeedsTags(BaseException):
    """Not an error: a store has to know which array it is, and the trace has not carried that along.

    `entry` is the array that a variable of a loop held before it, if it is that which is stored into.
    """

    def __init__(self, entry: Any = None) -> None:
        self.entry = entry


class Identity:
    """One of Python's arrays: its number, and the objects that may be it."""

    __slots__ = ("_holders", "number")

    def __init__(self) -> None:
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

    __slots__ = ("_tag", "entry", "possible")

    def __init__(self, possible: Sequence[Identity], tag: Callable[[], Any] | None, entry: Any = None) -> None:
        self.possible, self._tag, self.entry = tuple(possible), tag, entry

    def tag(self) -> Any:
        if len(self.possible) == 1:
            return np.int32(self.possible[0].number)
        if self._tag is None:
            raise NeedsTags(self.entry)
        return self._tag()


def who(x: Array) -> Who:
    """Which array it may be; itself, if nothing else is known."""
    if x.who is None:
        be(x, Who((Identity(),), None))
    found: Who = x.who
    return found


def be(x: Array, one_of: Who) -> None:
    """Tie an object to the arrays that it may be."""
    x.who = one_of
    for identity in one_of.possible:
        identity.holds(x)


def others(x: Array) -> list[Array]:
    """The other objects, still held by anybody, that may be the same array."""
    if x.who is None:
        return []
    found = {id(y): y for identity in x.who.possible for y in identity.live()}
    found.pop(id(x), None)
    return list(found.values())


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


def tie(results: list[Any], sides: Sequence[Sequence[Any]], homes: Sequence[Any], choose: Callable[[Sequence[Any]], Any]) -> None:
    """Tie what a branch gives to what each of its sides gives, and make one object of two results that are one array on all sides.

    `homes` are the traces of the sides.
    """
    count = [Counter(id(x) for x in side if type(x) is Array) for side in sides]
    made: dict[tuple[int, int], Who] = {}
    one: dict[tuple[int, ...], Any] = {}

    def lasting(k: int, x: Any) -> bool:
        return type(x) is Array and x.home is not homes[k]

    def of(k: int, x: Any) -> Who:
        if lasting(k, x):
            return who(x)
        if type(x) is Array and x.who is not None:
            return Who(x.who.possible, None)
        return made.setdefault((k, id(x)), Who((Identity(),), None))

    for i, result in enumerate(results):
        given = [side[i] for side in sides]
        if type(result) is not Array or not result.ndim:
            continue
        if not any(lasting(k, x) or type(x) is Array and (x.who is not None or count[k][id(x)] > 1) for k, x in enumerate(given)):
            continue  # each side has made it
        if all(type(x) is Array for x in given) and (first := one.setdefault(tuple(map(id, given)), result)) is not result:
            results[i] = first
            continue
        chosen(result, [of(k, x) for k, x in enumerate(given)], choose)


class Turns:
    """The arrays among the variables of a loop: what they held before it, what a turn begins with, and what it ends with."""

    def __init__(self, before: Sequence[Any]) -> None:
        self.before = [x if type(x) is Array and x.ndim else None for x in before]
        self.slots = [Identity() if x is not None else None for x in self.before]

    def begin(self, params: Sequence[Any]) -> None:
        """A turn begins: a variable may hold what it held before the loop, or what a turn before has given it."""
        self.params = list(params)
        for x, p, slot in zip(self.before, params, self.slots, strict=True):
            if x is not None and type(p) is Array and p is not x:
                be(p, Who((slot, *who(x).possible), None, x))

    def results(self, results: list[Any], ends: Sequence[Any], home: Any, made: Callable[[], Any] | None) -> None:
        """Tie what the loop gives to what its last turn gave (`ends`), and, unless it is certain that one is `made`, to what there was before."""
        given: dict[int, Who] = {}
        one: dict[Any, Any] = {}
        for k, (result, x, end) in enumerate(zip(results, self.before, ends, strict=True)):
            if type(result) is not Array or not result.ndim or result is x or type(end) is not Array:
                continue
            shared = sum(e is end for e in ends) > 1
            alone = end.home is home and end.who is None and not shared
            if alone and (made is None or x is None):
                continue
            first = one.setdefault((id(end), id(x) if made is not None else 0), result)
            if first is not result:
                results[k] = first
                continue
            after = self._of(end, home, given)
            if made is None or x is None:
                be(result, after)
            else:
                chosen(result, [who(x), after], lambda tags: lax.select(made(), tags[1], tags[0]))

    def _of(self, end: Array, home: Any, given: dict[int, Who]) -> Who:
        if end.home is not home:
            return who(end)
        if end.who is None:
            return given.setdefault(id(end), Who((Identity(),), None))
        return Who(self._closed(end.who.possible), None)

    def _closed(self, possible: Sequence[Identity]) -> list[Identity]:
        """With what the variables may hold whose arrays are possible."""
        found = {i.number: i for i in possible}
        for p in self.params:
            if type(p) is Array and p.who is not None and any(i.number in found for i in p.who.possible):
                found |= {i.number: i for i in p.who.possible}
        return list(found.values())
