"""Which array a branch has chosen is computed only where somebody stores into it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag

A, B = np.arange(3.0), np.arange(3.0) + 10


def conds(jaxpr: Any) -> list[Any]:
    """The branches of a program, inner ones too."""
    found = []
    for eqn in jaxpr.eqns:
        found += [eqn] if eqn.primitive is jax.lax.cond_p else []
        for value in eqn.params.values():
            for inner in value if isinstance(value, (tuple, list)) else (value,):
                if hasattr(inner := getattr(inner, "jaxpr", inner), "eqns"):
                    found += conds(inner)
    return found


def work(x: Any) -> Any:
    return np.linalg.norm(np.sin(x)) * np.cos(x)  # so much that a branch is no select


def chosen(a: Any, b: Any, p: Any) -> Any:
    if p > 0:
        c = a
        if p > 1:
            c = work(b)
    else:
        c = b
    return c * 2


def chosen_in_a_loop(a: Any, b: Any, p: Any) -> Any:
    for k in range(3):
        if p > k:
            if p > k + 1:
                a, b = work(b), a
            else:
                a = work(a)
    return a + b


def stored_later(a: Any, b: Any, p: Any) -> Any:
    if p > 0:
        c = a
        if p > 1:
            c = b
            b = work(b)
    else:
        c = work(a)
    c[0] = 100.0
    return a, b, c


def stored_in_a_loop(a: Any, b: Any, p: Any) -> Any:
    c = a
    for k in range(3):
        if p > k:
            if p > k + 1:
                a, b, c = b, a, a
            else:
                c = work(a)
        c[k] += 100.0
    return a, b, c


@pytest.mark.parametrize("form", [lambda f: jax.jit(ag.convert(f)), ag.function], ids=["jit", "function"])
@pytest.mark.parametrize("f", [chosen, chosen_in_a_loop, stored_later, stored_in_a_loop], ids=lambda f: f.__name__)
@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, 3.0])
def test_as_numpy(f: Callable[..., Any], form: Any, p: float) -> None:
    want = f(A.copy(), B.copy(), p)
    got = form(f)(jnp.asarray(A), jnp.asarray(B), p)
    jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-5), got, want)


@pytest.mark.parametrize("form", [lambda f: ag.convert(f), ag.function], ids=["jit", "function"])
@pytest.mark.parametrize("f", [chosen, chosen_in_a_loop], ids=lambda f: f.__name__)
def test_no_branch_tells_which_array_it_chose(f: Callable[..., Any], form: Any) -> None:
    found = conds(jax.make_jaxpr(form(f))(jnp.asarray(A), jnp.asarray(B), 1.0).jaxpr)
    assert found
    assert all(v.aval.ndim == 1 for eqn in found for v in eqn.outvars), "a branch gives more than the arrays"


@pytest.mark.parametrize("form", [lambda f: ag.convert(f), ag.function], ids=["jit", "function"])
def test_a_branch_tells_it_where_somebody_stores(form: Any) -> None:
    found = conds(jax.make_jaxpr(form(stored_later))(jnp.asarray(A), jnp.asarray(B), 1.0).jaxpr)
    assert any(v.aval.dtype == np.int32 for eqn in found for v in eqn.outvars)


def stored_after_a_loop_that_fails(a: Any, v: Any) -> Any:
    y, n = v, 0
    while n < 2 and a > 5:
        n += 1
        assert n > 5, "bad"
        y[n % 4] = a
    y[2] = 2
    return v


def test_a_loop_that_certainly_fails_leaves_arrays_what_they_are() -> None:
    f = ag.function(stored_after_a_loop_that_fails)
    assert f(np.int32(1), jnp.array([3, 1, 3, 5])).tolist() == [3, 1, 2, 5]
    with pytest.raises(AssertionError, match="bad"):
        f(np.int32(7), jnp.array([3, 1, 3, 5]))
