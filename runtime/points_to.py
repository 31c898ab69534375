"""The arrays that a value may be where only traced values decide which: sets that follow it through branches, loops and calls.

A set has arrays, by identity, and a `Mark` for each array of a block that has ended.  Two values may be one array if their sets meet
(a points-to analysis, as compilers do it, while the program is traced).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from autograph.runtime import _jax
from autograph.runtime.frames import Frame, frames, lifting
from autograph.runtime.shared import aliasable, origin, stood_for

Arrays = dict[int, Any]


class Mark:
    """An array of a block that has ended."""

    __slots__ = ()


class NumpyMark(Mark):
    """Of a traced array that is one of NumPy's in Python."""

    __slots__ = ()


def may_be(x: Any, level: Frame | None = None, errors: bool = False) -> Arrays:
    """The arrays that a value may be, itself among them; with the frame of a block, without what the block's arguments stand for.

    With `errors`, what places hold after an error counts as well.  Stores that would come afterwards are not made then.
    """
    found = {id(x): x}
    todo = [x]
    around = frames()
    while todo:
        key = id(todo.pop())
        for frame in reversed(around):
            new = list(chosen[1].values()) if (chosen := frame.points_to.get(key)) is not None else []
            if (guarded := frame.guarded.get(key)) is not None:
                new += (guarded[1], guarded[3]) if errors and guarded[3] is not None else (guarded[1],)
            elif frame is not level and (outer := frame.stands.get(key)) is not None:
                new.append(outer[1])
            for y in new:
                if id(y) not in found:
                    found[id(y)] = y
                    todo.append(y)
            if frame is level:
                break
    return found


def points_to(x: Any, arrays: Iterable[Any]) -> None:
    """Only traced values decide which of some arrays a value is."""
    if aliasable(x) and (around := lifting()):
        known = around[-1].points_to
        known[id(x)] = x, (known[id(x)][1] if id(x) in known else {}) | {id(y): y for y in arrays if y is not x}


def chosen_from(x: Any, values: Iterable[Any]) -> None:
    """A value has been chosen from others by traced values."""
    if aliasable(x) and (around := lifting()):
        points_to(x, [y for v in values if aliasable(v) for y in may_be(v, around[-1]).values()])


def doubt(a: Any, b: Any) -> None:
    """Only traced values decide whether two arrays are one."""
    if aliasable(a) and aliasable(b):
        chosen_from(a, [b])
        chosen_from(b, [a])


def maybe_one(x: Any, value: Any) -> None:
    """A value may be a given array, and others that are chosen may be it only if it is not."""
    if aliasable(x) and aliasable(value):
        mark = Mark()
        for y in (x, *may_be(value).values()):
            points_to(y, [mark])


def no_doubt(x: Any) -> None:
    """An array that was chosen among others is only read: it is none of them."""
    for frame in frames():
        frame.points_to.pop(id(x), None)


def is_numpys(x: Any) -> bool:
    """Whether an array is one of NumPy's in Python, or may be: an operator changes it in place."""
    return aliasable(x) and any(isinstance(y, (np.ndarray, NumpyMark)) for y in may_be(x).values())


def numpys(x: Any) -> Any:
    """A traced array that is one of NumPy's in Python."""
    points_to(x, [NumpyMark()])
    return x


def any_chosen() -> bool:
    """Whether there are such values at all: mostly there are none."""
    return any(frame.points_to for frame in frames())


def doubtful(a: Any, b: Any) -> bool:
    """Whether only traced values decide if two arrays, which are not known to be one, are one."""
    return any_chosen() and not may_be(a).keys().isdisjoint(may_be(b)) and not _apart(id(a), id(b))


def keep_apart(a: Any, b: Any) -> None:
    """Two arrays are not one, though each of them may be the same third one: two buffers that a loop exchanges."""
    if aliasable(a) and aliasable(b) and a is not b and (around := lifting()):
        around[-1].apart[frozenset((id(a), id(b)))] = a, b


def _apart(a: int, b: int) -> bool:
    return any(frozenset((a, b)) in frame.apart for frame in frames())


class Comparison(NamedTuple):
    """Two values that a store has compared: what they may be in a turn of a loop, and whether they were one array."""

    a: Arrays
    b: Arrays
    one: bool


def note_comparison(a: Iterable[Any], b: Iterable[Any], one: bool, around: Sequence[Frame]) -> None:
    """Let the turns that are being traced know which values a store has compared; if they were one, there is one of each."""
    inside: set[int] = set()
    for frame in reversed(around):
        if frame.staged and frame.chosen is None:
            mine, others = (
                {i: y for x in side for i, y in _known_at(frame, x, one).items() if id(getattr(y, "_trace", None)) not in inside} for side in (a, b)
            )
            if mine and others:
                frame.compared.append(Comparison(mine, others, one))
        if frame.trace is not None:
            inside.add(id(frame.trace))


def _known_at(level: Frame, x: Any, one: bool) -> Arrays:
    """What a value may be in a block; which array it is, if it is `one`."""
    return {id(y := origin(x, level)): y} if one else may_be(x, level)


def meeting(frame: Frame) -> Iterator[tuple[int, int]]:
    """At the end of the trace of a function: the identities of two arrays each that may be one."""
    groups: dict[int, dict[int, None]] = {}
    for i, (x, *_) in (frame.points_to | frame.guarded).items():
        for j in may_be(x, errors=True):
            groups.setdefault(j, {j: None})[i] = None
    yield from dict.fromkeys(pair for group in groups.values() for pair in combinations(group, 2) if not _apart(*pair))


class Share(NamedTuple):
    """What is known of an array that a block gives: which it is, which it would be without an error, and which it may be, itself first."""

    one: Any
    fine: Any
    arrays: tuple[Any, ...]


def share_of(x: Any) -> Share:
    """Of an array of the block that is being traced, or of one around it."""
    around = lifting()
    return Share(stood_for(x), origin(x), tuple(may_be(x, around[-1] if around else None, errors=True).values()))


def shares(values: Sequence[Any]) -> list[Share | None]:
    """At the end of a block: of each array that it gives.  Its own arrays are `Mark`s afterwards."""
    marks: dict[int, Mark] = {}

    def outside(x: Any) -> Any:
        return marks.setdefault(id(x), Mark()) if _jax.made_here(x) else x

    found = [share_of(x) if aliasable(x) else None for x in values]
    return [s and Share(outside(s.one), outside(s.fine), tuple(map(outside, s.arrays))) for s in found]


def copied(share: Share) -> Share:
    """Of another array in the place of an array: Python has the array itself there."""
    return Share(mark := Mark(), mark, (mark, *share.arrays))
