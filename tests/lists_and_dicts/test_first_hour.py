"""What a first hour writes with containers: rows appended to lists that objects hold, tuples compared, slices of several parts."""

from __future__ import annotations

import collections
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag

P = collections.namedtuple("P", "a b")


class Book:
    def __init__(self) -> None:
        self.trades: list[Any] = []

    def add(self, i: Any, x: Any) -> None:
        row = {"day": i, "gain": x}
        self.trades.append(row)


def in_an_object(xs: Any) -> Any:
    b = Book()
    for i, x in enumerate(xs):
        if x > 2:
            b.trades.append({"day": i, "gain": x})
    return len(b.trades) * 10 + b.trades[-1]["day"]


def lists_in_an_object(xs: Any) -> Any:
    b = Book()
    for i, x in enumerate(xs):
        if x > 2:
            b.trades.append([i, x])
    return len(b.trades) * 10 + b.trades[-1][0]


def inserted(xs: Any) -> Any:
    b = Book()
    for i, x in enumerate(xs):
        if x > 2:
            b.trades.insert(0, {"day": i, "gain": x})
    return len(b.trades) * 10 + b.trades[0]["day"]


def in_a_dict(xs: Any) -> Any:
    d: dict[str, list[Any]] = {"t": []}
    for i, x in enumerate(xs):
        if x > 2:
            d["t"].append({"day": i, "gain": x})
    return len(d["t"]) * 10 + d["t"][-1]["day"]


def in_a_closure(xs: Any) -> Any:
    rows: list[Any] = []

    def add(i: Any, x: Any) -> None:
        rows.append({"day": i, "gain": x})

    for i, x in enumerate(xs):
        if x > 2:
            add(i, x)
    return len(rows) * 10 + rows[-1]["day"]


def by_a_method(xs: Any) -> Any:
    b = Book()
    for i, x in enumerate(xs):
        if x > 2:
            b.add(i, x)
    return len(b.trades) * 10 + b.trades[-1]["day"] + sum([t["gain"] for t in b.trades])


ROWS = [in_an_object, lists_in_an_object, inserted, in_a_dict, in_a_closure, by_a_method]


@pytest.mark.parametrize("f", ROWS)
def test_rows_that_are_appended(f: Any) -> None:
    for xs in (np.array([1, 2, 3, 4]), np.array([5, 2, 3, 1])):
        assert float(ag.function(f)(xs)) == float(f(xs))


def held_and_changed(xs: Any) -> Any:
    b = Book()
    for x in xs:
        if x > 2:
            row = {"gain": x}
            b.trades.append(row)
            row["gain"] = row["gain"] + 1
    return sum([t["gain"] for t in b.trades])


def test_a_row_that_changes_after_it_was_appended_is_refused() -> None:
    with pytest.raises(ag.AutographError) as caught:
        ag.function(held_and_changed)(np.array([1, 2, 3, 4]))
    assert caught.value.id == "AG405"


COMPARED = {
    "==": lambda p, q: p == q,
    "!=": lambda p, q: p != q,
    "<": lambda p, q: p < q,
    "<=": lambda p, q: p <= q,
    ">": lambda p, q: p > q,
    ">=": lambda p, q: p >= q,
    "chained": lambda p, q: p <= q <= p,
    "in a test": lambda p, q: 1 if p < q else 2,
    "and": lambda p, q: p == q and p <= q,
    "attributes": lambda p, q: P(p, 0).a == P(q, 1).a,
    "named": lambda p, q: P(*p) < P(*q),
}
PAIRS = [((1, 2), (1, 2)), ((1, 2), (1, 3)), ((2, 2), (1, 3)), ((1.0, 0.0), (1.0, -1.0))]


@pytest.mark.parametrize("compared", COMPARED)
@pytest.mark.parametrize("kind", [tuple, list, lambda pair: P(*pair)], ids=["tuple", "list", "named tuple"])
def test_tuples_and_lists_in_variables(compared: str, kind: Any) -> None:
    f = COMPARED[compared]
    for convert in (ag.function, lambda f: jax.jit(ag.convert(f))):
        compiled = convert(f)
        for p, q in PAIRS:
            assert int(compiled(kind(p), kind(q))) == int(f(kind(p), kind(q)))


def block(m: Any, a: Any) -> Any:
    return m[a // 2 * 2 : a // 2 * 2 + 2, a : a + 2].sum()


def of_an_index(m: Any, a: Any) -> Any:
    starts = jnp.array([0, 1, 3, 2])
    return m[starts[a] : starts[a] + 2, int(a) : int(a) + 1].sum() + m[min(a, 2) : min(a, 2) + 3].sum()


def stored(m: Any, a: Any) -> Any:
    m = m * 1.0
    m[a : a + 2, 0:2] += 1.0
    m[a // 2 * 2 : a // 2 * 2 + 2, a : a + 2] = 7.0
    return m


@pytest.mark.parametrize("f", [block, of_an_index, stored])
def test_slices_whose_bounds_share_an_expression(f: Any) -> None:
    m = np.arange(36.0, dtype=np.float32).reshape(6, 6)
    for a in (0, 1, 3):
        np.testing.assert_allclose(ag.function(f)(m, a), f(m, a))


def appended(x: Any, n: Any) -> Any:
    parts: list[list[Any]] = [[], [], []]
    for i in range(3):
        parts[n].append(x[i])
    return len(parts[0]), len(parts[2]), sum(parts[2], 0.0)


def grouped(x: Any, n: Any) -> Any:
    parts: list[list[Any]] = [[], [], []]
    for v in x:
        parts[int(v) % 3].append(v)
    return [(len(p), sum(p, 0.0)) for p in parts]


def nearest(x: Any, n: Any) -> Any:
    centres = jnp.array([0.0, 2.0, 5.0, 1.0])
    parts: list[list[Any]] = [[] for _ in range(4)]
    for i in range(len(x)):
        parts[jnp.argmin(jnp.abs(centres - x[i]))].append(i)
    return [len(p) for p in parts]


def cleared(x: Any, n: Any) -> Any:
    parts = [[1.0], [2.0], [1.0, 2.0]]
    parts[n].clear()
    parts[n - 1].extend([x[0], x[1]])
    return [sum(p, 0.0) for p in parts]


@pytest.mark.parametrize("f", [appended, grouped, nearest, cleared])
def test_a_list_that_an_index_chooses_becomes_longer(f: Any) -> None:
    for x in ([1.0, 2.0, 3.0], [5.0, 3.0, 0.0]):
        for n in (2, 1):
            expected = f(jnp.array(x), n)
            got = ag.function(f)(jnp.array(x), n)
            assert [float(v) for v in jax.tree.leaves(got)] == [float(v) for v in jax.tree.leaves(expected)]


def fields(x: Any) -> Any:
    s = np.zeros(3, dtype=[("a", float), ("b", int)])
    s["a"] = x
    return s["a"].sum()


@pytest.mark.parametrize(
    ("f", "args", "said"),
    [
        (lambda n: [0] * n, (3,), "AG502 a `list` is repeated as often as a traced value says"),
        (lambda x, n: n * [x], (1.0, 3), "make the number static"),
        (lambda n: "ab" * n, (3,), "AG502 a `str` is repeated"),
        (fields, (np.ones(3),), "AG406 a NumPy array of fields holds concrete values only"),
        (lambda x: x in {1, 2}, (1,), "an array of truth values in the place of the set"),
    ],
)
def test_true_reasons(f: Any, args: Any, said: str) -> None:
    with pytest.raises(ag.AutographError) as caught:
        ag.function(f)(*args)
    assert said in str(caught.value)
