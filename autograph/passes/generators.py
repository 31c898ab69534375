"""Generators: which of their statements stay Python's own, because a block of theirs cannot become a function.

    while x < 9:  # stays: it yields
        if x > 0:  # is staged
            x = 2 * x
        if x > 7:  # stays: it jumps out of a loop that stays
            break
        yield x

A traced value cannot decide in those that stay.
"""

from __future__ import annotations

from typing import Any

from autograph.passes.exits import jumps
from autograph.trees import syntax as s


def yields(stmt: Any) -> bool:
    """Whether a statement of a generator hands out a value itself."""
    return any(isinstance(n, (s.Yield, s.YieldFrom)) for n in s.own(stmt))


def kept(body: list[Any], in_loop: bool = False) -> set[Any]:
    """The `if`, `while` and `for` statements of a generator that stay Python."""
    found: set[Any] = set()
    for stmt in body:
        if isinstance(stmt, s.SCOPES):
            continue
        stays = yields(stmt)
        if stays or (in_loop and any(jumps([stmt]))):
            found.add(stmt)
            for inner in s.blocks(stmt):
                found |= kept(inner, in_loop or (stays and isinstance(stmt, s.LOOPS)))
    return found
