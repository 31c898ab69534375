"""Items 6 to 12 of the articles: gradients of functions, implicit ones, the tape, gradients of one's own, and a line search."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from autograph.runtime.errors.errors import TapeError


def close(a: Any, b: Any, rtol: float = 1e-5) -> bool:
    return bool(np.allclose(np.asarray(a), np.asarray(b), rtol=rtol, atol=1e-5))


def test_06_gradients_function() -> None:
    @ag.gradients_function
    def f(x: Any, y: Any) -> Any:
        return x**2 + y**3

    assert close(f(1.0, 2.0), [2.0, 12.0])
    assert close(ag.gradients_function(lambda x, y: x**2 + y**3)(1.0, 2.0), [2.0, 12.0])
    assert close(ag.gradients_function(lambda x: x * x + 2 * x + 4.0)(2.0), [6.0])
    assert close(ag.gradients_function(lambda x, y: x * y, params=[1])(3.0, 2.0), [3.0])


def test_07_value_and_gradients_function() -> None:
    value, gradients = ag.value_and_gradients_function(lambda x: x * x + 2 * x + 4.0)(2.0)
    assert value == 12.0 and close(gradients, [6.0])


def test_08_implicit_gradients() -> None:
    x, y = ag.Variable(1.0, name="x"), ag.Variable(1.0, name="y")

    def func(a: Any) -> Any:
        return x + 2 * a * x * y

    pairs = ag.implicit_gradients(func)(5.0)
    assert close([g for g, _ in pairs], [11.0, 10.0]) and pairs[0][1] is x and pairs[1][1] is y
    value, pairs = ag.implicit_value_and_gradients(func)(5.0)
    assert value == 11.0 and close([g for g, _ in pairs], [11.0, 10.0])
    staged = ag.function(lambda a: [g for g, _ in ag.implicit_gradients(func)(a)])
    assert close(staged(5.0), [11.0, 10.0])
    x.assign(2.0)
    assert close(staged(5.0), [11.0, 20.0])
    with pytest.raises(TapeError, match="reads no trainable Variable"):
        ag.implicit_gradients(lambda a: a * a)(5.0)


def test_09_higher_orders() -> None:
    def square(x: Any) -> Any:
        return jnp.multiply(x, x)

    first = ag.gradients_function(square)
    second = ag.gradients_function(lambda x: first(x)[0])
    third = ag.gradients_function(lambda x: second(x)[0])
    assert square(3.0) == 9.0 and close(first(3.0), [6.0]) and close(second(3.0), [2.0]) and third(3.0) == [None]

    def absolute(x: Any) -> Any:
        return x if x > 0.0 else -x

    for f in (absolute, ag.convert(absolute), ag.function(absolute)):
        assert close(ag.gradients_function(f)(3.0), [1.0]) and close(ag.gradients_function(f)(-3.0), [-1.0])


def test_10_the_tape() -> None:
    w = ag.Variable([[1.0]])
    with ag.GradientTape() as tape:
        loss = w * w
    assert close(tape.gradient(loss, w), [[2.0]])
    with pytest.raises(TapeError, match="the second time") as caught:
        tape.gradient(loss, w)
    assert isinstance(caught.value, RuntimeError) and caught.value.id == "AG703"
    with ag.GradientTape(persistent=True) as tape:
        y = w * w
        z = y * y
    assert close(tape.gradient(y, w), [[2.0]]) and close(tape.gradient(z, w), [[4.0]]) and close(tape.gradient(z, y), [[2.0]])
    x = jnp.array(3.0)
    with ag.GradientTape() as outer:
        outer.watch(x)
        with ag.GradientTape() as inner:
            inner.watch(x)
            y = x**3
        first = inner.gradient(y, x)
    assert first == 27.0 and outer.gradient(first, x) == 18.0


def test_10_an_assignment_cuts_the_tape() -> None:
    v = ag.Variable(3.0)
    with ag.GradientTape() as tape:
        v.assign(v * v)
        y = v * 2.0
    assert tape.gradient(y, v) == 2.0

    @ag.function
    def staged(n: Any) -> Any:
        with ag.GradientTape() as tape:
            i = 0
            while i < n:
                v.assign(v * 2.0)
                i += 1
            y = v * v
        return tape.gradient(y, v)

    v.assign(1.0)
    assert staged(3) == 16.0 and v == 8.0


def test_10_structures_and_what_is_not_connected() -> None:
    a, b, c = ag.Variable(2.0), ag.Variable(3.0), ag.Variable(4.0, trainable=False)
    with ag.GradientTape(persistent=True) as tape:
        loss = {"one": a * a * b, "two": b * c}
    got = tape.gradient(loss, {"a": a, "rest": [b, c]})
    assert close(got["a"], 12.0) and close(got["rest"][0], 8.0) and got["rest"][1] is None
    assert tape.gradient(loss, c, unconnected_gradients="zero") == 0.0
    assert close(tape.gradient(loss["two"], b, output_gradients=10.0), 40.0)
    assert [v is w for v, w in zip(tape.watched_variables(), (a, b), strict=True)] == [True, True]
    with pytest.raises(TypeError, match="takes arrays and Variables"):
        tape.watch(3.0)


def test_10_in_a_function_with_loops() -> None:
    w = ag.Variable([1.0, 2.0])

    def slope(n: Any, x: Any) -> Any:
        with ag.GradientTape() as tape:
            y, i = jnp.sum(w * x), 0
            while i < n:
                y = y * jnp.sum(w) if y > 0 else y
                i += 1
        return tape.gradient(y, w)

    def by_hand(w: Any, x: Any) -> Any:
        return jnp.sum(w * x) * jnp.sum(w) ** 3

    x = jnp.array([0.5, 2.0])
    want = jax.grad(by_hand)(w.value, x)
    assert close(slope(3, x), want) and close(ag.function(slope)(3, x), want)


def test_10_over_functions_that_read_variables() -> None:
    w, x = ag.Variable(3.0), jnp.array(2.0)

    @ag.function
    def f(x: Any) -> Any:
        return w * x**2 if x > 0 else x

    f(x)
    f(x)
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = f(x) * w
    assert [float(g) for g in tape.gradient(y, [w, x])] == [24.0, 36.0]


def test_10_over_a_function_that_assigns() -> None:
    v = ag.Variable(3.0)

    @ag.function
    def doubled() -> Any:
        v.assign(v * 2)
        return v * v

    with ag.GradientTape(), pytest.raises(TapeError, match="watches a Variable, which the function assigns"):
        doubled()
    assert v == 3.0
    moving = ag.Variable(0.0, trainable=False)

    @ag.function
    def normalised(x: Any) -> Any:
        moving.assign(0.5 * moving + 0.5 * x)
        return v * x - moving

    with ag.GradientTape() as tape:
        y = normalised(2.0)
    assert moving == 1.0 and tape.gradient(y, v) == 2.0


@ag.custom_gradient
def clip_gradient_by_norm(x: Any, norm: Any) -> Any:
    def gradient(dy: Any) -> list[Any]:
        length = jnp.sqrt(jnp.sum(dy * dy))
        return [dy * norm / jnp.maximum(length, norm), None]

    return x, gradient


@ag.custom_gradient
def log1pexp(x: Any) -> Any:
    e = jnp.exp(x)
    return jnp.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))


def test_11_custom_gradient() -> None:
    naive = ag.gradients_function(lambda x: jnp.log(1 + jnp.exp(x)))
    assert close(naive(0.0), [0.5]) and np.isnan(naive(100.0)[0])
    first = ag.gradients_function(log1pexp)
    second = ag.gradients_function(lambda x: first(x)[0])
    third = ag.gradients_function(lambda x: second(x)[0])
    assert close(first(0.0), [0.5]) and close(first(100.0), [1.0])
    assert close(second(1.0), [0.19661]) and close(third(1.0), [-0.0908577], 1e-4)
    steep = ag.gradients_function(lambda x: jnp.sum(clip_gradient_by_norm(x, 1.0) * jnp.array([3.0, 4.0])))
    assert close(steep(jnp.ones(2)), [[0.6, 0.8]])
    assert close(ag.function(lambda x: steep(x)[0])(jnp.ones(2)), [0.6, 0.8])
    wrong = ag.custom_gradient(lambda x, y: (x * y, lambda dy: dy))
    with pytest.raises(TapeError, match="gives 1 gradients, and there are 2 arguments"):
        ag.gradients_function(wrong)(1.0, 2.0)


def line_search_step(fn: Any, init_x: Any, rate: Any = 1.0) -> Any:
    with ag.GradientTape() as tape:
        tape.watch(init_x)
        value = fn(init_x)
    grad = tape.gradient(value, init_x)
    grad_norm = jnp.sum(grad * grad)
    init_value, x = value, init_x
    while value > init_value - rate * grad_norm:
        x = init_x - rate * grad
        value = fn(x)
        rate /= 2.0
    return x, value


def test_12_line_search() -> None:
    def fn(x: Any) -> Any:
        return jnp.sum((x - 1.0) ** 4)

    start = jnp.array([3.0, -2.0])
    x, value = line_search_step(fn, start)
    staged = ag.function(line_search_step, static_argnames="fn")
    assert close(staged(fn, start)[0], x) and value < fn(start)
    forward = jax.jvp(lambda x: ag.convert(line_search_step)(fn, x)[1], (start,), (jnp.ones(2),))[1]
    with ag.GradientTape() as tape:
        tape.watch(start)
        _, value = line_search_step(fn, start)
    backward = tape.gradient(value, start)
    assert close(jnp.sum(backward), forward, 1e-3)
    assert close(jnp.sum(jax.grad(lambda x: ag.convert(line_search_step)(fn, x)[1])(start)), forward, 1e-3)
