"""NumPy arrays that code which is not converted gives to a converted function: what a helper stores into them happens once for each iteration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag


def mark(a: Any, k: Any) -> None:
    a[k] += 1


def swap(a: Any, i: int, j: int) -> None:
    a[i], a[j] = a[j] + 1, a[i]


def range_(a: Any, b: Any) -> Any:
    for k in range(300):
        mark(a, k % 3)
        b = b * 0.5 + a[0]
    return b


def short(a: Any, b: Any) -> Any:
    for k in range(5):
        mark(a, k % 3)
        b = b * 0.5 + a[0]
    return b


def nested(a: Any, b: Any) -> Any:
    for i in range(5):
        for j in range(5):
            mark(a, j % 3)
            b = b * 0.5 + a[i % 3]
    return b


def long_in_short(a: Any, b: Any) -> Any:
    for i in range(3):
        mark(a, i)
        for j in range(100):
            swap(a, 0, 2)
            b = b * 0.9 + a[j % 3]
    return b


def while_(a: Any, b: Any) -> Any:
    k = 0
    while k < 200:
        mark(a, 1)
        b = b * 0.5 + a[1]
        k += 1
    return b


def listed(a: Any, b: Any) -> Any:
    for k in [0, 1, 2] * 40:
        mark(a, k)
        b = b * 0.5 + a[k]
    return b


def filled(a: Any, b: Any) -> Any:
    out = []
    for k in range(100):
        mark(a, k % 3)
        out.append(b * a[k % 3])
    return sum(out)


def before_a_branch(a: Any, b: Any) -> Any:
    mark(a, 0)
    if b > 0:
        b = b * a[0]
    for _ in range(60):
        mark(a, 0)
        if b > 0.5:
            b = b - 0.01 * a[0]
    return b


PROGRAMS: list[Callable[..., Any]] = [range_, short, nested, long_in_short, while_, listed, filled, before_a_branch]
WAYS: dict[str, Callable[..., Any]] = {
    "jit": lambda f, a, b: jax.jit(lambda b: f(a, b))(b),
    "grad": lambda f, a, b: jax.jit(jax.value_and_grad(lambda b: f(a, b)))(b)[0],
    "vmap": lambda f, a, b: jax.vmap(lambda b: f(a, b))(jnp.stack([jnp.float32(b)] * 2))[1],
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_stores_happen_once(program: Callable[..., Any], way: str) -> None:
    """Right, also in the caller's array, or an error that says so."""
    want, got = np.zeros(3, np.float32), np.zeros(3, np.float32)
    value = program(want, np.float32(0.75))
    try:
        result = WAYS[way](ag.convert(program), got, 0.75)
    except ag.StagingError as error:
        assert error.id in ("AG403", "AG407")
        return
    np.testing.assert_allclose(result, value, rtol=1e-4)
    np.testing.assert_allclose(got, want, rtol=1e-4)
