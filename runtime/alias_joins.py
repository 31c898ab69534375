"""Arrays that several variables hold, where branches join and turns of a loop meet: they stay one array, or may be one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from autograph.runtime import _jax
from autograph.runtime._jax import Var
from autograph.runtime.errors import AliasError
from autograph.runtime.frames import Frame, frames
from autograph.runtime.places import here
from autograph.runtime.points_to import Arrays, Mark, Share, chosen_from, is_numpys, keep_apart, may_be, note_comparison, numpys, points_to, share_of
from autograph.runtime.shared import aliasable, guard, numpy_of, origin, stood_for, unguarded
from autograph.runtime.values import Blank

Pair = tuple[int, int]
_MOST_COMPARED = 30  # arrays of a loop that are compared with each other


def one_for_each(results: list[Any], sides: Sequence[Sequence[Any]], share: Callable[[int, Any], Share]) -> list[Any]:
    """The results of a branch, with one array for two that are one on all its sides.

    `sides` are the variables that stand for them in the jaxpr of each side; `share` says of a side (its number) and a variable what it is.
    """
    arrays = [k for k, r in enumerate(results) if aliasable(r)]
    found = [{k: share(number, side[k]) for k in arrays} for number, side in enumerate(sides)]
    one = [{k: id(s.one) for k, s in side.items()} for side in found]
    fine = [{k: id(s.fine) for k, s in side.items()} for side in found]
    pairs = dict.fromkeys(pair for keys in (*one, *fine) for pair in _alike(keys))
    for k, j in pairs:
        if all(keys[k] == keys[j] for keys in one):
            results[j] = results[k]
    for k in arrays:
        if all(keys[k] == one[0][k] for keys in one) and not isinstance(found[0][k].arrays[0], Mark):
            results[k] = numpy_of(found[0][k].arrays[0])
            continue
        if all(keys[k] == fine[0][k] for keys in fine):
            for x in found[0][k].arrays:
                if not isinstance(x, Mark) and id(origin(x)) == fine[0][k]:
                    guard(unguarded(x), results[k], None, None)
                    break
        points_to(results[k], [x for side in found for x in side[k].arrays])
    for k, j in pairs:
        if all(keys[k] == keys[j] for keys in fine):
            guard(results[k], results[j], None, None)
    return results


def share_in(x: Any, known: dict[Var, Share], outside: dict[Var, Any]) -> Share:
    """What a side of a branch gives: as was known at its end, or as an array from outside."""
    if isinstance(x, Var):
        if x in known:
            return known[x]
        if x in outside and aliasable(outside[x]):
            return share_of(outside[x])
    return Share(mark := Mark(), mark, (mark,))


def _alike(keys: dict[int, Any]) -> Iterator[Pair]:
    """The pairs of positions with equal keys."""
    groups: dict[Any, list[int]] = {}
    for position, key in keys.items():
        groups.setdefault(key, []).append(position)
    for group in groups.values():
        yield from combinations(group, 2)


class Pairs(NamedTuple):
    """Which of a loop's arrays are one before and after every turn (`guarded`: unless an error has occurred), and which may be one after it.

    Two that are `apart` are never one, though a turn may move both.
    `outside` are the arrays from outside that variables may hold after a turn, `before` those before the loop; `numpys` may hold NumPy's.
    """

    always: Collection[Pair] = ()
    guarded: Collection[Pair] = ()
    sometimes: Collection[Pair] = ()
    outside: Sequence[tuple[int, Iterable[Any]]] = ()
    before: Sequence[tuple[int, Any]] = ()
    numpys: Sequence[int] = ()
    apart: Collection[Pair] = ()


class _Turn:
    """The arrays of a loop when a turn begins, each standing for one before the loop, and when it ends."""

    def __init__(self, before: Sequence[Any], begin: Sequence[Any], after: Sequence[Any], frame: Frame) -> None:
        known = zip(before, after, strict=True)  # what may be None before has no array then
        self.arrays = [k for k, (a, b) in enumerate(known) if aliasable(b) and (aliasable(a) or isinstance(a, Blank))]
        self.place = {id(x): k for k, x in reversed(list(enumerate(begin)))}
        self.ends = {k: may_be(after[k], frame) for k in self.arrays}
        self.known = {id(x) for f in frames() for _, x in f.stands.values()}
        self.cache: dict[int, Arrays] = {}
        first = {k: may_be(before[k]) if aliasable(before[k]) else {} for k in self.arrays}
        self.known |= {i for arrays in first.values() for i in arrays}
        self.held = {k: first[k] | self._outside(self.ends[k]) for k in self.arrays}  # from outside, when some turn begins
        while any([self._hand_on(k) for k in self.arrays]):
            pass
        groups: dict[int, list[int]] = {}
        for k in self.arrays:
            for i in first[k]:
                groups.setdefault(i, []).append(k)
        self.maybe = {pair for group in groups.values() for pair in combinations(group, 2)}  # when some turn begins
        moving = [k for k in self.arrays if self.moved(self.ends[k]) != [k] or len(self.ends[k]) > 1]
        candidates = [(min(k, j), max(k, j)) for k in moving for j in self.arrays if j < k or (j > k and j not in moving)]
        while new := {(k, j) for k, j in candidates if (k, j) not in self.maybe and self.meet(self.ends[k], self.ends[j])}:
            self.maybe |= new

    def _hand_on(self, k: int) -> bool:
        """Add what a turn moves to a variable; whether there was something."""
        count = len(self.held[k])
        for j in self.moved(self.ends[k]):
            self.held[k] |= self.held.get(j, {})
        return len(self.held[k]) > count

    def moved(self, arrays: Arrays) -> list[int]:
        """The variables that hold some of these arrays when the turn begins."""
        return [self.place[i] for i in arrays if i in self.place]

    def outside(self, arrays: Arrays) -> Arrays:
        """The arrays from outside that a value may be in some turn."""
        return self._outside(arrays) | {i: x for k in self.moved(arrays) for i, x in self.held.get(k, {}).items()}

    def _outside(self, arrays: Arrays) -> Arrays:
        found: Arrays = {}
        for i, x in arrays.items():
            if i not in self.place and not isinstance(x, Mark) and not _jax.made_here(x) and (i in self.known or not isinstance(x, np.ndarray)):
                if i not in self.cache:  # one of NumPy's that is not known is taken for one that the turn makes
                    self.cache[i] = may_be(x)
                found |= self.cache[i]
        return found

    def meet(self, a: Arrays, b: Arrays) -> bool:
        """Whether two values of a turn may be one array in some turn."""
        mine, others = (x.keys() - self.place.keys() | self._outside(x).keys() for x in (a, b))
        from_a, from_b = self.moved(a), self.moved(b)
        return (
            not mine.isdisjoint(others)
            or any(k == j or (min(k, j), max(k, j)) in self.maybe for k in from_a for j in from_b)
            or any(not self.held.get(k, {}).keys().isdisjoint(others) for k in from_a)
            or any(not self.held.get(j, {}).keys().isdisjoint(mine) for j in from_b)
        )

    def stays(self, pairs: set[Pair], ends: dict[int, Any]) -> set[Pair]:
        """Of pairs that are one before the loop, those that are one when every turn ends; `ends` are what variables hold then."""
        while True:  # two that a turn hands on are one afterwards if they were one when it began
            group = {k: min([k, *(i for i, j in pairs if j == k)]) for k in self.arrays}
            keys = {k: ("begin", group.get(j, j)) if (j := self.place.get(id(x))) is not None else id(x) for k, x in ends.items()}
            last = set(_alike(keys))
            if pairs <= last:
                return pairs
            pairs = pairs & last


def shared_pairs(before: Sequence[Any], begin: Sequence[Any], after: Sequence[Any], frame: Frame) -> Pairs:
    """How the arrays of a loop are shared: before it, and when a turn begins and ends; `frame` is that of the turn.

    Raises:
      AliasError: (AG407) the turn stores into an array, and whether two names hold it changes from turn to turn.
    """
    turn = _Turn(before, begin, after, frame)
    always = turn.stays(set(_alike({k: id(stood_for(before[k])) for k in turn.arrays})), {k: after[k] for k in turn.arrays})
    fine = turn.stays(set(_alike({k: id(origin(before[k])) for k in turn.arrays})), {k: unguarded(after[k], turn.place) for k in turn.arrays})
    known = always | fine
    for a, b, one in frame.compared:
        pairs = {(min(k, j), max(k, j)) for k in turn.moved(a) for j in turn.moved(b) if k != j}
        if pairs - known if one else turn.meet(a, b):
            raise AliasError(
                "a turn of this loop stores into an array, and whether another name holds it is not the same in every turn", here(),
                "give one of the names a copy (`b = a.copy()`)",
            )  # fmt: skip
        if not one:
            note_comparison(turn.outside(a).values(), turn.outside(b).values(), one, frames()[: frames().index(frame)])
    sometimes = {pair for pair in turn.maybe - known if turn.meet(turn.ends[pair[0]], turn.ends[pair[1]])}
    outside = [(k, [*turn.outside(end).values(), *(x for x in end.values() if isinstance(x, np.ndarray))]) for k, end in turn.ends.items()]
    numpys = [k for k in turn.arrays if is_numpys(before[k]) or is_numpys(after[k])]
    two = combinations(turn.arrays, 2) if len(turn.arrays) <= _MOST_COMPARED else ()
    apart = [(k, j) for k, j in two if (k, j) not in known and (k, j) not in turn.maybe and not turn.meet(turn.ends[k], turn.ends[j])]
    return Pairs(always, known - always, sometimes, outside, [(k, before[k]) for k in turn.arrays], numpys, apart)


def after_loop(results: list[Any], pairs: Pairs, certain: bool) -> None:
    """What the loop variables hold after it; if it is `certain` that a turn is made, what they held before only where a turn may leave it."""
    for k, j in pairs.always:
        results[j] = results[k]
    for k, arrays in pairs.outside:
        points_to(results[k], arrays)
    for k, x in () if certain else pairs.before:
        chosen_from(results[k], [x])
    for k in pairs.numpys:
        numpys(results[k])
    for k, j in pairs.guarded:
        guard(results[k], results[j], None, None)
    for k, j in pairs.apart:
        keep_apart(results[k], results[j])
    for k, j in pairs.sometimes:
        mark = Mark()
        points_to(results[k], [mark])
        points_to(results[j], [mark])
