"""Loops that store take time in proportion to what an iteration touches: no array is copied in the body of an optimised loop, forwards or back."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import autograph as ag
from tests.corpora.programs.stores_in_loops import PROGRAMS, ended_early, of_unknown_length, stored_into_a_matrix
from tests.harness import assert_same

N = 400  # floats: more than what is copied as fast


def given(n: int = N) -> Any:
    return jnp.asarray(np.random.default_rng(0).uniform(-1, 1, n), jnp.float32)


def loss(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: sum(jnp.sum(leaf * jnp.arange(leaf.size).reshape(leaf.shape) / N) for leaf in map(jnp.asarray, jax.tree.leaves(f(x))))


def copies(f: Callable[[Any], Any]) -> list[str]:
    """The arrays of N items or more that bodies of loops copy, in the optimised program."""
    text = jax.jit(f).lower(given()).compile().as_text()
    found = []
    for computation in re.split(r"\n\n", text):
        if not computation.lstrip().startswith("ENTRY"):
            shapes = re.findall(r"= \w+\[([\d,]+)\]\S* copy\(", computation)
            found += [shape for shape in shapes if np.prod([int(n) for n in shape.split(",")]) >= N]
    return found


needs_cpu = pytest.mark.skipif(jax.default_backend() != "cpu", reason="the order is said to the compiler for the CPU")


@needs_cpu
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_no_array_is_copied(program: Callable[[Any], Any]) -> None:
    f = loss(ag.convert(program))
    assert copies(f) == []
    if program not in (of_unknown_length, ended_early, stored_into_a_matrix):  # whose ways back copy states, or what an inner loop has stored
        assert copies(jax.grad(f)) == []


@needs_cpu
def test_by_hand_it_is() -> None:
    """What the order is for: if this copies nothing, XLA does not need to be told any more."""

    def program(x: Any) -> Any:
        return lax.fori_loop(0, N, lambda i, y: y.at[i].set(jnp.sin(x[i])), jnp.zeros(N)).sum()

    assert copies(jax.grad(program))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_derivatives(program: Callable[[Any], Any]) -> None:
    """As NumPy; in reverse as differences, in forward mode and under `jax.vmap` as in reverse, and the second derivative as that of the unrolled loop."""
    assert_same(jax.jit(ag.convert(program))(given()), program(np.asarray(given()).copy()), rtol=1e-4, atol=1e-5)
    f, x = loss(ag.convert(program)), given(160)
    gradient = jax.jit(jax.grad(f))(x)
    with ag.loops(roll="never"):
        unrolled = jax.grad(f)(x)
    assert_same(gradient, unrolled, rtol=1e-3, atol=1e-4)
    t = given(160)[::-1]
    assert_same(jax.jit(lambda x, t: jax.jvp(f, (x,), (t,))[1])(x, t), gradient @ t, rtol=1e-3, atol=1e-4)
    several = jnp.stack([x, x * 0.5, -x])
    assert_same(jax.jit(jax.vmap(jax.grad(f)))(several), jnp.stack([jax.jit(jax.grad(f))(v) for v in several]), rtol=1e-3, atol=1e-4)
    curved = jax.jit(lambda x: jax.grad(lambda x: jax.grad(f)(x) @ t)(x))(x)
    assert_same(curved, jax.jit(lambda x: jax.jvp(jax.grad(f), (x,), (t,))[1])(x), rtol=1e-3, atol=1e-4)


def test_a_transpose_of_a_transpose() -> None:
    """What is linear in its argument, as solvers ask for it: neither places nor order depend on the argument."""

    def program(x: Any) -> Any:
        u, v = jnp.zeros(200), jnp.array(x)
        for i in range(200):
            u[(i * 3) % 200] = v[i] * 2
            v[i] = 0
        return u

    f = jax.jit(ag.convert(program))
    x = given(200)
    transposed = jax.linear_transpose(f, x)
    matrix = jax.jacobian(f)(x)
    assert_same(transposed(x)[0], matrix.T @ x, rtol=1e-4, atol=1e-5)
    assert_same(jax.linear_transpose(lambda y: transposed(y)[0], x)(x)[0], matrix @ x, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("start", [0, -1, N - 3, 2 * N, -N, -2 * N - 30])
def test_places_that_are_out_of_range(start: int) -> None:
    """Nothing is stored there, whatever was read before, and nothing comes back."""

    def program(x: Any, k: Any) -> Any:
        total = 0.0
        for i in range(N):
            total = total + x[i]
            x = x.at[k + 2 * i].set(x[i] * 0.5, mode="drop")
        return total, x

    def by_hand(x: Any, k: Any) -> Any:
        def body(i: Any, c: Any) -> Any:
            return c[0] + c[1][i], c[1].at[k + 2 * i].set(c[1][i] * 0.5, mode="drop")

        return lax.fori_loop(0, N, body, (jnp.float32(0), x))

    x, k = 300.0 + 100.0 * given(), jnp.int32(start)  # what a place would be moved by
    f = ag.convert(program)
    assert_same(jax.jit(f)(x, k), by_hand(x, k), rtol=1e-4)
    weights = jnp.arange(N) / N

    def of(f: Any) -> Any:
        return jax.jit(jax.grad(lambda x: (lambda total, y: total + (y * weights).sum())(*f(x, k))))(x)

    assert_same(of(f), of(by_hand), rtol=1e-4)


def test_a_read_in_a_branch_that_is_not_taken() -> None:
    """The item is read before the branch, at a place where there may be none."""

    def program(x: Any, places: Any) -> Any:
        y = np.zeros(N, np.float32)
        for i in range(N):
            if places[i] < N:
                y[i] = np.sin(x[places[i]]) * x[i]
        return y

    x, places = given(), jnp.arange(N) * 3 - 5
    f = ag.convert(program)
    inside = (places < N) & (places >= -N)

    def by_hand(x: Any) -> Any:
        return jnp.where(inside, jnp.sin(x[jnp.where(inside, places, 0)]) * x, 0.0)

    assert_same(jax.jit(f)(x, places), by_hand(x))
    assert_same(jax.jit(jax.grad(lambda x: f(x, places).sum()))(x), jax.grad(lambda x: by_hand(x).sum())(x))
