"""Rows, slices and other views of NumPy arrays: a store into one changes the array, and one into the array changes the view."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from tests.numpys import COMPILED, as_numpy


def matrix() -> Any:
    return np.arange(6.0, dtype=np.float32).reshape(2, 3)


class Grid:
    def __init__(self) -> None:
        self.cells = matrix()


def row(m):
    r = m[0]
    r[1] = 9
    return m.sum()


def row_plus(m):
    r = m[1]
    r += 1
    return m.sum()


def column(m):
    c = m[:, 1]
    c *= 2
    return m.sum()


def rows_in_a_loop(m):
    for r in m:
        r[0] = 9
    return m.sum()


def rows_plus_in_a_loop(m):
    for k, r in enumerate(m):
        r += k
    return m.sum()


def rows_beside_others(m, v):
    for r, a in zip(m, v):
        r *= a
    return m.sum()


def row_in_a_branch(m, x):
    r = m[0]
    if x > 1:
        r[0] = x
    return m.sum()


def row_of_a_row(m):
    r = m[0][1:]
    r[0] = 5
    return m.sum()


def transposed(m):
    t = m.T
    t[0] = 7
    return m.sum()


def reshaped(m):
    flat = m.reshape(-1)
    flat[4] = 9
    return m.sum()


def by_a_function(m):
    flat = np.ravel(m)
    flat[4] = 9
    return m.sum()


def unpacked(m):
    a, b = m
    b[0] = 9
    return m.sum()


def by_a_helper(m):
    clear(m[1])
    return m.sum()


def clear(r):
    r[:] = 0


def by_a_helper_in_place(m):
    shift(m)
    return m.sum()


def shift(r):
    r += 1


def of_a_copy(m):
    a = m * 2
    r = a[0]
    r[1] = 9
    return a.sum()


def swapped(m):
    m[0], m[1] = m[1], m[0]
    return m


def read_after_the_store(m):
    r = m[0]
    m[0, 1] = 9
    return r


def rows_read_after_the_store(m):
    total = 0.0
    for k, r in enumerate(m):
        m[k] = r * 2
        total += r.sum()
    return total


def an_attribute_of_the_array(m):
    m.T[0] = 9
    return m


def of_an_attribute(g):
    r = g.cells[0]
    r[1] = 9
    return g.cells.sum()


def of_an_attribute_in_a_loop(g):
    for r in g.cells:
        r[0] += 1
    return g.cells.sum()


def of_a_list(ms):
    r = ms[0][1]
    r[0] = 9
    return ms[0].sum()


def of_an_array_made_here(x):
    a = np.zeros((2, 2), np.float32)
    a[0, 0] = x
    r = a[1]
    r[0] = 5
    return a


VIEWS: list[tuple[Callable[..., Any], Callable[[], tuple[Any, ...]]]] = [
    *((f, lambda: (matrix(),)) for f in (
        row, row_plus, column, rows_in_a_loop, rows_plus_in_a_loop, row_of_a_row, transposed, reshaped, by_a_function, unpacked, by_a_helper,
        by_a_helper_in_place, of_a_copy, swapped, read_after_the_store, rows_read_after_the_store, an_attribute_of_the_array,
    )),
    (rows_beside_others, lambda: (matrix(), np.array([2.0, 3.0], np.float32))),
    (row_in_a_branch, lambda: (matrix(), np.float32(3))),
    (row_in_a_branch, lambda: (matrix(), np.float32(0))),
    (of_an_attribute, lambda: (Grid(),)),
    (of_an_attribute_in_a_loop, lambda: (Grid(),)),
    (of_a_list, lambda: ([matrix()],)),
    (of_an_array_made_here, lambda: (2.0,)),
]  # fmt: skip


@pytest.mark.parametrize(("f", "make"), VIEWS, ids=[f.__name__ for f, _ in VIEWS])
def test_a_store_is_seen_in_the_array(f: Callable[..., Any], make: Callable[[], tuple[Any, ...]]) -> None:
    as_numpy([f, f], make, [(ag.convert, np), (ag.function, np)])  # the second call does not trace


OF_OBJECTS = (of_an_array_made_here, of_an_attribute, of_an_attribute_in_a_loop, of_a_list)


@pytest.mark.parametrize(("f", "make"), [(f, make) for f, make in VIEWS if f not in OF_OBJECTS])
def test_parts_of_jax_arrays_are_values(f: Callable[..., Any], make: Callable[[], tuple[Any, ...]]) -> None:
    args = make()
    given = [jnp.asarray(a) for a in args]
    ag.function(f)(*given)
    assert all(np.array_equal(a, b) for a, b in zip(given, args, strict=True)), "the caller's arrays are values as well"


def test_a_call_with_jax_arrays_before_one_with_numpys() -> None:
    compiled = ag.function(of_a_copy)
    assert compiled(jnp.asarray(matrix())) == 30.0
    assert compiled(matrix()) == of_a_copy(matrix()) == 37.0


def copies(m):
    r = m[0].copy()
    r[0] = 9
    t = m.T.copy()
    t[0] = 3
    doubled = m.reshape(-1) * 2
    doubled[0] = 1
    rows = m[[0, 1]]
    rows[0] = 5
    return m.sum() + r.sum() + t.sum() + doubled.sum() + rows.sum()


def not_read_later(u):
    left = u[:-1]
    u[1:] = u[1:] + left
    return u


def in_a_loop(u, n):
    for _ in range(n):
        left = u[:-1]
        u[1:] = u[1:] + left
    return u


def items_of_a_list(ws, x):
    for w in ws:
        w[0] = x
    for k, w in enumerate(ws):
        w[1] += k
    return ws[0].sum() - ws[1].sum()


def items_of_a_dict(d, x):
    for k, v in d.items():
        v[0] = x
    for v in d.values():
        v[1] += x
    return d["a"].sum() - d["b"].sum()


def best_of_a_list(ws):
    best = ws[0]
    for w in ws:
        if w[0] > best[0]:
            best = w
    return best


def elements(v, i, j):
    v[i], v[j] = v[j], v[i]
    first = v[0]
    v[0] = first + 1
    return v


def through_two_subscripts(m, i):
    m[i][1] += 2
    m[0][i] = 7
    for k in range(2):
        m[k][k] -= 1
    return m.sum()


SEEN: list[tuple[Callable[..., Any], Callable[[], tuple[Any, ...]]]] = [
    (copies, lambda: (matrix(),)),
    (not_read_later, lambda: (np.arange(5.0, dtype=np.float32),)),
    (in_a_loop, lambda: (np.arange(5.0, dtype=np.float32), 3)),
    (items_of_a_list, lambda: ([matrix()[0], matrix()[1]], 7.0)),
    (items_of_a_dict, lambda: ({"a": matrix()[0], "b": matrix()[1]}, 7.0)),
    (best_of_a_list, lambda: ([matrix()[0], matrix()[1]],)),
    (through_two_subscripts, lambda: (matrix(), 1)),
    (elements, lambda: (np.arange(5.0, dtype=np.float32), 1, 3)),
]


@pytest.mark.parametrize(("f", "make"), SEEN, ids=[f.__name__ for f, _ in SEEN])
def test_what_no_view_would_show(f: Callable[..., Any], make: Callable[[], tuple[Any, ...]]) -> None:
    as_numpy([f, f], make, [(ag.function, np)])


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize("f", [items_of_a_list, items_of_a_dict])
def test_jax_arrays_in_lists_and_dicts_change_as_numpys_do(f: Callable[..., Any], staged: bool) -> None:
    theirs = next(make for g, make in SEEN if g is f)()
    ours = jax.tree.map(lambda x: jnp.asarray(x) if isinstance(x, np.ndarray) else x, list(theirs))
    assert np.allclose((ag.convert(f, form="staged") if staged else ag.convert(f))(*ours), f(*theirs))
    assert all(map(np.array_equal, jax.tree.leaves(theirs), jax.tree.leaves(ours)))


class Halves:
    def __init__(self) -> None:
        self.all = np.zeros(6, np.float32)
        self.first = self.all[:3]

    def step(self, i: Any) -> None:
        self.all[i] += 1


def a_row_of_a_new_array(n: Any) -> Any:
    a = np.zeros((2, 3), np.float32)
    row = a[1]
    for i in range(n):
        row[i] = i + 1
    return a.sum()


def a_new_array_with_a_view(n: Any) -> Any:
    a = np.zeros(4, np.float32)
    b = a[1:]
    for i in range(n):
        a[i] = i + 1
    return b.sum()


def a_store_without_control_flow(n: Any) -> Any:
    a = np.zeros(4, np.float32)
    b = a[1:]
    a[2] = n
    return b.sum()


def two_parts_of_a_state(n: Any) -> Any:
    state = np.zeros(6, np.float32)
    pos, vel = state[:3], state[3:]
    vel[:] = 1.0
    t = 0
    while t < n:
        pos += 2.0 * vel
        t += 1
    return state.sum()


def a_view_in_an_attribute(n: Any) -> Any:
    halves = Halves()
    for i in range(n):
        halves.step(i)
    return halves.first.sum()


def a_row_given_to_a_helper(n: Any) -> Any:
    def fill(row: Any, v: Any) -> None:
        row[0] = v

    a = np.zeros((3, 3), np.float32)
    for i in range(n):
        fill(a[i], i + 1.0)
    return a.sum()


def methods_that_are_given_lists(n: Any) -> Any:
    m = np.zeros((4, 3), np.float32)
    m[1, 1] = n
    return m.take([0, 1], axis=0), m.dot([1.0, 2.0, 3.0]), m[0].searchsorted([0.5]), m.clip(0, [1, 2, 3]), m.repeat([1, 2, 1, 1], axis=0)


NEW = [
    methods_that_are_given_lists,
    a_row_of_a_new_array,
    a_new_array_with_a_view,
    a_store_without_control_flow,
    two_parts_of_a_state,
    a_view_in_an_attribute,
    a_row_given_to_a_helper,
]


@pytest.mark.parametrize("f", NEW, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [0, 3])
def test_views_of_arrays_that_the_function_makes(f: Callable[..., Any], n: int) -> None:
    as_numpy(f, lambda: (n,), [(ag.convert, np), *COMPILED])
