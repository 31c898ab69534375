"""Arrays that several names hold: a store through one of them is seen through the others, as in NumPy."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from tests.numpys import as_numpy
from tests.sourced import define


def in_a_loop(x: Any, n: Any) -> Any:
    y = x
    for i in range(n):
        x[i] = i * 10.0
    return x, y


def on_two_sides(x: Any, n: Any) -> Any:
    y = x
    if n > 2:
        y[0] = 100.0
    else:
        x[1] = 50.0
    x[2] = 7.0
    return x, y


def in_a_list(x: Any, n: Any) -> Any:
    history = [x, x * 2]
    for i in range(n):
        x[i] = 9.0
    history[1][0] = 5.0
    return history, x


def in_a_tuple(x: Any, n: Any) -> Any:
    pair = (x, x + 1)
    pair[0][1] = n
    return pair, x


def a_new_array_in_each_turn(x: Any, n: Any) -> Any:
    old = x
    for t in range(n):
        new = old * 2
        new[0] = t
        old = new
    return old, x


def made_by_a_comprehension(x: Any, n: Any) -> Any:
    both = [x for _ in range(2)]
    both[0][0] = n
    table = {k: both[1] for k in "ab"}
    table["a"][1] = n + 1
    fresh = [x * 1 for _ in range(2)]
    fresh[0][2] = n + 2
    return both[1], table["b"], fresh[0], fresh[1], x


def repeated_and_joined(x: Any, n: Any) -> Any:
    three = [x] * 2 + [x + 1]
    three[0][0] = n
    x[1] = n + 1
    return three[1], three[2], x


def chained(x: Any, n: Any) -> Any:
    a = b = x * 1
    a[0] = n
    return a, b


def swap(a: Any, i: Any, j: Any) -> None:
    a[i], a[j] = a[j], a[i]


def pop(heap: Any, last: Any) -> Any:
    top = heap[0]
    swap(heap, 0, last)
    heap[last] = -1.0
    return top


def through_callees(x: Any, n: Any) -> Any:
    y = x
    swap(x, 0, n)
    value = 1 + pop(x, 2)
    return x, y, value


def a_function_inside(x: Any, n: Any) -> Any:
    def clip(a: Any, limit: Any) -> None:
        for i in range(len(a)):
            if a[i] > limit:
                a[i] = limit

    clip(x, n)
    return x


class Queue:
    def __init__(self, items: Any) -> None:
        self.items = items

    def take(self) -> Any:
        return 2 * pop(self.items, 1)


def in_an_attribute(x: Any, n: Any) -> Any:
    queue = Queue(x * 1)
    taken = queue.take()
    items = queue.items
    items[2] = n
    return queue.items, taken


GRID: Any = None


def fill(p: Any, n: Any) -> Any:
    p[0] = n + GRID[1]
    p[1] = GRID[0] + p[0]
    return GRID[1]


def fill_table(p: Any, n: Any) -> Any:
    GRID[0] = n
    return p[0] + total(p)


def total(p: Any) -> Any:
    GRID[2] = 8.0
    p[3] = GRID[2] + 1
    return p[2]


def a_global_and_a_parameter(x: Any, n: Any) -> Any:
    global GRID
    GRID = x * 1
    first = fill(GRID, n)
    table = GRID
    second = fill_table(table, n * 2)
    return first, second, GRID, table


def a_free_variable_and_a_parameter(x: Any, n: Any) -> Any:
    rows = x * 1

    def add(p: Any) -> Any:
        if n > 2:
            p[1] += rows[1]
            rows[2] += p[1]
        return p[2]

    total = add(rows)
    for k in range(n):
        p = rows
        total += add(p) + k
    return rows, total


def in_a_branch_of_a_loop(x: Any, n: Any) -> Any:
    queue = Queue(x * 1)
    w = queue.items
    for k in range(4):
        if k < n:
            w[k] = 9.0
        else:
            queue.items[0] += 1.0
    return w, queue.items


def turned_around_in_a_loop(x: Any, n: Any) -> Any:
    a, b = x * 1, x * 2
    c = a
    for k in range(n):
        a, b = b, a
    return a, b, c


def chosen(x: Any, n: Any) -> Any:
    y = x * 1
    if n > 2:
        y = x
    y[0] = 5.0
    return x, y


def from_turn_to_turn(x: Any, n: Any) -> Any:
    y = x
    for i in range(n):
        x[i] = 3.0
        y = x + 1
    return x, y


PUT = define("def f(a, i, x):\n    a[i] = x\n    return a\n")


def by_a_callee_of_another_file(x: Any, n: Any) -> Any:
    y = x
    PUT(x, 0, n + 1.0)
    return x, y


def by_a_callee_of_another_file_that_gives_it_back(x: Any, n: Any) -> Any:
    y = x
    x = PUT(x, 0, n + 1.0)
    return x, y


def by_a_closure(x: Any, n: Any) -> Any:
    y, held = x, [x]

    def put(i: Any, v: Any) -> None:
        y[i] = v

    put(0, 5.0)
    return y, held[0], x


PROGRAMS = [
    in_a_branch_of_a_loop, turned_around_in_a_loop,
    a_global_and_a_parameter, a_free_variable_and_a_parameter,
    made_by_a_comprehension, repeated_and_joined,
    in_a_loop, on_two_sides, in_a_list, in_a_tuple, a_new_array_in_each_turn, chained, through_callees, a_function_inside, in_an_attribute,
    chosen, from_turn_to_turn, by_a_callee_of_another_file, by_a_callee_of_another_file_that_gives_it_back, by_a_closure,
]  # fmt: skip


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("f", PROGRAMS)
def test_as_numpy(f: Callable[..., Any], n: int) -> None:
    as_numpy(f, lambda: (np.arange(4, dtype=np.float32), n))


def test_outside_of_traces_what_jax_has_made_and_others_hold_is_not_stored_into() -> None:
    @ag.do_not_convert
    def made() -> Any:
        a = jnp.zeros(3)
        return a, a

    def f(n: Any) -> Any:
        a, b = made()
        b[0] = n
        return a

    def of_operations(n: Any) -> Any:
        a = jnp.zeros(3)
        b = a
        b[0] = n
        return a

    with pytest.raises(ag.AutographError, match="AG407"):
        ag.convert(f)(5.0)
    for run in (ag.function(f), ag.convert(of_operations), ag.function(of_operations)):
        assert run(5.0).tolist() == [5.0, 0.0, 0.0]


@pytest.mark.parametrize("n", [0, 2])
def test_what_callers_hold_in_containers_and_objects(n: int) -> None:
    class Box:
        def __init__(self, a: Any) -> None:
            self.a = a

        def put(self, i: Any, v: Any) -> None:
            self.a[i] = v

    def f(x: Any, n: Any) -> Any:
        box = Box(x * 1)
        other, pairs, table, pair = Box(box.a), [box.a, (1, [box.a])], {"a": box.a, "b": box.a + 1}, (box.a, 1)
        box.put(n, 7.0)
        if n > 0:
            box.put(0, n)
        for i in range(n):
            box.put(i, table["a"][i] + 1)
        return box.a, other.a, pairs[0], pairs[1][1][0], table["a"], table["b"], pair[0]

    as_numpy(f, lambda: (np.arange(4, dtype=np.float32), n))


@pytest.mark.parametrize("form", ["both", "staged"])
def test_an_array_that_a_closure_has_put_into_an_object(form: Any) -> None:
    class Box:
        a: Any = None

    def f(v: Any, q: Any) -> Any:
        def keep() -> None:
            q.a = v

        keep()
        v[1] = 9.0
        return v

    for module, convert in ((np, lambda f: f), (jnp, lambda f: ag.convert(f, form=form)), (jnp, ag.function)):
        q = Box()
        out = convert(f)(module.zeros(3), q)
        assert q.a.tolist() == out.tolist() == [0.0, 9.0, 0.0]


def test_an_array_in_a_shared_dict_that_a_callee_stores_into() -> None:
    def f(v: Any, d: Any) -> Any:
        def count() -> None:
            d["n"] = d["n"] + 1

        d["a"] = v
        into_the_dict(d)
        count()
        return v

    def in_an_expression(v: Any, d: Any) -> Any:
        def count() -> None:
            d["n"] = d["n"] + 1

        d["a"] = v
        count()
        return 1 if into_the_dict(d) is not None else v

    for fn in (f, in_an_expression):
        for module, convert in ((np, lambda f: f), (jnp, lambda f: ag.convert(f, form="staged")), (jnp, ag.function)):
            d = {"n": 1, "a": module.zeros(3)}
            out = convert(fn)(module.array([1.0, 2.0, 3.0]), d)
            assert out.tolist() == d["a"].tolist() == [1.0, 2.0, 6.0] and d["n"] == 2


def into_the_dict(p: Any) -> None:
    p["a"][2] *= 2


TABLE = np.zeros(4, np.int32)


class Keeper:
    def __init__(self) -> None:
        self.a: Any = np.ones(4, np.int32)

    def keep(self, e: Any) -> Any:
        TABLE[e % 4] = e
        self.a = TABLE
        return e

    def put(self, e: Any) -> None:
        self.a[e % 4] *= -1


def told(a: Any, keeper: Any) -> Any:
    keeper.keep(1)
    TABLE[a % 4] = 7
    return keeper.a * 1


def through_both(a: Any, keeper: Any) -> None:
    keeper.keep(1)
    TABLE[a % 4] = 7
    keeper.a[0] += 5


def by_a_method(a: Any, keeper: Any) -> None:
    keeper.keep(a)
    TABLE[a % 4] = 7
    keeper.put(a)


@pytest.mark.parametrize("a", [1, 2, 4])
@pytest.mark.parametrize("f", [told, through_both, by_a_method])
def test_a_callee_puts_a_global_array_into_an_object(f: Callable[..., Any], a: int) -> None:
    def make() -> Any:
        TABLE[:] = 0
        return np.int32(a), Keeper()

    as_numpy([f, f], make, more=lambda: TABLE)


def test_a_global_array_that_stores_around_a_possible_error_change_is_the_one_that_is_kept() -> None:
    def put_around(x: Any, d: Any) -> None:
        TABLE[0] = x
        d["k"][x] = 7
        TABLE[1] = x
        d["a"][3] = 5
        d["a"] = TABLE

    found = []
    for fn, module in ((put_around, np), (ag.function(put_around), jnp)):
        TABLE[:] = 0
        d = {"a": module.zeros(4, module.int32), "k": [1, 2]}
        for _ in range(3):
            fn(1, d)
            assert d["a"] is TABLE
        found.append((TABLE.tolist(), [int(k) for k in d["k"]]))
    assert found[0] == found[1] == ([1, 1, 0, 5], [1, 7])


def test_an_array_in_an_object_that_cannot_be_looked_into() -> None:
    class Pair:
        def __init__(self, x: Any) -> None:
            self.a = x

    @ag.do_not_convert
    def hidden(x: Any) -> Callable[[], Pair]:
        pair = Pair(x)
        return functools.cache(lambda: pair)

    def f(x: Any) -> Any:
        pair = hidden(x)
        x[0] = 1.0
        pair().a[1] = 2.0
        return pair().a, x

    def g(x: Any) -> Any:
        pair = hidden(x)()
        x[0] = 1.0
        pair.a[1] = 2.0
        return pair.a, x

    for fn in (f, g):
        as_numpy(fn, lambda: (np.zeros(2, np.float32),))


def test_a_callee_stores_into_what_a_property_gives() -> None:
    called: list[str] = []

    class Cell:
        def __init__(self, a: Any) -> None:
            self._a = a

        @property
        def a(self) -> Any:
            return self._a

        @a.setter
        def a(self, value: Any) -> None:
            called.append("set")
            self._a = value

        @property
        def twice(self) -> Any:
            return self._a * 2

    class Watched:
        def __init__(self, a: Any) -> None:
            object.__setattr__(self, "a", a)

        def __setattr__(self, name: str, value: Any) -> None:
            called.append(name)

    def fill(x: Any, i: Any) -> None:
        x[i] = 5.0

    def through(o: Any, i: Any) -> Any:
        fill(o.a, i)
        return o.a * 1

    def in_a_branch(o: Any, i: Any) -> Any:
        if i > 0:
            fill(o.a, i)
        return o.a * 1

    def of_a_value(o: Any, i: Any) -> Any:
        fill(o.twice, i)
        return o.a * 1

    for f, cls, want in ((through, Cell, 5), (in_a_branch, Cell, 5), (of_a_value, Cell, 0), (through, Watched, 5)):
        for convert in (ag.convert, ag.function, lambda f: ag.convert(f, form="staged")):
            o = cls(jnp.zeros(3))
            assert convert(f)(o, 1).tolist() == o.a.tolist() == [0, want, 0] and called == []


def adds_three(p: Any, i: Any) -> Any:
    p[i] += 3
    return p


def the_result_takes_the_name(z: Any) -> Any:
    y = z
    y = adds_three(y, -1)
    return y, z


def another_result_takes_the_name(z: Any) -> Any:
    y = z
    y = adds_three(y, -1) * 2
    return y, z


@pytest.mark.parametrize("f", [the_result_takes_the_name, another_result_takes_the_name])
def test_a_result_that_takes_the_name_of_the_argument_that_is_stored_into(f: Callable[[Any], Any]) -> None:
    want = [x.tolist() for x in f(np.zeros(3))]
    for convert in (ag.convert, ag.function):
        for x in (jnp.zeros(3), np.zeros(3, np.float32)):
            assert [y.tolist() for y in convert(f)(x)] == want


def none_or_the_array(a: Any, p: Any) -> Any:
    c = None
    if p > 0:
        c = a
    a[0] = 8.0
    return c


def an_attribute_that_is_none_or_the_array(a: Any, p: Any) -> Any:
    o = Holder()
    o.c = None
    if p > 0:
        o.c = a
    a[0] = 8.0
    return o.c


def an_entry_that_is_none_or_the_array(a: Any, p: Any) -> Any:
    d = {"c": None}
    if p > 0:
        d["c"] = a
    a[0] = 8.0
    return d["c"]


def stored_through_what_may_be_none(a: Any, p: Any) -> Any:
    c = None
    if p > 0:
        c = a
    if c is not None:
        c[0] = 8.0
    return a


def none_before_a_loop(a: Any, p: Any) -> Any:
    best = None
    for i in range(p):
        a[i] += 8.0
        if best is None or a[i] > best[0]:
            best = a
    return best


class Holder:
    c: Any


@pytest.mark.parametrize(
    "f",
    [
        none_or_the_array, an_attribute_that_is_none_or_the_array, an_entry_that_is_none_or_the_array, stored_through_what_may_be_none,
        none_before_a_loop,
    ],
)  # fmt: skip
@pytest.mark.parametrize("p", [0, 2])
def test_what_is_none_or_the_array_is_another_name(f: Callable[..., Any], p: int) -> None:
    as_numpy(f, lambda: (np.ones(4, np.float32), np.int32(p)))


def test_a_copy_beside_none_is_no_other_name() -> None:
    def f(a: Any, p: Any) -> Any:
        best = None
        for i in range(p):
            a[i] += 8.0
            if best is None or a[i] > best[0]:
                best = a.copy()
        return best

    assert ag.function(f)(jnp.ones(4), jnp.int32(2)).tolist() == f(np.ones(4, np.float32), 2).tolist() == [9, 1, 1, 1]


def _gives_its_parameter(p: Any, e: Any) -> Any:
    return p


def _gives_it_under_another_name(p: Any, e: Any) -> Any:
    q = p if e > 0 else p
    return q


def _stores_and_gives_another_name(p: Any, e: Any) -> Any:
    q = p
    q[0] = e
    return q


def _gives_a_pair(p: Any, e: Any) -> Any:
    return _gives_its_parameter(p, e), e


def _gives_a_copy(p: Any, e: Any) -> Any:
    return p + 0


@pytest.mark.parametrize("helper", ["_gives_its_parameter", "_gives_it_under_another_name", "_stores_and_gives_another_name", "_gives_a_copy"])
def test_a_callee_that_may_return_its_parameter(helper: str) -> None:
    source = f"""
