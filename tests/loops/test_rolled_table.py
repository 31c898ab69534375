"""A slice of the table of statements in loops over known ranges: `differential/rolled_table.py`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "differential"))
import rolled_table  # noqa: E402


@pytest.mark.parametrize("loop", rolled_table.LOOPS)
def test_one_compiled_iteration_gives_what_iterations_give(loop: str, quick_compilation: None) -> None:
    """Every statement stands in one of the loops alone, and some pairs, drawn at a fixed seed."""
    step, first = len(rolled_table.LOOPS) * 2, 2 * [*rolled_table.LOOPS].index(loop)
    chosen = [[s] for s in rolled_table.STATEMENTS[first::step] if rolled_table.allowed(loop, [s])]
    chosen += [statements for _, where, statements in rolled_table.programs(40, seed=1) if len(statements) == 2 and where == loop][:4]
    assert len(chosen) > 20
    assert {" ## ".join(statements): found for statements in chosen if (found := rolled_table.compare(loop, statements))} == {}


def test_the_table_is_as_large_as_it_says() -> None:
    assert len(set(rolled_table.STATEMENTS)) >= 240 and len(rolled_table.LOOPS) == 6
