"""What tests prove about tags: where `x is None` was false, `x` is a value.

A predicate that came from a tag carries two lists of facts, one for each of its outcomes; the side of a branch that it guards knows them.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import CellType
from typing import Any, NamedTuple

from autograph.runtime.tracing.trace_context import frames
from autograph.runtime.values.values import NONE, UNSET, Maybe, Unset, map_maybe

IS_SET = 4  # beside the bits UNSET and NONE: the tag SET
Fact = tuple[Any, int]  # a tag, and the bits that it does not have


class PathFacts(NamedTuple):
    """What is known where a predicate holds, and where it does not."""

    true: tuple[Fact, ...] = ()
    false: tuple[Fact, ...] = ()


_noted: dict[int, tuple[weakref.ref[Any], PathFacts]] = {}


def note(p: Any, facts: PathFacts) -> Any:
    """Attach facts to a traced predicate."""
    if not isinstance(p, bool) and (facts.true or facts.false):
        key = id(p)
        _noted[key] = weakref.ref(p, lambda _: _noted.pop(key, None)), facts
    return p


def facts_of(p: Any) -> PathFacts:
    found = _noted.get(id(p))
    return found[1] if found is not None and found[0]() is p else PathFacts()


def assume(facts: Iterable[Fact]) -> None:
    """The block that is being traced knows these facts."""
    stack = frames()
    if not stack:
        return
    known = stack[-1].excluded
    for tag, bits in facts:
        known[id(tag)] = tag, bits | (known[id(tag)][1] if id(tag) in known else 0)


def known(x: Any) -> Any:
    """`x`, as far as it is known here: without the tags that it cannot have."""
    if type(x) is not Maybe:
        return x
    excluded = 0
    for frame in frames():
        excluded |= frame.excluded.get(id(x.tag), (None, 0))[1]
    if not excluded:
        return x
    bits = x.bits & ~excluded
    if not bits:
        return x.value
    if excluded & IS_SET and bits in (UNSET, NONE):
        return None if bits == NONE else Unset(x.name)
    return x if bits == x.bits else Maybe(x.value, x.tag, bits, x.name)


@contextmanager
def refined(*fns: Callable[..., Any]) -> Iterator[None]:
    """Run blocks whose captured variables hold what is known of them here: a value where a test has shown that they are not None."""
    held = _refine(fns)
    try:
        yield
    finally:
        for cell, value in held:
            cell.cell_contents = value


def _refine(fns: Iterable[Callable[..., Any]]) -> list[tuple[CellType, Any]]:
    """Let variables hold what is known of them; gives those that have changed, with what they held."""
    held: list[tuple[CellType, Any]] = []
    for fn in fns:
        for cell in getattr(fn, "__closure__", None) or ():
            try:
                value = cell.cell_contents
            except ValueError:  # unset
                continue
            if type(value) not in (Maybe, tuple, list, dict):
                continue
            new = map_maybe(known, value)
            if new is not value and (not isinstance(value, Maybe) or not isinstance(new, Maybe) or new.bits != value.bits):
                held.append((cell, value))
                cell.cell_contents = new
    return held
