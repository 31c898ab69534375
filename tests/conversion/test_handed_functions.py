"""Functions of the user's that a function of JAX is given: however they are written, they are converted, and may change what they make."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag


def doubled(k: Any, y: Any) -> Any:
    """2 * (y + k) where that is positive, by a dict that a function inside stores into."""
    held = {}

    def write(v: Any) -> None:
        held["a"] = v

    write(y + k)
    if held["a"] > 0:
        held["a"] = held["a"] * 2
    return held["a"]


def one(y: Any) -> Any:
    return doubled(1.0, y)


def made(k: Any) -> Callable[..., Any]:
    def inner(y: Any) -> Any:
        return doubled(k, y)

    return inner


class Model:
    def __init__(self) -> None:
        self.steps = {"one": one, "method": self.method}
        self.chosen = [one, self.method]

    def keyed(self, k: Any, y: Any) -> Any:
        return doubled(k, y)

    def method(self, y: Any) -> Any:
        return doubled(1.0, y)

    @staticmethod
    def static(y: Any) -> Any:
        return doubled(1.0, y)

    @classmethod
    def of_class(cls, y: Any) -> Any:
        return doubled(1.0, y)

    def __call__(self, y: Any) -> Any:
        return doubled(1.0, y)


MODEL = Model()

# Each way of writing a function of one argument as an expression; `m` is the model.
WRITTEN = {
    "function": "one",
    "lambda": "lambda y: doubled(1.0, y)",
    "method": "m.method",
    "static method": "m.static",
    "class method": "m.of_class",
    "partial": "functools.partial(doubled, 1.0)",
    "partial of a method": "functools.partial(m.keyed, 1.0)",
    "partial of a partial": "functools.partial(functools.partial(m.keyed), 1.0)",
    "made": "made(1.0)",
    "of a dict": "m.steps['one']",
    "method of a dict": "m.steps['method']",
    "of a list": "m.chosen[1]",
    "chosen": "m.method if len(m.steps) > 5 else one",
    "either": "None or m.method",
    "jitted": "jax.jit(m.method)",
    "remembered": "jax.checkpoint(functools.partial(m.keyed, 1.0))",
    "object": "m",
}

# What is done with it; `y` is a number.
USES = {
    "make_jaxpr": "jax.make_jaxpr(F)(y).out_avals[0].shape",
    "eval_shape": "jax.eval_shape(F, y).shape",
    "tree.map": "jax.tree.map(F, [y, -y])",
    "switch": "jax.lax.switch(jnp.int32(1), [F, F], y)",
    "cond": "jax.lax.cond(y > 0, F, F, y)",
    "map": "jax.lax.map(F, jnp.array([1.0, -3.0]) * y)",
    "vmap": "jax.vmap(F)(jnp.array([1.0, -3.0]) * y)",
    "grad": "jax.grad(F)(y)",
    "jvp": "jax.jvp(F, (y,), (1.0,))",
    "vjp": "jax.vjp(F, y)[0]",
    "linearize": "jax.linearize(F, y)[0]",
    "jit": "jax.jit(F)(y)",
    "checkpoint": "jax.checkpoint(F)(y)",
    "jacfwd": "jax.jacfwd(F)(y)",
    "grad of a map": "jax.grad(lambda z: jax.lax.map(F, jnp.stack([z, -z])).sum())(y)",
    "while_loop": "jax.lax.while_loop(lambda z: z < 5.0, F, y)",
    "fori_loop": "jax.lax.fori_loop(0, 2, lambda i, z: (F)(z), y)",
    "associative_scan": "jax.lax.associative_scan(lambda a, b: a + (F)(b[0]) * 0.0 + b, jnp.arange(3.0) * y)",
}
NEEDS = {**globals()}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("written", WRITTEN)
def test_a_function_that_jax_is_given(written: str, use: str, tmp_path: Any) -> None:
    file = tmp_path / "program.py"
    text = USES[use].replace("F", WRITTEN[written]) if WRITTEN[written].isidentifier() else USES[use].replace("F", f"({WRITTEN[written]})")
    file.write_text(f"def program(m, y):\n    return {text}\n")
    space = dict(NEEDS)
    exec(compile(file.read_text(), str(file), "exec"), space)

    def straight(k: Any, y: Any) -> Any:
        return jnp.where(y + k > 0, 2 * (y + k), y + k)

    plain = dict(NEEDS) | {"doubled": straight, "one": lambda y: straight(1.0, y), "made": lambda k: functools.partial(straight, k), "m": None}
    exec(compile(file.read_text(), str(file), "exec"), plain)
    expected = plain["program"](_Straight(straight), jnp.float32(2.0))
    for convert in (lambda f: jax.jit(ag.convert(f)), ag.function):
        got = convert(functools.partial(space["program"], MODEL))(jnp.float32(2.0))
        assert jax.tree.structure(got) == jax.tree.structure(expected)
        assert [jnp.round(x, 4).tolist() for x in jax.tree.leaves(got)] == [jnp.round(x, 4).tolist() for x in jax.tree.leaves(expected)]


class _Straight:
    """The model, of functions that need no conversion."""

    def __init__(self, f: Callable[..., Any]) -> None:
        self.keyed, self.f = f, f
        self.steps = {"one": self, "method": self.method}
        self.chosen = [self, self.method]

    def method(self, y: Any) -> Any:
        return self.f(1.0, y)

    static = of_class = __call__ = method


class _Moments(NamedTuple):
    mu: list[Any]
    nu: Any


def _by_a_local_function(p: Any) -> Any:
    def rows(g: Any) -> Any:
        out = []
        for i in range(g.ndim):
            out.append(g * (i + 1))
        return out

    return jax.lax.cond(p.sum() > 0, lambda: rows(p), lambda: [p])


def _by_a_comprehension(p: Any) -> Any:
    def rows(g: Any) -> Any:
        return [g * (i + 1) for i in range(g.ndim)]

    return jax.lax.cond(p.sum() > 0, lambda: rows(p), lambda: [p])


def _under_a_loop_of_lax(p: Any) -> Any:
    def step(g: Any) -> Any:
        out = []
        out.append(g)
        return out[0] * 2

    return jax.lax.fori_loop(0, 3, lambda _, x: step(x), p)


def _in_a_chain(p: Any) -> Any:
    """The new states stand in a list that is given up, and in the result: one of them holds a list that was filled."""

    def moments(g: Any, state: Any) -> Any:
        mu = jax.tree.map(lambda x: [x * (i + 1) for i in range(x.ndim)], g)
        return g, _Moments(mu, state.nu + g)

    def chained(g: Any, states: Any) -> Any:
        new = []
        for s, update in zip(states, (moments, lambda g, s: (g * 2, s)), strict=True):
            g, s = update(g, s)
            new.append(s)
        return g, tuple(new)

    states = (_Moments([p], p), ())
    return jax.lax.cond(p.sum() > 0, lambda: chained(p, states), lambda: (p, states))


@pytest.mark.parametrize("f", [_by_a_local_function, _by_a_comprehension, _under_a_loop_of_lax, _in_a_chain])
def test_lists_that_functions_under_primitives_make(f: Any) -> None:
    p = jnp.arange(1.0, 4.0)
    for form in (jax.jit(ag.convert(f)), ag.function(f), jax.jit(ag.function(f))):
        for x in (p, -p):
            assert jax.tree.structure(form(x)) == jax.tree.structure(f(x))
            for got, want in zip(jax.tree.leaves(form(x)), jax.tree.leaves(f(x)), strict=True):
                np.testing.assert_array_equal(got, want)
