"""Programs that a first user wrote from the README alone: converted under `jit` they give what plain Python gives."""

from __future__ import annotations

import copy
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from tests.programs.first_use import PROGRAMS


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
