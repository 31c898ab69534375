"""NumPy arrays of the caller that share memory are refused; views made in the call, and one array in two places, are as in NumPy (RULES 19, 20)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag

WHOLE = np.zeros(2, np.float32)
PART = WHOLE[:1]


class Two:
    def __init__(self, one: bool = False) -> None:
        self.w = np.zeros(4, np.float32)
        self.m = self.w if one else self.w.reshape(2, 2)


def through_the_view(t: Any, x: Any) -> Any:
    t.m[0, 0] = x
    t.w[1] = x


def read_through_the_view(t: Any, x: Any) -> Any:
    t.w[0] = x
    return t.m[0, 0]


def of_global_variables(t: Any, x: Any) -> Any:
    WHOLE[0] = x
    return PART[0]


@pytest.mark.parametrize("f", [through_the_view, read_through_the_view, of_global_variables])
def test_views_of_the_caller_are_refused(f: Callable[..., Any]) -> None:
    t = Two()
    with pytest.raises(ag.StagingError, match="AG403 "):
        ag.function(f)(t, 3.0)
    assert not t.w.any() and not WHOLE.any()


def a_view_made_here(t: Any, x: Any) -> Any:
    a = np.zeros(4, np.float32)
    b = a.reshape(2, 2)
    c = b[:, 1]
    b[0, 0] = x
    if x > 0:
        c += x
    a[3] -= 1
    return a, b, c


def a_view_of_an_attribute(t: Any, x: Any) -> Any:
    m = t.w.reshape(2, 2)
    if x > 0:
        m[0] = x
    t.w[2:] += 1
    return m


@pytest.mark.parametrize("f", [a_view_made_here, a_view_of_an_attribute])
@pytest.mark.parametrize("x", [3.0, -3.0])
def test_views_that_the_call_makes_are_seen(f: Callable[..., Any], x: float) -> None:
    got, want = Two(one=True), Two(one=True)
    jax.tree.map(np.testing.assert_array_equal, ag.function(f)(got, jnp.float32(x)), f(want, x))
    assert got.w.tolist() == want.w.tolist()


def argument_and_global(a: Any, t: Any) -> Any:
    a[0] = 5
    return WHOLE.sum()


def global_and_argument(a: Any, t: Any) -> Any:
    WHOLE[0] = 5
    return a.sum()


def argument_and_attribute(a: Any, t: Any) -> Any:
    a[0] = 5
    return t.w.sum()


def attribute_and_argument(a: Any, t: Any) -> Any:
    t.w[0] = 5
    return a.sum()


@pytest.mark.parametrize("f", [argument_and_global, global_and_argument, argument_and_attribute, attribute_and_argument])
def test_an_argument_that_is_held_elsewhere(f: Callable[..., Any]) -> None:
    WHOLE[:] = 0
    t = Two(one=True)
    given = WHOLE if "global" in f.__name__ else t.w
    with pytest.raises(ag.StagingError, match="AG403 .* are one NumPy array: a store into one would not be seen in the other"):
        ag.function(f)(given, t)
    assert not given.any()
    other = np.zeros(4, np.float32)  # another one is no trouble
    assert ag.function(f)(other, Two(one=True)) == 0


def test_two_attributes_that_are_one_array() -> None:
    t = Two(one=True)
    assert ag.function(lambda t, x: read(t, x))(t, 3.0) == 3 and t.w[0] == 3 and t.m is t.w


def read(t: Any, x: Any) -> Any:
    t.w[0] = x
    return t.m[0]


def exchanged(o: Any, n: Any) -> Any:
    for i in range(n):
        o.m[:] = o.w + i
        o.w, o.m = o.m, o.w
    o.w[1] = 7
    return o.w.sum() - o.m.sum()


def exchanged_or_one(o: Any, n: Any) -> Any:
    for i in range(n):
        o.w, o.m = o.m, o.w
        if i > 1:
            o.m = o.w
    o.w[0] = 1
    return o.m.sum()


def one_array_until_it_is_replaced(t: Any, n: Any) -> Any:
    for i in range(n):
        t.w[0] += i + 1
        if i == 1:
            t.w = t.w * 2
    return t.m[0]


def one_array_in_every_turn(t: Any, n: Any) -> Any:
    for i in range(n):
        t.w[0] += i + 1
    return t.m[0]


@pytest.mark.parametrize("make", [np.array, jnp.array])
@pytest.mark.parametrize("one", [False, True])
@pytest.mark.parametrize("f", [exchanged, exchanged_or_one, one_array_until_it_is_replaced, one_array_in_every_turn])
def test_two_attributes_in_a_loop(f: Callable[..., Any], one: bool, make: Any) -> None:
    def run(form: Callable[..., Any], make: Any, n: Any) -> Any:
        t = Two()
        first, second = make([0, 1], dtype=np.float32), make([5, 5], dtype=np.float32)
        t.w, t.m = first, first if one else second
        return float(form(t, n)), t.w.tolist(), t.m.tolist(), t.w is t.m

    compiled = ag.function(f)
    for n in (1, 2, 0, 3, 4):
        assert run(compiled, make, jnp.int32(n)) == run(f, np.array, n)
