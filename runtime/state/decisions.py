"""What operators decide while a function is traced, told to whoever has asked: `ag.explain`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, NamedTuple

from autograph.runtime.errors.source_spans import caller, handed_to, place_of, variable_of
from autograph.runtime.state.state_refs import AttributeRef, StateRef
from autograph.runtime.state.type_text import describe, described

_logs: list[list[Decision]] = []  # empty where nobody asks: then a decision costs one look


class Decision(NamedTuple):
    """What a statement or call of the user's became at one place, and why; the types of its variables before and after."""

    file: str
    line: int
    kind: str  # "branch", "loop" or "call"
    became: str
    why: str
    types: tuple[tuple[str, str, str], ...] = ()  # name, before, after
    places: tuple[tuple[str, str], ...] = ()  # what it changes of objects and arrays: name, and what that is afterwards


def watching() -> bool:
    """Whether somebody wants to know of decisions."""
    return bool(_logs)


@contextmanager
def decisions() -> Iterator[list[Decision]]:
    """Collect the decisions that are made in the block, in the order of the trace."""
    log: list[Decision] = []
    _logs.append(log)
    try:
        yield log
    finally:
        _logs.remove(log)


def decided(
    kind: str, became: str, why: str, names: Sequence[str] = (), before: Sequence[Any] = (), after: Sequence[Any] = (),
    wrote: Mapping[Any, Any] = MappingProxyType({}),
) -> None:  # fmt: skip
    """Tell of a decision about the statement that the user's code is at; `before`, `after` and `wrote`, of places that it changes, are specs."""
    place = place_of(caller())
    if place is None:
        return
    texts = [("" if s is None else describe(s)) for s in before] or [""] * len(names)
    types = tuple(zip(names, texts, map(describe, after), strict=False)) if after else tuple((n, "", "") for n in names)
    places = tuple(dict.fromkeys((_shown(p), described(spec)) for p, spec in wrote.items() if isinstance(p, StateRef)))
    for log in _logs:
        log.append(Decision(place.file, place.line, kind, became, why, types, places))


def _shown(place: StateRef) -> str:
    """A place by the user's name for its object."""
    name = place.bare
    known = variable_of(place.obj)
    if isinstance(place, AttributeRef):
        return f"{known}.{place.attribute}" if known else name
    return known or name


def given_names(count: int) -> list[str]:
    """The names that the results of the operator are bound to; numbers where they have none."""
    names = handed_to(caller())
    return names if len(names) == count else [f"result {k + 1}" for k in range(count)] if count > 1 else ["the result"]
