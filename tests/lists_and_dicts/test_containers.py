"""Every cell of the table of containers gives what Python gives, or is refused: a part of `tests/campaigns/containers.py`, at a fixed seed."""

from __future__ import annotations

import random

import pytest

from tests.corpora.containers import HOLDERS, KINDS, PLACES, Cell, cells, outcome

EVERY = list(cells())
SAMPLE = random.Random(51).sample(EVERY, 3000)
REFUSED = {"same", "AG201", "AG202", "AG301", "AG401", "AG402", "AG403", "AG405", "AG407", "AG501", "AG502"}


@pytest.mark.parametrize("cell", SAMPLE, ids=lambda c: c.name)
def test_cell(cell: Cell) -> None:
    assert outcome(cell) in REFUSED


@pytest.mark.parametrize("kind", KINDS)
def test_what_has_to_run(kind: str) -> None:
    """A container that a variable or an attribute holds: straight on, and after an early return, nothing is refused."""
    for operation in KINDS[kind].operations:
        for holder in ("local", "attribute"):
            for place in ("straight", "early return"):
                in_place = operation in ("{c} *= 2", "{c} |= {{7}}") and (holder, place) == ("attribute", "early return")
                if Cell(kind, operation, holder, place) in EVERY and not in_place:
                    assert outcome(Cell(kind, operation, holder, place)) == "same", (operation, holder, place)


def test_the_table_is_large() -> None:
    assert len(KINDS) >= 30 and len(HOLDERS) >= 8 and len(PLACES) >= 8 and len(EVERY) > 20_000
