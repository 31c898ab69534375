"""Functions that store into arrays and then raise: the caller's arrays hold what had been stored, as in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag


def fills_and_raises(p: Any, e: Any) -> None:
    p[0] = 1.5
    raise ValueError(f"bad {e}")


def fills_and_may_raise(p: Any, e: Any) -> None:
    p[0] = 1.5
    if e > 0:
        raise ValueError(f"bad {e}")


def in_a_helper(a: Any, w: Any) -> None:
    w[2] = a
    fills_and_raises(w, 1)


def two_calls_deep(a: Any, w: Any) -> None:
    w[3] = 7
    in_a_helper(a, w)


def in_a_branch(a: Any, w: Any) -> None:
    w[2] = a
    if a > 1:
        w[0] = 1.5
        raise ValueError("bad")


def in_a_branch_whose_other_side_stores(a: Any, w: Any) -> None:
    w[2] = a
    if a > 1:
        raise ValueError("bad")
    else:
        w[1] = 4


def in_a_branch_and_a_helper(a: Any, w: Any) -> None:
    w[2] = a
    if a > 1:
        fills_and_raises(w, 1)


def where_a_helper_decides(a: Any, w: Any) -> None:
    w[2] = a
    if a > 1:
        fills_and_may_raise(w, a)


def in_a_loop(a: Any, w: Any) -> None:
    for i in range(3):
        w[i] = 3
        if a > i:
            fills_and_raises(w, 1)


def in_a_while_loop(a: Any, w: Any) -> None:
    while a > 0:
        w[a] = 5
        a = a - 1
        fills_and_may_raise(w, -a)
        if a == 1:
            w[0] = 2.5
            raise ValueError("bad")


PROGRAMS = [
    in_a_helper, two_calls_deep, in_a_branch, in_a_branch_whose_other_side_stores, in_a_branch_and_a_helper, where_a_helper_decides, in_a_loop,
    in_a_while_loop,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("a", [0, 2])
def test_an_array_holds_what_was_stored_before_the_error(f: Callable[..., Any], a: int) -> None:
    def run(g: Callable[..., Any], x: Any) -> tuple[Any, Any]:
        w = np.ones(4, np.float32)
        try:
            g(x, w)
        except ValueError as error:
            return str(error), w.tolist()
        return None, w.tolist()

    assert run(ag.function(f), jnp.int32(a)) == run(f, a)


class Holder:
    def __init__(self, a: Any) -> None:
        self.a = a


def through_an_attribute(q: Holder) -> None:
    fills_and_raises(q.a, 2)


@pytest.mark.parametrize("kind", [np.ones, jnp.ones])
def test_an_attribute_holds_what_was_stored_before_the_error(kind: Any) -> None:
    q = Holder(kind(3, np.float32))
    for _ in range(2):
        with pytest.raises(ValueError, match="bad 2"):
            ag.function(through_an_attribute)(q)
    assert q.a.tolist() == [1.5, 1, 1]


def stores_and_may_raise(w: Any, a: Any) -> None:
    w[1] = a + 0.5
    if a > 1:
        raise ValueError("bad")
    w[0] = 9


def of_an_attribute(a: Any, q: Holder) -> None:
    stores_and_may_raise(q.a, a)


def of_an_attribute_in_a_loop(a: Any, q: Holder) -> None:
    for i in range(3):
        stores_and_may_raise(q.a, a - i)
        q.a[2] += 1


def of_an_attribute_in_a_traced_loop(a: Any, q: Holder) -> None:
    while a < 4:
        stores_and_may_raise(q.a, a)
        a = a + 1


def of_another_name(a: Any, q: Holder) -> None:
    w = q.a
    stores_and_may_raise(w, a)
    w[2] = 7


def after_an_assertion(a: Any, q: Holder) -> None:
    if a > 1:
        raise ValueError("before")
    stores_and_may_raise(q.a, a)


OF_ATTRIBUTES = [of_an_attribute, of_an_attribute_in_a_loop, of_an_attribute_in_a_traced_loop, of_another_name, after_an_assertion]


@pytest.mark.parametrize("kind", [np.ones, jnp.ones], ids=["numpy", "jnp"])
@pytest.mark.parametrize("f", OF_ATTRIBUTES, ids=lambda f: f.__name__)
def test_an_attribute_holds_what_a_callee_stored_before_an_error_that_traced_values_decide(f: Callable[..., Any], kind: Any) -> None:
    def run(g: Callable[..., Any], a: Any, make: Any) -> tuple[Any, Any]:
        q = Holder(make(4, np.float32))
        try:
            g(a, q)
        except ValueError as error:
            return str(error), q.a.tolist()
        return None, q.a.tolist()

    compiled = ag.function(f)
    for a in (0, 1, 2, 3):
        assert run(compiled, a, kind) == run(f, a, np.ones)


def caught(w: Any) -> Any:
    try:
        fills_and_raises(w, 1)
    except ValueError:
        pass
    return w


@pytest.mark.parametrize("kind", [np.ones, jnp.ones], ids=["numpy", "jnp"])
@pytest.mark.parametrize("form", [ag.function, ag.convert])
def test_the_error_is_caught(form: Any, kind: Any) -> None:
    w = kind(3, np.float32)
    assert form(caught)(w).tolist() == [1.5, 1, 1]
    assert w.tolist() == ([1.5, 1, 1] if kind is np.ones else [1, 1, 1]), "an array of JAX does not change"


def catches_what_it_raises_first(w: Any) -> Any:
    try:
        checked(w, -1)
    except ValueError:
        w[1] = 3.0
    return w


def checked(w: Any, n: int) -> None:
    if n < 0:
        raise ValueError("negative")
    w[0] = n


def test_an_error_before_the_store_may_be_caught() -> None:
    assert ag.function(catches_what_it_raises_first)(jnp.ones(3)).tolist() == [1, 3, 1]


def of_its_own(x: Any) -> Any:
    buffer = jnp.zeros(3)
    fills_and_raises(buffer, 1)
    return buffer.sum() + x


def catches_it_around(x: Any) -> Any:
    try:
        return of_its_own(x)
    except ValueError:
        return x - 1


def binds_another(x: Any) -> Any:
    buffer = jnp.zeros(3)
    try:
        fills_and_raises(buffer, 1)
    except ValueError:
        buffer = jnp.ones(3)
    return buffer.sum() + x


@pytest.mark.parametrize("f, want", [(catches_it_around, 2), (binds_another, 6)])
def test_an_array_that_the_call_makes(f: Callable[[Any], Any], want: float) -> None:
    assert ag.function(f)(jnp.float32(3)) == ag.convert(f)(jnp.float32(3)) == want


def turns_round(m: Any, b: Any) -> None:
    for k in range(3):
        if b > 0:
            assert k < 2
        m[1].insert(0, m[1].pop())


def turns_over(m: Any, b: Any) -> None:
    for k in range(2):
        if b > 0:
            assert k < 1
        m[1].reverse()


def swaps(m: Any, b: Any) -> None:
    for k in range(2):
        if b > 0:
            assert k < 1
        m[1][0], m[1][1] = m[1][1], m[1][0]


@pytest.mark.parametrize("f", [turns_round, turns_over, swaps])
def test_a_place_that_only_an_error_leaves_changed(f: Callable[..., None]) -> None:
    for b in (1, -1, 2):
        left = []
        for g in (f, ag.function(f)):
            m = [[1, 2, 3], [4, 5, 6]]
            if b > 0:
                with pytest.raises(AssertionError):
                    g(m, b)
            else:
                g(m, b)
            left.append([[int(x) for x in row] for row in m])
        assert left[0] == left[1]


def test_a_list_of_a_function_inside_that_an_error_would_leave_alone() -> None:
    @ag.function
    def f(i: Any) -> Any:
        items = [0] * 3

        def put(k: Any) -> None:
            items[k] = i

        put(i)
        items.insert(0, items.pop())
        return i + items[0]

    assert f(2) == 4 and f(0) == 0
    with pytest.raises(IndexError, match="list assignment index out of range"):
        f(7)
