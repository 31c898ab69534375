"""NumPy arrays that share memory, and one array in two places of which only one is looked at: refused, or one array (RULES 19, 20)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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


def a_view_made_here(t: Any, x: Any) -> Any:
    a = np.zeros(4, np.float32)
    b = a.reshape(2, 2)
    b[0, 0] = x
    return a[0]


@pytest.mark.parametrize("f", [through_the_view, read_through_the_view, of_global_variables, a_view_made_here])
def test_views_are_refused(f: Callable[..., Any]) -> None:
    t = Two()
    with pytest.raises(ag.StagingError, match="AG403 "):
        ag.function(f)(t, 3.0)
    assert not t.w.any() and not WHOLE.any()


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
    t = Two(one=True)
    given = WHOLE if "global" in f.__name__ else t.w
    with pytest.raises(ag.StagingError, match="AG403 .* are one NumPy array: what is stored into the one was not seen in the other"):
        ag.function(f)(given, t)
    assert not given.any()
    other = np.zeros(4, np.float32)  # another one is no trouble
    assert ag.function(f)(other, Two(one=True)) == 0
    WHOLE[:] = 0


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


@pytest.mark.parametrize("make", [np.array, jnp.array])
def test_two_buffers_that_a_loop_exchanges_stay_two(make: Any) -> None:
    given, want = Two(), Two()
    given.w, given.m, want.w, want.m = make([0.0, 1], dtype=np.float32), make([5.0, 5], dtype=np.float32), np.array([0.0, 1]), np.array([5.0, 5])
    f = ag.function(exchanged)
    for n in (1, 2, 0, 3):
        assert f(given, jnp.int32(n)) == exchanged(want, n)
        assert given.w.tolist() == want.w.tolist() and given.m.tolist() == want.m.tolist()


def test_two_buffers_that_may_become_one_are_refused() -> None:
    t = Two()
    t.w, t.m = jnp.zeros(2), jnp.ones(2)
    with pytest.raises(ag.StagingError, match="AG407"):
        ag.function(exchanged_or_one)(t, jnp.int32(3))


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


@pytest.mark.parametrize("make", [np.zeros, jnp.zeros])
def test_two_attributes_that_are_one_array_in_some_turns(make: Any) -> None:
    t = Two()
    t.w = t.m = make(2, dtype=np.float32)
    with pytest.raises(ag.StagingError, match="AG407 a turn of this loop stores into an array"):
        ag.function(one_array_until_it_is_replaced)(t, jnp.int32(4))
    assert ag.function(one_array_in_every_turn)(t, jnp.int32(4)) == 10 and t.w.tolist() == t.m.tolist() == [10, 0]
