"""Whatever `jax.jit` takes as it is, a converted function takes, and gives the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

import autograph as ag
from tests.corpora.programs.jitable import ARGS


def same(got: Any, want: Any) -> None:
    assert jax.tree.structure(got) == jax.tree.structure(want)
    for g, w in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        if isinstance(w, (str, bool)):
            assert g == w
        else:
            assert np.shape(g) == np.shape(w) and np.asarray(g).dtype == np.asarray(w).dtype
            np.testing.assert_allclose(g, w, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("program", ARGS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("form", ["function", "jit of convert"])
def test_as_under_jit(program: Callable[..., Any], form: str, quick_compilation: None) -> None:
    want = jax.jit(program)(*ARGS[program])
    f = ag.function(program) if form == "function" else jax.jit(ag.convert(program))
    same(f(*ARGS[program]), want)
