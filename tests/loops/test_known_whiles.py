"""A `while` whose test Python knows in every turn: one compiled turn, with what Python gives, and its numbers known afterwards."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from autograph.runtime import LargeUnrollWarning
from tests.harness import assert_same


def work(x: Any) -> Any:
    for _ in range(3):
        x = jnp.sin(x) * jnp.cos(x) + jnp.tanh(x) * 0.5 + x
    return x


def steps_of_time(x: Any) -> Any:
    t, dt = 0.0, 0.01
    while t < 3.0:
        x = x + dt * work(-x)
        t += dt
    return x, t


def a_step_that_shrinks(x: Any) -> Any:
    step, n = 1.0, 0
    while step > 1e-6:
        y = x + step
        if abs(work(y)) < abs(work(x)):
            x = y
        step *= 0.9
        n += 1
    return x, jnp.zeros(n)


class Simulation:
    def __init__(self, x: Any) -> None:
        self.t, self.x, self.n = 0.0, x, 0

    def step(self, dt: float) -> None:
        self.x = self.x + dt * work(-self.x)
        self.t += dt
        self.n += 1


def time_of_an_object(x: Any) -> Any:
    s = Simulation(x)
    while s.t < 2:
        s.step(0.01)
    return s.x, s.t, jnp.zeros(s.n)


def by_an_index(x: Any) -> Any:
    v = x * jnp.arange(-30.0, 30.0)
    i, s = 0, 0.0
    while i < len(v):
        if v[i] > 0:
            s = s + work(v[i])
        i += 1
    return s, i


def from_both_ends(x: Any) -> Any:
    v = np.arange(60, dtype=np.float32) % 7
    v[3] = x
    low, high = 0, len(v) - 1
    while low < high:
        if v[low] * work(x) > v[high]:
            v[low], v[high] = v[high], v[low]
        low, high = low + 1, high - 1
    return v, low, high


def a_list(x: Any) -> Any:
    out, t = [], 0.0
    while t < 1:
        x = work(x)
        out.append(x)
        t += 0.01
    return jnp.stack(out), len(out)


def now_and_then(x: Any) -> Any:
    t, k, following = 0.0, 0, 0.0
    out = np.zeros(40, np.float32)
    while t < 2:
        x = x + 0.01 * work(-x)
        if t >= following:
            out[k] = x
            k += 1
            following += 0.1
        t += 0.01
    return x, out, k


def in_each_other(x: Any) -> Any:
    t = 0.0
    while t < 1:
        s, k = 0.0, 0
        while k < 20:
            s = s + work(x * k)
            k += 1
        x = x + 0.01 * jnp.tanh(s)
        t += 0.01
    return x


def with_an_else(x: Any) -> Any:
    n = 50
    while n > 0:
        x = work(x) + n
        n -= 1
    else:
        x = x * 2
    return x, n


def collatz(x: Any) -> Any:
    n, k = 27, 0
    while n != 1:
        x = jnp.tanh(work(x) + k)
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        k += 1
    return x, k


def beside_an_error(x: Any) -> Any:
    t = 0.0
    while t < 1:
        x = work(x)
        if x > 1e9:
            raise ValueError("large")
        t += 0.01
    return x, t


PROGRAMS = [
    steps_of_time, a_step_that_shrinks, time_of_an_object, by_an_index, from_both_ends, a_list, now_and_then, in_each_other, with_an_else, collatz,
    beside_an_error,
]  # fmt: skip


same = partial(assert_same, rtol=2e-4, atol=1e-5)


def became(f: Any, x: Any) -> str:
    return next(s.became for s in ag.explain(f, x).statements if s.kind in ("while", "for"))


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_one_compiled_turn(f: Any) -> None:
    for x in (0.3, -0.7):
        same(ag.function(f)(x), ag.convert(f)(jnp.float32(x)))
    assert became(f, 0.3).startswith("scan of ")
    assert len(str(jax.make_jaxpr(ag.function(f))(0.3))) < 40_000


def a_list_of_work(x: Any) -> Any:
    todo = list(range(40))
    while todo:
        x = jnp.tanh(work(x) + todo.pop())
    return x


def beyond_int32(x: Any) -> Any:
    n = 1
    while n < 10**12:
        x = work(x) + n % 7
        n *= 2
    return x


def what_data_change(x: Any) -> Any:
    items = {"left": 40}
    while items["left"] > 0:
        x = jnp.tanh(work(x))
        items = {"left": items["left"] - 1}
    return x


def of_few_turns(x: Any) -> Any:
    t = 0.0
    while t < 0.5:
        x = jnp.tanh(work(x))
        t += 0.1
    return x, t


@pytest.mark.parametrize("f", [a_list_of_work, beyond_int32, what_data_change, of_few_turns], ids=lambda f: f.__name__)
def test_in_python_where_a_turn_cannot_be_compiled(f: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LargeUnrollWarning)
        same(ag.function(f)(0.3), ag.convert(f)(jnp.float32(0.3)))
        assert became(f, 0.3).startswith("Python, " if f is of_few_turns else "scan of ")


def test_a_large_loop_that_is_made_in_python_warns() -> None:
    def f(x: Any) -> Any:
        n, k = 1, 0
        while k < 200:
            x = work(x) + n % 7 + jnp.ones(k % 40 + 1).sum()
            n, k = n * 2, k + 1
        return x

    with pytest.warns(LargeUnrollWarning, match="this loop of 200 iterations is unrolled into about [56]... operations, because "):
        jax.make_jaxpr(ag.function(f))(0.3)


def test_gradients_and_batches() -> None:
    def f(x: Any) -> Any:
        t = 0.0
        while t < 1:
            x = x + 0.01 * jnp.sin(work(x))
            t += 0.01
        return x

    plain, g = ag.convert(f), jax.grad(ag.convert(f))
    h = 1e-2
    np.testing.assert_allclose(jax.jit(g)(0.4), (f(jnp.float32(0.4 + h)) - f(jnp.float32(0.4 - h))) / (2 * h), rtol=1e-3)
    np.testing.assert_allclose(jax.jit(jax.vmap(plain))(jnp.array([0.1, 0.4])), [f(jnp.float32(0.1)), f(jnp.float32(0.4))], rtol=1e-4)


def test_turned_off() -> None:
    with ag.loops(roll="never"):
        assert became(steps_of_time, 0.3).startswith("Python, ")


def ends_by_data(a: Any, b: Any) -> Any:
    n = 0
    while True:
        n += 1
        if n > 4:
            break
        if a - [-2, 1, 5][a % 3] <= a - 3:  # an index that may fail
            break
        if b:
            break
    return n


@pytest.mark.parametrize(("a", "b"), [(3, -2), (3, 0), (5, 0), (5, 1)])
@pytest.mark.parametrize("form", [lambda f: jax.jit(ag.convert(f)), ag.function], ids=["jit", "function"])
def test_a_loop_that_data_ends_is_none_that_only_errors_end(form: Any, a: int, b: int) -> None:
    assert form(ends_by_data)(np.int32(a), np.int32(b)) == ends_by_data(a, b)
