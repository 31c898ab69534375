"""List comprehensions and `list(filter(...))` whose conditions may be traced: what Python gives, in every form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from tests.numpys import as_numpy

V = np.array([0.6, 0.3, 0.05, 0.01, 0.8, 0.9], np.float32)
INPUTS = (V, V[::-1].copy(), np.zeros(3, np.float32), np.ones(4, np.float32))


def over(limit: Any) -> Any:
    return lambda v: [x for x in v if x > limit]


def counted(v: Any) -> Any:
    large = [x for x in v if x > 0.3]
    return len(large), sum(large), any(x > 0.85 for x in large), all(x > 0.5 for x in large)


def gone_over(v: Any) -> Any:
    large = [(k, x) for k, x in enumerate(v) if x > 0.3]
    total = 0.0
    for k, x in large:
        total += k * x
    return total, large


def of_another(v: Any) -> Any:
    large = [x for x in v if x > 0.3]
    small = [x for x in large if x < 0.7]
    twice = [2 * x for x in large]
    return small, twice, [a + b for a, b in zip(large, twice)], [v[k] for k in [k for k in range(len(v)) if v[k] < 0.3]]


def longer_afterwards(v: Any) -> Any:
    large = [x for x in v if x > 0.3]
    large.append(v[0])
    if v[1] > 0.5:
        large.append(v[1])
    return large


def in_a_loop(v: Any) -> Any:
    counts = []
    for limit in v:
        below = [x for x in v if x < limit]
        counts.append(len(below))
    return counts


def in_a_while(v: Any) -> Any:
    n = 0
    while n < 5 and len([x for x in v if x > 0.1]) > 1:
        v = v * 0.5
        n += 1
    return v, n


def of_a_helper(v: Any) -> Any:
    def between(a: Any, b: Any) -> Any:
        return [x for x in v if a <= x if x < b]

    return [len(between(k / 4, k / 4 + 0.25)) for k in range(4)], between(0.2, 0.7)


def nested(v: Any) -> Any:
    return [x + y for x in v if x > 0.2 for y in v if y < x], [[y for y in v if y > x] for x in (0.1, 0.5)]


def of_rows(v: Any) -> Any:
    pairs = [v[k : k + 2] for k in range(len(v) - 1) if v[k] > v[k + 1]]
    parts = [part for part in (v[:2], v[1:3]) if part[0] > 0.2]
    return pairs, parts


def by_functions(v: Any) -> Any:
    return list(filter(lambda x: x > 0.3, v)), list(x for x in v if x > 0.3), list(filter(None, v))


def in_containers(v: Any) -> Any:
    return {"large": [x for x in v if x > 0.3], "small": [x for x in v if not x > 0.3]}


def of_python(v: Any) -> Any:
    odd = [v[k] for k in range(3) if k % 2]
    return sum(odd), [k for k in range(5) if k != 2], [c for c in "abc" if c != "b"].index("c"), len([x for k, x in enumerate(v) if k])


def partly_known(v: Any) -> Any:
    return [k * x for k, x in enumerate(v) if k % 2 and x > 0.2], [x for k, x in enumerate(v) if k == 0 or x > 0.5]


def choices(v: Any) -> Any:
    return [x if x > 0.5 else -x for x in v if x > 0.2]


PROGRAMS = [
    over(0.3), counted, gone_over, of_another, longer_afterwards, in_a_loop, in_a_while, of_a_helper, nested, of_rows, by_functions, in_containers,
    of_python, partly_known, choices,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_as_python(f: Callable[[Any], Any]) -> None:
    for v in INPUTS:
        as_numpy(f, lambda: (v.copy(),))


def total(v: Any, limit: Any) -> Any:
    large = [x * x for x in v if x > limit]
    return sum(large) + len(large)


def test_transformations() -> None:
    f, limits = ag.convert(total), jnp.array([0.0, 0.35, 2.0])
    want = [total(V, float(limit)) for limit in limits]
    np.testing.assert_allclose([jax.jit(f)(V, limit) for limit in limits], want, rtol=1e-6)
    np.testing.assert_allclose(jax.vmap(f, (None, 0))(V, limits), want, rtol=1e-6)
    np.testing.assert_allclose(jax.jit(jax.vmap(f, (None, 0)))(V, limits), want, rtol=1e-6)
    np.testing.assert_allclose(jax.grad(f)(jnp.asarray(V), 0.3), np.where(V > 0.3, 2 * V, 0), rtol=1e-6)
    np.testing.assert_allclose(jax.jit(jax.grad(f))(jnp.asarray(V), 0.3), np.where(V > 0.3, 2 * V, 0), rtol=1e-6)
    np.testing.assert_allclose(jax.jvp(lambda v: f(v, 0.3), (V,), (np.ones_like(V),))[1], (2 * V)[V > 0.3].sum(), rtol=1e-6)


def test_conditions_are_asked_once_and_in_order() -> None:
    asked = []

    def f(v: Any) -> Any:
        def odd(k: int) -> bool:
            asked.append(k)
            return k % 2 == 1

        return [v[k] for k in range(4) if odd(k)]

    assert ag.function(f)(V) == [V[1], V[3]]
    assert asked == [0, 1, 2, 3]


def test_an_iterator_is_gone_over_once() -> None:
    def f(v: Any) -> Any:
        items = iter([v[0], v[1], v[2], v[3]])
        next(items)
        kept = [x for x in items if x > 0.2]
        return kept, list(items)

    as_numpy(f, lambda: (V.copy(),))


def test_what_python_knows_is_a_list_of_its_own() -> None:
    """So that its length is known where a shape is needed."""

    def f(v: Any) -> Any:
        return jnp.stack([x for k, x in enumerate(v) if k % 2])

    np.testing.assert_array_equal(ag.function(f)(V), V[1::2])


def test_functions_of_the_variable_are_pythons() -> None:
    def f(v: Any) -> Any:
        made = [lambda: x for k, x in enumerate(v) if k < 2]
        return [g() for g in made]

    as_numpy(f, lambda: (V.copy(),))


def test_two_lists_of_views_in_two_branches() -> None:
    def f(v: Any) -> Any:
        out, rows = [], [v[:3], v[1:4]]
        row = rows[0]
        if row[0] > 0.2:
            out.append(row)
        row = rows[1]
        if row[0] > 0.2:
            out.append(row)
        return out

    as_numpy(f, lambda: (V.copy(),))


@pytest.mark.parametrize("names", [("a", "b"), (("a", 1), ("b", 2))])
def test_what_no_array_holds_is_refused(names: Any) -> None:
    with pytest.raises(ag.AutographError, match="AG405 .* its items differ"):
        ag.function(lambda v: [name for k, name in enumerate(names) if v[k] > 0.1])(V)


def test_an_array_of_one_wants_its_size() -> None:
    with pytest.raises(ag.AutographError, match=r"AG(405|502) "):
        ag.function(lambda v: jnp.stack([x for x in v if x > 0.3]))(V)
    np.testing.assert_allclose(ag.function(lambda v: jnp.array([x for x in v if x > 0.3]).sum())(V), V[V > 0.3].sum(), rtol=1e-6)
    got = ag.function(lambda v: ag.padded([x for x in v if x > 0.3], 8))(V)
    np.testing.assert_array_equal(got, [*V[V > 0.3], *[0.0] * (8 - (V > 0.3).sum())])
