"""Which arrays the variables of a loop are: by what an iteration moves, or by tags that the loop carries."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from autograph.runtime.arrays.array_aliasing import (
    ArrayId,
    PointsTo,
    RegionArray,
    also_of,
    counts,
    described,
    join_aliases,
    note_handed_on,
    points_to,
    set_points_to,
)
from autograph.runtime.jaxapi.tracers import Array, content, home_trace
from autograph.runtime.tracing.trace_context import frames


class Unbound:
    """Stands for the array that a variable held before a loop, where it held none: it was unset, or None.

    A store through such a variable needs tags: which array it is, only the iterations before have decided.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape, self.ndim, self.who = shape, len(shape), PointsTo((ArrayId(),), None)


class LoopAliases:
    """The arrays among the variables of a loop: what they held before it, what an iteration begins with, and what it ends with.

    Where a store has to know which array one is, the loop carries their tags (`tagged`).  An array that an iteration makes has the number of the
    first variable that holds it when the iteration ends; two variables that no iteration can make one (`apart`) are never tied.
    """

    def __init__(
        self,
        before: Sequence[Any],
        tagged: bool = False,
        apart: Collection[tuple[int, int]] = (),
        more: Sequence[ArrayId] = (),
        lost: Mapping[int, Any] = MappingProxyType({}),
    ) -> None:
        note_handed_on([x for x in before if isinstance(x, Array)])
        self.before = [x if counts(x) or isinstance(x, Unbound) and x.ndim else None for x in before]
        self.ends: list[RegionArray | None] = []
        self.failed = False  # does an iteration certainly end in an error?
        self.alike: list[tuple[ArrayId, ...]] = []
        self.params: list[Any] = []
        self.held: dict[int, Any] = {}  # by identity: what those hold when it begins
        self.tagged, self.apart = tagged, apart
        self.slots = [ArrayId() if x is not None else None for x in self.before]
        self.moves: list[Any] = []
        self.more = list(more)  # the arrays from outside that iterations give
        # The variables that may hold a view at a place that only an iteration before knew: of which arrays, and of those of which variables.
        self.lost, self.more_lost = dict(lost), False

    def _every(self, shape: tuple[int, ...] | None = None) -> tuple[ArrayId, ...]:
        """All that a variable may be, of a shape."""
        held = [(x, slot) for x, slot in zip(self.before, self.slots, strict=True) if x is not None and shape in (None, x.shape)]
        more = [i for i in self.more if shape is None or i.part is None or i.part.shape == shape]
        every = [*(slot for _, slot in held if slot is not None), *(i for x, _ in held for i in points_to(x).possible), *more]
        return tuple({i.number: i for i in every}.values())

    def given(self) -> list[ArrayId]:
        """The arrays from outside that the last iteration has given, which are not yet among those that a variable may be."""
        known = {i.number for i in self._every()}
        here = {id(frame.trace) for frame in frames() if frame.trace is not None}
        ends = [given for given in self.ends if given is not None]
        found = [i for given in ends if given.array is not None for i in points_to(given.array).possible]
        found += [i for given in ends for i in given.possible if (home := i.home()) is not None and id(home) in here]  # chosen by a branch in it
        return [i for i in found if i.number not in known]

    @property
    def arrays(self) -> list[int]:
        """The variables that hold arrays."""
        return [k for k, x in enumerate(self.before) if x is not None]

    def first(self) -> list[Any]:
        """The tags before the loop."""
        return [points_to(x).tag() for x in self.before if x is not None]

    def begin(self, params: Sequence[Any], tags: Sequence[Any] = ()) -> None:
        """An iteration begins: a variable may hold what it held before the loop, or what an iteration before has given it."""
        self.params = list(params)[: len(self.before)]
        self.held = {id(p): p.now for p in self.params if isinstance(p, Array)}
        for k, tag in zip(self.arrays, tags or [None] * len(self.arrays), strict=True):
            x, p, slot = self.before[k], self.params[k], self.slots[k]
            if not isinstance(p, Array) or p is x or slot is None:
                continue
            one_of = PointsTo((slot, *points_to(x).possible), None, x)
            if tag is not None:
                one_of = PointsTo(self._every(p.shape), functools.partial(_known, content(tag)))
                one_of.place = id(self), k, self.apart
            one_of.lost = k in self.lost
            set_points_to(p, one_of)
            self._lose(k, p, self.params)

    def numbers(self, ends: Sequence[Any]) -> list[Any]:
        """The tags when an iteration ends, one for each variable that holds an array."""
        mine = [(k, ends[k]) for k in self.arrays]
        own, here = {id(slot) for slot in self.slots}, home_trace()
        made: dict[int, int] = {}

        def raw(x: Any) -> Any:
            if x.who is None and x.home() is home_trace():
                return np.int32(made.setdefault(id(x), -2 - len(made)))
            return points_to(x).tag()

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
        """Whether which array a variable holds afterwards depends on how many iterations are made."""
        return any(end is not None and bool(end.possible) for end in self.ends)

    def end(self, ends: Sequence[Any], failed: bool) -> None:
        """An iteration ends: which arrays the variables hold. `failed`: it certainly ends in an error."""
        self.ends, self.failed = described(ends), failed
        place = {id(p): k for k, p in enumerate(self.params)}
        self.moves = [_move(ends[k], place) if k < len(ends) else None for k in range(len(self.before))]
        self.alike = [(p.who.possible if isinstance(p, Array) and p.who is not None else ()) for p in self.params]
        self.params, self.held = [], {}
        keys = {given.key: k for k, given in enumerate(self.ends) if given is not None and given.array is None}
        for k, given in enumerate(self.ends[: len(self.before)]):
            if given is not None and given.lost:
                roots, variables = self.lost.get(k, ((), frozenset()))
                known = {id(root): root for root in roots}
                new = known | {id(root): root for root in given.roots}, variables | {keys[key] for key in given.inner if key in keys}
                self.more_lost |= k not in self.lost or len(new[0]) > len(known) or new[1] > variables
                self.lost[k] = tuple(new[0].values()), new[1]

    def has_stored_into(self, x: Array) -> bool:
        """Whether the iteration has stored into an array that one of the variables held when it began."""
        return id(x) in self.held and x.now is not self.held[id(x)]

    def _lose(self, k: int, x: Any, of: Sequence[Any]) -> None:
        """Say of which arrays a variable may be a lost view; `of` are those of the variables now."""
        if k in self.lost:
            roots, variables = self.lost[k]
            also_of(x, [*roots, *(of[j] for j in sorted(variables) if j < len(of) and isinstance(of[j], Array))])

    def never_one(self) -> set[tuple[int, int]]:
        """The pairs of variables that are never one array, by what an iteration moves; none where an iteration chooses."""
        arrays = self.arrays
        pairs = {(k, j) for k in arrays for j in arrays if k < j}
        if any(self.moves[k] is None for k in arrays):
            return set()
        maybe = {(k, j) for k, j in pairs if _may_be_one(self.before[k], self.before[j])}
        outside = {k: {i.number for i in points_to(self.before[k]).possible} for k in arrays}
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
        """Tie what the loop gives to what its last iteration gave, and, unless it is certain that one is `made`, to what there was before."""
        if self.tagged:
            for k, tag in zip(self.arrays, tags, strict=True):
                if isinstance(results[k], Array) and results[k] is not before[k]:
                    one_of = PointsTo(self._every(results[k].shape), functools.partial(_known, content(tag)))
                    one_of.place = id(self), k, self.apart
                    one_of.lost = k in self.lost
                    set_points_to(results[k], one_of)
                    self._lose(k, results[k], results)
            return
        new: dict[Any, PointsTo] = {}
        one: dict[Any, Any] = {}
        ends = [*self.ends, *[None] * (len(results) - len(self.ends))]  # an error code may have been added
        for k, (result, x, end) in enumerate(zip(results, before, ends, strict=True)):
            if not counts(result) or result is x:
                continue
            if end is None:
                if self.failed and isinstance(x, Array) and x.shape == result.shape:
                    set_points_to(result, points_to(x))  # without an error there was no iteration
                continue
            x = x if counts(x) else None
            if end.is_new and (made is None or x is None):
                continue
            key = id(end.array), end.key, id(x) if made is not None else 0
            if (first := one.setdefault(key, result)) is not result:
                results[k] = first
                continue
            after = end.who(new) if not end.possible else PointsTo(self._closed(end.possible), None)
            after.lost = k in self.lost
            if made is None or x is None:
                set_points_to(result, after)
            else:
                join_aliases(result, [points_to(x), after], functools.partial(_last, made))
            self._lose(k, result, results)

    def _closed(self, possible: Sequence[ArrayId]) -> list[ArrayId]:
        """With what the variables may hold whose arrays are possible."""
        found = {i.number: i for i in possible}
        for alike in self.alike:
            if any(i.number in found for i in alike):
                found |= {i.number: i for i in alike}
        return list(found.values())


def _known(tag: Any) -> Any:
    return tag


def _may_be_one(x: Any, y: Any) -> bool:
    mine = {i.number for i in points_to(x).possible}
    return x is y or any(i.number in mine for i in points_to(y).possible)


def _move(end: Any, place: dict[int, int]) -> Any:
    """What an iteration does to a variable: it takes the array of another, one of outside, or makes one; None where traced values choose."""
    if not isinstance(end, Array):
        return None
    if id(end) in place:
        return "of", place[id(end)]
    if end.home() is home_trace():
        return ("made", id(end)) if end.who is None else None
    return "outside", points_to(end).possible


def _last(made: Callable[[], Any], tags: Sequence[Any]) -> Any:
    before, after = (jnp.asarray(t, np.int32) for t in tags)
    return lax.select(made(), after, before)
