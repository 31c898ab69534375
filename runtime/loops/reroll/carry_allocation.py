"""What iterations carry to later ones: each value that one needs stands in a register from the iteration that gives it to the last that takes it.

The registers are the carry of the compiled loop.  Iterations that are alike are one compiled iteration if they also read and write the same
registers, so a value goes where the position that takes it next has read before. (Linear scan register allocation, Poletto and Sarkar, 1999.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple


class Need(NamedTuple):
    """A position of an iteration that takes a value, which an earlier iteration or what is around the loop has given."""

    position: Hashable  # the same for iterations that are alike
    value: Any


class Way(NamedTuple):
    """Which registers an iteration reads, by its needs, and which it writes, with the numbers of the variables that it defines."""

    reads: tuple[int, ...]
    writes: tuple[tuple[int, int], ...]


class Registers:
    """`needs` of each iteration; `gives[k]`: the variables of iteration k by number; `kept`: values that are taken after the loop.

    `types`: of each register; `first`: the value that it holds before the loop, if any; `last`: where the values are that it holds after it.
    """

    def __init__(
        self, needs: Sequence[Sequence[Need]], gives: Sequence[dict[Any, int]], kinds: Sequence[Hashable], kept: Sequence[Any], aval: Any
    ) -> None:
        self._aval, count = aval, len(needs)
        self.types: list[Any] = []
        self.first: dict[int, Any] = {}
        self._where: dict[Any, int] = {}
        self._held: dict[int, Any] = {}
        self._until: dict[Any, int] = {}
        upcoming: dict[Any, list[Hashable]] = {}
        for k, wanted in enumerate(needs):
            for need in wanted:
                self._until[need.value] = k
                upcoming.setdefault(need.value, []).append(need.position)
        for value in kept:
            self._until[value] = count
        given = {v for values in gives for v in values}
        last_read: dict[Hashable, int] = {}
        for value in self._until:
            if value not in given:
                self.first[self._new(value)] = value
        reads: list[tuple[int, ...]] = []
        writes: list[dict[int, int]] = []
        busy: list[frozenset[int]] = []
        for k, wanted in enumerate(needs):
            reads.append(tuple(self._where[need.value] for need in wanted))
            for need in wanted:
                last_read[need.position] = self._where[need.value]
            for register, value in [*self._held.items()]:
                if self._until[value] <= k:
                    del self._held[register], self._where[value]
            coming = [v for v in gives[k] if self._until.get(v, -1) > k]
            preferred = {v: last_read.get(upcoming[v][0]) for v in coming if v in upcoming}
            mine: dict[int, int] = {}
            for value in sorted(coming, key=lambda v: preferred.get(v) is None):
                liked = preferred.get(value)
                usable = liked is not None and liked not in self._held and self.types[liked] == aval(value)
                others = {r for v, r in preferred.items() if v is not value and r is not None}
                register = liked if usable and liked is not None else self._free(value, others)
                self._held[register], self._where[value] = value, register
                mine[register] = gives[k][value]
            writes.append(mine)
            busy.append(frozenset(self._held))
        self.last = {v: r for v, r in self._where.items() if self._until[v] >= count}
        self.ways = _alike(kinds, reads, writes, busy)
        for register, slot in self.ways[-1].writes:  # also what nobody needs is there after the last iteration
            value = next(v for v, n in gives[-1].items() if n == slot)
            self.last.setdefault(value, register)

    def _new(self, value: Any) -> int:
        self.types.append(self._aval(value))
        register = len(self.types) - 1
        self._held[register], self._where[value] = value, register
        return register

    def _free(self, value: Any, taken: set[int]) -> int:
        aval = self._aval(value)
        free = [r for r, t in enumerate(self.types) if r not in self._held and t == aval]
        return next((r for r in free if r not in taken), free[0] if free else self._new(value))


def _alike(
    kinds: Sequence[Hashable], reads: Sequence[tuple[int, ...]], writes: Sequence[dict[int, int]], busy: Sequence[frozenset[int]]
) -> list[Way]:
    """The ways of all iterations; one may also write registers that hold nothing then, so that it is like others."""
    most: dict[Hashable, Counter[tuple[tuple[int, int], ...]]] = {}
    own = [tuple(sorted(w.items())) for w in writes]
    for kind, read, write in zip(kinds, reads, own, strict=True):
        most.setdefault((kind, read), Counter())[write] += 1
    ways: list[Way] = []
    for kind, read, write, held in zip(kinds, reads, own, busy, strict=True):
        mine = set(write)
        candidates = [w for w, _ in most[kind, read].most_common()]
        ways.append(Way(read, next(w for w in candidates if mine <= set(w) and not {r for r, _ in set(w) - mine} & held)))
    return ways
