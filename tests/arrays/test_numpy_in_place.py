"""Augmented assignments of NumPy arrays that a function makes: the arrays change for all that hold them, as in Python (RULES 20)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag


class Box:
    a: Any
    b: Any


def attribute_in_a_loop(n: Any) -> Any:
    box = Box()
    box.a = np.zeros(3, np.float32)
    k = 0
    while k < n:
        box.a += 1.0
        k += 1
    return box.a


def attribute_in_a_branch(n: Any) -> Any:
    box = Box()
    box.a = np.ones(3, np.float32)
    if n > 1:
        box.a *= 2.0
    return box.a


def item_in_a_loop(n: Any) -> Any:
    items = [np.zeros(2, np.float32), np.ones(2, np.float32)]
    first = items[0]
    k = 0
    while k < n:
        items[0] += 1.0
        items[1] *= 2.0
        k += 1
    return items, first


def entry_in_a_loop(n: Any) -> Any:
    sums = {"u": np.zeros(2, np.float32), "v": np.ones(2, np.float32)}
    for k in range(n):
        sums["u"] += k
    return sums


def one_item_twice(n: Any) -> Any:
    a = np.zeros(2, np.float32)
    items = [a, a]
    items[0] += n
    return items


def ellipsis(n: Any) -> Any:
    a = np.zeros(3, np.float32)
    b = a
    k = 0
    while k < n:
        a[...] += 1.0
        k += 1
    return a, b


def weights(n: Any) -> Any:
    layers = [np.zeros(2, np.float32), np.ones(2, np.float32)]
    for w in layers:
        w[...] -= 0.5 * n
    return layers


def alone(n: Any) -> Any:
    a = np.zeros(3, np.float32)
    for k in range(n):
        a += k
    return a


def traced(n: Any) -> Any:
    a = np.zeros(3)
    b = a
    a += n
    return a, b


def in_a_branch(n: Any) -> Any:
    a = np.zeros(3)
    b = a
    if n > 1:
        a += 1.0
    return a, b


def in_a_loop(n: Any) -> Any:
    a = np.zeros(3)
    b = a
    while n > 0:
        a += 1.0
        n -= 1
    return a, b


def after_a_store(n: Any) -> Any:
    a = np.zeros(3)
    b = a
    a[0] = n
    a += 1.0
    return a, b


def after_a_loop(n: Any) -> Any:
    a = np.zeros(3)
    b = a
    for k in range(n):
        a[0] += k
    b += 1.0
    return a, b


def chosen(n: Any) -> Any:
    a, b = np.zeros(3), np.ones(3)
    c = a if n > 2 else b
    c += 5.0
    return a, b, c


def of_a_list(n: Any) -> Any:
    layers = [np.zeros(2), np.ones(2)]
    for w in layers:
        w -= 0.5 * n
    return layers


def attribute_and_name(n: Any) -> Any:
    box = Box()
    box.a = np.zeros(3)
    b = box.a
    while n > 0:
        box.a += 1.0
        n -= 1
    return box.a, b


def name_of_a_closure(n: Any) -> Any:
    a = np.zeros(3)

    def held() -> Any:
        return a

    b = held()
    while n > 0:
        a += 1.0
        n -= 1
    return a, b


def of_a_closure(n: Any) -> Any:
    a = np.zeros(3, np.float32)

    def held() -> Any:
        return a

    held()[0] = n
    if n > 1:
        held()[1:] += n
    return a


def of_helpers(n: Any) -> Any:
    def bump(x: Any) -> Any:
        x += 1.0
        return x.sum()

    def store(x: Any) -> Any:
        x[...] += 1.0
        return x.sum()

    a, s = np.zeros(3, np.float32), 0.0
    while n > 0:
        s += bump(a)
        s += store(a)
        n -= 1
    return a, s


@pytest.mark.parametrize("f", [
    attribute_in_a_loop, attribute_in_a_branch, item_in_a_loop, entry_in_a_loop, one_item_twice, ellipsis, weights, alone,
    traced, in_a_branch, in_a_loop, after_a_store, after_a_loop, chosen, of_a_list, attribute_and_name, name_of_a_closure, of_a_closure, of_helpers,
])  # fmt: skip
@pytest.mark.parametrize("n", [0, 1, 3])
def test_as_in_python(f: Callable[..., Any], n: int) -> None:
    want = f(n)
    for form in (ag.function, lambda f: jax.jit(ag.convert(f))):
        jax.tree.map(np.testing.assert_array_equal, form(f)(jnp.asarray(n)), want)


def test_an_array_of_jax_is_bound_anew() -> None:
    def f(x: Any, n: Any) -> Any:
        old = x
        for _ in range(n):
            old = x
            x += 1.0
        return x, old

    for form in (ag.convert, ag.function):
        got, old = form(f)(jnp.zeros(2), jnp.asarray(3))
        assert float(got[0]) == 3.0 and float(old[0]) == 2.0


def test_numbers_that_another_name_holds_stay_static() -> None:
    def f(n: Any) -> Any:
        start = 2
        i = start
        while i < n:
            i += 1
        return jnp.zeros(start), i

    zeros, i = ag.function(f)(jnp.asarray(5))
    assert zeros.shape == (2,) and int(i) == 5


def test_what_numpy_refuses_is_refused() -> None:
    def cast(n: Any) -> Any:
        box = Box()
        box.a = np.zeros(3, int)
        box.a += n * 1.5
        return box.a

    def grown(n: Any) -> Any:
        box = Box()
        box.a = np.zeros(3)
        box.a += jnp.ones((2, 3)) * n
        return box.a

    with pytest.raises(TypeError, match="Cannot cast"):
        ag.function(cast)(1.0)
    with pytest.raises(ValueError, match="non-broadcastable output operand"):
        ag.function(grown)(1.0)


def test_two_attributes_outside_hold_one_array() -> None:
    class Pair:
        def __init__(self) -> None:
            self.a = self.b = np.zeros(2, np.float32)

        @ag.function
        def step(self, x: Any) -> Any:
            self.a += x
            return self.b.sum()

    pair = Pair()
    assert [float(pair.step(1.0)), float(pair.step(1.0))] == [2.0, 4.0]
    assert pair.a is pair.b and pair.a.tolist() == [2.0, 2.0]


def test_a_callee_stores_into_a_dict_beside_an_attribute() -> None:
    def halve(d: Any) -> None:
        d["t"] = d["t"] % 2.0

    def f(box: Any, d: Any) -> Any:
        halve(d)
        d["t"] = box.a
        box.a %= 8.0
        return d["t"] + box.a

    box = Box()
    box.a = 10.0
    d = {"t": 0.5, "u": 1.0}
    assert float(ag.function(f)(box, d)) == 12.0 and float(d["t"]) == 10.0 and float(box.a) == 2.0


factors: Any = [1, 2, 3]
table: Any = np.zeros(3, np.int32)


def beside_a_global(p: Any, e: Any) -> Any:
    factors[2] *= -1
    c = 0
    while c < e:
        c += 1
        p[1] = 5 - (c + e)
    return c


def two_arrays(p: Any, q: Any, e: Any) -> None:
    factors[1] += 1
    p[0] = e
    if e > 1:
        q[1] = e


def perhaps(p: Any, flag: bool, e: Any) -> None:
    if flag:
        p[0] = e


def test_a_callee_stores_into_an_attribute_beside_a_global() -> None:
    """What the callee binds itself is no store into the array that its caller gets back."""

    def f(e: Any, box: Any) -> Any:
        return beside_a_global(box.a, e)

    want, got = Box(), Box()
    want.a, got.a = np.ones(4, np.int32), np.ones(4, np.int32)
    array, g = got.a, ag.function(f)
    for e in (-1, 2, 1, 2):
        factors[:] = [1, 2, 3]
        assert int(g(e, got)) == f(e, want) and int(factors[2]) in (3, -3)
        assert got.a is array and array.tolist() == want.a.tolist()
    factors[:] = [1, 2, 3]


def test_a_callee_stores_into_two_arrays() -> None:
    def f(e: Any, box: Any) -> Any:
        two_arrays(table, box.a, e)
        return e

    global table
    old, g = table, ag.function(f)
    box = Box()
    box.a = array = np.ones(4, np.int32)
    for e, first, second in ((2, 2, 2), (1, 1, 2), (5, 5, 5)):
        g(e, box)
        assert box.a is array and table is old and int(table[0]) == first and int(array[1]) == second


@pytest.mark.parametrize("flag", [False, True])
def test_a_callee_stores_before_another_array_is_bound(flag: bool) -> None:
    """The array that was there keeps its stores and no more."""

    def attribute(box: Any, v: Any, e: Any) -> Any:
        perhaps(box.a, flag, e)
        box.a = v
        return e

    def variable(v: Any, e: Any) -> Any:
        global table
        perhaps(table, flag, e)
        table = v
        return e

    global table
    box = Box()
    box.a = array = np.ones(4, np.int32)
    ag.function(attribute)(box, jnp.arange(4), 3)
    assert box.a.tolist() == [0, 1, 2, 3] and array.tolist() == [3 if flag else 1, 1, 1, 1]
    table = before = np.zeros(3, np.int32)
    ag.function(variable)(jnp.arange(3), 3)
    assert table.tolist() == [0, 1, 2] and before.tolist() == [3 if flag else 0, 0, 0]
    table = np.zeros(3, np.int32)


class Arrays:
    def __init__(self) -> None:
        self.a = np.ones(3, np.float32)


def out_of_an_operation(m: Any, k: Any) -> Any:
    n = m
    np.add(m, k, out=m)
    if k[0] > 0:
        np.multiply(n, 2, n)
    return m, n


def fill_diagonal(m: Any, k: Any) -> Any:
    n = m[1:, 1:]
    if k[0] > 0:
        np.fill_diagonal(m, k[0])
    np.fill_diagonal(n, 4.0)
    return m, n


def add_at(m: Any, k: Any) -> Any:
    n = m
    np.add.at(m[0], np.array([0, 1, 1]), k[0])
    if k[0] > 0:
        np.add.at(n, (k * 0).astype(int), 2.0)
    return m, n


def put(m: Any, k: Any) -> Any:
    n = m
    np.putmask(m, m > k[0], 7.0)
    if k[0] > 0:
        np.putmask(n, m > 1, k[0])
        np.copyto(n[2], k)
    np.put(n, [0], k[1])
    np.place(m, m > 6, [3.0, 4.0])
    np.put_along_axis(n[1], np.array([0]), k[1], 0)
    return m, n


def methods(m: Any, k: Any) -> Any:
    n = m[0]
    if k[0] > 0:
        m.sort(0)
        m[1].fill(k[0])
    n.sort()
    m.partition(1)
    np.clip(n, 0, 1, out=n)
    return m, n


@pytest.mark.parametrize("k", [[2, 1, 0], [-2, 1, 0]])
@pytest.mark.parametrize("f", [out_of_an_operation, fill_diagonal, add_at, put, methods])
def test_what_changes_an_array_in_place(f: Callable[..., Any], k: Any) -> None:
    m = np.array([[6, 8, 7], [3, 5, 4], [0, 2, 1]], np.float32)
    given, want, values = m.copy(), m.copy(), np.array(k, np.float32)
    result = f(want, values)
    jax.tree.map(np.testing.assert_array_equal, ag.function(f)(given, jnp.asarray(values)), result)
    np.testing.assert_array_equal(given, want)
    jax.tree.map(np.testing.assert_array_equal, ag.function(lambda x: f(np.array(m.tolist()), x))(jnp.asarray(values)), result)  # made in the call


@pytest.mark.parametrize("x", [2.0, -2.0])
def test_an_output_given_by_its_position(x: float) -> None:
    def f(o: Any, x: Any) -> Any:
        if x > 0:
            np.multiply(o.a, 2.0, o.a)
        return x

    mine, theirs = Arrays(), Arrays()
    assert ag.function(f)(mine, x) == f(theirs, x) and mine.a.tolist() == theirs.a.tolist()


def test_putmask_of_an_array_of_jax() -> None:
    def clipped(x: Any) -> Any:
        np.putmask(x, x > 1, 1.0)
        return x

    assert ag.function(clipped)(jnp.array([0.5, 2.0])).tolist() == clipped(np.array([0.5, 2.0])).tolist()


@pytest.mark.parametrize("i", [3, -4])
def test_an_index_of_the_text_outside_of_the_array(i: int) -> None:
    o = Arrays()

    def f(x: Any) -> Any:
        o.a[i] = x

    for g in (f, ag.function(f)):
        with pytest.raises(IndexError, match=f"index {i} is out of bounds for axis 0 with size 3"):
            g(2.0)
    assert o.a.tolist() == [1, 1, 1]


def _through_a_helper(x: Any) -> Any:
    z = x.copy()
    _doubled(z)
    return z


def _doubled(b: Any) -> None:
    b *= 2


def _second_name(x: Any) -> Any:
    z = x + 0
    a = z
    z += 1
    return a


def _rows_of_a_product(x: Any) -> Any:
    z = x * 2
    for row in z:
        row += 1
    return z


def _part_of_a_product(x: Any) -> Any:
    z = x * 2
    v = z[:2]
    v[0] = 5
    return z


def _transposed(x: Any) -> Any:
    z = x * 2
    a = z.T
    a[0] = 9
    return z


@pytest.mark.parametrize("f", [_through_a_helper, _second_name, _rows_of_a_product, _part_of_a_product, _transposed], ids=lambda f: f.__name__[1:])
def test_what_is_made_of_an_argument_in_calls_of_every_kind(f: Any) -> None:
    compiled = ag.function(f)
    values = {shape: np.asarray(compiled(jnp.ones(shape))) for shape in ((3, 2), (4, 2))}
    for shape in ((3, 2), (2, 2), (4, 2), (3, 2)):
        np.testing.assert_array_equal(compiled(np.ones(shape, np.float32)), f(np.ones(shape, np.float32)))
        if shape in values:  # one of JAX's has values, before and after
            np.testing.assert_array_equal(compiled(jnp.ones(shape)), values[shape])