def f(z, n):
    y = z
    for k in range(3):
        z = {helper}(z, 3)
        z[k] = y[0] + y[k - 1] + 1
        if y[1] > 4 * n:
            break
    return z, y
"""
    names = ("_gives_its_parameter", "_gives_it_under_another_name", "_stores_and_gives_another_name", "_gives_a_copy")
    helpers = "\n".join(inspect.getsource(globals()[name]) for name in names)
    f = define(helpers + source, "f", Any=Any)
    for n in (1, 2):
        want = f(np.arange(3, dtype=np.int32), n)
        got = ag.function(f)(jnp.arange(3), jnp.int32(n))
        assert [x.tolist() for x in got] == [x.tolist() for x in want]


def test_a_callee_that_returns_its_parameter_in_a_tuple() -> None:
    def f(z: Any, n: Any) -> Any:
        y = z
        z, _ = _gives_a_pair(z, 3)
        z[0] = y[1] + n
        return y[0]

    assert ag.function(f)(jnp.arange(3), 4) == f(np.arange(3), 4) == 5


class Storing:
    """An object whose call stores into its array through another name."""

    def __init__(self, a: Any) -> None:
        self.a = a

    def __call__(self, e: Any) -> Any:
        y = self.a
        y[0] = e
        return 2


def given_to_the_object(o: Any, e: Any) -> Any:
    v = o.a + 1
    Storing(v)(e)
    return v[0]


def taken_from_the_object(o: Any, e: Any) -> Any:
    v = o.a
    for i in range(e):
        o(i + 1)
    return v[0]


def held_in_a_list(o: Any, e: Any) -> Any:
    l = [o.a]
    o(e)
    return l[0][0]


def read_again(o: Any, e: Any) -> Any:
    v = o.a
    o(e)
    v = o.a
    return v[0]


def names_of_the_function_itself(o: Any, e: Any) -> Any:
    y = o.a
    z = y
    if e > 1:
        y[0] = e
    return z[0] + o.a[0]


@pytest.mark.parametrize("e", [1, 3])
@pytest.mark.parametrize("f", [given_to_the_object, taken_from_the_object, held_in_a_list, read_again, names_of_the_function_itself])
def test_a_call_stores_through_another_name_of_an_attribute(f: Callable[..., Any], e: int) -> None:
    as_numpy(f, lambda: (Storing(np.zeros(3, np.float32)), np.int32(e)))


def a_copy_of_a_dict(d: Any, x: Any) -> Any:
    e = dict(d)
    d["a"][0] = x
    return e["a"]


def a_copy_by_its_method(d: Any, x: Any) -> Any:
    e = d.copy()
    d["a"][0] = x
    return e["a"]


def a_shallow_copy(d: Any, x: Any) -> Any:
    e = copy.copy(d)
    e["a"][0] = x
    return d["a"]


def a_list_of_what_it_holds(d: Any, x: Any) -> Any:
    e = list(d.values())
    d["a"][0] = x
    return e[0]


def a_comprehension_over_it(d: Any, x: Any) -> Any:
    e = [v for v in d.values()]
    d["a"][0] = x
    return e[0]


def mapped(d: Any, x: Any) -> Any:
    e = list(map(lambda v: v, d.values()))
    e[0][0] = x
    return d["a"]


def its_first_item(d: Any, x: Any) -> Any:
    e = next(iter(d.values()))
    e[0] = x
    return d["a"]


def its_only_item(d: Any, x: Any) -> Any:
    (e,) = d.values()
    e[0] = x
    return d["a"]


def what_get_gives(d: Any, x: Any) -> Any:
    e = d.get("a")
    e[0] = x
    return d["a"]


def zipped(d: Any, x: Any) -> Any:
    for v, k in zip(d.values(), [2]):
        v[0] = x * k
    return d["a"]


def a_copy_of_a_list(d: Any, x: Any) -> Any:
    arrays = [d["a"]]
    e = list(arrays)
    arrays[0][0] = x
    return e[0], d["a"]


OF_DICTS = [
    a_copy_of_a_dict, a_copy_by_its_method, a_shallow_copy, a_list_of_what_it_holds, a_comprehension_over_it, mapped, its_first_item, its_only_item,
    what_get_gives, zipped, a_copy_of_a_list,
]  # fmt: skip


@pytest.mark.parametrize("f", OF_DICTS, ids=lambda f: f.__name__)
def test_containers_made_of_what_a_dict_holds(f: Callable[..., Any]) -> None:
    as_numpy(f, lambda: ({"a": np.arange(3, dtype=np.float32)}, 7.0))


def chosen_arrays_beside_a_place(s: Any, w: Any, x: Any, n: Any) -> Any:
    for j in range(n):
        if x * 3 == w[2]:
            s.a = s.b * 1
            w[0], w[j % 3] = w[j % 3], w[0]
            return x, w
        if (w[w < x] * 2 + 1).sum() > 0.5:
            w = (w + x) % 7
        else:
            s.b[j % 3] = 5 + s.b[j % 2]
    return x, w


def test_a_place_is_found_when_the_loop_carries_which_array_is_which() -> None:
    class Pair:
        def __init__(self) -> None:
            self.a, self.b = np.ones(3, np.float32), np.arange(3, dtype=np.float32)

    for x in (0.5, 2.0):
        as_numpy(chosen_arrays_beside_a_place, lambda x=x: (Pair(), np.array([1.0, 2.0, 3.0], np.float32), np.float32(x), np.int32(3)))


def test_arrays_that_are_objects_are_printed_as_arrays(capsys: pytest.CaptureFixture[str]) -> None:
    def f(w: Any) -> Any:
        w[0] = 5
        print(w, f"{w} {w[0]:.2f}", str(w))
        return w

    ag.convert(f)(jnp.arange(3.0) + 0)
    ag.function(f)(jnp.arange(3.0) + 0)
    assert capsys.readouterr().out.splitlines() == ["[5. 1. 2.] [5. 1. 2.] 5.00 [5. 1. 2.]"] * 2
