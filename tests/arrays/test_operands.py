"""Operands that a statement has evaluated before a call that stores into them show the store, as NumPy's do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.numpys import JITTED, as_numpy


class Grid:
    def __init__(self, a: Any) -> None:
        self.a, self.d, self.rows = a, {"x": a}, [a, a * 2]

    def put(self, i: Any, v: Any) -> Any:
        self.a[i] = v
        return v

    def put_in_dict(self, v: Any) -> Any:
        self.d["x"][3] = v
        return v

    def put_in_row(self, k: int, v: Any) -> Any:
        self.rows[k][3] = v
        return v

    def fresh(self, v: Any) -> Any:
        self.a = self.a + v
        return v


def put(a: Any, i: Any, v: Any) -> Any:
    a[i] = v
    return v


def returned(x: Any) -> Any:
    g = Grid(x * 1)
    return g.a, g.put(3, 10.0)


def returned_by_name(x: Any) -> Any:
    a = x * 1
    return a, put(a, 3, 10.0)


def multiplied(x: Any) -> Any:
    g = Grid(x * 1)
    t = g.a * g.put(3, 10.0)
    return t, g.a


def unpacked(x: Any) -> Any:
    a = x * 1
    y, z = a, put(a, 3, 10.0)
    return y, z, a


def in_a_list(x: Any) -> Any:
    g = Grid(x * 1)
    both = [(g.a, 1.0), g.put(3, 10.0)]
    return both[0][0]


def in_a_dict(x: Any) -> Any:
    g = Grid(x * 1)
    both = {"a": g.a, "v": g.put(3, 10.0)}
    return both["a"], both["v"]


def by_keyword(x: Any) -> Any:
    g = Grid(x * 1)

    def add(a: Any, v: Any) -> Any:
        return a + v

    return add(a=g.a, v=g.put(3, 10.0))


def compared(x: Any) -> Any:
    g = Grid(x * 1)
    return (g.a > g.put(3, 2.0)) * 1.0


def indexed(x: Any) -> Any:
    g = Grid(x * 1)
    return g.a[int(g.put(3, 3.0))]


def an_item(x: Any) -> Any:
    g = Grid(x * 1)
    return g.d["x"] + g.put_in_dict(10.0)


def an_item_by_a_variable(x: Any) -> Any:
    g, k = Grid(x * 1), 1
    rows = g.rows
    return rows[k] + g.put_in_row(k, 10.0)


def under_a_condition(x: Any) -> Any:
    g = Grid(x * 1)
    return g.a, (g.put(3, 10.0) if x[1] > 0 else 0.0)


def in_a_loop(x: Any) -> Any:
    g, t = Grid(x * 1), 0.0
    for k in range(3):
        t = t + (g.a * g.put(k, 2.0 * k)).sum()
    return t


def of_a_method(x: Any) -> Any:
    g = Grid(x * 1)
    return g.a.dot(g.put(3, 10.0) * x)


def read_afterwards(x: Any) -> Any:
    g = Grid(x * 1)
    return g.put(3, 10.0) + g.a, g.a


def a_copy(x: Any) -> Any:
    g = Grid(x * 1)
    return g.a.copy() * g.put(3, 10.0), g.a


def one_element(x: Any) -> Any:
    g = Grid(x * 1)
    return g.a[3] + g.put(3, 10.0), g.a.sum() + g.put(2, 1.0)


def bound_anew(x: Any) -> Any:
    g = Grid(x * 1)
    return g.a * g.fresh(2.0), g.a


def another_array(x: Any) -> Any:
    g, h = Grid(x * 1), Grid(x * 2)
    return h.a * g.put(3, 10.0), g.a


def statements(x: Any) -> Any:
    g, t = Grid(x * 1), 0.0
    for k in range(3):
        v = g.put(k, 2.0 * k)
        t += (g.a * v).sum() if v > 1 else g.a[0]
    return t, g.a


def put_both(a: Any, b: Any, i: Any, v: Any) -> Any:
    a[i] = v
    b[i] = v + 1
    return i + 1


def given_back(x: Any) -> Any:
    a, b, n = x * 1, x * 2, 0
    n = put_both(a, b, n, 5.0)
    put_both(a, b, n, 7.0)
    return a, b, n


PROGRAMS = [
    returned, returned_by_name, multiplied, unpacked, in_a_list, in_a_dict, by_keyword, compared, indexed, an_item, an_item_by_a_variable,
    under_a_condition, in_a_loop, of_a_method, read_afterwards, a_copy, one_element, bound_anew, another_array, statements, given_back,
]  # fmt: skip


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("f", PROGRAMS)
def test_as_numpy(f: Callable[..., Any], sign: float) -> None:
    as_numpy(f, lambda: (np.array([0.5, sign * 1.5, 2.5, -1.0, 3.0, 4.0], np.float32),), JITTED)
