"""A place that is given another value of the same structure: attributes, items and variables that hold dicts, lists, tuples and frozen objects."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from tests.numpys import ALL, as_numpy


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Frozen:
    a: Any
    b: Any


class Trainer:
    def __init__(self) -> None:
        self.params = {"w": jnp.ones(3), "b": jnp.zeros(())}
        self.best = dict(self.params)
        self.nested = {"in": {"a": jnp.zeros(2)}, "n": 0}
        self.pair = [jnp.zeros(()), jnp.ones(())]
        self.both = (jnp.zeros(2), {"k": jnp.ones(())})
        self.frozen = Frozen(jnp.zeros(2), 1.0)
        self.loss = jnp.inf


def loss_of(p: Any, x: Any) -> Any:
    return (p["w"] @ x + p["b"] - 1.0) ** 2


def trains(t: Any, x: Any, n: Any) -> Any:
    for _ in range(n):
        grads = jax.grad(loss_of)(t.params, x)
        t.params = jax.tree.map(lambda p, g: p - 0.05 * g, t.params, grads)
        if (loss := loss_of(t.params, x)) < t.loss:
            t.loss = loss
            t.best = dict(t.params)
    return t.loss, t.best["w"]


def an_item_of_a_dict(t: Any, x: Any, n: Any) -> Any:
    for _ in range(n):
        t.nested["in"] = {"a": t.nested["in"]["a"] + x[:2]}
        t.nested["n"] += 1
        if x[0] > 0:
            t.nested["in"] = {"a": t.nested["in"]["a"] * 2}
    return t.nested["in"]["a"], t.nested["n"]


def a_list(t: Any, x: Any, n: Any) -> Any:
    for i in range(n):
        t.pair = [t.pair[1] + 1, t.pair[0] * 2]
        if x[0] > i:
            t.pair = list(reversed(t.pair))
    return t.pair


def a_tuple(t: Any, x: Any, n: Any) -> Any:
    while n > 0:
        t.both = (t.both[0] + 1, {"k": t.both[1]["k"] * 2})
        n = n - 1
    return t.both


def a_frozen_object(t: Any, x: Any, n: Any) -> Any:
    for i in range(n):
        t.frozen = dataclasses.replace(t.frozen, a=t.frozen.a + x[:2])
        if x[0] > i:
            t.frozen = dataclasses.replace(t.frozen, b=t.frozen.b + 1)
    return t.frozen.a, t.frozen.b


def in_a_branch(t: Any, x: Any, n: Any) -> Any:
    if n > 1:
        t.best = {"w": t.params["w"] + 1, "b": jnp.ones(())}
    else:
        t.params = {"b": x[0], "w": x}
    return t.best["w"], t.params["b"]


def the_old_one_has_a_name(t: Any, x: Any, n: Any) -> Any:
    before = t.params
    for _ in range(n):
        t.params = {"w": t.params["w"] + 1.0, "b": t.params["b"]}
    return before["w"], t.params["w"]


def none_at_first(t: Any, x: Any, n: Any) -> Any:
    best, least, p = None, jnp.inf, dict(t.params)
    for _ in range(n):
        p = {k: v * 0.5 for k, v in p.items()}
        if best is None or loss_of(p, x) < least:
            best, least = dict(p), loss_of(p, x)
    return x if best is None else best["w"]


@pytest.mark.parametrize(
    "program",
    [trains, an_item_of_a_dict, a_list, a_tuple, a_frozen_object, in_a_branch, the_old_one_has_a_name, none_at_first],
    ids=lambda f: f.__name__,
)
def test_as_in_python(program: Callable[..., Any]) -> None:
    compiled, x = ag.function(program), jnp.array([1.0, 2.0, 3.0])
    for n in (3, 0, 1):
        a, b = Trainer(), Trainer()
        want, got = program(a, x, n), compiled(b, x, jnp.int32(n))
        jax.tree.map(lambda g, w: np.testing.assert_allclose(g, w, rtol=1e-5, atol=1e-6), (got, vars(b)), (want, vars(a)))


def test_two_places_that_hold_one_dict_as_traced_values_decide() -> None:
    def f(t: Any, x: Any) -> Any:
        if x > 0:
            t.params = t.best
        return t.params["b"]

    with pytest.raises(ag.AutographError, match="(?s)AG401.*it is data-dependent which `dict` `Trainer.params` holds.*store a copy"):
        ag.function(f)(Trainer(), 1.0)


def test_lists_inside_of_tuples_that_are_exchanged_and_changed() -> None:
    """Each turn leaves another list in its place: refused, at the line that changes it."""

    class Pair:
        def __init__(self) -> None:
            self.a, self.b = ([1.0, 2.0], 1), ([3.0, 4.0], 2)

    @ag.function
    def f(n: Any) -> Any:
        o, i = Pair(), 0
        while i < n:
            o.a, o.b = o.b, o.a
            o.a[0][0] += 1
            i += 1
        return o.a[0][0]

    with pytest.raises(ag.AutographError, match="holds another object, or one of another type, after each iteration") as caught:
        f(3.0)
    assert caught.value.id == "AG201" and "o.a[0][0] += 1" in str(caught.value)


class Holding:
    def __init__(self, a: Any) -> None:
        self.a = a


def an_attribute(h: Any, r: Any) -> Any:
    for j in r:
        if j > 1:
            h.a[0] = 7
        else:
            h.a = h.a * 2
    return h.a.sum()


def before_a_break(h: Any, r: Any) -> Any:
    for j in r:
        if j > 1:
            h.a[0] = 7
            break
        h.a = h.a + 1


def before_a_return(h: Any, r: Any) -> Any:
    for j in r:
        if j > 1:
            h.a[1] += j
            return j
        h.a = h.a + 1
    return 0


def in_a_function(h: Any, r: Any) -> Any:
    if r[0] > 1:
        h.a[0] = 7
    else:
        h.a = h.a * 2
    if r[1] > 1:
        h.a = h.a + 1
    else:
        h.a[1] = 9


def an_item(h: Any, r: Any) -> Any:
    d = {"a": h.a * 1, "l": [h.a * 2]}
    for j in r:
        if j > 1:
            d["a"][0] = j
            d["l"][0][1] = 5
        else:
            d["a"] = d["a"] * 2
            d["l"][0] = d["l"][0] + 1
    return d["a"], d["l"][0]


def of_three(h: Any, r: Any) -> Any:
    for j in r:
        if j > 3:
            h.a[0] = 7
        elif j > 0:
            h.a[1] = 8
        else:
            h.a = h.a * 2


def a_view(h: Any, r: Any) -> Any:
    m = h.a * 3
    h.row = m[1:]
    for j in r:
        if j > 1:
            m[1] += 7
        else:
            h.row = h.row * 2
    return m, h.row


def through_another_name(h: Any, r: Any) -> Any:
    m = h.a
    for j in r:
        if j > 1:
            m[0] = 7
        else:
            h.a = h.a * 2
    return m, h.a


NUMPYS = [form for form in ALL if form[1] is np]
GIVEN_OR_STORED = [an_attribute, before_a_break, before_a_return, in_a_function, an_item, of_three, a_view, through_another_name]


@pytest.mark.parametrize("f", GIVEN_OR_STORED)
@pytest.mark.parametrize("r", [(-3, 4, 4), (5, -3, 4), (-1, -1, -1), (2, 2, 2), (4, -1, 1)])
def test_one_side_stores_into_what_the_other_replaces(f: Callable[..., Any], r: tuple[int, ...]) -> None:
    forms = NUMPYS if f is a_view else ALL  # a slice of an array of JAX's is a copy
    as_numpy(f, lambda: (Holding(np.arange(4, dtype=np.int32)), np.array(r, np.int32)), forms)


TABLE, VALUES = np.arange(3.0), jnp.arange(3.0)


class OfClass:
    TABLE, VALUES = np.arange(3.0), jnp.arange(3.0)


def _of_closure() -> tuple[Callable[[], Any], Callable[[], Any]]:
    table, values = np.arange(3.0), jnp.arange(3.0)
    return lambda: table, lambda: values


of_closure, values_of_closure = _of_closure()


@functools.cache
def remembered() -> Any:
    return np.arange(3.0)


@pytest.mark.parametrize(
    "outside",
    [lambda: TABLE, lambda: VALUES, lambda: OfClass.TABLE, lambda: OfClass.VALUES, of_closure, values_of_closure, remembered],
    ids=["global", "values", "class", "values of a class", "closure", "values of a closure", "cache"],
)
def test_an_array_of_the_code_around_is_put_into_an_object(outside: Callable[[], Any]) -> None:
    """It is an array like any other that a call gives, and none of our own objects."""

    @ag.function
    def f(t: Any, x: Any) -> None:
        t.params = outside()
        t.loss = x * 2

    for x in (1.0, 2.0):
        t = Trainer()
        f(t, x)
        assert isinstance(t.params, jax.Array | np.ndarray) and not isinstance(t.params, jax.core.Tracer)
        assert (t.params == np.arange(3.0)).all() and float(t.loss) == 2 * x
