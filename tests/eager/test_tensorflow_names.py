"""Every row of the table of TensorFlow's names: the replacement gives the value that TensorFlow gives."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import autograph as ag
from tests.corpora.tensorflow_names import PAGE, ROWS, Row, document


@pytest.mark.parametrize("row", ROWS, ids=[r.theirs for r in ROWS])
def test_row(row: Row) -> None:
    np.testing.assert_allclose(_flat(row.ours()), _flat(row.value), rtol=2e-6, atol=1e-7)


@pytest.mark.parametrize("row", [r for r in ROWS if not r.theirs.startswith("tape")], ids=lambda r: r.theirs)
def test_compiled(row: Row) -> None:
    """The same in compiled code."""
    np.testing.assert_allclose(_flat(ag.function(row.ours)()), _flat(row.value), rtol=2e-6, atol=1e-7)


def test_there_are_a_hundred() -> None:
    assert len({r.theirs for r in ROWS}) == len(ROWS) >= 100


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == document(), "run `python -m tests.corpora.tensorflow_names --update`"


def _flat(value: object) -> np.ndarray:
    return np.concatenate([np.asarray(x, float).reshape(-1) for x in jax.tree.leaves(value)])
