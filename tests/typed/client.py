"""A client, as strict type checkers see it: a decorated function keeps its signature."""

from typing import assert_type

import jax

import autograph as ag


@ag.function
def scale(x: jax.Array, factor: float = 2.0) -> jax.Array:
    while factor > 1:
        x = x * 2
        factor = factor - 1
    return x


@ag.function(static_argnames=("n",))
def repeat(x: jax.Array, n: int) -> tuple[jax.Array, int]:
    return x * n, n


@ag.convert
def relu(x: float) -> float:
    return x if x > 0 else 0.0


@ag.do_not_convert
def plain(x: int) -> str:
    return str(x)


class Counter:
    def __init__(self) -> None:
        self.total = 0

    @ag.function
    def add(self, x: int) -> int:
        for i in ag.range(x, rolled=True):
            self.total += assert_type(i, int)
        return self.total


def use(x: jax.Array) -> None:
    assert_type(scale(x), jax.Array)
    assert_type(scale(x, factor=3.0), jax.Array)
    assert_type(repeat(x, n=2), tuple[jax.Array, int])
    assert_type(relu(1.0), float)
    assert_type(plain(1), str)
    assert_type(Counter().add(1), int)
    scale.lower(x, factor=3.0)
    scale.trace(x)
    scale.eval_shape(x)
    scale.clear_cache()
    Counter().add.lower(2)
    assert_type(ag.to_code(scale), str)
    assert_type(ag.explain(scale, x).svg(), str)
    for k in ag.progress(range(3), every=1):
        assert_type(k, int)
    with ag.loop(max_steps=3), ag.run_eagerly():
        pass


def mistakes(x: jax.Array) -> None:
    scale("a")  # error: argument
    scale(x, rate=1.0)  # error: no parameter
    Counter().add()  # error: missing
    repeat.lower(x)  # error: missing
