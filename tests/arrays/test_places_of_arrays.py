"""Places that hold one of NumPy's arrays and are given another: each array has what was stored while its turn lasted, and stays the object it is."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from tests.sourced import define


class Grid:
    """A buffer and a second one."""

    def __init__(self, **arrays: Any) -> None:
        self.__dict__.update(arrays)


def stored_and_replaced(g: Any, i: Any) -> Any:
    g.a[i] = 3
    g.a = g.a * 2 + 1
    return g.a.sum()


def replaced_by_the_other(g: Any, i: Any) -> Any:
    g.a[i] = 3
    g.a = g.b
    g.a[i] = 4
    return g.b.sum()


def second_name(g: Any, i: Any) -> Any:
    first = g.a
    g.a[i] = 3
    g.a = g.a * 2
    first[0] = 7
    return g.a.sum() + first.sum()


def second_name_alone(g: Any, i: Any) -> Any:
    first = g.a
    if i > 0:
        g.a = g.a * 2
    g.a = g.b * 3
    first[0] = 1
    return g.a.sum() + first.sum()


def stored_in_a_branch(g: Any, i: Any) -> Any:
    if i > 0:
        g.a[i] = 3
    g.a = g.a * 2
    return g.a.sum()


def given_back(g: Any, i: Any) -> Any:
    first = g.a
    g.a[i] = 3
    g.a = g.a * 2
    g.a = first
    g.a[0] = 5
    return g.a.sum()


def returned(g: Any, i: Any) -> Any:
    first = g.a
    g.a[i] = 3
    g.a = g.a * 2
    return first.sum()


def exchanged(g: Any, i: Any) -> Any:
    g.a, g.b = g.b, g.a
    g.a[i] = 3
    g.b[i] = 4
    return g.a.sum()


def stored_and_exchanged(g: Any, i: Any) -> Any:
    g.a[i] = 3
    g.a, g.b = g.b, g.a
    g.a[i] = 5
    return g.a.sum()


def a_step_of_a_stencil(g: Any, i: Any) -> Any:
    for k in range(i, 2):
        g.b[k] = (g.a[k - 1] + g.a[k + 1]) / 2
    g.a, g.b = g.b, g.a
    return g.a.sum()


def exchanged_before_a_loop(g: Any, i: Any) -> Any:
    g.a, g.b = g.b, g.a
    for k in range(i + 1):
        g.a[k] = k + 4
    return g.b.sum()


def exchanged_in_an_unrolled_loop(g: Any, i: Any) -> Any:
    for k in range(3):
        g.a, g.b = g.b, g.a
        g.a[k] = i + k
    return g.a.sum()


def put_elsewhere(g: Any, i: Any) -> Any:
    g.c = g.a
    g.a = g.a * 2
    g.c[i] = 8
    return g.a.sum() + g.c.sum()


def put_into_a_new_object(g: Any, i: Any) -> Any:
    other = Grid(a=g.a)
    g.a = g.a * 2
    other.a[0] = i + 4
    return other.a.sum()


def put_into_a_list(g: Any, i: Any) -> Any:
    held = [g.a, g.b]
    g.a = g.a * 2
    g.b = g.a
    held[0][i] = 4
    held[1][i] = 6
    return held[0].sum() + held[1].sum()


def deleted(g: Any, i: Any) -> Any:
    g.a[i] = 3
    del g.a
    return g.b.sum()


def error_before(g: Any, i: Any) -> Any:
    first = g.a
    if i > 0:
        raise ValueError("odd")
    g.a = g.a * 2
    first[0] = 7
    return first.sum()


def error_between(g: Any, i: Any) -> Any:
    g.a[i] = 3
    if i > 0:
        raise ValueError("odd")
    first = g.a
    g.a = g.a * 2
    first[0] = 8
    return g.a.sum()


def error_after(g: Any, i: Any) -> Any:
    g.a[i] = 3
    first = g.a
    g.a = g.a * 2
    if i > 0:
        raise ValueError("odd")
    g.a[0] = 100
    first[2] = 6
    return g.a.sum()


def exchanged_after_an_error(g: Any, i: Any) -> Any:
    if i > 0:
        raise ValueError("odd")
    g.a, g.b = g.b, g.a
    g.a[i] = 5
    g.b[i] = 6
    return g.a.sum()


def entry_stored_into(g: Any, i: Any) -> Any:
    g.d["w"][i] = 3
    g.l[-1][i] += 2
    g.d["w"] -= 1
    return g.l[1].sum()


def entry_stored_in_a_loop(g: Any, i: Any) -> Any:
    for k in range(i + 2):
        g.d["w"][k] = k + 4
        if k > 0:
            g.l[0][k] += 1
    return g.d["w"].sum()


def entry_replaced(g: Any, i: Any) -> Any:
    g.d["w"][i] = 3
    g.d["w"] = g.d["w"] * 2
    g.l[0], g.l[1] = g.l[1], g.l[0]
    g.l[0][i] = 9
    return g.l[1].sum()


def entry_at_a_traced_index(g: Any, i: Any) -> Any:
    g.l[i][1] = 7
    return g.l[0].sum()


def entries_moved(g: Any, i: Any) -> Any:
    g.l[0][i] = 5
    g.l.reverse()
    g.l[0][i] += 6
    g.l.append(i)
    g.l.insert(0, g.l.pop(1))
    g.l[0][2] = 8
    g.d["v"] = g.d.pop("w")
    g.d["v"][i] = 4
    g.d.update(u=i)
    return g.l[1].sum()


def entry_deleted(g: Any, i: Any) -> Any:
    g.d["w"][i] = 5
    del g.d["w"]
    g.l[0][i] = 1
    g.l[1][i] = 2
    del g.l[0]
    g.l[0][2] = 3
    return g.l[0].sum()


def entry_in_a_variable(g: Any, i: Any) -> Any:
    row = g.l[0]
    for k in range(i + 1):
        row[k] = 6
    g.l[0] = g.a
    row[2] = 7
    return row.sum()


def entry_after_an_error(g: Any, i: Any) -> Any:
    g.d["w"][0] = 3
    if i > 0:
        raise ValueError("odd")
    g.d["w"][1] = 4
    g.d["new"] = i
    return g.d["w"].sum()


WORK = [v for v in list(globals().values()) if callable(v) and getattr(v, "__module__", "") == __name__ and v is not Grid]


def stored_later_in_a_branch(g: Any, i: Any) -> None:
    first = g.a
    g.a = g.a * 2
    if i > 0:
        first[0] = 1


def exchanged_in_a_loop(g: Any, i: Any) -> Any:
    for k in range(i + 2):
        g.a, g.b = g.b, g.a
        g.a[k] = k
    return g.a.sum()


def double_buffering(g: Any, i: Any) -> Any:
    k = 0
    while k <= i:
        for j in range(3):
            g.b[j] = g.a[j] + g.a[j - 1]
        g.a, g.b = g.b, g.a
        k += 1
    return g.a[0] - g.b[0]


def replaced_in_a_branch(g: Any, i: Any) -> None:
    g.a[i] = 3
    if i > 0:
        g.a = g.a * 2


def replaced_in_a_branch_and_exchanged(g: Any, i: Any) -> None:
    g.a[i] = 3
    if i > 0:
        g.a = g.a * 2
    g.a = g.b


def a_buffer_that_is_replaced_when_it_is_full(g: Any, i: Any) -> Any:
    flushed = 0.0
    for k in range(i + 4):
        g.a[k % 3] = k + 1
        if k % 3 == 2:
            flushed += g.a.sum()
            g.a = np.zeros(3, np.float32)
    return flushed


def replaced_or_not_and_stored(g: Any, i: Any) -> None:
    if i > 0:
        g.a = g.a * 2
    g.a[0] = 7


def the_other_or_not_and_stored(g: Any, i: Any) -> Any:
    if i > 0:
        g.a = g.b
        g.b = g.b + 1
    g.a[1] = 7
    return g.b.sum()


def replaced_and_given_back(g: Any, i: Any) -> None:
    first = g.a
    if i > 0:
        g.a = g.a * 1
        g.a[0] = 1
        g.a = first
    g.a[1] = 4


def replaced_in_each_turn(g: Any, i: Any) -> None:
    while i > -2:
        i -= 1
        g.a[0] = i
        g.a = g.a + 1
        g.a[1] = i


def an_error_between(g: Any, i: Any) -> None:
    if i >= 0:
        g.a = g.a * 2
    g.b[0] = 5
    if i > 0:
        g.a = g.a + 1
        raise ValueError("too large")
    g.a[0] = 7
    g.b = g.a


def an_error_in_a_turn(g: Any, i: Any) -> None:
    for k in range(i + 3):
        if k == 2 + i:
            raise ValueError("too large")
        g.a[k] = 5
        if k == 1:
            g.a = g.b * 2


def entries(g: Any, i: Any) -> Any:
    for k in range(i + 2):
        g.d["w"][k] = k + 1
        g.l[0][0] = 8
        if k > 0:
            g.d["w"] = g.d["w"] * 2
            g.l[0] = g.l[0] + 1
        g.l[0][1] += 1
    return g.d["w"].sum()


def a_list_that_is_turned_round(g: Any, i: Any) -> None:
    if i > 0:
        g.l.reverse()
    g.l[0][0] = 9


def a_helper_stores(g: Any, i: Any) -> Any:
    def fill(x: Any) -> None:
        x[0] = 6

    if i > 0:
        g.a = g.a * 2
    fill(g.a)
    return g.a[0]


def stored_later_in_a_loop(g: Any, i: Any) -> None:
    first = g.a
    g.a = g.a * 2
    for k in range(i):
        first[k] = 1


def stored_at_a_traced_index(g: Any, i: Any) -> None:
    g.a[i] = 3
    if i > 0:
        g.a = g.a * 2
    g.l[i][0] = 5


def of_another_type(g: Any, i: Any) -> None:
    g.a[0] = 1
    if i > 0:
        g.a = np.ones(3, np.complex64)
    g.a[1] = 2


TAGGED = [
    stored_later_in_a_branch, exchanged_in_a_loop, double_buffering, replaced_in_a_branch, replaced_in_a_branch_and_exchanged,
    a_buffer_that_is_replaced_when_it_is_full, replaced_or_not_and_stored, replaced_and_given_back, replaced_in_each_turn,
    an_error_between, an_error_in_a_turn, entries, a_helper_stores, the_other_or_not_and_stored, a_list_that_is_turned_round,
    stored_later_in_a_loop, stored_at_a_traced_index, of_another_type,
]  # fmt: skip


def outcome(f: Callable[..., Any], i: Any) -> Any:
    """The result, what the first arrays hold, what the places hold, and which places hold which of the first arrays."""
    rows = [np.arange(3, dtype=np.float32), np.full(3, 2, np.float32)]
    g = Grid(a=np.arange(3, dtype=np.float32), b=np.ones(3, np.float32), c=None, d={"w": np.zeros(3, np.float32)}, l=list(rows))
    first = {"a": g.a, "b": g.b, "w": g.d["w"], "row": rows[0], "second row": rows[1]}
    try:
        result: Any = float(f(g, i) or 0)
    except ValueError as error:
        result = str(error)
    now = {k: v for k, v in vars(g).items() if k not in "dl"} | {f"d[{k!r}]": v for k, v in g.d.items()} | {f"l[{k}]": v for k, v in enumerate(g.l)}
    held = {k: None if v is None else np.asarray(v).tolist() for k, v in now.items()}
    which = {k: [n for n, x in first.items() if x is v] for k, v in now.items()}
    return result, {k: x.tolist() for k, x in first.items()}, held, which


@pytest.mark.parametrize("i", [0, 1])
@pytest.mark.parametrize("f", WORK, ids=lambda f: f.__name__)
def test_arrays_and_places_are_those_of_python(f: Callable[..., Any], i: int) -> None:
    assert outcome(ag.function(f), jnp.int32(i)) == outcome(f, np.int32(i))


@pytest.mark.parametrize("i", [0, 1])
@pytest.mark.parametrize("f", TAGGED, ids=lambda f: f.__name__)
def test_traced_values_decide_which_array_a_place_holds(f: Callable[..., Any], i: int) -> None:
    assert outcome(ag.function(f), jnp.int32(i)) == outcome(f, np.int32(i))


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("f", [replaced_in_a_branch, replaced_or_not_and_stored, exchanged_in_a_loop, a_buffer_that_is_replaced_when_it_is_full])
def test_the_next_call_finds_the_array_that_the_place_holds(f: Callable[..., Any], first: int) -> None:
    def calls(form: Callable[..., Any], make: Any) -> Any:
        def both(g: Any, i: Any) -> Any:
            form(g, make(first))
            return form(g, i)

        return outcome(both, make(1 - first))

    assert calls(ag.function(f), jnp.int32) == calls(f, np.int32)


def test_a_place_keeps_the_array_that_traced_values_did_not_replace() -> None:
    @ag.function
    def f(g: Any, i: Any) -> None:
        if i > 0:
            g.a = g.a * 2

    a = np.ones(3, np.float32)
    g = Grid(a=a)
    f(g, jnp.int32(0))
    assert g.a is a
    f(g, jnp.int32(1))
    assert g.a.tolist() == [2, 2, 2] and a.tolist() == [1, 1, 1]


def test_a_call_in_another_trace_is_refused_as_before() -> None:
    g = Grid(a=np.ones(3, np.float32))
    with pytest.raises(ag.StagingError, match="AG40"):
        jax.jit(lambda i: ag.function(replaced_or_not_and_stored)(g, i))(1)
    assert g.a.tolist() == [1, 1, 1]


@ag.function
def _stored_by_another(g: Any, x: Any) -> None:
    g.a[0] = x


@ag.function
def _item_stored_by_another(g: Any, x: Any) -> None:
    g.l[0][0] = x


@pytest.mark.parametrize("x", [1, 5])
@pytest.mark.parametrize("inner", [_stored_by_another, _item_stored_by_another])
def test_a_compiled_function_that_is_called_changes_the_place(inner: Any, x: int) -> None:
    def calls(form: Any, inner: Any, x: Any) -> Any:
        def f(g: Any, x: Any) -> Any:
            if x > 2:
                g.a, g.l[0] = g.a * 2, g.l[0] * 2
            inner(g, x)
            g.a[1] = 7
            g.l[0][1] = 7
            return x

        return outcome(form(f), x)

    assert calls(ag.function, inner, jnp.float32(x)) == calls(lambda f: f, inner.__wrapped__, np.float32(x))


OTHER: Any = None


def seen_after(g: Any, i: Any) -> Any:
    g.a[i] = 3
    return OTHER.sum()


def seen_before(g: Any, i: Any) -> Any:
    s = OTHER.sum()
    g.a[i] = 3
    return s


def given_to_the_other(g: Any, i: Any) -> Any:
    g.a[i] = 3
    g.b = OTHER
    return g.b.sum()


def read_in_a_loop(g: Any, i: Any) -> Any:
    for k in range(i + 1):
        g.a[k] = 3
        g.b[k] += OTHER[k]
    return g.b.sum()


def stored_replaced_and_seen(g: Any, i: Any) -> Any:
    g.a[i] = 3
    g.a = g.a * 2
    g.a[i] += 1
    return OTHER.sum()


@pytest.mark.parametrize("i", [0, 1])
@pytest.mark.parametrize(
    "f",
    [*WORK, seen_after, seen_before, given_to_the_other, read_in_a_loop, stored_replaced_and_seen],
    ids=lambda f: f.__name__,
)
def test_a_global_variable_holds_the_first_array(f: Callable[..., Any], i: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def called(form: Callable[..., Any], i: Any) -> Any:
        def with_a_name(g: Any, i: Any) -> Any:
            monkeypatch.setitem(globals(), "OTHER", g.a)
            return form(g, i)

        held = outcome(with_a_name, i)
        return held, OTHER.tolist()

    assert called(ag.function(f), jnp.int32(i)) == called(f, np.int32(i))


def test_an_array_that_two_objects_hold() -> None:
    def f(g: Any, h: Any, i: Any) -> Any:
        g.a[i] = 3
        g.a = g.a * 2
        h.a[0] = 9
        return g.a.sum() + h.a.sum()

    for form, i in ((f, np.int32(1)), (ag.function(f), jnp.int32(1))):
        a = np.zeros(3, np.float32)
        g, h = Grid(a=a), Grid(a=a)
        assert form(g, h, i) == 18
        assert a.tolist() == [9, 3, 0] and g.a.tolist() == [0, 6, 0] and h.a is a


TABLE: Any = np.zeros(3, np.float32)


def test_a_global_variable() -> None:
    @ag.function
    def f(i: Any) -> Any:
        global TABLE
        TABLE[i] = 3
        TABLE = TABLE * 2
        return TABLE.sum()

    first = TABLE
    assert f(jnp.int32(1)) == 6 and f(jnp.int32(2)) == 18
    assert first.tolist() == [0, 3, 0] and TABLE.tolist() == [0, 12, 6]


SHARED: Any = np.ones(4, np.int32)


def test_an_array_that_a_global_variable_holds_as_well_and_a_variable_is_stored_into() -> None:
    @ag.function
    def f(g: Any, i: Any) -> Any:
        held = g.a
        for k in range(i):
            if k > 1:
                held[k % 4] = k
        return SHARED.sum()

    global SHARED
    SHARED = np.ones(4, np.int32)
    first, g = SHARED, Grid(a=SHARED)
    for _ in range(2):
        assert f(g, jnp.int32(5)) == 10
        assert first.tolist() == [4, 1, 2, 3] and g.a is first and SHARED is first


def test_an_array_of_which_only_an_object_knows_and_a_variable_is_stored_into() -> None:
    @ag.function
    def f(g: Any, i: Any) -> Any:
        held = g.a
        for k in range(i):
            if k > 1:
                held[k % 4] = k
        return held.sum()

    first = np.ones(4, np.int32)
    g = Grid(a=first)
    assert f(g, jnp.int32(5)) == 10 and g.a is first and first.tolist() == [4, 1, 2, 3]


def test_a_program_compiled_for_numpys_arrays_is_given_others() -> None:
    @ag.function
    def f(g: Any, i: Any) -> Any:
        first = g.a
        g.a[i] = 3
        g.a = g.a * 2
        g.c = first
        g.d["w"][i] = 4
        g.b[i] = 5
        g.d["b"] = g.b
        return first.sum()

    for array in (np.zeros, jnp.zeros):
        g = Grid(a=array(3, "float32"), b=array(3, "float32"), c=None, d={"w": array(3, "float32"), "b": None})
        assert f(g, jnp.int32(1)) == 3
        assert g.c.tolist() == [0, 3, 0] and g.a.tolist() == [0, 6, 0] and g.d["w"].tolist() == [0, 4, 0]
        assert g.d["b"] is g.b and g.b.tolist() == [0, 5, 0]


@pytest.mark.parametrize("one", [True, False])
@pytest.mark.parametrize("through", ["g.h.a", "g.d['a']", "other"])
def test_a_variable_that_is_the_array_of_two_places(through: str, one: bool) -> None:
    source = f"def f(g, i):\n    mine = g.a\n    other = g.h.a\n    if i > 0:\n        {through}[1] = i\n    return mine.sum()\n"
    f = define(source, "f")

    def run(form: Any, i: Any) -> Any:
        a = np.zeros(3, np.int32)
        g = Grid(a=a, h=Grid(a=a if one else a.copy()), d={"a": a if one else a.copy()})
        return int(form(g, i)), a.tolist(), g.h.a.tolist(), g.d["a"].tolist(), g.a is a, (g.h.a is a) == one

    compiled = ag.function(f)
    for i in (5, -5):
        assert run(compiled, jnp.int32(i)) == run(f, np.int32(i))


def np_zeros(n: int) -> Any:
    return np.zeros(n, np.float32)


GETTERS = """
class Sim:
    def __init__(self, zeros):
        self._cells, self.rows = zeros(3), [zeros(2)]

    def cells(self):
        return self._cells

    @property
    def seen(self):
        return self._cells

    def row(self):
        return self.rows[0]

    def total(self):
        return self._cells.sum() + self.rows[0].sum() * 10

    def by_a_method(self, x):
        c = self.cells()
        c[0] = x
        return self._cells.sum() + self.cells().sum()

    def by_a_property(self, x):
        self.seen[0] = x
        return self.total()

    def in_a_loop(self, x):
        c = self.seen
        while x < 3:
            c[1] += x
            x = x + 1
        return self._cells.sum()

    def read_and_replaced(self, x):
        c = self.cells()
        if x < 3:
            c[1] += x
        s = self._cells.sum()
        self._cells = c * 0
        return s

    def of_the_module(self, x):
        g = table()
        if x < 3:
            g[1] = x
        s = TABLE.sum()
        TABLE[0] = 5
        return s, TABLE[1]


