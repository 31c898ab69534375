"""Lists of numbers that are stored into at traced places: as Python, and one array in the carry of a compiled loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag

LENGTHS = [3, 5, 8, 40]


def histogram(h: list[Any], ks: Any) -> Any:
    for k in ks:
        h[k] += 1
    return h


def by_index(h: list[Any], ks: Any) -> Any:
    for i in range(len(ks)):
        h[ks[i]] = h[ks[i]] * 2 + i
    return h


def backwards(h: list[Any], ks: Any) -> Any:
    for k in ks:
        h[-1 - k] = h[k] + 1
    return h


def swaps(h: list[Any], ks: Any) -> Any:
    for i in range(len(ks) - 1):
        h[ks[i]], h[ks[i + 1]] = h[ks[i + 1]], h[ks[i]]
    return h


def guarded(h: list[Any], ks: Any) -> Any:
    for k in ks:
        if k > 1:
            h[k] = h[k - 1] + 1
        else:
            h[0] = h[k] - 1
    return h


def until(h: list[Any], ks: Any) -> Any:
    i = 0
    while i < len(ks) and h[ks[i]] < 6:
        h[ks[i]] += i + 1
        i += 1
    return h, i


def in_two_loops(h: list[Any], ks: Any) -> Any:
    for k in ks:
        for j in range(k):
            h[j] += h[k] % 3
    return h


def bubble(h: list[Any], ks: Any) -> Any:
    n = len(h)
    for k in ks:
        h[k] = n - k
    for i in range(n):
        for j in range(n - 1 - i):
            if h[j] > h[j + 1]:
                h[j], h[j + 1] = h[j + 1], h[j]
    return h


def sieve(h: list[Any], ks: Any) -> Any:
    marked = [False] * len(h)
    for k in ks:
        if not marked[k]:
            for j in range(k, len(h), max(k, 1)):
                marked[j] = True
    return marked, sum(marked)


def two_lists(h: list[Any], ks: Any) -> Any:
    last = [-1] * len(h)
    for i in range(len(ks)):
        h[ks[i]] += i - last[ks[i]]
        last[ks[i]] = i
    return h, last


def a_known_place_too(h: list[Any], ks: Any) -> Any:
    for k in ks:
        h[k] += 1
        h[0] = h[0] + h[1]
        h[-1] += 1
    return h


def read_after(h: list[Any], ks: Any) -> Any:
    for k in ks:
        h[k] += 1
    total = 0
    for x in h:
        total += x
    return total, max(h), h[1], h[ks[0]], len(h)


def fractions(h: list[Any], ks: Any) -> Any:
    for k in ks:
        h[k] = h[k] / 2 + 0.5
    return h


def row_of_rows(h: list[Any], ks: Any) -> Any:
    g = [[0] * len(h) for _ in range(2)]
    for k in ks:
        g[k % 2][k] += k
    return g


def held_by_an_object(h: list[Any], ks: Any) -> Any:
    class Held:
        def __init__(self) -> None:
            self.h = h

        def put(self, k: Any) -> None:
            self.h[k] += 2

    box = Held()
    for k in ks:
        box.put(k)
    return box.h


def appended(h: list[Any], ks: Any) -> Any:
    out = []
    for k in ks:
        h[k] += 1
        out.append(h[k])
    return out, h


def early(h: list[Any], ks: Any) -> Any:
    for k in ks:
        h[k] += 1
        if h[k] == 2:
            return k, h
    return -1, h


PROGRAMS = [
    histogram, by_index, backwards, swaps, guarded, until, in_two_loops, bubble, sieve, two_lists, a_known_place_too, read_after, fractions,
    row_of_rows, held_by_an_object, appended, early,
]  # fmt: skip
KINDS: dict[str, Callable[[int], list[Any]]] = {
    "ints": lambda n: [0] * n,
    "floats": lambda n: [float(k) for k in range(n)],
    "mixed": lambda n: [k if k % 2 else float(k) for k in range(n)],
}


@pytest.mark.usefixtures("quick_compilation")
@pytest.mark.parametrize("form", [lambda f: jax.jit(ag.convert(f)), ag.function], ids=["jit", "function"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_as_python(f: Callable[..., Any], n: int, kind: str, form: Any) -> None:
    ks = np.array([1, 0, 2, 2, 1, 0, n - 1, 1, n // 2])
    want = f(KINDS[kind](n), ks.tolist())
    got = form(lambda ks: f(KINDS[kind](n), ks))(ks)
    assert jax.tree.structure(got) == jax.tree.structure(want)
    for x, y in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-6)


@pytest.mark.usefixtures("quick_compilation")
@pytest.mark.parametrize("n", LENGTHS)
def test_an_index_out_of_range(n: int) -> None:
    f = ag.function(lambda ks: histogram([0] * n, ks))
    with pytest.raises(IndexError):
        f(np.array([1, n, 0]))
    with pytest.raises(IndexError):
        f(np.array([1, -n - 1, 0]))
    assert f(np.array([-n, -1, 0]))[0] == 2


def recurrence(x: Any, ks: Any) -> Any:
    h = [x * 0, x, x * 2, x * 3, x * 4]
    for k in ks:
        h[k] = h[k - 1] * h[k] + x
    return h[1] + 2 * h[4]


@pytest.mark.parametrize("transform", [jax.grad, lambda f: jax.grad(jax.grad(f)), jax.hessian], ids=["grad", "second", "hessian"])
def test_derivatives(transform: Any) -> None:
    ks = np.array([1, 4, 2, 2, 3, 1, 4])

    def by_hand(x: Any) -> Any:
        h = jnp.array([0.0, 1.0, 2.0, 3.0, 4.0]) * x
        for k in ks.tolist():
            h = h.at[k].set(h[k - 1] * h[k] + x)
        return h[1] + 2 * h[4]

    got = jax.jit(transform(ag.convert(lambda x: recurrence(x, jnp.asarray(ks)))))(0.7)
    np.testing.assert_allclose(got, transform(by_hand)(0.7), rtol=1e-5)


def test_under_vmap() -> None:
    ks = jnp.array([[1, 4, 2], [0, 0, 3]])
    got = jax.jit(jax.vmap(ag.convert(lambda ks: histogram([0] * 6, ks))))(ks)
    want = [np.bincount(k, minlength=6) for k in np.asarray(ks)]
    np.testing.assert_array_equal(np.stack(got, 1), np.stack(want))


def loops(jaxpr: Any) -> list[Any]:
    found = []
    for eqn in jaxpr.eqns:
        found += [eqn] if eqn.primitive.name in ("scan", "while") else []
        for value in eqn.params.values():
            for inner in value if isinstance(value, (tuple, list)) else (value,):
                if hasattr(inner := getattr(inner, "jaxpr", inner), "eqns"):
                    found += loops(inner)
    return found


@pytest.mark.parametrize("f", [histogram, by_index, backwards, swaps, until, in_two_loops, bubble, a_known_place_too], ids=lambda f: f.__name__)
def test_a_loop_carries_an_array(f: Callable[..., Any]) -> None:
    found = loops(jax.make_jaxpr(ag.convert(lambda ks: f([0] * 50, ks)))(jnp.arange(40) % 50).jaxpr)
    assert found
    assert all(len(eqn.outvars) < 10 for eqn in found), "a loop carries the numbers one by one"


TABLE = np.array([1, 4, 2, 2, 3, 1, 4])


@pytest.mark.parametrize("form", [lambda f: jax.jit(ag.convert(f)), ag.function], ids=["jit", "function"])
def test_a_constant_has_the_type_that_jax_gives_it(form: Any) -> None:
    def f(x: Any) -> Any:
        local = np.arange(3)
        return (
            jnp.asarray(TABLE),
            jnp.array(TABLE),
            jnp.stack([TABLE, TABLE]),
            jnp.asarray(local),
            jnp.asarray(local, jnp.float32),
            x + jnp.asarray(TABLE),
        )

    want, got = jax.jit(f)(1.0), form(f)(1.0)
    assert [x.dtype for x in got] == [x.dtype for x in want]


def test_what_is_rounded_before_it_is_stacked_is_not_the_list() -> None:
    def f(ks: Any) -> Any:
        h, s = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0], 0.0
        for k in ks:
            parts = [jnp.float32(jnp.int32(h[0])), jnp.float32(jnp.int32(h[1])), jnp.float32(jnp.int32(h[2])), jnp.float32(jnp.int32(h[3]))]
            s = s + jnp.sum(jnp.stack([*parts, jnp.float32(jnp.int32(h[4])), jnp.float32(jnp.int32(h[5]))]))
            h[k] += 0.7
        return s

    ks = [1, 1, 0, 2, 2, 1]
    assert jax.jit(ag.convert(f))(jnp.array(ks)) == f(ks) == 5
