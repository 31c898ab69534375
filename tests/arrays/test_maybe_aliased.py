"""Arrays of which it is data-dependent whether they are one: a store is seen where they are, in the same call and in later ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from tests.numpys import COMPILED, as_numpy

KEPT = np.zeros(3, np.float32)
WIDE = np.zeros(3, np.float16)
PART = np.zeros(5, np.float32)[1:4]
CONSTANT: Any = jnp.zeros(3)


class Box:
    def __init__(self, module: Any) -> None:
        self.a, self.b = module.array([1.0, 2.0, 3.0], np.float32), module.array([4.0, 5.0, 6.0], np.float32)


def store(o: Any) -> None:
    o.a[0] = 5.0


def attributes(c: Any, o: Any) -> Any:
    if c > 0:
        o.a = o.b
    store(o)
    return o.b[0]


def an_attribute_and_a_variable(c: Any, o: Any) -> Any:
    d = o.b * 2
    if c > 0:
        o.a = d
    store(o)
    return d[0]


def an_attribute_that_is_not_read(c: Any, o: Any) -> Any:
    if c > 0:
        o.a = o.b
    store(o)
    return c


def a_global(c: Any, o: Any) -> Any:
    if c > 0:
        o.a = KEPT
    store(o)
    return KEPT[0]


def a_global_of_another_type(c: Any, o: Any) -> Any:
    o.a = o.b if c > 0 else WIDE
    store(o)
    return WIDE[0]


def a_view(c: Any, o: Any) -> Any:
    if c > 0:
        o.a = PART
    store(o)
    return PART[0]


def a_constant(c: Any, o: Any) -> Any:
    if c > 0:
        o.a = CONSTANT
    store(o)
    return CONSTANT[0]


def a_loop(c: Any, o: Any) -> Any:
    while c > 0:
        o.a = KEPT
        c -= 1
    store(o)
    return KEPT[0]


def become_one(c: Any, o: Any) -> Any:
    if c > 0:
        o.a = o.b
    return c


def store_into_one(c: Any, o: Any) -> Any:
    o.a[0] = 7.0 + c
    return o.b[0]


def become_the_global(c: Any, o: Any) -> Any:
    KEPT[1] += 1.0
    if c > 0:
        o.a = KEPT
    return c


def store_into_the_global(c: Any, o: Any) -> Any:
    KEPT[0] = 7.0 + c
    return o.a[0]


PROGRAMS: list[list[Callable[..., Any]]] = [
    [attributes, store_into_one], [an_attribute_and_a_variable, store_into_one], [an_attribute_that_is_not_read], [a_global, store_into_one],
    [a_global_of_another_type], [a_view, store_into_one], [a_loop, store_into_one], [become_one, store_into_one],
    [become_one, become_one, store_into_one], [become_the_global, store_into_the_global],
]  # fmt: skip


def fresh() -> None:
    for array in (KEPT, WIDE, PART):
        array[:] = 0


@pytest.mark.parametrize("forms", [COMPILED, [(ag.convert, np)]], ids=["compiled", "eager"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p[0].__name__)
@pytest.mark.parametrize("c", [1.0, -1.0])
def test_a_store_is_seen(program: list[Callable[..., Any]], c: float, forms: Any) -> None:
    def make() -> Any:
        fresh()
        return np.float32(c), Box(np)

    as_numpy(program, make, forms, lambda: (KEPT, WIDE, PART))


@pytest.mark.parametrize("c", [1.0, -1.0])
def test_a_store_into_a_global_array_of_jax_is_seen(c: float) -> None:
    global CONSTANT
    found = []
    for convert, module in ((lambda f: f, np), (ag.function, jnp)):
        CONSTANT, o = module.zeros(3), Box(module)
        found.append([convert(a_constant)(module.float32(c), o), *o.a, *o.b, *CONSTANT])
    assert found[0] == found[1]


@pytest.mark.parametrize("c", [1.0, -1.0])
def test_a_copy_is_no_doubt(c: float) -> None:
    def become_equal(c: Any, o: Any) -> Any:
        if c > 0:
            o.a = o.b.copy()
        return c

    plain, compiled = Box(np), Box(jnp)
    for f in (become_equal, store_into_one):
        want, got = f(c, plain), ag.function(f)(jnp.float32(c), compiled)
        assert want == got
    assert np.array_equal(plain.a, compiled.a) and np.array_equal(plain.b, compiled.b)


def test_a_new_array_is_another() -> None:
    found = []
    for convert, module in ((lambda f: f, np), (ag.function, jnp)):
        o, c, store = Box(module), module.float32(1.0), convert(store_into_one)
        results = [store(c, o), convert(become_one)(c, o), store(c, o)]
        assert o.a is o.b
        o.b = module.zeros(3)
        found.append([*results, store(c, o), *o.a, *o.b])
    assert found[0] == found[1] == [4.0, 1.0, 8.0, 0.0, 8.0, 5.0, 6.0, 0.0, 0.0, 0.0]


def test_a_search_that_keeps_the_best_is_compiled_twice() -> None:
    class Search:
        def __init__(self) -> None:
            self.x = self.best = jnp.arange(3.0)
            self.value = jnp.float32(9.0)

        @ag.function
        def step(self, t: Any) -> None:
            self.x = self.x - 0.5 * t
            value = (self.x**2).sum()
            if value < self.value:
                self.best, self.value = self.x, value

    search = Search()
    for t in range(6):
        search.step(jnp.float32(t % 3))
    assert len(Search.step.traces.seen) == 2  # the two attributes hold one array in the first call
    np.testing.assert_allclose(search.value, 2.75)


@pytest.mark.parametrize("a", [0, 1, 2])
def test_a_test_of_a_loop_that_stores_through_another_name(a: int) -> None:
    def f(a: Any, o: Any) -> Any:
        first = o.a

        def put(i: Any) -> Any:
            o.a[i], o.a[i] = o.a[i], o.a[i]
            first[i] = a
            return i

        second = o.a
        count = 0
        while count < put(a) and count < 3:
            count += 1
            scale(first)
        return second[0], second, count

    def scale(x: Any) -> None:
        x[2] *= 7

    as_numpy(f, lambda: (np.int32(a), Box(np)))


def test_an_error_that_did_not_occur_leaves_no_doubt() -> None:
    def become_one_if_fine(c: Any, o: Any) -> Any:
        assert c != 2, "two"
        o.a = o.b
        return c

    plain, compiled = Box(np), Box(jnp)
    for c in (1.0, 3.0):
        for f in (become_one_if_fine, store_into_one):
            assert f(c, plain) == ag.function(f)(jnp.float32(c), compiled)
    assert compiled.a is compiled.b
    np.testing.assert_array_equal(plain.a, compiled.a)
    compiled.a = jnp.zeros(3)
    with pytest.raises(AssertionError, match="two"):
        ag.function(become_one_if_fine)(jnp.float32(2.0), compiled)
    np.testing.assert_array_equal(compiled.a, [0.0, 0.0, 0.0])


class Shop:
    """Two attributes hold one array, and data-dependent errors stand between its stores."""

    def __init__(self, module: Any) -> None:
        self.stock = self.shown = module.array([5.0, 6.0, 7.0])

    def sell(self, q: Any) -> Any:
        if q > self.stock[0]:
            raise ValueError("short")
        self.stock[0] -= q
        return self.shown[0]

    def sell_and_show(self, q: Any) -> Any:
        if q > self.stock[0]:
            raise ValueError("short")
        self.stock[0] -= q
        if self.stock.sum() > 4:
            self.shown = self.stock
        return self.shown[0]

    def sell_twice(self, q: Any) -> Any:
        if q > self.stock[0]:
            raise ValueError("short")
        self.stock[0] -= q
        if q > self.stock[0]:
            raise ValueError("short for the second")
        self.shown[0] -= q
        return self.stock[0]

    def a_new_stock(self, q: Any) -> Any:
        self.stock = self.stock * 1
        if q > self.stock[0]:
            raise ValueError("short")
        self.shown = self.stock
        self.stock[0] -= q
        return self.shown[0]


@pytest.mark.parametrize("method", [Shop.sell, Shop.sell_and_show, Shop.sell_twice, Shop.a_new_stock], ids=lambda f: f.__name__)
def test_arrays_stay_one_around_an_error(method: Callable[..., Any]) -> None:
    compiled = ag.function(method)
    want, got = Shop(np), Shop(jnp)
    for q in (1.0, 1.0, 9.0, 1.0, 2.0):
        outcomes = []
        for f, shop in ((method, want), (lambda s, q: compiled(s, jnp.float32(q)), got)):
            try:
                outcomes.append(float(f(shop, q)))
            except ValueError as error:
                outcomes.append(str(error).splitlines()[0])
            outcomes += [shop.stock is shop.shown, *shop.stock.tolist(), *shop.shown.tolist()]
        half = len(outcomes) // 2
        assert outcomes[:half] == outcomes[half:]


@pytest.mark.parametrize("n", [0, 1, 2])
def test_what_a_loop_may_have_left_as_it_was(n: int) -> None:
    class Kept:
        def __init__(self) -> None:
            self.a, self.limit = np.zeros(3, np.float32), 1

    def f(n: Any, v: Any, o: Any) -> Any:
        o.a = v
        d = 0
        while d < n:
            d += 1
            if n > o.limit:
                o.a = o.a * 1
        v[1] *= -1
        return v

    as_numpy(f, lambda: (np.int32(n), np.array([1.0, 2.0, 3.0], np.float32), Kept()))


def chosen_in_a_nested_branch(p: Any, q: Any, v: Any, o: Any) -> Any:
    if p > 0:
        if q > 0:
            o.a = v
    v[1] = 5
    return o.a


def chosen_in_a_branch_of_a_loop(p: Any, q: Any, v: Any, o: Any) -> Any:
    while p > 0:
        p -= 1
        if q > 0:
            o.a = v
        q -= 1
    v[1] = 5
    return o.a


def chosen_among_the_arrays_of_a_branch(p: Any, q: Any, v: Any, o: Any) -> Any:
    w, z = v * 2, v * 3
    if p > 0:
        w = v * 4
        z = v * 5
        if q > 0:
            z = w
    w[1] = 5
    return z


def chosen_among_the_arrays_of_a_turn(p: Any, q: Any, v: Any, o: Any) -> Any:
    w, z = v * 2, v * 3
    while p > 0:
        p -= 1
        w = v * 4
        z = v * 5
        if q > 0:
            z = w
    w[1] = 5
    return z


def chosen_again(p: Any, q: Any, v: Any, o: Any) -> Any:
    w, z = v * 2, v * 3
    if p > 0:
        z = w
    u = v * 4
    if q > 0:
        u = z
    z = v
    w[1] = 5
    return u


def held_from_the_second_turn_on(p: Any, q: Any, v: Any, o: Any) -> Any:
    z = v * 2
    while p > 0:
        p -= 1
        z[0] += 1
        z = o.a
    return z


@pytest.mark.parametrize(
    "f",
    [
        chosen_in_a_nested_branch, chosen_in_a_branch_of_a_loop, chosen_among_the_arrays_of_a_branch, chosen_among_the_arrays_of_a_turn,
        chosen_again, held_from_the_second_turn_on,
    ],
)  # fmt: skip
@pytest.mark.parametrize(("p", "q"), [(0, 1), (1, 0), (2, 1), (3, 2)])
def test_what_a_block_inside_chose_is_known_behind_the_one_around(f: Any, p: int, q: int) -> None:
    as_numpy(f, lambda: (np.int32(p), np.int32(q), np.arange(3, dtype=np.float32), Box(np)))


def two_buffers(n: Any, v: Any) -> Any:
    a, b = v * 2, v * 3
    while n > 0:
        n -= 1
        a, b = b, a
        a[0] += b[1]
    return a, b


def three_rows_in_turn(n: Any, v: Any) -> Any:
    a, b, c = v * 2, v + 1, v + 2
    while n > 0:
        n -= 1
        a, b, c = b, c, a
        c[1] = a[0] + b[2]
    return a, b, c


def a_row_before(n: Any, v: Any) -> Any:
    before, row = v * 2, v * 3
    while n > 0:
        n -= 1
        before = row
        row = v * 0
        row[0] = before[1] + n
    return before, row


@pytest.mark.parametrize("f", [two_buffers, three_rows_in_turn, a_row_before])
@pytest.mark.parametrize("n", [0, 1, 4])
def test_arrays_that_change_places_in_every_turn(f: Any, n: int) -> None:
    as_numpy(f, lambda: (np.int32(n), np.arange(3, dtype=np.float32)))


def given(o: Any, v: Any) -> None:
    o.a = v


class Taking(Box):
    def take(self, v: Any) -> None:
        self.a = v


def by_a_function(o: Any, v: Any) -> Any:
    given(o, v)
    o.a[1] = 5
    return v


def by_a_method(o: Any, v: Any) -> Any:
    o.take(v)
    o.a[1] = 5
    return v


def by_a_function_inside(o: Any, v: Any) -> Any:
    def give(_: int) -> None:
        o.a = v

    for k in range(2):
        give(k)
    o.a[1] = 5
    return v


def read_back(o: Any, v: Any) -> Any:
    given(o, v)
    o.a[1] = 5
    return o.a


def by_the_function_itself(o: Any, v: Any) -> Any:
    o.a = v
    o.a[1] = 5
    return v


@pytest.mark.parametrize("f", [by_a_function, by_a_method, by_a_function_inside, read_back, by_the_function_itself])
def test_an_array_that_a_callee_puts_into_an_object(f: Callable[..., Any]) -> None:
    as_numpy(f, lambda: (Taking(np), np.arange(3, dtype=np.float32)))
