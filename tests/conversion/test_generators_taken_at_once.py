"""A generator that a builtin takes at once sees no later value of a variable; one that a function of that name keeps does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import autograph as ag


def _taken(x: Any) -> Any:
    w, total = x, 0.0
    for k in range(4):
        total += sum(w * j for j in range(3))
        w = w + k
        if total > 30.0:
            break
    return total, w


def _a_local_function(x: Any) -> Any:
    sum = lambda g: g  # noqa: E731
    w = x
    kept = sum(w * j for j in range(3))
    if x > 0:
        w = w + 1
    return list(kept)[1]


def _of_the_function_around(x: Any) -> Any:
    tuple = lambda g: g  # noqa: E731

    def inner(y: Any) -> Any:
        w = y
        kept = tuple(w * j for j in range(3))
        if y > 0:
            w = w + 1
        return [*kept][1]

    return inner(x)


def _functions_in_it(x: Any) -> Any:
    w = x
    kept = list((lambda: w + j) for j in range(2))
    if x > 0:
        w = w + 1
    return kept[0]()


@pytest.mark.parametrize("fn", [_taken, _a_local_function, _of_the_function_around, _functions_in_it])
def test_as_python(fn: Callable[..., Any]) -> None:
    x = jnp.float32(3.0)
    want = jax.tree.map(float, fn(x))
    assert jax.tree.map(float, ag.function(fn)(x)) == want
    assert jax.tree.map(float, jax.jit(ag.convert(fn))(x)) == want


def test_a_loop_does_not_carry_what_is_only_read() -> None:
    assert "nonlocal" not in ag.to_code(_taken)
