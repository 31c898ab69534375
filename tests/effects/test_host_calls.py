"""Functions on the host with effects in a loop of unknown trip count that is differentiated: each is called once, in order."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag

w = ag.Variable(2.0)
calls: list[float] = []


def plus_one(x: Any) -> Any:
    calls.append(float(x))
    return np.float32(x + 1)


def gradient(body: Callable[[Any], Any], n: int) -> float:
    @ag.function
    def f(n: Any) -> Any:
        with ag.GradientTape() as tape:
            total = body(n)
        return tape.gradient(total, w)

    calls.clear()
    found = float(f(n))
    jax.effects_barrier()
    return found


def one(n: Any) -> Any:
    total, x = 0.0, jnp.float32(1.0)
    for i in range(n):
        print("step", i)
        x = ag.py_func(plus_one, [x], jnp.float32, shape=())
        total += w * x
    return total


def two(n: Any) -> Any:
    total, x = 0.0, jnp.float32(1.0)
    for i in range(n):
        x = ag.py_func(plus_one, [x], jnp.float32, shape=())
        y, z = ag.py_func(lambda a, b: (np.float32(a * b), np.float32(a - b)), [x, i], [jnp.float32, jnp.float32], shape=[(), ()])
        total += w * x * y + jnp.sin(w) * z
    return total


def by_a_while(n: Any) -> Any:
    total, x = 0.0, jnp.float32(1.0)
    while x < n:
        x = ag.py_func(plus_one, [x], jnp.float32, shape=())
        total += w * w * x
    return total


@pytest.mark.parametrize("n", [0, 1, 3, 50])
def test_called_once_and_in_order(n: int) -> None:
    xs = [k + 2.0 for k in range(n)]
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert gradient(one, n) == pytest.approx(sum(xs))
    assert calls == [x - 1 for x in xs] and out.getvalue().splitlines() == [f"step {k}" for k in range(n)]
    assert gradient(two, n) == pytest.approx(sum(x * (x * k) + np.cos(2.0) * (x - k) for k, x in enumerate(xs)), rel=1e-5)
    assert calls == [x - 1 for x in xs]


def test_a_while() -> None:
    assert gradient(by_a_while, 10) == pytest.approx(2 * 2.0 * sum(range(2, 11)))
    assert calls == [float(k) for k in range(1, 10)]


def test_it_has_state_of_its_own() -> None:
    """What it gives depends on more than the arguments: the results are kept, and not asked for again."""
    ticks = iter(range(100, 1000))

    def body(n: Any) -> Any:
        total = 0.0
        for i in range(n):
            total += w * w * ag.py_func(lambda _: np.float32(next(ticks)), [i], jnp.float32, shape=())
        return total

    assert gradient(body, 5) == pytest.approx(4 * sum(range(100, 105)))
    assert next(ticks) == 105


def test_different_results_for_equal_arguments_are_an_error() -> None:
    ticks = iter(range(100, 1000))

    def body(n: Any) -> Any:
        total = 0.0
        for _ in range(n):
            total += w * w * ag.py_func(lambda _: np.float32(next(ticks)), [jnp.float32(0)], jnp.float32, shape=())
        return total

    with pytest.raises(Exception, match="AG602 .* different results for equal arguments"):
        gradient(body, 5)


def test_the_second_derivative() -> None:
    @ag.function
    def second(n: Any) -> Any:
        def f(v: Any) -> Any:
            total, x = 0.0, jnp.float32(1.0)
            for _ in range(n):
                x = ag.py_func(plus_one, [x], jnp.float32, shape=())
                total += v**3 * x
            return total

        return jax.grad(jax.grad(f))(jnp.float32(2.0))

    calls.clear()
    assert float(second(3)) == pytest.approx(6 * 2 * 9)
    jax.effects_barrier()
    assert calls == [1.0, 2.0, 3.0]


def of_what_is_differentiated(n: Any) -> Any:
    total, x = 0.0, w * 1.0
    for _ in range(n):
        x = ag.py_func(plus_one, [x], jnp.float32, shape=())
        total += x
    return total


def in_a_branch(n: Any) -> Any:
    total, x = 0.0, jnp.float32(1.0)
    for i in range(n):
        if i > 1:
            x = ag.py_func(plus_one, [x], jnp.float32, shape=())
        total += w * x
    return total


@pytest.mark.parametrize("body", [of_what_is_differentiated, in_a_branch])
def test_refused(body: Callable[[Any], Any]) -> None:
    with pytest.raises(ag.AutographError, match="AG602"):
        gradient(body, 3)


def test_a_run_that_is_too_long_ago_is_an_error_or_right() -> None:
    """More runs of the loop than are kept, of which the gradient is taken after all: never another number."""

    @ag.function
    def f(n: Any) -> Any:
        def total(v: Any) -> Any:
            s = 0.0
            for k in range(40):
                for i in range(n):
                    s += v * v * ag.py_func(plus_one, [k * 10.0 + i], jnp.float32, shape=())
            return s

        return jax.grad(total)(jnp.float32(2.0))

    want = 4.0 * sum(k * 10 + i + 1 for k in range(40) for i in range(2))
    try:
        assert float(f(2)) == pytest.approx(want)
    except Exception as error:
        assert "AG602" in str(error), error
