"""What is known, while tracing, of the lengths of the lists that compiled code makes longer or shorter, and what holds those lists."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from autograph.runtime.errors import errors
from autograph.runtime.errors.source_spans import variable_of
from autograph.runtime.state.captured_state import record_write
from autograph.runtime.state.state_refs import ContainerItems, ContentsRef, StateRef
from autograph.runtime.tracing.trace_context import frames
from autograph.runtime.values.abstract_values import AbstractValue
from autograph.runtime.values.values import Record


class ListOwner:
    """What holds a list that becomes longer in a staged block, where that is no variable of the block: an attribute, a variable of the code around
    (`location`), or the entry of a dict or list under `key`.
    """

    def __init__(self, location: StateRef, key: Any = None) -> None:
        self.location, self.key = location, key

    @property
    def name(self) -> str:
        if not isinstance(self.location, ContentsRef):
            return self.location.name
        holder = variable_of(self.location.obj)
        return f"`{holder or '...'}[{self.key!r}]`"

    def get(self) -> Any:
        """What it holds now; None where it holds nothing."""
        held = self.location.get()
        if not isinstance(held, ContainerItems):
            return held
        found = dict(zip(range(len(held.values)) if held.keys is None else held.keys, held.values, strict=True))
        return found.get(self.key)

    def put(self, value: Any) -> None:
        """Let it hold a value; the blocks around remember what it held."""
        record_write(self.location, late=False)
        if isinstance(self.location, ContentsRef):
            self.location.obj[self.key] = value
        else:
            self.location.put(value)


class LengthBound(Record):
    """What is known of the length of a `Growing` while tracing: how many items there are at most, and how many exactly, if that is known.

    In the iteration of a loop `exact` counts from how many there were when the first iteration began, so it may be negative; it is none after a
    `clear`.
    """

    __slots__ = ("__weakref__", "base", "by", "exact", "home", "items", "left", "of", "peak", "place", "shrunk", "spec", "top")

    def __init__(self, base: list[Any], spec: AbstractValue, place: errors.SourceSpan | None = None, home: ListOwner | None = None) -> None:
        self.spec = spec  # of an item
        self.left: Any = None  # the `Growing` that its home held before it was given something else
        self.place = place  # of the first `append`
        self.home = home
        self.base, self.items = base, list(base)  # the list, and what it held
        self.holds(base, *base)
        self.top = self.peak = len(base)  # at most now, and at most so far
        self.exact: int | None = len(base)
        self.of: LengthBound | None = None  # of the list that it was made of, and how many items more it has
        self.by = 0
        self.shrunk = False  # has an item been taken away or replaced?

    def change(self, by: int) -> None:
        self.top = max(self.top + by, 0)
        self.peak = max(self.peak, self.top)
        self.exact = None if self.exact is None else self.exact + by


class ItemKind:
    """What two `Growing`s have in common that may meet in one variable."""

    __slots__ = ("bound", "capacity", "spec")

    def __init__(self, spec: AbstractValue, capacity: int, bound: Any) -> None:
        self.spec, self.capacity, self.bound = spec, capacity, bound

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ItemKind) and self.bound is other.bound and self.capacity == other.capacity and bool(self.spec == other.spec)

    def __hash__(self) -> int:
        return hash((id(self.bound), self.capacity))


class Holder(NamedTuple):
    """A running loop or branch: the lists among its variables, and how many frames there were."""

    keys: frozenset[int]
    depth: int
    loop: bool


class _LengthStack(threading.local):
    def __init__(self) -> None:
        self.holders: list[Holder] = []
        self.iterated: list[tuple[int, int]] = []  # of the loops that Python makes: how many iterations are left, and how many frames there were
        self.outside: weakref.WeakSet[LengthBound] = weakref.WeakSet()  # of loops and branches that no converted function calls

    @property
    def bounds(self) -> weakref.WeakSet[LengthBound]:
        """Those of the trace that runs: lists of earlier ones may be alive, in objects or in errors."""
        around = frames()
        if not (around and around[0].root):
            return self.outside
        if around[0].bounds is None:
            around[0].bounds = weakref.WeakSet()
        return around[0].bounds  # type: ignore[no-any-return]


stack = _LengthStack()
Marks = dict[LengthBound, tuple[int, int | None, int]]


def held(x: list[Any], branches: bool = False) -> bool:
    """Whether a staged block is traced inside of a loop (or branch) that has this list as its variable."""
    return any((h.loop or branches) and id(x) in h.keys and any(f.staged for f in frames()[h.depth :]) for h in stack.holders)


@contextmanager
def iterating(count: int) -> Iterator[None]:
    """Python makes some iterations of a loop: a list that grows in a branch of one may grow in each."""
    stack.iterated.append((count, len(frames())))
    try:
        yield
    finally:
        stack.iterated.pop()


def expected() -> int:
    """How many items a list may get that grows now, by the innermost loop in this block that Python makes; 1 where there is none."""
    if not stack.iterated:
        return 1
    count, depth = stack.iterated[-1]
    return 1 if any(f.staged for f in frames()[depth:]) else max(count, 1)


def marks() -> Marks:
    """What is known of all lengths now: how many items there are at most, how many exactly, and how many there were at most so far."""
    return {b: (b.top, b.exact, b.peak) for b in stack.bounds}


def reset(before: Marks) -> None:
    """What was traced since is thrown away."""
    for bound, (top, exact, peak) in before.items():
        bound.top, bound.exact, bound.peak = top, exact, peak


def other_side(before: Marks) -> None:
    """Another side of a branch begins."""
    for bound, (top, exact, _) in before.items():
        bound.top, bound.exact = top, exact


def join_marks(before: Marks, sides: Sequence[Marks]) -> None:
    """After a branch, what is known of the lengths, from what each side knows."""
    for bound in before:
        ends = [side[bound] for side in sides if bound in side]
        bound.top = max(top for top, _, _ in ends)
        bound.exact = ends[0][1] if len({exact for _, exact, _ in ends}) == 1 else None
