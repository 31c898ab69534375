"""A function whose calls go to JAX directly, until a call of another shape finds that it may fail or give None."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import autograph as ag

NOTHING, FINE, BAD = jnp.zeros(0), jnp.array([1.0, 2.0, 3.0]), jnp.array([1.0, 20.0, 3.0])


class Overdraft(Exception):
    """There is not enough money."""


def spend(balance: Any, amounts: Any) -> Any:
    for amount in amounts:
        if amount > balance:
            raise Overdraft(f"only {balance} left")
        balance = balance - amount
    return balance


WAYS: dict[str, Callable[[Callable[..., Any], Any], Any]] = {
    "call": lambda f, x: f(10.0, x),
    "vmap": lambda f, x: jax.vmap(f, (None, 0))(10.0, jnp.stack([FINE, x]))[-1],
    "grad": lambda f, x: jax.value_and_grad(f)(10.0, x)[0],
    "vmap of grad": lambda f, x: jax.vmap(jax.value_and_grad(f), (None, 0))(10.0, jnp.stack([FINE, x]))[0][-1],
    "jvp": lambda f, x: jax.jvp(f, (10.0, x), (1.0, x))[0],
}


@pytest.mark.parametrize("way", WAYS)
def test_the_first_call_that_may_fail_raises_the_function_s_error(way: str) -> None:
    f = ag.function(spend)
    for _ in range(2):  # no iteration: nothing can fail, and JAX is called directly
        assert f(10.0, NOTHING) == 10.0
    for _ in range(2):
        with pytest.raises(Overdraft) as caught:
            WAYS[way](f, BAD)
        assert str(caught.value) == "only 9.0 left"
        assert WAYS[way](f, FINE) == 4.0
    assert f(10.0, NOTHING) == 10.0 and f(10.0, FINE) == 4.0


def test_the_first_call_that_may_give_none_gives_it() -> None:
    @ag.function
    def total(x: Any) -> Any:
        for v in x:
            if v > 5.0:
                return None
        return x.sum()

    assert total(NOTHING) == 0.0 and total(NOTHING) == 0.0
    assert total(BAD) is None and total(FINE) == 6.0 and total(BAD) is None
