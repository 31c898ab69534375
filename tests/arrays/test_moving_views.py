"""Views that a loop gives other views: a store is seen in the array, whichever it is; what only an earlier turn knew is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from autograph.runtime.errors.errors import AliasError
from tests.numpys import COMPILED, as_numpy


class Holder:
    m: Any
    row: Any


def two_slices(n: Any) -> Any:
    a = np.zeros(3, np.float32)
    r = a[:2]
    for i in range(n):
        if i == 2:
            r = a[1:]
        r[0] += 1
    return a


def two_rows(n: Any) -> Any:
    m = np.zeros((3, 4), np.float32)
    r = m[1]
    for i in range(n):
        if i == 2:
            r = m[0]
        r[0] += 1
    return m, r


def in_an_attribute(n: Any) -> Any:
    s = Holder()
    s.m = np.zeros((3, 4), np.float32)
    s.row = s.m[0]
    for i in range(n):
        if i == 2:
            s.row = s.m[2]
        s.row[i % 4] += 1
    return s.m, s.row


def beside_a_column(n: Any) -> Any:
    m = np.zeros((3, 4), np.float32)
    r, c = m[1], m[:, 2]
    for i in range(n):
        if i == 2:
            r = m[0]
        c += 1
    return m, r


def beside_all_rows(n: Any) -> Any:
    m = np.zeros((3, 4), np.float32)
    r = m[1]
    for i in range(n):
        if i == 2:
            r = m[0]
        for row in m:
            row[0] += 1
    return m, r


def exchanged(n: Any) -> Any:
    m = np.arange(12, dtype=np.float32).reshape(3, 4)
    r, q = m[0], m[1]
    for i in range(n):
        if i % 2 == 0:
            r, q = q, r
        r += 1
        q *= 2
    return m, r, q


def of_every_second(n: Any) -> Any:
    a = np.arange(6).astype(np.float32)
    h = a[::2]
    while n > 0:
        if n % 3 == 0:
            h = a[1::2]
        elif n % 3 == 1:
            h = a[3:]
        h += n
        n -= 1
    return a, h


def of_a_transpose(n: Any) -> Any:
    m = np.arange(12, dtype=np.float32).reshape(3, 4)
    r = m.T[0]
    for i in range(n):
        if i == 1:
            r = m.T[1]
        if i == 3:
            r = m[1, :3]
        r *= 2
    return m, r


def of_two_arrays(n: Any) -> Any:
    ms = [np.zeros(3, np.float32), np.ones(3, np.float32)]
    r = ms[0][:2]
    for i in range(n):
        if i == 2:
            r = ms[1][1:]
        r += 1
    return ms[0], ms[1], r


def replaced_now_and_then(n: Any) -> Any:
    m = np.arange(4, dtype=np.float32)
    row = m[1:]
    for i in range(n):
        if i == 2:
            row = row * 2
        m[1] += 7
    return m, row


def stored_into_or_replaced(n: Any) -> Any:
    m = np.arange(4, dtype=np.float32)
    row = m[1:]
    for i in range(n):
        if i != 2:
            m[1] += 7
        else:
            row = row * 2
    return m, row


def after_the_loop(n: Any) -> Any:
    m = np.zeros((3, 4), np.float32)
    r = m[1]
    for i in range(n):
        if i == 1:
            r = m[2]
    m[2, 0] = 5
    r[1] += 1
    return m, r


KNOWN = [
    two_slices,
    two_rows,
    in_an_attribute,
    beside_a_column,
    beside_all_rows,
    exchanged,
    of_every_second,
    of_a_transpose,
    of_two_arrays,
    replaced_now_and_then,
    stored_into_or_replaced,
    after_the_loop,
]


@pytest.mark.parametrize("f", KNOWN, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [0, 1, 5])
def test_a_store_is_seen_in_the_array(f: Callable[..., Any], n: int) -> None:
    as_numpy(f, lambda: (n,), [(ag.convert, np), *COMPILED])


def taken_anew(n: Any) -> Any:
    m = np.zeros((3, 4), np.float32)
    for i in range(n):
        row = m[i % 3]
        row[i % 4] += 1
        m[:, 1] += 2
        row *= 2
    return m


def the_best_copied(n: Any) -> Any:
    m = np.arange(12, dtype=np.float32).reshape(3, 4)
    best = m[0].copy()
    for i in range(n):
        if m[i % 3].sum() > best.sum():
            best = m[i % 3].copy()
        m[1] -= 3
    return m, best


def the_best_only_read(n: Any) -> Any:
    m = np.arange(12, dtype=np.float32).reshape(3, 4)
    best = m[0]
    for i in range(n):
        if m[i % 3].sum() > best.sum():
            best = m[i % 3]
    return best


@pytest.mark.parametrize("f", [taken_anew, the_best_copied, the_best_only_read], ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [1, 5])
def test_rows_at_traced_places(f: Callable[..., Any], n: int) -> None:
    as_numpy(f, lambda: (n,), [(ag.convert, np), *COMPILED])


def all_in_reverse(x: Any) -> Any:
    m = np.arange(4, dtype=np.float32)
    v = m[::-1]
    v[:] = x
    v *= x
    v += np.arange(4)
    return m


def every_second_in_reverse(x: Any) -> Any:
    m = np.arange(5, dtype=np.float32)
    v = m[::-2]
    v[:] = x
    v += np.arange(3)
    m[4:1:-1] += x
    return m


def columns_in_reverse(x: Any) -> Any:
    m = np.arange(6, dtype=np.float32).reshape(2, 3)
    v = m[:, ::-1]
    v *= x
    v[0] = x
    v[:] += 1
    w = np.flip(m)
    w[0, 1] = 7
    w[:] = w + 1
    return m


def part_of_a_reverse(x: Any) -> Any:
    m = np.arange(6, dtype=np.float32)
    v = m[::-1][1:3]
    v[:] = x
    w = m[-1:-4:-2]
    w *= 3
    return m


@pytest.mark.parametrize("f", [all_in_reverse, every_second_in_reverse, columns_in_reverse, part_of_a_reverse], ids=lambda f: f.__name__)
def test_views_in_reverse(f: Callable[..., Any]) -> None:
    as_numpy(f, lambda: (np.float32(2),), [(ag.convert, np), *COMPILED])


def stored_into_a_turn_later(n: Any) -> Any:
    m = np.zeros((3, 4), np.float32)
    r = m[1]
    for i in range(n):
        r[0] += 1
        r = m[i % 3]
    return m, r


def the_best_stored_into(n: Any) -> Any:
    m = np.arange(12, dtype=np.float32).reshape(3, 4)
    best = m[0]
    for i in range(n):
        row = m[i % 3]
        if row.sum() > best.sum():
            best = row
        best[1] -= 4
    return m, best


def stored_into_after(n: Any) -> Any:
    m = np.zeros((3, 4), np.float32)
    r = m[1]
    for i in range(n):
        r = m[i % 3]
    r[0] += 1
    return m, r


@pytest.mark.parametrize("f", [stored_into_a_turn_later, the_best_stored_into, stored_into_after], ids=lambda f: f.__name__)
def test_stores_into_what_an_earlier_turn_took(f: Callable[..., Any]) -> None:
    with pytest.raises(AliasError, match="a row, slice or other view is stored into that was taken"):
        ag.function(f)(5)


def read_after_a_store(n: Any) -> Any:
    m = np.zeros((3, 4), np.float32)
    r = m[1]
    for i in range(n):
        if i % 2 == 0:
            r = m[i % 3]
        m[:, 1] += i
    return m, r


def the_best_of_what_changes(n: Any) -> Any:
    m = np.zeros((3, 4), np.float32)
    r = m[1]
    for i in range(n):
        if m[i % 3].sum() >= r.sum():
            r = m[i % 3]
        m[1, 1] += i
    return m, r + 0


def changed_after_the_loop(n: Any) -> Any:
    m = np.zeros((3, 4), np.float32)
    r = m[1]
    for i in range(n):
        r = m[i % 3]
    m[0, 0] = 5
    return r.sum()


def of_a_variable_of_the_loop(n: Any) -> Any:
    m = np.arange(8, dtype=np.float32).reshape(2, 4)
    row = m[0]
    for i in range(n):
        if i != 2:
            m[:, 1] += 7
        else:
            row = m[1]
    return m, row


def of_an_array_of_the_turn(n: Any) -> Any:
    m = np.arange(8, dtype=np.float32).reshape(2, 4)
    row = m[0]
    for i in range(n):
        if i > 0:
            m[0, 0] += 1
        m = m * 1
        row = m[0] if i >= 0 else row
    m[0] = 3
    return m, row


def of_an_array_of_a_branch(n: Any) -> Any:
    m = np.arange(8, dtype=np.float32).reshape(2, 4)
    row = m[0]
    if n > 1:
        m = m * 2
        row = m[1]
    m[:, 1] = 9
    return m, row


STALE = [
    read_after_a_store,
    the_best_of_what_changes,
    changed_after_the_loop,
    of_a_variable_of_the_loop,
    of_an_array_of_the_turn,
    of_an_array_of_a_branch,
]


@pytest.mark.parametrize("f", STALE, ids=lambda f: f.__name__)
def test_reading_what_an_earlier_turn_took_of_an_array_that_has_changed(f: Callable[..., Any]) -> None:
    with pytest.raises(AliasError, match=r"an array is read that is a row[\s\S]*help: take a copy"):
        ag.function(f)(jnp.int32(5))