TABLE = zeros(3)


def table():
    return TABLE


def of_a_variable(sim, x):
    buffer = zeros(3)

    def get():
        return buffer

    got = get()
    while x < 3:
        got[2] += 1
        x = x + 1
    s = buffer.sum()
    buffer = buffer * 0
    return s
"""


@pytest.mark.parametrize("name", ["by_a_method", "by_a_property", "in_a_loop", "read_and_replaced", "of_the_module", "of_a_variable"])
@pytest.mark.parametrize("zeros", [np_zeros, jnp.zeros], ids=["numpy", "jnp"])
def test_an_array_that_a_getter_gives(name: str, zeros: Any) -> None:
    def run(kind: Any, way: Callable[[Any], Any]) -> Any:
        made = define(GETTERS, "Sim", zeros=kind)
        space = made.cells.__globals__
        sim = made(kind)
        f = space.get(name) or (lambda sim, x: getattr(sim, name)(x))
        out = [way(f)(sim, np.float32(x)) for x in (1, 7)]
        return jax.tree.map(float, (out, list(sim._cells), list(space["TABLE"])))

    assert run(zeros, ag.function) == run(np_zeros, lambda f: f)


KEPT = """
def f(x):
    c = {how}
    {block}
        c[0] = x + 1
    return sim.total()
