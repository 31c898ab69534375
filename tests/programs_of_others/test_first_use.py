"""Programs that a first user wrote from the README alone: converted under `jit` they give what plain Python gives."""

from __future__ import annotations

import copy
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from tests.corpora.programs.first_use import PROGRAMS


def arrays(value: Any) -> Any:
    return jax.tree.map(lambda x: jnp.asarray(x) if isinstance(x, np.ndarray) else x, value)


@pytest.mark.parametrize(("f", "args"), [p[1:] for p in PROGRAMS], ids=[p[0] for p in PROGRAMS])
def test_as_python(f: Any, args: Any) -> None:
    try:
        want = f(*copy.deepcopy(args))
    except (AttributeError, TypeError):  # written for `jax.Array`s: `x.at[i].set(v)`
        want = f(*arrays(args))
    got = jax.jit(ag.convert(f))(*arrays(args))
    (a, tree), (b, other) = jax.tree.flatten(got), jax.tree.flatten(want)
    assert tree == other
    for x, y in zip(a, b, strict=True):
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=2e-4, atol=1e-5)


class Table:
    def __init__(self, rows: list[Any]) -> None:
        self.rows = rows

    @ag.function
    def read(self, x: Any) -> Any:
        total = x * 0.0
        for row in self.rows:
            total = total + (1.0 if row is True else 2.0 if type(row) is str else 1 / row if row else math.copysign(3.0, row))
        return total


def test_a_list_of_numbers_in_an_attribute_is_compared_number_by_number() -> None:
    """It is compared as a whole: 1 is not True, 0.0 is not -0.0, and each number counts."""
    ones, zeros = [1] * 20, [0.0] * 20
    for rows, want in [
        (ones, 20), ([True] * 20, 20), ([*ones[1:], 2], 19.5), (zeros, 60), ([-0.0, *zeros[1:]], 54), (["a"] * 20, 40), ([2.0] * 20, 10), ([2] * 20, 10),
    ]:  # fmt: skip
        assert float(Table(rows).read(jnp.float32(0))) == want
    table = Table([1] * 20)
    assert table.read(jnp.float32(0)) == 20
    table.rows[7] = 4
    assert table.read(jnp.float32(0)) == 19.25
