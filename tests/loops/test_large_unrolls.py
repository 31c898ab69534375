"""A loop that stays unrolled into more than 2,000 operations warns, whatever it goes over and whatever transforms it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import autograph as ag

N = 450
Step = Callable[[Any], Any]


def step(x: Any, k: int) -> Any:
    """Five operations, of another shape in each iteration, so that no two iterations are alike."""
    return jnp.tanh(x * k) + jnp.ones(k % 40 + 1).sum()


def count_to(n: int) -> Iterator[int]:
    yield from range(n)


def over_a_list(x: Any) -> Any:
    for k in list(range(N)):
        x = step(x, k)
    return x


def over_enumerate(x: Any) -> Any:
    for _, k in enumerate(tuple(range(N))):
        x = step(x, k)
    return x


def over_a_dict(x: Any) -> Any:
    for k in dict.fromkeys(range(N)):
        x = step(x, k)
    return x


def over_a_generator(x: Any) -> Any:
    for k in count_to(N):
        x = step(x, k)
    return x


def over_a_range(x: Any) -> Any:
    for k in range(N):
        x = step(x, k)
    return x


def that_takes_items(x: Any) -> Any:
    items = iter(range(N))
    for _ in range(N):
        x = step(x, next(items))
    return x


def over_a_list_that_grows(x: Any) -> Any:
    items = list(range(N))
    for k in items:
        x = step(x, k)
        if k == 3:
            items.append(7)
    return x


def with_a_break(x: Any) -> Any:
    for k in list(range(N)):
        x = step(x, k)
        if x > 1e9:
            break
    return x


def with_a_return(x: Any) -> Any:
    for k in range(N):
        x = step(x, k)
        if x > 1e9:
            return x
    return x + 1


def while_a_counter(x: Any) -> Any:
    k = 0
    while k < N:
        x = step(x, k)
        k += 1
    return x


def while_items_are_left(x: Any) -> Any:
    left = list(range(N))
    while left:
        x = step(x, left.pop())
    return x


def of_loops(x: Any) -> Any:
    for _ in [1, 2, 3]:
        for k in list(range(N // 3)):
            x = step(x, k)
    return x


LOOPS = [
    over_a_list, over_enumerate, over_a_dict, over_a_generator, over_a_range, that_takes_items, over_a_list_that_grows, with_a_break, with_a_return,
    while_a_counter, while_items_are_left, of_loops,
]  # fmt: skip


@pytest.mark.parametrize("f", LOOPS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("form", [lambda f: f, jax.grad], ids=["jit", "grad"])
def test_what_stays_unrolled_warns(f: Step, form: Callable[[Step], Step]) -> None:
    with pytest.warns(ag.LargeUnrollWarning, match=r"iterations is unrolled into about \d{4} operations, because ") as log:
        jax.make_jaxpr(form(ag.convert(f)))(0.3)
    assert len(log) == 1 and log[0].filename == __file__
    first = f.__code__.co_firstlineno
    assert first < log[0].lineno <= first + 3


def who_says_so(x: Any) -> Any:
    for k in ag.static_range(N):
        x = step(x, k)
    with ag.loops(roll="never"):
        for k in range(N):
            x = step(x, k)
    return x


def test_who_asks_for_it_is_not_warned() -> None:
    assert len(jax.make_jaxpr(ag.convert(who_says_so))(0.3).eqns) > 2 * 2_000


def a_static_while(x: Any) -> Any:
    t = 0.0
    while t < 1:
        x = x + 0.01 * jnp.sin(x) * jnp.cos(x)
        t += 0.01
    return x


@pytest.mark.parametrize("form", [lambda f: f, jax.grad, jax.vmap], ids=["jit", "grad", "vmap"])
def test_a_static_while_is_rolled_under_transformations(form: Callable[[Step], Step]) -> None:
    x = jnp.array([0.3, 0.4]) if form is jax.vmap else 0.3
    assert len(jax.make_jaxpr(form(ag.convert(a_static_while)))(x).eqns) < 250  # 100 iterations of 4 to 10 equations
