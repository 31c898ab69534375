"""Lists of which it is data-dependent whether two are one object: what is read is what Python gives, or refused (RULES 7, 20)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

import autograph as ag


def a_ternary(c: Any) -> Any:
    a, b = [1, 2], [3, 4]
    row = a if c > 0 else b
    row[0] = 9
    return a[0]


def a_branch(c: Any) -> Any:
    a, b = [1, 2], [3, 4]
    if c > 0:
        row = a
    else:
        row = b
    a[0] = 9
    return row[0]


def a_longer_list(c: Any) -> Any:
    a, b = [1, 2], [3, 4]
    row = a if c > 0 else b
    a.append(3)
    return len(row)


def a_swap_in_a_loop(c: Any) -> Any:
    a, b = [1, 2], [3, 4]
    row = a
    while c > 0:
        c -= 1
        row, b = b, row
    a[0] = 9
    return row[0]


def rebound_in_a_loop(c: Any) -> Any:
    a = [1, 2]
    row = a
    for _ in range(c):
        row = [row[0] + 1, 5]
    row[1] = 9
    return a[1]


def the_first_turn(c: Any) -> Any:
    a = [1, 2]
    row = a
    for _ in range(c):
        a[0] += 1
        row = [row[0] + 1, 5]
    return row[0]


def one_on_one_side(c: Any) -> Any:
    if c > 0:
        a = [1, 2]
        b = a
    else:
        a, b = [1, 2], [1, 2]
    a[0] = 9
    return b[0]


def a_traced_index(c: Any) -> Any:
    rows = [[1, 2], [3, 4], [5, 6]]
    row = rows[c]
    rows[1][0] = 9
    return row[0]


def in_an_attribute(c: Any) -> Any:
    box = Box([1, 2])
    other = [3, 4]
    if c > 0:
        box.items = other
    other[0] = 9
    return box.items[0]


def in_a_dict(c: Any) -> Any:
    a, b = {"k": 1}, {"k": 2}
    d = a if c > 0 else b
    d["k"] = 3
    return a["k"]


class Box:
    def __init__(self, items: Any) -> None:
        self.items = items


DOUBTFUL = [
    a_ternary, a_branch, a_longer_list, a_swap_in_a_loop, rebound_in_a_loop, the_first_turn, one_on_one_side, a_traced_index, in_an_attribute, in_a_dict,
]  # fmt: skip


@pytest.mark.parametrize("f", DOUBTFUL)
def test_refused_where_only_traced_values_know(f: Callable[..., Any]) -> None:
    for form in (ag.function(f), jax.jit(ag.convert(f))):
        with pytest.raises(ag.AutographError, match="AG405|AG401"):
            form(1)
    assert ag.convert(f)(1) == f(1)


def read_before(c: Any) -> Any:
    a, b = [1, 2], [3, 4]
    row = a if c > 0 else b
    total = row[0] + row[1]
    a[0] = total
    return a[0] + b[0]


def read_on_the_other_side(c: Any) -> Any:
    a, b = [1, 2], [3, 4]
    row = a if c > 0 else b
    if c > 3:
        row[0] = 9
        found = row[0]
    else:
        found = a[0]
    return found


def anew_in_each_turn(c: Any) -> Any:
    rows = [[1, 2], [3, 4]]
    total = 0
    for k in range(c):
        row = rows[k % 2]
        total += row[0]
        rows[0][0] += 1
        rows[1][1] += total
    return total, rows


def copies(c: Any) -> Any:
    a, b = [1, 2], [3, 4]
    row = list(a) if c > 0 else list(b)
    row[0] = 9
    a[1] = 7
    return row, a, b


def the_best(c: Any) -> Any:
    best = [0, 0]
    for k in range(c):
        if (k * 7) % 5 > best[0]:
            best = [(k * 7) % 5, k]
        best[1] += 1
    return best


def swapped(c: Any) -> Any:
    old, new = [0, 1], [2, 3]
    for k in range(c):
        old, new = new, old
        old[0] += k
    return old, new


def overwritten(c: Any) -> Any:
    a, b = [1, 2], [3, 4]
    row = a if c > 0 else b
    a[0] = 5
    row = [row_item for row_item in a]
    return row, a


def changed_and_chosen(c: Any) -> Any:
    a = [1, 2]
    if c > 0:
        a[0] = 7
        r = a
    else:
        r = [5, 5]
    b = [7, 3]
    if c > 1:
        s = b
    else:
        b[0] = 8
        s = [8, 1]
    return r[0], a[0], s[0], s[1], b[0]


def an_error_in_between(c: Any) -> Any:
    table = {"z": 1, "a": 2}
    x = TABLE[c]
    if c > 0:
        table["z"] += x
    table["z"] += 1
    return table["z"], table["a"]


def the_order_of_keys(c: Any) -> Any:
    if c > 0:
        d = {"z": 1, "a": 2}
    else:
        d = {"z": 3, "a": 4}
    for _ in range(c):
        d = {"z": d["z"] + 1, "a": d["a"]}
    total = 0
    for key in d:
        total = total * 10 + d[key]
    return total


TABLE = np.arange(5)
SURE = [
    changed_and_chosen,
    an_error_in_between,
    the_order_of_keys,
    read_before,
    read_on_the_other_side,
    anew_in_each_turn,
    copies,
    the_best,
    overwritten,
]


@pytest.mark.parametrize("f", SURE)
@pytest.mark.parametrize("c", [0, 1, 4])
def test_as_python_where_nothing_doubtful_is_read(f: Callable[..., Any], c: int) -> None:
    want = f(c)
    got = ag.function(f)(c)
    assert jax.tree.all(jax.tree.map(lambda x, y: bool(x == y), got, want)), (got, want)


def test_an_item_at_a_traced_index_is_a_copy_behind_a_loop_made_turn_by_turn() -> None:
    @ag.function
    def f(rows, k):
        for j in range(2):
            if j == 0:
                row = rows[k]
        row[0] = 5.0
        return rows

    with pytest.raises(ag.StagingError, match="AG405 a `list` is changed: it is an item of a list at a traced index, and that is a copy"):
        f([[1.0], [2.0]], 1)


def test_an_iterator_of_a_block_is_its_own_in_a_loop_made_turn_by_turn() -> None:
    def f(x):
        if x > 0:
            it = None
            for k in range(3):
                if k == 0:
                    it = iter([1.0, 2.0, 3.0])
                x = x + next(it)
        return x

    assert ag.function(f)(1.0) == f(1.0)
