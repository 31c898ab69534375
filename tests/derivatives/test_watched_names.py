"""Two names of one array under a tape, where a branch or loop has joined them: what is done by one name is done with the array, if it is that."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag


def a_branch(x: Any, c: Any) -> Any:
    y = x * 1.0
    if c > 0:
        y = x
    with ag.GradientTape() as tape:
        tape.watch(x)
        z = jnp.sum(x * y)
    return tape.gradient(z, x)


def both_sides(x: Any, c: Any) -> Any:
    other = x + 1.0
    y = x if c > 0 else other
    with ag.GradientTape() as tape:
        tape.watch(x)
        z = jnp.sum(y * y * x)
    return tape.gradient(z, x)


def an_item_of_a_list(x: Any, c: Any) -> Any:
    items = [x + 0.0, x + 2.0]
    if c > 0:
        items[1] = items[0]
    with ag.GradientTape() as tape:
        tape.watch(items[0])
        z = jnp.sum(items[0] * items[1])
    return tape.gradient(z, items[0])


def ahead(w: Any, c: Any) -> Any:
    prev = w
    for _ in range(jnp.abs(c) + 2):
        with ag.GradientTape() as tape:
            tape.watch(w)
            loss = jnp.sum((w + 0.9 * (w - prev)) ** 2)
        prev, w = w, w - 0.1 * tape.gradient(loss, w)
    return w


def swapped(a: Any, c: Any) -> Any:
    b = a * 2.0
    x, y = a, b
    for _ in range(jnp.abs(c)):
        x, y = y, x
    with ag.GradientTape() as tape:
        tape.watch(a)
        z = jnp.sum(x * x + 3.0 * y)
    return tape.gradient(z, a)


def after_the_watch(x: Any, c: Any) -> Any:
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = x * 1.0
        if c > 0:
            y = x
        z = jnp.sum(x * y)
    return tape.gradient(z, x)


def nothing_shared(x: Any, c: Any) -> Any:
    y = x * 3.0
    if c > 0:
        y = y * 2.0
    with ag.GradientTape() as tape:
        tape.watch(x)
        z = jnp.sum(x * y)
    return tape.gradient(z, x)


def an_array_of_the_function_around(a: Any, c: Any) -> Any:
    x = a
    for _ in range(jnp.abs(c)):
        with ag.GradientTape() as tape:
            tape.watch(x)
            z = jnp.sum(x * a * a)
        x = x - 0.01 * tape.gradient(z, x) + 0.001 * a
    return x, a * 2.0


def a_line_search(a: Any, c: Any) -> Any:
    x, steps = a, 0
    value = jnp.sum(x * x)
    while steps < 3 * jnp.abs(c):
        with ag.GradientTape() as tape:
            tape.watch(x)
            value = jnp.sum(x * x * a)
        grad, rate, start = tape.gradient(value, x), 1.0, x
        new = x
        while jnp.sum(new * new) > 0.9 * jnp.sum(start * start) and rate > 1e-3:
            new, rate = start - rate * grad, rate / 2.0
        x = new
        steps += 1
    return x, value + 0.0 * x


def in_a_branch(a: Any, c: Any) -> Any:
    x, grad = a, a * 0.0
    if c < 2:
        x = a * 3.0
    if c > 0:
        with ag.GradientTape() as tape:
            tape.watch(x)
            z = jnp.sum(x * a)
        grad = tape.gradient(z, x)
    return grad, a * x


def watched_in_a_loop(a: Any, n: Any) -> Any:
    x, z = a, 0.0
    with ag.GradientTape() as tape:
        for _ in range(n):
            tape.watch(x)
            z = z + jnp.sum(x * a)
            x = x + 1.0
    return tape.gradient(z, a)


def test_watched_in_a_loop_that_the_tape_outlasts_is_refused() -> None:
    with pytest.raises(ag.AutographError, match="AG703 .*may be one of the function around"):
        ag.function(watched_in_a_loop)(jnp.array([1.0, 2.0]), 2)


PROGRAMS = [
    an_array_of_the_function_around,
    a_line_search,
    in_a_branch,
    a_branch,
    both_sides,
    an_item_of_a_list,
    ahead,
    swapped,
    after_the_watch,
    nothing_shared,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("x", [jnp.float32(3.0), jnp.array([1.0, -2.0])], ids=["number", "vector"])
@pytest.mark.parametrize("c", [1, 2, -1], ids=["one", "two", "minus"])
def test_gradients_as_in_python(program: Any, x: Any, c: int) -> None:
    want, got = program(x, c), ag.function(program)(x, c)
    np.testing.assert_allclose(got, want, rtol=1e-5)