"""
BLOCKS = ["if x > 0:", "while x > 0:\n        x = x - 1", "if True:"]


def kept(zeros: Any, how: str, block: str) -> tuple[Any, Any, Any]:
    """A function that stores into an array which another file keeps, the object that holds it, and the function that gives the table."""
    made = define(GETTERS, "Sim", zeros=zeros)
    sim, table = made(zeros), made.cells.__globals__["table"]
    return define(KEPT.format(how=how, block=block), "f", sim=sim, other=table), sim, table


@pytest.mark.parametrize("how", ["sim.row()", "other()", "sim.cells()"])
@pytest.mark.parametrize("zeros", [np_zeros, jnp.zeros], ids=["numpy", "jnp"])
@pytest.mark.parametrize("block", BLOCKS)
def test_an_array_that_another_file_keeps(how: str, zeros: Any, block: str) -> None:
    for x in (2, -2):
        g, theirs, table = kept(np_zeros, how, block)
        f, sim, own_table = kept(zeros, how, block)
        want, stored = g(np.float32(x)), bool(theirs.total() or np.any(table()))
        assert ag.function(f)(np.float32(x)) == want
        assert sim.cells().tolist() == theirs.cells().tolist() and own_table().tolist() == table().tolist()
        f, sim, own_table = kept(zeros, how, block)
        if stored:  # nobody would give it the values
            with pytest.raises(ag.StagingError, match="AG40"):
                jax.jit(ag.convert(f))(np.float32(x))
        assert not sim.total() and not np.any(own_table())


def test_a_property_of_another_file_that_gives_an_array() -> None:
    made = define(GETTERS, "Sim", zeros=np_zeros)

    def f(sim: Any, x: Any) -> Any:
        c = sim.seen
        if x > 0:
            c[0] = x
        sim.seen[1] += 1
        return sim.total()

    ours, theirs = made(jnp.zeros), made(np_zeros)
    assert ag.function(f)(ours, np.float32(2)) == f(theirs, np.float32(2)) == 3
    assert ours._cells.tolist() == theirs._cells.tolist() == [2, 1, 0]


def test_an_array_of_its_own_is_kept_by_nobody() -> None:
    def f(x: Any) -> Any:
        c = np.zeros(3)
        for k in range(3):
            c[k] = x
        if x > 0:
            c[0] = 7
        return c

    assert ag.function(f)(2.0).tolist() == jax.jit(ag.convert(f))(2.0).tolist() == [7, 2, 2]


@pytest.mark.parametrize("n", [-1, 1])
def test_a_callee_puts_the_array_of_a_variable_into_a_dict(n: int) -> None:
    def hold(d: Any, x: Any) -> None:
        d["held"] = x

    def f(zeros: Any, n: Any, d: Any) -> Any:
        buffer = zeros(3)
        hold(d, buffer)
        while n < 0:
            d["held"][2] = 6
            n = n + 1
        s = buffer.sum()
        buffer = buffer * 0
        return s + buffer.sum()

    got, want = {}, {}
    assert ag.function(f, static_argnums=0)(jnp.zeros, n, got) == f(np.zeros, n, want)
    assert got["held"].tolist() == want["held"].tolist()


@pytest.mark.parametrize("n", [-1, 1])
def test_a_callee_puts_a_global_array_into_a_dict_and_both_are_stored_into(n: int) -> None:
    def run(form: Any) -> Any:
        f = define("""
        def hold(d):
            d["held"] = TABLE

        def f(n, d):
            hold(d)
            if n > 0:
                d["held"][1] = n
            else:
                d["held"][2] -= 6
            TABLE[3] = 5
        """, "f", TABLE=np.zeros(4, np.int32))  # fmt: skip
        d = {"held": jnp.arange(4)}
        form(f)(n, d)
        return d["held"].tolist(), d["held"] is f.__globals__["TABLE"]

    assert run(ag.function) == run(lambda f: f)


class Box:
    def __init__(self, a: Any) -> None:
        self.a = a

    def set(self, a: Any) -> None:
        self.a = a

    def get(self) -> Any:
        return self.a

    def add(self, v: Any) -> None:
        self.a[1] += v


@dataclasses.dataclass
class Pair:
    a: Any
    n: int = 0


def _put(where: Any, key: Any, a: Any) -> None:
    where[key] = a


def _append(where: Any, a: Any) -> None:
    where.append(a)


def put_by_init(zeros: Any, x: Any) -> Any:
    a = zeros(3)
    box = Box(a)
    if x > 1:
        a[0] = x
    while x < 4:
        a[1] += 1
        x = x + 1
    return box.a.sum()


def put_by_a_method(zeros: Any, x: Any) -> Any:
    a, box = zeros(3), Box(None)
    box.set(a)
    a[0] = x
    return box.a.sum() + box.get()[0]


def put_into_a_dataclass(zeros: Any, x: Any) -> Any:
    a = zeros(3)
    pair = Pair(a)
    a[0] = x
    return pair.a.sum()


def put_into_a_list_and_a_dict(zeros: Any, x: Any) -> Any:
    a, items, named = zeros(3), [], {}
    _append(items, a)
    _put(named, "a", a)
    a[0] = x
    return items[0].sum() + named["a"].sum() * 10


def put_in_every_turn(zeros: Any, x: Any) -> Any:
    s = 0.0
    for i in range(3):
        a = zeros(3)
        box = Box(a)
        a[0] = x + i
        s += box.a.sum()
    return s


def got_back(zeros: Any, x: Any) -> Any:
    a = zeros(3)
    box = Box(a)
    c = box.get()
    c[0] = x
    return a.sum() + box.a.sum()


def stored_by_the_object(zeros: Any, x: Any) -> Any:
    a = zeros(3)
    Box(a).add(x)
    return a.sum()


def got_back_and_changed(zeros: Any, x: Any) -> Any:
    a = np_zeros(3)
    box = Box(a)
    if x > 0:
        a += x
    c = box.get()
    c -= 1
    return box.a.sum() + a.sum()


@pytest.mark.parametrize("zeros", [np_zeros, jnp.zeros], ids=["numpy", "jnp"])
@pytest.mark.parametrize("f", [
    put_by_init, put_by_a_method, put_into_a_dataclass, put_into_a_list_and_a_dict, put_in_every_turn, got_back, stored_by_the_object, got_back_and_changed,
])  # fmt: skip
@pytest.mark.parametrize("x", [2.0, -1.0])
def test_an_array_that_a_callee_has_put_somewhere(f: Callable[[Any, Any], Any], zeros: Any, x: float) -> None:
    assert float(ag.function(f, static_argnums=0)(zeros, jnp.float32(x))) == float(f(np_zeros, np.float32(x)))


ROWS = np.zeros((2, 2), np.float32)
QUEUE = collections.deque([np.zeros(2, np.float32)])


def rows_changed_in_place(x: Any) -> Any:
    for row in ROWS:
        row += x
    return ROWS.sum()


def all_changed_in_place(x: Any) -> Any:
    rows = ROWS
    rows += x
    return ROWS.sum()


def stored_in_a_loop(x: Any) -> Any:
    rows = ROWS
    while x > 0:
        rows[0, 1] += x
        x = x - 1
    return ROWS.sum()


@pytest.mark.parametrize("f", [rows_changed_in_place, all_changed_in_place, stored_in_a_loop])
def test_a_global_array_that_another_name_changes_in_place(f: Callable[[Any], Any]) -> None:
    def run(g: Callable[[Any], Any]) -> Any:
        ROWS[:] = 0
        return float(g(np.float32(2))), ROWS.tolist()

    assert run(ag.function(f)) == run(f)


def test_an_array_in_a_deque_of_the_caller_is_refused() -> None:
    def f(x: Any) -> Any:
        for item in QUEUE:
            item[0] += x
        return x

    with pytest.raises(ag.StagingError, match="AG407"):
        ag.function(f)(jnp.float32(2))
    assert not QUEUE[0].any()


class OfTheClass:
    a = np.zeros(3, np.float32)

    def put(self, i: int, v: Any) -> None:
        self.a[i] += v


def test_an_array_that_the_class_holds() -> None:
    one = OfTheClass()

    @ag.function
    def f(x: Any) -> Any:
        one.put(0, x)
        return OfTheClass.a[0]

    assert f(2.0) == 2 and f(3.0) == 5
    assert OfTheClass.a.tolist() == [5, 0, 0] and not vars(one)


class Stores:
    def __init__(self, a: Any) -> None:
        self.a = a

    def __setitem__(self, i: Any, v: Any) -> None:
        self.a[i] = v


def _stores_on_both_sides(p: Any, e: Any) -> None:
    if e > 0:
        p[1] -= e
    else:
        p[1] += 2


def stored_by_a_callee_that_branches(x: Any, o: Any, d: Any) -> None:
    if x > 3:
        d["a"] = o.a * 1
    else:
        _stores_on_both_sides(o.a, x)
        o[0] = x * 3


@pytest.mark.parametrize("x", [5, 1, -2])
def test_an_array_that_a_callee_stores_into_on_both_sides_and_another_place_may_be_given_another(x: int) -> None:
    def run(f: Callable[..., Any], x: Any) -> Any:
        first, second = np.ones(2, np.int32), np.ones(2, np.int32)
        o, d = Stores(first), {"a": second}
        f(x, o, d)
        return first.tolist(), second.tolist(), o.a.tolist(), d["a"].tolist(), o.a is first, d["a"] is second

    assert run(ag.function(stored_by_a_callee_that_branches), jnp.int32(x)) == run(stored_by_a_callee_that_branches, x)


def counts(i: Any, bins: Any = np_zeros(3)) -> Any:
    bins[i] += 1
    return bins.max()


class Histogram:
    def __init__(self, bins: Any = np_zeros(2)) -> None:
        self.bins = bins


def default_of_a_callee(v: Any) -> Any:
    m = 0
    for i in v:
        m = counts(i)
    return m


def default_of_its_own(v: Any, out: Any = np_zeros(3)) -> Any:
    if v[0] > 0:
        out[0] += v[0]
    return out.sum()


def default_of_a_class(v: Any) -> Any:
    a, b = Histogram(), Histogram()
    a.bins[0] = v[0]
    return b.bins.sum()


@pytest.mark.parametrize("f", [default_of_a_callee, default_of_its_own, default_of_a_class])
def test_an_array_that_is_a_default_value_is_refused(f: Callable[..., Any]) -> None:
    with pytest.raises(ag.StagingError, match="AG407"):
        ag.function(f)(np.array([1, 1, 2], np.int32))
    assert not any(np.any(d) for g in (counts, default_of_its_own, Histogram.__init__) for d in g.__defaults__ or ())


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: Any


class CountsItsStores:
    def __init__(self, a: Any) -> None:
        object.__setattr__(self, "a", a)
        object.__setattr__(self, "stores", 0)

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, "stores", self.stores + 1)
        object.__setattr__(self, name, value)


@pytest.mark.parametrize("make", [Frozen, CountsItsStores])
@pytest.mark.parametrize("x", [1.0, -1.0])
def test_a_store_into_the_array_of_an_attribute_is_none_into_the_object(make: Any, x: float) -> None:
    def f(o: Any, x: Any) -> Any:
        o.a[0] += x
        if x > 0:
            o.a[1] = x
        while x < 3:
            o.a[0] += 1
            x = x + 1
        return o.a.sum()

    def run(g: Any, x: Any) -> Any:
        o = make(np_zeros(2))
        return float(g(o, x)), o.a.tolist(), getattr(o, "stores", 0)

    assert run(ag.function(f), jnp.float32(x)) == run(f, x)
