"""Small programs that store into NumPy arrays, as an ordinary person writes them: kinds of view x kinds of store x places.

Nothing in this file knows of JAX. What each program gives, and what it leaves in its arguments, is what NumPy alone says:
`tests/arrays/test_numpy_meaning.py` compares. Loops that only a store can end count their turns as well: a store that is lost must fail, not hang.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Program:
    """A function, the argument sets it is called with (made anew by each call of `arguments`) and what it is an example of."""

    function: Callable[..., Any]
    arguments: Callable[[], Iterable[Any]]  # each set is a tuple (by position) or a dict (by name)
    label: tuple[str, str, str]  # (view, store, place)


PROGRAMS: list[Program] = []


def case(*, view: str, store: str, place: str, arguments: Callable[[], Iterable[Any]]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Put the function into `PROGRAMS` as it is."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS.append(Program(function, arguments, (view, store, place)))
        return function

    return register


# --- arguments ------------------------------------------------------------------------------------------------------------------
def floats(*shape: int, first: int = 0) -> Any:
    """An array of float32 in no order, of both signs, all different: -6, -2.5, 1, 4.5, 8, -3 ...; `first` says where it starts."""
    k = np.arange(np.prod(shape), dtype=np.int32) + first
    return ((k * 7 % 29 - 12) / 2).astype(np.float32).reshape(shape)


def integers(*shape: int, first: int = 0) -> Any:
    """The same in int32: -12, -5, 2, 9, 16, -6 ..."""
    return (floats(*shape, first=first) * 2).astype(np.int32)


def listed(*values: float) -> Any:
    return np.array(values, np.float32)


def vectors() -> Iterable[Any]:
    return (floats(6),), (floats(6, first=3),)


def tables() -> Iterable[Any]:
    return (floats(3, 4),), (floats(3, 4, first=3),)


def squares() -> Iterable[Any]:
    return (floats(4, 4),), (floats(4, 4, first=3),)


def cubes() -> Iterable[Any]:
    return (floats(2, 3, 4),), (floats(2, 3, 4, first=3),)


def table_and_its_row() -> Iterable[Any]:
    """The caller's second argument is part of the first."""
    for first in (0, 3):
        m = floats(3, 4, first=first)
        yield m, m[1]


def one_array_twice() -> Iterable[Any]:
    for first in (0, 3):
        a = floats(5, first=first)
        yield a, a


def overlapping_slices() -> Iterable[Any]:
    for first in (0, 3):
        a = floats(6, first=first)
        yield a[:4], a[2:]


# --- what the programs call -----------------------------------------------------------------------------------------------------
class Board:
    """An array under a name, with methods that change it and one that lends a row of it."""

    def __init__(self, grid: Any) -> None:
        self.grid = grid

    def row(self, k: Any) -> Any:
        return self.grid[k]

    @property
    def interior(self) -> Any:
        return self.grid[1:-1, 1:-1]

    def paint(self, i: Any, value: Any) -> None:
        self.grid[i] = value

    def scale(self, factor: Any) -> None:
        self.grid *= factor


class Particles:
    """Two arrays that are changed together, and a table of both that the names are rows of."""

    def __init__(self, state: Any) -> None:
        self.state = state
        self.position = state[0]
        self.velocity = state[1]

    def step(self, dt: Any) -> None:
        self.position += dt * self.velocity
        self.velocity[self.position < 0] *= -1


def bump(v: Any, amount: Any) -> None:
    v += amount


def fill_with(v: Any, value: Any) -> None:
    v[:] = value


def exchange(v: Any, i: Any, j: Any) -> None:
    v[i], v[j] = v[j], v[i]


def clear_negatives(v: Any) -> Any:
    v[v < 0] = 0
    return v


def middle_of(a: Any) -> Any:
    return a[1:-1]


def normalise(v: Any) -> None:
    v /= np.abs(v).sum()


# --- the whole array ------------------------------------------------------------------------------------------------------------
@case(view="whole", store="item", place="function", arguments=lambda: ((floats(6), 2), (floats(6, first=3), -1)))
def one_item(a: Any, i: Any) -> Any:
    a[i] = 100.0
    return a


@case(view="whole", store="item", place="for", arguments=vectors)
def running_sum(a: Any) -> Any:
    for i in range(1, len(a)):
        a[i] = a[i] + a[i - 1]
    return a[-1]


@case(view="whole", store="item", place="while", arguments=lambda: ((listed(3, 1, 2, 5), 20.0), (listed(9, 1, 2, 5), 1.0)))
def double_until(a: Any, limit: Any) -> Any:
    i = 0
    while a.sum() < limit and i < 50:
        a[i % len(a)] = a[i % len(a)] * 2
        i += 1
    return i, a.sum()


@case(view="whole", store="item", place="branch", arguments=vectors)
def mark_an_end(a: Any) -> Any:
    if a[0] > 0:
        a[0] = 0.0
    else:
        a[-1] = 0.0
    return a.min()


@case(view="whole", store="item +=", place="for", arguments=lambda: ((integers(10), 4), (integers(10, first=3), 3)))
def histogram(values: Any, bins: Any) -> Any:
    counts = np.zeros(4, np.int32)
    for v in values:
        counts[v % bins] += 1
    return counts


@case(view="whole", store="item +=", place="while", arguments=lambda: ((listed(9, 0, 0, 0),), (listed(3, 5, 0, 1),)))
def sandpile(a: Any) -> Any:
    topples = 0
    while a[:-1].max() > 2 and topples < 50:
        i = np.argmax(a[:-1])
        a[i] -= 2
        a[i + 1] += 1
        topples += 1
    return topples


@case(view="whole", store="ellipsis", place="branch", arguments=vectors)
def reset_when_negative(a: Any) -> Any:
    before = a
    if a.sum() < 10:
        a[...] = 1.0
    return before.sum()


@case(view="whole", store="ellipsis", place="helper", arguments=lambda: ((floats(2, 3), 1.5), (floats(2, 3, first=3), -1.0)))
def ellipsis_in_a_helper(m: Any, value: Any) -> Any:
    def clear(x: Any) -> None:
        x[...] = value

    clear(m)
    return m


@case(view="whole", store="all", place="helper", arguments=lambda: ((floats(5), 2.5), (floats(5, first=3), -1.0)))
def whole_in_a_helper(a: Any, value: Any) -> Any:
    fill_with(a, value)
    return a * 2


@case(view="whole", store="+=", place="function", arguments=lambda: ((floats(4), floats(4, first=2)), (floats(4, first=3), floats(4))))
def add_vectors(a: Any, b: Any) -> Any:
    c = a
    c += b
    return a, c


@case(view="whole", store="+=", place="helper", arguments=lambda: ((floats(4), 1.0), (floats(4, first=3), -2.0)))
def bump_in_a_helper(a: Any, amount: Any) -> Any:
    bump(a, amount)
    return a.mean()


@case(view="whole", store="+=", place="for", arguments=lambda: ((floats(3, 4), 0), (floats(3, 4, first=3), 3)))
def add_in_a_loop(m: Any, n: Any) -> Any:
    kept = m
    for k in range(n):
        m += k
    return kept.sum()


@case(view="whole", store="*=", place="while", arguments=lambda: ((floats(4), 50.0), (floats(4, first=3), 1.0)))
def grow(a: Any, limit: Any) -> Any:
    n = 0
    while np.abs(a).max() < limit and n < 50:
        a *= 2
        n += 1
    return n, a[0]


@case(view="whole", store="*=", place="branch", arguments=vectors)
def flip_the_sign(a: Any) -> Any:
    held = [a]
    if a[0] < 0:
        a *= -1
    return held[0][0]


@case(view="whole", store="/=", place="helper", arguments=vectors)
def normalise_in_a_helper(a: Any) -> Any:
    normalise(a)
    return a


@case(view="whole", store="out=", place="function", arguments=vectors)
def rectify(a: Any) -> Any:
    b = np.maximum(a, 0, out=a)
    b[0] = -1
    return a


@case(view="whole", store="out=", place="for", arguments=lambda: ((floats(4), floats(4, first=1), 3), (floats(4, first=3), floats(4), 1)))
def accumulate_into_out(total: Any, step: Any, n: Any) -> Any:
    for _ in range(n):
        np.add(total, step, out=total)
    return total


@case(view="whole", store="out=", place="branch", arguments=vectors)
def clip_where_needed(a: Any) -> Any:
    if a.min() < -5:
        np.clip(a, -1, 1, out=a)
    return a.max()


@case(view="whole", store="out=", place="helper", arguments=lambda: ((floats(2, 2), floats(2, 2, first=3)), (floats(2, 2, first=4), floats(2, 2))))
def product_into(a: Any, b: Any) -> Any:
    def multiply(x: Any, y: Any, into: Any) -> None:
        np.matmul(x, y, out=into)

    c = np.zeros((2, 2), np.float32)
    multiply(a, b, c)
    return c


@case(view="whole", store="out= where=", place="function", arguments=vectors)
def add_where(a: Any) -> Any:
    np.add(a, 10, out=a, where=a < 0)
    return a.min()


@case(view="whole", store="add.at", place="function", arguments=lambda: ((floats(4), integers(6)), (floats(4, first=3), integers(6, first=4))))
def count_at(a: Any, keys: Any) -> Any:
    np.add.at(a, keys % 4, 1)
    return a


@case(view="whole", store="add.at", place="for", arguments=lambda: ((integers(3, 4),), (integers(3, 4, first=3),)))
def histogram_of_rows(m: Any) -> Any:
    counts = np.zeros(5, np.int32)
    for row in m:
        np.add.at(counts, row % 5, 1)
    return counts


@case(view="whole", store="maximum.at", place="branch", arguments=lambda: ((floats(3), listed(1, 9)), (floats(3, first=3), listed(2, -9))))
def largest_at(a: Any, b: Any) -> Any:
    if b[1] > 0:
        np.maximum.at(a, [0, 0], b)
    return a


@case(view="whole", store="copyto", place="function", arguments=lambda: ((floats(2, 3), listed(1, 2, 3)), (floats(2, 3, first=3), listed(0, 0, 1))))
def copy_one_row_to_all(m: Any, row: Any) -> Any:
    np.copyto(m, row)
    row[0] = 50
    return m


@case(view="whole", store="copyto", place="while", arguments=lambda: ((listed(8, 3, 1),), (listed(0.5, 0.25, 0.5),)))
def halve_until_small(a: Any) -> Any:
    half = np.empty_like(a)
    n = 0
    while a.max() > 1 and n < 50:
        half[:] = a / 2
        np.copyto(a, half)
        n += 1
    return n, a


@case(view="whole", store="fill", place="branch", arguments=vectors)
def fill_in_a_branch(a: Any) -> Any:
    if a[1] < 0:
        a.fill(7)
    else:
        a.fill(-7)
    return a


@case(view="whole", store="fill", place="for", arguments=lambda: ((floats(3), 4), (floats(3, first=2), 0)))
def buffer_filled_each_turn(a: Any, n: Any) -> Any:
    buffer = np.empty(3, np.float32)
    for k in range(n):
        buffer.fill(k)
        a += buffer
    return a


@case(view="whole", store="sort", place="function", arguments=lambda: ((floats(3, 4), 0), (integers(3, 4, first=3), 1)))
def sorted_in_place(m: Any, i: Any) -> Any:
    kept = m
    m.sort(axis=0)
    return kept[i]


@case(view="whole", store="sort", place="branch", arguments=vectors)
def median_of(a: Any) -> Any:
    if a[1] > a[2]:
        a.sort()
    return a[len(a) // 2]


@case(view="whole", store="put", place="function", arguments=lambda: ((floats(2, 3), listed(7, 8)), (floats(2, 3, first=3), listed(-1, -2))))
def put_by_flat_place(m: Any, values: Any) -> Any:
    np.put(m, [0, 4], values)
    return m[1]


@case(view="whole", store="put", place="for", arguments=lambda: ((floats(6), 3), (floats(6, first=3), 1)))
def put_in_a_loop(a: Any, n: Any) -> Any:
    for k in range(n):
        np.put(a, [k, 5 - k], k)
    return a


@case(view="whole", store="putmask", place="function", arguments=lambda: ((floats(6), floats(6, first=2)), (floats(6, first=3), floats(6))))
def put_where_larger(a: Any, b: Any) -> Any:
    np.putmask(a, a > b, b)
    return a.sum()


@case(view="whole", store="put_along_axis", place="function", arguments=tables)
def mark_the_largest_of_each_row(m: Any) -> Any:
    largest = np.argmax(m, axis=1, keepdims=True)
    np.put_along_axis(m, largest, 0, axis=1)
    return m.max(axis=1)


@case(view="whole", store="mask", place="function", arguments=vectors)
def mask_the_negative(a: Any) -> Any:
    a[a < 0] = 0
    return a


@case(view="whole", store="mask", place="helper", arguments=tables)
def mask_in_a_helper(m: Any) -> Any:
    cleared = clear_negatives(m)
    cleared[0, 0] = 77
    return m


@case(view="whole", store="mask", place="while", arguments=lambda: ((listed(10, 3, 7),), (listed(1, 0, 2),)))
def shrink_the_large(a: Any) -> Any:
    n = 0
    while (a > 2).any() and n < 50:
        a[a > 2] -= 2
        n += 1
    return n


@case(view="whole", store="fancy", place="function", arguments=lambda: ((floats(6), listed(7, 8)), (floats(6, first=3), listed(-1, -2))))
def fancy_places(a: Any, values: Any) -> Any:
    a[[0, 2]] = values
    return a


@case(view="whole", store="fancy", place="branch", arguments=vectors)
def fancy_in_a_branch(a: Any) -> Any:
    order = np.argsort(a)
    if a[0] < 0:
        a[order[:2]] = 0
    return a


@case(view="whole", store="fancy +=", place="function", arguments=lambda: ((floats(5), integers(3)), (floats(5, first=3), integers(3, first=1))))
def repeated_places_count_once(a: Any, keys: Any) -> Any:
    a[keys % 2] += 10
    return a


@case(view="whole", store="fancy", place="for", arguments=lambda: ((floats(3, 4), 2), (floats(3, 4, first=3), 3)))
def crossed_places(m: Any, n: Any) -> Any:
    for k in range(n):
        m[np.ix_([0, 2], [k, 3])] = k
    return m


@case(view="whole", store="fancy swap", place="function", arguments=lambda: ((floats(5), 0, 3), (floats(5, first=3), 4, 1)))
def fancy_swap(a: Any, i: Any, j: Any) -> Any:
    a[[i, j]] = a[[j, i]]
    return a


@case(view="row", store="fancy swap", place="branch", arguments=tables)
def swap_of_rows_by_places(m: Any) -> Any:
    if m[0, 0] < m[1, 0]:
        m[[0, 1]] = m[[1, 0]]
    return m[0]


@case(view="whole", store="swap", place="for", arguments=vectors)
def reverse_in_place(a: Any) -> Any:
    n = len(a)
    for i in range(n // 2):
        a[i], a[n - 1 - i] = a[n - 1 - i], a[i]
    return a[0]


@case(view="whole", store="swap", place="while", arguments=vectors)
def insertion_sort(a: Any) -> Any:
    for i in range(1, len(a)):
        j = i
        while j > 0 and a[j - 1] > a[j]:
            a[j - 1], a[j] = a[j], a[j - 1]
            j -= 1
    return a


@case(view="whole", store="swap", place="branch", arguments=lambda: ((integers(6),), (integers(6, first=3),)))
def bubble_sort(a: Any) -> Any:
    swaps = 0
    for i in range(len(a)):
        for j in range(len(a) - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
                swaps += 1
    return swaps


@case(view="whole", store="swap", place="helper", arguments=lambda: ((floats(5), 0, 3), (floats(5, first=3), 4, 4)))
def swap_in_a_helper(a: Any, i: Any, j: Any) -> Any:
    exchange(a, i, j)
    return a


@case(view="whole", store="item", place="function", arguments=lambda: ((integers(4), 2.7), (integers(4, first=3), -2.7)))
def integers_stay_integers(a: Any, x: Any) -> Any:
    a[0] = x
    a[1:3] = x * 2
    return a, a[0] / 2


@case(view="whole", store="item", place="closure", arguments=lambda: ((floats(4), 3), (floats(4, first=3), 0)))
def memo_in_a_closure(a: Any, n: Any) -> Any:
    def put(i: Any, value: Any) -> None:
        a[i] = value

    for k in range(n):
        put(k, k * 10)
    return a.sum()


@case(view="whole", store="+=", place="closure", arguments=lambda: ((floats(4), 2), (floats(4, first=3), 0)))
def counter_in_a_closure(a: Any, n: Any) -> Any:
    total = np.zeros(4, np.float32)

    def add() -> None:
        nonlocal total
        total += a

    for _ in range(n):
        add()
    return total


@case(view="whole", store="mask", place="closure", arguments=vectors)
def closure_reads_later(a: Any) -> Any:
    def largest() -> Any:
        return a.max()

    before = largest()
    a[a > 4] = 0
    return before, largest()


# --- copies: no store into one is seen in the other ----------------------------------------------------------------------------
@case(view="copy", store="item", place="function", arguments=vectors)
def copy_is_apart(a: Any) -> Any:
    b = a.copy()
    b[0] = 99
    a[1] = 55
    return a, b


@case(view="copy", store="+=", place="for", arguments=lambda: ((floats(4), 3), (floats(4, first=3), 0)))
def snapshots(a: Any, n: Any) -> Any:
    last = a.copy()
    for _ in range(n):
        last = a.copy()
        a += 1
    return last, a


@case(view="copy", store="item", place="branch", arguments=vectors)
def copied_on_one_side(a: Any) -> Any:
    b = a
    if a[0] > 0:
        b = a.copy()
    b[1] = 99
    return a[1], b[1]


@case(view="fancy copy", store="item", place="function", arguments=vectors)
def fancy_read_is_a_copy(a: Any) -> Any:
    b = a[[0, 2]]
    b[0] = 99
    return a, b


@case(view="mask copy", store="all", place="function", arguments=vectors)
def mask_read_is_a_copy(a: Any) -> Any:
    b = a[a > 0]
    b[:] = 50
    return a.sum(), b.sum()


@case(view="fancy copy", store="+=", place="function", arguments=lambda: ((floats(3, 4), 1), (floats(3, 4, first=3), 2)))
def rows_by_a_list_are_copies(m: Any, k: Any) -> Any:
    chosen = m[[k, 0]]
    chosen += 10
    return m[k] + chosen[0]


@case(view="new array", store="item", place="function", arguments=vectors)
def arithmetic_makes_a_new_array(a: Any) -> Any:
    b = a + 0
    c = a
    a = a * 2
    a[0] = 1
    b[1] = 2
    return a, b, c


@case(view="new array", store="item", place="for", arguments=lambda: ((floats(4), 3), (floats(4, first=3), 0)))
def new_name_in_a_loop(a: Any, n: Any) -> Any:
    for k in range(n):
        a = a + 1
        a[k] = 0
    return a


@case(view="flatten", store="all", place="function", arguments=tables)
def flatten_is_a_copy(m: Any) -> Any:
    flat = m.flatten()
    flat[:] = 0
    return m.sum() + flat.sum()


@case(view="np.array", store="item", place="branch", arguments=tables)
def np_array_is_a_copy(m: Any) -> Any:
    b = np.array(m)
    if m[0, 0] > 0:
        b[0, 0] = 100
    return m, b


@case(view="astype", store="item", place="function", arguments=vectors)
def astype_is_a_copy(a: Any) -> Any:
    b = a.astype(np.int32)
    c = a.astype(np.float32, copy=False)
    b[0] = 40
    c[1] = 50
    return a, b


# --- rows -----------------------------------------------------------------------------------------------------------------------
@case(view="row", store="item", place="function", arguments=lambda: ((floats(3, 4), 1), (floats(3, 4, first=3), -1)))
def item_of_a_row(m: Any, k: Any) -> Any:
    row = m[k]
    row[0] = 9.0
    return m[k, 0]


@case(view="row", store="ellipsis", place="function", arguments=tables)
def ellipsis_of_a_row(m: Any) -> Any:
    row = m[1]
    row[...] = m[0]
    m[0, 0] = 33
    return row


@case(view="row", store="all", place="for", arguments=lambda: ((floats(4, 3), 4), (floats(4, 3, first=3), 2)))
def each_row_as_the_one_before(m: Any, n: Any) -> Any:
    for i in range(1, n):
        row = m[i]
        row[:] = m[i - 1] * 2
    return m[-1]


@case(view="row", store="+=", place="function", arguments=tables)
def row_grows(m: Any) -> Any:
    row = m[0]
    row += 10
    return m


@case(view="row", store="+=", place="for", arguments=lambda: ((floats(3, 4), floats(3)), (floats(3, 4, first=3), floats(3, first=5))))
def bias_of_each_row(m: Any, bias: Any) -> Any:
    for i in range(len(m)):
        row = m[i]
        row += bias[i]
    return m.sum(axis=1)


@case(view="row", store="+=", place="while", arguments=lambda: ((floats(3, 4),), (floats(3, 4, first=7),)))
def raise_the_lowest_row(m: Any) -> Any:
    n = 0
    while m.sum(axis=1).min() < 0 and n < 50:
        row = m[np.argmin(m.sum(axis=1))]
        row += 1
        n += 1
    return n


@case(view="row", store="item +=", place="branch", arguments=tables)
def row_chosen_by_data(m: Any) -> Any:
    row = m[0]
    if m[0, 0] < 0:
        row = m[2]
    row[1] += 100
    return m


@case(view="row", store="*=", place="helper", arguments=tables)
def row_scaled_in_a_method(m: Any) -> Any:
    Board(m[1]).scale(3)
    return m


@case(view="row", store="-=", place="for", arguments=lambda: ((np.array([[2, 1, 1], [4, -6, 0], [-2, 7, 2]], np.float32),), (floats(3, 3, first=4),)))
def eliminate(m: Any) -> Any:
    for i in range(3):
        pivot = m[i]
        for j in range(i + 1, 3):
            row = m[j]
            row -= pivot * (row[i] / pivot[i])
    return m[0, 0] * m[1, 1] * m[2, 2]


@case(view="row", store="out=", place="function", arguments=tables)
def row_as_out(m: Any) -> Any:
    np.add(m[0], m[1], out=m[2])
    return m[2]


@case(view="row", store="out=", place="for", arguments=lambda: ((floats(4, 3), 3), (floats(4, 3, first=3), 1)))
def rows_as_out(m: Any, n: Any) -> Any:
    for i in range(n):
        np.multiply(m[i], 0.5, out=m[i + 1])
    return m


@case(view="row", store="add.at", place="function", arguments=lambda: ((floats(2, 3), integers(5)), (floats(2, 3, first=3), integers(5, first=2))))
def add_at_a_row(m: Any, keys: Any) -> Any:
    row = m[1]
    np.add.at(row, keys % 3, 1)
    return m


@case(view="row", store="copyto", place="branch", arguments=tables)
def copy_a_row(m: Any) -> Any:
    if m[0].sum() < m[1].sum():
        np.copyto(m[0], m[1])
    return m[0]


@case(view="row", store="fill", place="function", arguments=tables)
def fill_a_row(m: Any) -> Any:
    m[1].fill(5)
    return m.sum()


@case(view="row", store="fill", place="helper", arguments=lambda: ((floats(3, 4), 1), (floats(3, 4, first=3), 2)))
def fill_a_row_in_a_helper(m: Any, k: Any) -> Any:
    fill_with(m[k], 0)
    return m


@case(view="row", store="sort", place="for", arguments=tables)
def sort_each_row(m: Any) -> Any:
    for i in range(len(m)):
        m[i].sort()
    return m


@case(view="row", store="sort", place="branch", arguments=lambda: ((integers(3, 4), 0), (integers(3, 4, first=3), 2)))
def sort_one_row(m: Any, k: Any) -> Any:
    row = m[k]
    if row[1] > row[2]:
        row.sort()
    return m[k, 0]


@case(view="row", store="put", place="function", arguments=tables)
def put_into_a_row(m: Any) -> Any:
    np.put(m[2], [1, 3], [50, 60])
    return m[2]


@case(view="row", store="mask", place="function", arguments=lambda: ((floats(3, 4), 0), (floats(3, 4, first=3), 2)))
def mask_of_a_row(m: Any, k: Any) -> Any:
    row = m[k]
    row[row > 0] = 0
    return m


@case(view="row", store="mask", place="for", arguments=tables)
def mask_of_each_row(m: Any) -> Any:
    for i in range(m.shape[0]):
        row = m[i]
        row[row < row.mean()] = 0
    return m


@case(view="row", store="fancy", place="function", arguments=tables)
def fancy_places_of_a_row(m: Any) -> Any:
    row = m[1]
    row[[0, 2]] = row[[2, 0]] * 10
    return m


@case(view="row", store="swap", place="function", arguments=tables)
def swap_of_rows_loses_one(m: Any) -> Any:
    m[0], m[1] = m[1], m[0]
    return m


@case(view="row", store="swap", place="branch", arguments=tables)
def swap_of_rows_with_a_copy(m: Any) -> Any:
    if m[0, 0] < m[1, 0]:
        kept = m[0].copy()
        m[0] = m[1]
        m[1] = kept
    return m


@case(view="row", store="swap", place="helper", arguments=lambda: ((floats(3, 4), 0), (floats(3, 4, first=3), 3)))
def swap_in_a_row_in_a_helper(m: Any, j: Any) -> Any:
    exchange(m[2], 1, j)
    return m[2]


@case(view="row", store="base item", place="function", arguments=lambda: ((floats(3, 4), 1), (floats(3, 4, first=3), 0)))
def row_sees_the_table(m: Any, k: Any) -> Any:
    row = m[1]
    m[k, 2] = 44
    return row.sum()


@case(view="row", store="base *=", place="for", arguments=lambda: ((floats(3, 4), 2), (floats(3, 4, first=3), 0)))
def row_sees_the_table_in_a_loop(m: Any, n: Any) -> Any:
    row = m[0]
    total = 0.0
    for _ in range(n):
        m *= 2
        total += row[0]
    return total, row


@case(view="row", store="base all", place="branch", arguments=tables)
def row_sees_a_branch(m: Any) -> Any:
    row = m[2]
    if row[0] > 0:
        m[:] = 1
    return row


@case(view="row", store="item", place="new name", arguments=tables)
def row_of_what_the_name_was(m: Any) -> Any:
    row = m[0]
    m = m * 2
    row[0] = 70
    return m, row


@case(view="row", store="item", place="arguments", arguments=table_and_its_row)
def caller_gives_a_row(m: Any, row: Any) -> Any:
    row[0] = 12
    m[1, 1] = 34
    return m.sum(), row.sum()


@case(view="row", store="+=", place="arguments", arguments=table_and_its_row)
def caller_gives_a_row_for_a_loop(m: Any, row: Any) -> Any:
    for i in range(3):
        m[i] += row
    return m


@case(view="whole", store="item", place="arguments", arguments=one_array_twice)
def caller_gives_one_array_twice(a: Any, b: Any) -> Any:
    a[0] = 1
    b[1] = a[0] + 1
    return a, b


@case(view="slice", store="+=", place="arguments", arguments=overlapping_slices)
def caller_gives_slices_that_overlap(a: Any, b: Any) -> Any:
    a += 10
    b[0] = 0
    return a, b


# --- slices ---------------------------------------------------------------------------------------------------------------------
@case(view="slice", store="item", place="function", arguments=vectors)
def item_of_a_slice(a: Any) -> Any:
    middle = a[1:3]
    middle[0] = 99
    return a


@case(view="slice", store="ellipsis", place="function", arguments=vectors)
def ellipsis_of_a_slice(a: Any) -> Any:
    tail = a[-2:]
    tail[...] = a[:2]
    return a, tail


@case(view="slice", store="all", place="for", arguments=lambda: ((floats(8), 4), (floats(8, first=3), 1)))
def blocks_of_two(a: Any, n: Any) -> Any:
    for k in range(n):
        block = a[2 * k : 2 * k + 2]
        block[:] = block.sum()
    return a


@case(view="slice", store="all", place="while", arguments=lambda: ((listed(5, 1, 1, 1),), (listed(1, 1, 1, 1),)))
def diffuse_until_flat(a: Any) -> Any:
    n = 0
    while a.max() - a.min() > 1 and n < 50:
        a[1:] = (a[1:] + a[:-1]) / 2
        n += 1
    return n


@case(view="slice", store="+=", place="function", arguments=vectors)
def slice_of_a_slice_that_overlaps(a: Any) -> Any:
    a[1:] += a[:-1]
    return a


@case(view="slice", store="+=", place="branch", arguments=vectors)
def half_chosen_by_data(a: Any) -> Any:
    left, right = a[:3], a[3:]
    if left.max() < right.max():
        left += 10
    else:
        right += 10
    return a


@case(view="slice", store="+=", place="helper", arguments=lambda: ((floats(6), 5.0), (floats(6, first=3), -1.0)))
def middle_in_a_helper(a: Any, amount: Any) -> Any:
    bump(middle_of(a), amount)
    return a


@case(view="slice", store="item +=", place="for", arguments=lambda: ((floats(6), 4), (floats(6, first=3), 0)))
def shifted_by_one(a: Any, n: Any) -> Any:
    tail = a[1:]
    for i in range(n):
        tail[i] += a[i]
    return a


@case(view="slice", store="*=", place="while", arguments=lambda: ((listed(1, 2, 3, 4), 30.0), (listed(1, 2, 30, 4), 30.0)))
def middle_grows(a: Any, limit: Any) -> Any:
    middle = a[1:3]
    n = 0
    while a.sum() < limit and n < 50:
        middle *= 2
        n += 1
    return middle


@case(view="slice", store="*=", place="function", arguments=lambda: ((floats(6), 2), (floats(6, first=3), 5)))
def up_to_a_place(a: Any, n: Any) -> Any:
    a[:n] *= 2
    return a


@case(view="slice", store="item", place="function", arguments=lambda: ((floats(6), 2), (floats(6, first=3), 4)))
def from_a_place(a: Any, n: Any) -> Any:
    tail = a[n:]
    tail[0] = 77
    return a


@case(view="slice", store="out=", place="function", arguments=vectors)
def sums_into_a_slice(a: Any) -> Any:
    np.add(a[:3], a[3:], out=a[:3])
    return a


@case(view="slice", store="out=", place="for", arguments=lambda: ((floats(6), 3), (floats(6, first=3), 0)))
def cumulated_into_a_slice(a: Any, n: Any) -> Any:
    sums = np.zeros(8, np.float32)
    for _ in range(n):
        np.cumsum(a, out=sums[1:7])
        a += sums[2:]
    return sums


@case(view="slice", store="add.at", place="function", arguments=lambda: ((floats(6), integers(4)), (floats(6, first=3), integers(4, first=3))))
def add_at_a_slice(a: Any, keys: Any) -> Any:
    np.add.at(a[2:], keys % 4, 10)
    return a


@case(view="slice", store="copyto", place="function", arguments=vectors)
def copy_to_a_slice(a: Any) -> Any:
    np.copyto(a[1:4], a[2:5])
    return a


@case(view="slice", store="fill", place="for", arguments=lambda: ((floats(6), 2), (floats(6, first=3), 0)))
def fill_a_window(a: Any, n: Any) -> Any:
    for i in range(n):
        a[i + 1 : i + 3].fill(i)
    return a


@case(view="slice", store="sort", place="function", arguments=vectors)
def sort_part_of_it(a: Any) -> Any:
    a[1:5].sort()
    return a


@case(view="slice", store="sort", place="branch", arguments=vectors)
def sort_one_half(a: Any) -> Any:
    if a[0] < 0:
        a[3:].sort()
    else:
        a[:3].sort()
    return a[0], a[3]


@case(view="slice", store="put", place="function", arguments=vectors)
def put_into_a_slice(a: Any) -> Any:
    tail = a[3:]
    np.put(tail, [0, -1], [10, 20])
    return a


@case(view="slice", store="mask", place="function", arguments=vectors)
def mask_of_a_slice(a: Any) -> Any:
    head = a[:4]
    head[head < 0] = 0
    return a


@case(view="slice", store="mask", place="branch", arguments=vectors)
def mask_of_a_slice_in_a_branch(a: Any) -> Any:
    middle = a[1:-1]
    if a[0] < 0:
        middle[middle > 0] *= 10
    return middle.max()


@case(view="slice", store="fancy", place="function", arguments=vectors)
def fancy_places_of_a_slice(a: Any) -> Any:
    tail = a[2:]
    tail[[0, 2]] = a[[0, 1]]
    return a


@case(view="slice", store="swap", place="for", arguments=vectors)
def swap_in_a_slice(a: Any) -> Any:
    middle = a[1:-1]
    for i in range(len(middle) - 1):
        middle[i], middle[i + 1] = middle[i + 1], middle[i]
    return a


@case(view="slice", store="swap", place="function", arguments=vectors)
def swap_of_halves_loses_one(a: Any) -> Any:
    a[:3], a[3:] = a[3:], a[:3]
    return a


@case(view="slice", store="base item", place="while", arguments=lambda: ((floats(6), 3), (floats(6, first=3), 0)))
def window_sees_the_array(a: Any, n: Any) -> Any:
    window = a[1:4]
    seen = 0.0
    while n > 0:
        a[n] = n
        seen += window.sum()
        n -= 1
    return seen


@case(view="slice", store="base +=", place="closure", arguments=vectors)
def closure_holds_a_window(a: Any) -> Any:
    window = a[2:4]

    def total() -> Any:
        return window.sum()

    before = total()
    a += 1
    return before, total()


@case(view="strided", store="all", place="function", arguments=vectors)
def every_second(a: Any) -> Any:
    a[::2] = a[1::2]
    return a


@case(view="strided", store="+=", place="function", arguments=vectors)
def evens_and_odds(a: Any) -> Any:
    even, odd = a[::2], a[1::2]
    even += odd
    odd *= 2
    return a


@case(view="strided", store="all", place="while", arguments=lambda: ((integers(20) % 7, 19), (integers(20), 9)))
def sieve(a: Any, n: Any) -> Any:
    prime = np.ones(20, bool)
    prime[:2] = False
    p = 2
    while p * p <= n:
        if prime[p]:
            prime[p * p :: p] = False
        p += 1
    a[~prime] = 0
    return prime


@case(view="strided", store="mask", place="branch", arguments=vectors)
def mask_of_every_second(a: Any) -> Any:
    odd = a[1::2]
    if odd[0] < 0:
        odd[odd < 0] = 0
    return a


# --- reversed -------------------------------------------------------------------------------------------------------------------
@case(view="reversed", store="item", place="function", arguments=vectors)
def first_of_the_reversed(a: Any) -> Any:
    back = a[::-1]
    back[0] = 99
    return a


@case(view="reversed", store="item", place="for", arguments=lambda: ((floats(5), 4), (floats(5, first=3), 0)))
def suffix_sums(a: Any, n: Any) -> Any:
    back = a[::-1]
    for i in range(n):
        back[i + 1] = back[i + 1] + back[i]
    return a


@case(view="reversed", store="all", place="function", arguments=vectors)
def reverse_onto_itself(a: Any) -> Any:
    a[:] = a[::-1]
    return a


@case(view="reversed", store="+=", place="function", arguments=vectors)
def add_the_reversed(a: Any) -> Any:
    a += a[::-1]
    return a


@case(view="reversed", store="+=", place="branch", arguments=vectors)
def order_chosen_by_data(a: Any) -> Any:
    b = a if a[0] < a[-1] else a[::-1]
    b[:2] += 100
    return a


@case(view="reversed", store="sort", place="function", arguments=vectors)
def sort_descending(a: Any) -> Any:
    a[::-1].sort()
    return a


@case(view="reversed", store="mask", place="helper", arguments=vectors)
def mask_of_the_reversed(a: Any) -> Any:
    back = clear_negatives(a[::-1])
    return back[0], a[0]


@case(view="reversed", store="out=", place="function", arguments=vectors)
def cumulate_from_behind(a: Any) -> Any:
    np.cumsum(a[::-1], out=a[::-1])
    return a


@case(view="reversed", store="swap", place="function", arguments=lambda: ((floats(6), 1), (floats(6, first=3), 4)))
def swap_in_the_reversed(a: Any, j: Any) -> Any:
    back = a[::-1]
    back[0], back[j] = back[j], back[0]
    return a


@case(view="flip", store="row", place="function", arguments=tables)
def flipped_is_a_view(m: Any) -> Any:
    np.flip(m, axis=0)[0] = 9
    np.fliplr(m)[:, 0] = -9
    return m


@case(view="rot90", store="row", place="function", arguments=tables)
def turned_is_a_view(m: Any) -> Any:
    turned = np.rot90(m)
    turned[0] = 9
    return m


# --- columns --------------------------------------------------------------------------------------------------------------------
@case(view="column", store="item", place="function", arguments=lambda: ((floats(3, 4), 2), (floats(3, 4, first=3), -1)))
def item_of_a_column(m: Any, j: Any) -> Any:
    column = m[:, j]
    column[1] = 8
    return m


@case(view="column", store="all", place="function", arguments=tables)
def column_from_others(m: Any) -> Any:
    first = m[:, 0]
    first[:] = m[:, 1] + m[:, 2]
    return m.sum()


@case(view="column", store="+=", place="for", arguments=lambda: ((floats(3, 4), 3), (floats(3, 4, first=3), 1)))
def columns_grow(m: Any, n: Any) -> Any:
    for j in range(n):
        column = m[:, j + 1]
        column += m[:, j]
    return m


@case(view="column", store="-=", place="for", arguments=tables)
def centre_each_column(m: Any) -> Any:
    for j in range(m.shape[1]):
        m[:, j] -= m[:, j].mean()
    return m.sum(axis=0)


@case(view="column", store="item +=", place="while", arguments=lambda: ((floats(3, 4), 3), (floats(3, 4, first=3), 0)))
def last_column_counts(m: Any, n: Any) -> Any:
    last = m[:, -1]
    while n > 0:
        last[n % 3] += n
        n -= 1
    return m[:, 3]


@case(view="column", store="*=", place="branch", arguments=tables)
def scale_a_column(m: Any) -> Any:
    column = m[:, 1]
    if column.min() < -2:
        column *= 10
    return m[0]


@case(view="column", store="+=", place="helper", arguments=tables)
def column_in_a_helper(m: Any) -> Any:
    bump(m[:, 2], m[:, 0])
    return m


@case(view="column", store="out=", place="function", arguments=tables)
def means_into_a_column(m: Any) -> Any:
    np.mean(m[:, 1:], axis=1, out=m[:, 0])
    return m


@case(view="column", store="sort", place="for", arguments=tables)
def sort_each_column(m: Any) -> Any:
    for j in range(m.shape[1]):
        m[:, j].sort()
    return m


@case(view="column", store="mask", place="function", arguments=tables)
def mask_of_a_column(m: Any) -> Any:
    column = m[:, 1]
    column[column < 0] = 0
    return m


@case(view="column", store="fill", place="branch", arguments=tables)
def fill_a_column(m: Any) -> Any:
    if m[0, 0] < 0:
        m[:, 0].fill(0)
    return m


@case(view="column", store="fancy", place="function", arguments=lambda: ((integers(3, 4),), (integers(3, 4, first=3),)))
def fancy_places_of_a_column(m: Any) -> Any:
    column = m[:, 3]
    column[[0, 2]] = [70, 80]
    return m


@case(view="column", store="fancy swap", place="function", arguments=lambda: ((floats(3, 4), 0, 2), (floats(3, 4, first=3), 3, 1)))
def swap_of_columns(m: Any, i: Any, j: Any) -> Any:
    m[:, [i, j]] = m[:, [j, i]]
    return m


@case(view="column", store="add.at", place="function", arguments=lambda: ((floats(3, 2), integers(5)), (floats(3, 2, first=3), integers(5, first=1))))
def add_at_a_column(m: Any, keys: Any) -> Any:
    np.add.at(m[:, 1], keys % 3, 1)
    return m


@case(view="column", store="base row", place="function", arguments=lambda: ((floats(3, 4), 0), (floats(3, 4, first=3), 2)))
def column_sees_a_row(m: Any, i: Any) -> Any:
    column = m[:, 1]
    m[i] = 5
    return column


# --- blocks ---------------------------------------------------------------------------------------------------------------------
@case(view="block", store="item", place="function", arguments=squares)
def item_of_a_block(m: Any) -> Any:
    block = m[1:3, 1:3]
    block[0, 1] = 42
    return m


@case(view="block", store="all", place="branch", arguments=squares)
def clear_a_corner(m: Any) -> Any:
    corner = m[:2, :2] if m[0, 0] < 0 else m[2:, 2:]
    corner[:] = 0
    return m


@case(view="block", store="+=", place="for", arguments=lambda: ((floats(4, 4), 2), (floats(4, 4, first=3), 1)))
def blocks_on_the_diagonal(m: Any, n: Any) -> Any:
    for k in range(n):
        block = m[2 * k : 2 * k + 2, 2 * k : 2 * k + 2]
        block += 10 * (k + 1)
    return m


@case(view="block", store="all", place="while", arguments=lambda: ((np.eye(5, dtype=np.float32) * 8, 0.5), (np.eye(5, dtype=np.float32), 9.0)))
def relax_the_interior(u: Any, tolerance: Any) -> Any:
    inside = u[1:-1, 1:-1]
    n = 0
    while inside.max() > tolerance and n < 6:
        inside[:] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
        n += 1
    return n


@case(view="block", store="*=", place="attribute", arguments=squares)
def interior_by_a_property(m: Any) -> Any:
    board = Board(m)
    inside = board.interior
    inside *= 2
    return board.grid.sum()


@case(view="block", store="out=", place="function", arguments=squares)
def product_into_a_block(m: Any) -> Any:
    np.matmul(m[:2, :2], m[2:, 2:], out=m[:2, 2:])
    return m


@case(view="block", store="mask", place="function", arguments=squares)
def mask_of_a_block(m: Any) -> Any:
    block = m[1:, 1:]
    block[block < 0] = -1
    return m.min()


@case(view="block", store="fill", place="for", arguments=lambda: ((floats(4, 4), 2), (floats(4, 4, first=3), 0)))
def nested_frames(m: Any, n: Any) -> Any:
    for k in range(n):
        m[k:4, k:4].fill(k)
    return m


@case(view="block", store="copyto", place="helper", arguments=squares)
def copy_a_block(m: Any) -> Any:
    def copy_to(there: Any, here: Any) -> None:
        np.copyto(there, here)

    copy_to(m[:2, :2], m[2:, 2:])
    return m


@case(view="block", store="sort", place="function", arguments=squares)
def sort_rows_of_a_block(m: Any) -> Any:
    m[:2, 1:].sort(axis=1)
    return m


@case(view="block", store="base +=", place="for", arguments=lambda: ((floats(4, 4), 2), (floats(4, 4, first=3), 0)))
def block_sees_the_table(m: Any, n: Any) -> Any:
    block = m[:2, :2]
    seen = block.sum()
    for k in range(n):
        m[k] += 1
        seen += block.sum()
    return seen


# --- transposed, other shapes ---------------------------------------------------------------------------------------------------
@case(view="T", store="item", place="function", arguments=lambda: ((floats(3, 4), 2), (floats(3, 4, first=3), 0)))
def item_of_the_transposed(m: Any, k: Any) -> Any:
    t = m.T
    t[k] = 9
    t[0, 1] = -9
    return m


@case(view="T", store="+=", place="function", arguments=lambda: ((integers(3, 3),), (integers(3, 3, first=3),)))
def symmetric(m: Any) -> Any:
    m += m.T
    return m


@case(view="T", store="+=", place="helper", arguments=tables)
def transposed_in_a_helper(m: Any) -> Any:
    bump(m.T, np.arange(3, dtype=np.float32))
    return m


@case(view="T", store="row", place="for", arguments=lambda: ((floats(3, 4), 4), (floats(3, 4, first=3), 1)))
def rows_of_the_transposed(m: Any, n: Any) -> Any:
    t = m.T
    for k in range(n):
        t[k] = t[k] - t[k].min()
    return m


@case(view="T", store="mask", place="branch", arguments=tables)
def mask_of_the_transposed(m: Any) -> Any:
    t = m.T
    if m[0, 0] < 0:
        t[t < 0] = 0
    return m.min(), t.min()


@case(view="T", store="swap", place="for", arguments=lambda: ((floats(3, 3),), (floats(3, 3, first=3),)))
def transpose_in_place(m: Any) -> Any:
    for i in range(3):
        for j in range(i):
            m[i, j], m[j, i] = m[j, i], m[i, j]
    return m


@case(view="T", store="out=", place="function", arguments=tables)
def out_is_transposed(m: Any) -> Any:
    r = np.zeros((4, 3), np.float32)
    np.multiply(m, 2, out=r.T)
    return r


@case(view="T", store="base item", place="while", arguments=lambda: ((floats(3, 4), 2), (floats(3, 4, first=3), -1)))
def transposed_sees_the_table(m: Any, i: Any) -> Any:
    t = m.T
    total = 0.0
    while i >= 0:
        m[i, 0] = i
        total += t[0].sum()
        i -= 1
    return total


@case(view="transpose", store="all", place="function", arguments=cubes)
def np_transpose_of_a_cube(c: Any) -> Any:
    t = np.transpose(c, (2, 0, 1))
    t[0] = 5
    return c


@case(view="transpose", store="item +=", place="for", arguments=lambda: ((floats(3, 4), 3), (floats(3, 4, first=3), 0)))
def method_transpose(m: Any, n: Any) -> Any:
    t = m.transpose()
    for k in range(n):
        t[k, k] += 1
    return m


@case(view="swapaxes", store="*=", place="function", arguments=cubes)
def swapped_axes(c: Any) -> Any:
    s = c.swapaxes(0, 2)
    s *= 2
    s[1, 0, 0] = 99
    return c


@case(view="swapaxes", store="item", place="branch", arguments=squares)
def swapped_axes_in_a_branch(m: Any) -> Any:
    v = np.swapaxes(m, 0, 1) if m[0, 0] > 0 else m[::-1]
    v[2, 0] = 99
    return m


@case(view="moveaxis", store="+=", place="for", arguments=cubes)
def channels_first(image: Any) -> Any:
    for channel in np.moveaxis(image, -1, 0):
        channel -= channel.mean()
    return image.sum()


@case(view="moveaxis", store="item", place="function", arguments=cubes)
def moved_axis(c: Any) -> Any:
    moved = np.moveaxis(c, 0, -1)
    moved[0, 0] = [7, 8]
    return c


@case(view="reshape", store="item", place="function", arguments=lambda: ((floats(6), 1), (floats(6, first=3), 0)))
def table_of_a_vector(a: Any, i: Any) -> Any:
    m = a.reshape(2, 3)
    m[i, 2] = 50
    return a


@case(view="reshape", store="row", place="for", arguments=lambda: ((floats(6), 2), (floats(6, first=3), 0)))
def rows_of_a_reshaped(a: Any, n: Any) -> Any:
    m = np.reshape(a, (3, 2))
    for i in range(n):
        m[i + 1] = m[i]
    return a


@case(view="reshape", store="+=", place="helper", arguments=lambda: ((floats(6), listed(1, 2, 3)), (floats(6, first=3), listed(0, 0, 1))))
def reshaped_in_a_helper(a: Any, row: Any) -> Any:
    bump(a.reshape(2, -1), row)
    return a


@case(view="reshape", store="mask", place="branch", arguments=tables)
def mask_of_the_flat(m: Any) -> Any:
    flat = m.reshape(-1)
    if flat[0] < 0:
        flat[flat < 0] = 0
    return m


@case(view="reshape", store="sort", place="function", arguments=tables)
def sort_as_one(m: Any) -> Any:
    m.reshape(-1).sort()
    return m


@case(view="reshape", store="item", place="copy", arguments=tables)
def reshape_of_a_transposed_is_a_copy(m: Any) -> Any:
    flat = m.T.reshape(-1)
    flat[0] = 100
    return m, flat


@case(view="reshape", store="base item", place="while", arguments=lambda: ((floats(2, 3), 3), (floats(2, 3, first=3), 0)))
def flat_sees_the_table(m: Any, n: Any) -> Any:
    flat = m.reshape(6)
    while n > 0:
        m[0, n - 1] = flat[n]
        n -= 1
    return flat


@case(view="ravel", store="item", place="function", arguments=lambda: ((floats(3, 4), 5), (floats(3, 4, first=3), -1)))
def item_of_the_ravelled(m: Any, k: Any) -> Any:
    flat = m.ravel()
    flat[k] = 50
    return m


@case(view="ravel", store="+=", place="for", arguments=lambda: ((floats(2, 3), 3), (floats(2, 3, first=3), 0)))
def ravelled_in_a_loop(m: Any, n: Any) -> Any:
    flat = np.ravel(m)
    for k in range(n):
        flat[k:] += 1
    return m


@case(view="ravel", store="fancy", place="function", arguments=tables)
def fancy_places_of_the_ravelled(m: Any) -> Any:
    m.ravel()[[0, 5, 7]] = [1, 2, 3]
    return m


@case(view="ravel", store="all", place="copy", arguments=tables)
def ravel_of_columns_is_a_copy(m: Any) -> Any:
    part = m[:, :2].ravel()
    part[:] = 0
    return m.sum(), part.sum()


@case(view="ravel", store="sort", place="branch", arguments=lambda: ((integers(2, 3),), (integers(2, 3, first=3),)))
def sort_the_ravelled(m: Any) -> Any:
    if m[0, 0] < 0:
        m.ravel().sort()
    return m


@case(view="newaxis", store="+=", place="function", arguments=vectors)
def as_a_column(a: Any) -> Any:
    column = a[:, np.newaxis]
    column += 1
    column[0, 0] = 20
    return a


@case(view="newaxis", store="all", place="branch", arguments=vectors)
def as_a_row(a: Any) -> Any:
    row = a[None]
    if a[0] < 0:
        row[:] = a[::-1].copy()
    return a, row.shape[0]


@case(view="expand_dims", store="item", place="helper", arguments=vectors)
def expanded_in_a_helper(a: Any) -> Any:
    fill_with(np.expand_dims(a, 0)[0], 3)
    np.atleast_2d(a)[0, 1] = 4
    return a


@case(view="squeeze", store="item", place="function", arguments=lambda: ((floats(1, 4),), (floats(1, 4, first=3),)))
def squeezed(m: Any) -> Any:
    a = m.squeeze()
    a[1] = 9
    return m


@case(view="squeeze", store="mask", place="for", arguments=lambda: ((floats(5, 1), 3), (floats(5, 1, first=3), 0)))
def squeezed_in_a_loop(m: Any, n: Any) -> Any:
    a = np.squeeze(m, axis=1)
    for k in range(n):
        a[a < k] += 1
    return m


@case(view="broadcast_to", store="base item", place="function", arguments=lambda: ((listed(1, 2, 3), 0), (listed(4, 5, 6), 2)))
def broadcast_sees_the_row(a: Any, i: Any) -> Any:
    wide = np.broadcast_to(a, (2, 3))
    a[i] = 40
    return wide


@case(view="sliding_window_view", store="base item", place="function", arguments=lambda: ((floats(6), 2), (floats(6, first=3), 0)))
def windows_see_the_array(a: Any, i: Any) -> Any:
    windows = np.lib.stride_tricks.sliding_window_view(a, 3)
    a[i] = 40
    return windows.sum(axis=1)


# --- diagonals ------------------------------------------------------------------------------------------------------------------
@case(view="diagonal", store="base item", place="function", arguments=lambda: ((floats(3, 3), 1), (floats(3, 3, first=3), 2)))
def diagonal_sees_the_table(m: Any, k: Any) -> Any:
    d = np.diagonal(m)
    m[k, k] = 60
    return d.sum()


@case(view="diagonal", store="base *=", place="for", arguments=lambda: ((floats(3, 3), 2), (floats(3, 3, first=3), 0)))
def trace_in_a_loop(m: Any, n: Any) -> Any:
    d = m.diagonal()
    total = 0.0
    for _ in range(n):
        m *= 2
        total += d.sum()
    return total


@case(view="diagonal", store="fill_diagonal", place="function", arguments=tables)
def fill_the_diagonal(m: Any) -> Any:
    np.fill_diagonal(m, 0)
    return m.sum()


@case(view="diagonal", store="fill_diagonal", place="branch", arguments=lambda: ((floats(3, 3),), (floats(3, 3, first=3),)))
def fill_the_diagonal_in_a_branch(m: Any) -> Any:
    if np.trace(m) > 0:
        np.fill_diagonal(m, [1, 2, 3])
    return np.trace(m)


@case(view="diagonal", store="fill_diagonal", place="for", arguments=lambda: ((floats(3, 3), 2), (floats(3, 3, first=3), 0)))
def no_edges_to_oneself(m: Any, n: Any) -> Any:
    for _ in range(n):
        m[:] = m @ m / 10
        np.fill_diagonal(m, 0)
    return m


@case(view="diagonal", store="fancy +=", place="function", arguments=squares)
def add_to_the_diagonal(m: Any) -> Any:
    k = np.arange(4)
    m[k, k] += 100
    return m


@case(view="diagonal", store="strided +=", place="helper", arguments=squares)
def diagonal_by_a_step(m: Any) -> Any:
    bump(m.reshape(-1)[::5], 100)
    return m


@case(view="einsum", store="all", place="function", arguments=lambda: ((floats(3, 3),), (floats(3, 3, first=3),)))
def einsum_of_a_diagonal_is_a_view(m: Any) -> Any:
    np.einsum("ii->i", m)[:] = 1
    return m


# --- .flat, np.nditer -----------------------------------------------------------------------------------------------------------
@case(view="flat", store="item", place="function", arguments=lambda: ((floats(3, 4), 5), (floats(3, 4, first=3), -1)))
def item_of_flat(m: Any, k: Any) -> Any:
    m.flat[k] = 50
    return m


@case(view="flat", store="all", place="function", arguments=lambda: ((floats(2, 3), listed(1, 2)), (floats(2, 3, first=3), listed(5, 6, 7))))
def values_to_flat(m: Any, values: Any) -> Any:
    m.flat = values
    m.T.flat[1] = 100
    return m


@case(view="flat", store="strided", place="branch", arguments=squares)
def diagonal_of_flat(m: Any) -> Any:
    if m[0, 0] < 0:
        m.flat[::5] = 0
    return m


@case(view="flat", store="item +=", place="for", arguments=lambda: ((floats(2, 3), 4), (floats(2, 3, first=3), 0)))
def items_of_flat(m: Any, n: Any) -> Any:
    for k in range(n):
        m.flat[k] += m.flat[k + 1]
    return m


@case(view="flat", store="fancy", place="helper", arguments=lambda: ((integers(3, 4),), (integers(3, 4, first=3),)))
def fancy_places_of_flat(m: Any) -> Any:
    def mark(x: Any) -> None:
        x.flat[[0, 6]] = -1

    mark(m)
    return m.sum()


@case(view="nditer", store="ellipsis", place="for", arguments=tables)
def square_each(m: Any) -> Any:
    for x in np.nditer(m, op_flags=["readwrite"]):
        x[...] = x * x
    return m


@case(view="nditer", store="ellipsis", place="branch", arguments=lambda: ((integers(2, 3),), (integers(2, 3, first=3),)))
def negate_the_negative(m: Any) -> Any:
    with np.nditer(m, op_flags=["readwrite"]) as items:
        for x in items:
            if x < 0:
                x[...] = -x
    return m


@case(view="ndenumerate", store="item", place="for", arguments=tables)
def each_place_and_item(m: Any) -> Any:
    out = np.zeros((4, 3), np.float32)
    for (i, j), x in np.ndenumerate(m):
        out[j, i] = x + i
    return out


@case(view="ndindex", store="item", place="for", arguments=lambda: ((integers(2, 3),), (integers(2, 3, first=3),)))
def each_place(m: Any) -> Any:
    for i, j in np.ndindex(2, 3):
        m[i, j] *= i + j
    return m


# --- .real, .imag, view, np.asarray ---------------------------------------------------------------------------------------------
@case(view="real", store="item", place="function", arguments=lambda: ((floats(4) + 1j * floats(4, first=3),), (floats(4, first=3) * (1 + 1j),)))
def real_part(z: Any) -> Any:
    z.real[0] = 5
    return z


@case(view="real", store="*=", place="for", arguments=lambda: ((floats(3) + 1j * floats(3), 2), (floats(3, first=3) * 1j, 0)))
def scaled_real_part(z: Any, n: Any) -> Any:
    part = z.real
    for _ in range(n):
        part *= 2
        z.imag += part
    return z


@case(view="real", store="+=", place="function", arguments=vectors)
def real_part_of_reals_is_the_array(a: Any) -> Any:
    b = a.real
    b += 1
    return a


@case(view="imag", store="assign", place="function", arguments=lambda: ((floats(4) + 1j * floats(4),), (floats(4, first=3) * 1j,)))
def no_imaginary_part(z: Any) -> Any:
    z.imag = 0
    return np.abs(z)


@case(view="imag", store="mask", place="branch", arguments=lambda: ((floats(4) + 1j * floats(4),), (floats(4, first=3) + 1j * floats(4),)))
def imaginary_part_in_a_branch(z: Any) -> Any:
    part = z.imag
    if z[0].real < 0:
        part[part < 0] = 0
    return z


@case(view="view", store="item", place="function", arguments=vectors)
def view_of_the_same(a: Any) -> Any:
    b = a.view()
    b[0] = 99
    a[1] = 55
    return a, b


@case(view="view", store="+=", place="function", arguments=lambda: ((listed(1, 2, 0.5),), (listed(4, 8, 100),)))
def bits_of_floats(a: Any) -> Any:
    bits = a.view(np.int32)
    bits += 1 << 23
    return a


@case(view="view", store="all", place="branch", arguments=lambda: ((integers(2, 3),), (integers(2, 3, first=3),)))
def view_in_a_branch(m: Any) -> Any:
    v = m.view()
    if m[0, 0] < 0:
        v[:] = 0
    return m.sum()


@case(view="asarray", store="item", place="function", arguments=vectors)
def asarray_is_no_copy(a: Any) -> Any:
    b = np.asarray(a)
    b[0] = 99
    return a


@case(view="asarray", store="*=", place="helper", arguments=tables)
def asarray_in_a_helper(m: Any) -> Any:
    def doubled(values: Any) -> Any:
        values = np.asarray(values, dtype=np.float32)
        values *= 2
        return values

    return doubled(m) + m


@case(view="ascontiguousarray", store="mask", place="for", arguments=lambda: ((floats(4), 3), (floats(4, first=3), 0)))
def contiguous_in_a_loop(a: Any, n: Any) -> Any:
    for k in range(n):
        b = np.ascontiguousarray(a)
        b[b < k] = k
    return a


@case(view="asarray", store="item", place="copy", arguments=lambda: ((integers(4),), (integers(4, first=3),)))
def asarray_of_another_dtype_is_a_copy(a: Any) -> Any:
    b = np.asarray(a, dtype=np.float32)
    b[0] = 0.5
    return a, b


# --- np.split, unpacking, loops over rows ---------------------------------------------------------------------------------------
@case(view="split", store="+=", place="function", arguments=vectors)
def halves(a: Any) -> Any:
    left, right = np.split(a, 2)
    left += right
    right[0] = 0
    return a


@case(view="split", store="all", place="for", arguments=vectors)
def parts_in_a_loop(a: Any) -> Any:
    for k, part in enumerate(np.array_split(a, 4)):
        part[:] = k
    return a


@case(view="split", store="sort", place="branch", arguments=tables)
def split_columns(m: Any) -> Any:
    left, right = np.hsplit(m, 2)
    if left[0, 0] < 0:
        right.sort(axis=0)
    else:
        left.sort(axis=0)
    return m


@case(view="unpacking", store="item", place="function", arguments=lambda: ((floats(2, 3),), (floats(2, 3, first=3),)))
def two_rows(m: Any) -> Any:
    a, b = m
    a[0] = 9
    b += a
    return m


@case(view="unpacking", store="+=", place="for", arguments=lambda: ((floats(2, 3), 3), (floats(2, 3, first=3), 0)))
def fall(state: Any, n: Any) -> Any:
    position, velocity = state
    for _ in range(n):
        velocity -= 0.5
        position += velocity
    return state


@case(view="unpacking", store="*=", place="while", arguments=lambda: ((floats(2, 3), 40.0), (floats(2, 3, first=3), 1.0)))
def row_grows_past_the_other(m: Any, limit: Any) -> Any:
    a, b = m
    n = 0
    while np.abs(a).sum() < limit and n < 50:
        a *= 2
        b += 1
        n += 1
    return m


@case(view="unpacking", store="out=", place="function", arguments=tables)
def unpacked_columns(m: Any) -> Any:
    x, y, *rest = m.T
    np.hypot(x, y, out=x)
    rest[0][:] = 0
    return m


@case(view="unpacking", store="swap", place="branch", arguments=lambda: ((floats(2, 3),), (floats(2, 3, first=3),)))
def names_of_rows_swapped(m: Any) -> Any:
    low, high = m
    if low[0] > high[0]:
        low, high = high, low
    low[:] = 0
    high *= 2
    return m


@case(view="rows", store="+=", place="for", arguments=tables)
def each_row_grows(m: Any) -> Any:
    for row in m:
        row += 1
    return m


@case(view="rows", store="/=", place="for", arguments=tables)
def each_row_normalised(m: Any) -> Any:
    for row in m:
        row /= np.abs(row).sum()
    return m


@case(view="rows", store="all", place="for", arguments=lambda: ((integers(3, 4),), (integers(3, 4, first=3),)))
def each_row_reversed(m: Any) -> Any:
    for row in m:
        row[:] = row[::-1]
    return m


@case(view="rows", store="item", place="branch", arguments=tables)
def rows_chosen_by_data(m: Any) -> Any:
    n = 0
    for row in m:
        if row.sum() > 0:
            row[0] = 0
            n += 1
    return n


@case(view="rows", store="item", place="for", arguments=lambda: ((floats(3, 4), 2.0), (floats(3, 4, first=3), 50.0)))
def first_row_above(m: Any, limit: Any) -> Any:
    for row in m:
        if row.max() > limit:
            row[:] = limit
            break
    return m


@case(view="rows", store="sort", place="for", arguments=tables)
def each_row_sorted(m: Any) -> Any:
    for row in m:
        row.sort()
    return m[:, 0]


@case(view="rows", store="mask", place="for", arguments=tables)
def each_row_masked(m: Any) -> Any:
    for row in m:
        row[row < row.mean()] = 0
    return m.sum()


@case(view="rows", store="out=", place="for", arguments=tables)
def each_row_cumulated(m: Any) -> Any:
    for row in m:
        np.cumsum(row, out=row)
    return m


@case(view="rows", store="fill", place="for", arguments=tables)
def rows_filled_from_behind(m: Any) -> Any:
    for row in reversed(m):
        row.fill(row.max())
    return m


@case(view="rows", store="item +=", place="while", arguments=lambda: ((floats(3, 4), 2.0), (floats(3, 4, first=3), -20.0)))
def each_row_raised(m: Any, least: Any) -> Any:
    for row in m:
        n = 0
        while row.min() < least and n < 50:
            row[np.argmin(row)] += 3
            n += 1
    return m


@case(view="rows", store="item", place="helper", arguments=tables)
def each_row_in_a_helper(m: Any) -> Any:
    for row in m:
        exchange(row, 0, 3)
        clear_negatives(row)
    return m


@case(view="rows", store="base item", place="for", arguments=tables)
def rows_see_the_next(m: Any) -> Any:
    total = 0.0
    for i, row in enumerate(m):
        m[(i + 1) % 3, 0] = i
        total += row[0]
    return total


@case(view="rows", store="+=", place="nested for", arguments=cubes)
def each_row_of_each_table(c: Any) -> Any:
    for m in c:
        for row in m:
            row += m[0, 0]
    return c


@case(view="rows", store="+=", place="comprehension", arguments=tables)
def rows_kept_in_a_list(m: Any) -> Any:
    rows = [row for row in m]
    rows[0] += rows[1]
    list(m)[2][0] = 70
    return m


@case(view="zip", store="+=", place="for", arguments=lambda: ((floats(3, 4), floats(3)), (floats(3, 4, first=3), floats(3, first=2))))
def rows_with_weights(m: Any, weights: Any) -> Any:
    for row, w in zip(m, weights):
        row += w
    return m


@case(view="zip", store="all", place="for", arguments=lambda: ((floats(3, 2), floats(3, 2, first=5)), (floats(3, 2, first=3), floats(3, 2))))
def rows_exchanged(m: Any, other: Any) -> Any:
    for a, b in zip(m, other):
        kept = a.copy()
        a[:] = b
        b[:] = kept
    return m


@case(view="zip", store="-=", place="entry", arguments=lambda: (([floats(2), floats(3)], [floats(2), floats(3)]), ([floats(3)], [floats(3)])))
def gradient_step(weights: Any, gradients: Any) -> Any:
    for w, g in zip(weights, gradients):
        w -= 0.1 * g
    return weights[0].sum()


@case(view="zip", store="item", place="branch", arguments=tables)
def neighbours(m: Any) -> Any:
    for above, below in zip(m, m[1:]):
        if above[0] < below[0]:
            above[0] = below[0]
        else:
            below[1] = above[1]
    return m


@case(view="enumerate", store="*=", place="for", arguments=tables)
def rows_by_number(m: Any) -> Any:
    for i, row in enumerate(m):
        row *= i
    return m


@case(view="enumerate", store="item", place="for", arguments=lambda: ((floats(3, 3),), (floats(3, 3, first=3),)))
def identity_by_rows(m: Any) -> Any:
    for i, row in enumerate(m):
        row[:] = 0
        row[i] = 1
    return m


@case(view="enumerate", store="item", place="branch", arguments=vectors)
def items_by_number(a: Any) -> Any:
    for i, x in enumerate(a):
        if x < 0:
            a[i] = -x
    return a


# --- views of views -------------------------------------------------------------------------------------------------------------
@case(view="view of view", store="item", place="function", arguments=lambda: ((floats(3, 4), 1), (floats(3, 4, first=3), 2)))
def slice_of_a_row(m: Any, k: Any) -> Any:
    row = m[k]
    middle = row[1:3]
    middle[0] = 99
    return m, row


@case(view="view of view", store="+=", place="function", arguments=squares)
def column_of_a_block(m: Any) -> Any:
    block = m[1:3, 1:]
    column = block[:, 0]
    column += 100
    block[1] = 0
    return m, column


@case(view="view of view", store="all", place="for", arguments=lambda: ((floats(3, 4), 2), (floats(3, 4, first=3), 0)))
def row_of_the_transposed_reversed(m: Any, n: Any) -> Any:
    t = m.T[::-1]
    for k in range(n):
        line = t[k]
        line[:] = k
    return m


@case(view="view of view", store="mask", place="branch", arguments=cubes)
def column_of_a_layer(c: Any) -> Any:
    layer = c[1]
    column = layer[:, 2]
    if column[0] < -1:
        column[column < -4] = 0
    return c, layer.sum()


@case(view="view of view", store="sort", place="helper", arguments=lambda: ((floats(8),), (floats(8, first=1),)))
def middle_of_the_middle(a: Any) -> Any:
    middle_of(middle_of(a)).sort()
    return a


@case(view="view of view", store="item", place="chained subscripts", arguments=lambda: ((floats(3, 4), 1), (floats(3, 4, first=3), 0)))
def chained_subscripts(m: Any, k: Any) -> Any:
    m[k][2] = 10
    m[1:][0][1:3] += 5
    m[:, 1:][k] = 7
    return m


@case(view="view of view", store="*=", place="while", arguments=lambda: ((floats(6), 30.0), (floats(6, first=3), 1.0)))
def two_views_that_overlap(a: Any, limit: Any) -> Any:
    head, tail = a[:4], a[2:]
    n = 0
    while np.abs(head).max() < limit and n < 50:
        head *= 2
        tail -= 1
        n += 1
    return head.sum(), tail.sum()


@case(view="view of view", store="out=", place="function", arguments=lambda: ((integers(4, 4),), (integers(4, 4, first=3),)))
def out_into_a_corner(m: Any) -> Any:
    corner = m[2:][:, 2:]
    np.subtract(m[:2, :2], corner, out=corner)
    return m


# --- attributes -----------------------------------------------------------------------------------------------------------------
@case(view="whole", store="item", place="attribute", arguments=lambda: ((floats(3, 4), 1), (floats(3, 4, first=3), 0)))
def item_of_an_attribute(m: Any, i: Any) -> Any:
    board = Board(m)
    board.grid[i, 2] = 9
    return m


@case(view="whole", store="item", place="attribute in a for", arguments=lambda: ((floats(5), 3), (floats(5, first=3), 0)))
def painted_in_a_loop(a: Any, n: Any) -> Any:
    board = Board(a)
    for k in range(n):
        board.paint(k, k * 10)
    return board.grid, a


@case(view="whole", store="*=", place="attribute", arguments=vectors)
def scaled_by_a_method(a: Any) -> Any:
    board = Board(a)
    if a[0] < 0:
        board.scale(-1)
    return a


@case(view="whole", store="+=", place="attribute", arguments=vectors)
def two_objects_share_an_array(a: Any) -> Any:
    one, two = Board(a), Board(a)
    one.grid += 1
    two.grid[0] = 50
    return one.grid, two.grid, a


@case(view="whole", store="mask", place="attribute", arguments=tables)
def mask_of_an_attribute(m: Any) -> Any:
    board = Board(m)
    board.grid[board.grid < 0] = 0
    return board.grid.sum()


@case(view="whole", store="swap", place="attribute", arguments=lambda: ((floats(4), floats(4, first=2), 3), (floats(4, first=3), floats(4), 2)))
def attributes_swapped_in_a_loop(a: Any, b: Any, n: Any) -> Any:
    old, new = Board(a), Board(b)
    for k in range(n):
        new.grid[1:] = old.grid[:-1]
        old.grid, new.grid = new.grid, old.grid
    return old.grid


@case(view="row", store="item", place="attribute", arguments=lambda: ((floats(3, 4), 2), (floats(3, 4, first=3), 0)))
def row_lent_by_a_method(m: Any, k: Any) -> Any:
    board = Board(m)
    row = board.row(k)
    row[1] = 9
    board.paint(k, row * 2)
    return row


@case(view="row", store="+=", place="attribute", arguments=lambda: ((floats(2, 3), 3), (floats(2, 3, first=3), 0)))
def particles(state: Any, n: Any) -> Any:
    p = Particles(state)
    for _ in range(n):
        p.step(0.5)
    return p.state, p.position


@case(view="slice", store="fill", place="attribute", arguments=vectors)
def attribute_is_a_slice(a: Any) -> Any:
    board = Board(a[2:])
    board.grid.fill(1)
    board.paint(0, 5)
    return a


@case(view="T", store="row", place="attribute", arguments=tables)
def attribute_is_transposed(m: Any) -> Any:
    board = Board(m.T)
    if m[0, 0] < 0:
        board.paint(0, 5)
    return m


@case(view="column", store="sort", place="attribute", arguments=tables)
def column_of_an_attribute(m: Any) -> Any:
    board = Board(m)
    board.grid[:, 0].sort()
    return board.row(0)


# --- entries of lists and dicts -------------------------------------------------------------------------------------------------
@case(view="whole", store="item", place="entry", arguments=vectors)
def item_of_an_entry(a: Any) -> Any:
    state = {"a": a, "n": 0}
    state["a"][0] = 9
    return a


@case(view="whole", store="+=", place="entry", arguments=lambda: ((floats(4), 3), (floats(4, first=3), 0)))
def entry_grows_in_a_loop(a: Any, n: Any) -> Any:
    state = {"x": a, "y": a}
    for k in range(n):
        state["x"] += k
    return state["y"]


@case(view="whole", store="*=", place="entry", arguments=lambda: (({"x": floats(3), "v": floats(3)},), ({"x": floats(3, first=3), "v": floats(3)},)))
def dict_of_the_caller(state: Any) -> Any:
    state["v"] *= 0.5
    if state["x"][0] < 0:
        state["x"][:] = 0
    return state["x"] + state["v"]


@case(view="whole", store="all", place="entry", arguments=lambda: (([floats(3), floats(2)],), ([floats(3, first=3), floats(2)],)))
def list_of_the_caller(layers: Any) -> Any:
    for layer in layers:
        layer[:] = layer - layer.mean()
    return layers[0]


@case(view="whole", store="out=", place="entry", arguments=vectors)
def entry_as_out(a: Any) -> Any:
    buffers = [a, np.zeros(6, np.float32)]
    np.square(buffers[0], out=buffers[1])
    np.negative(buffers[1], out=buffers[0])
    return a


@case(view="row", store="item", place="entry", arguments=lambda: ((floats(3, 4), 2), (floats(3, 4, first=3), 0)))
def rows_in_a_list(m: Any, k: Any) -> Any:
    rows = [m[0], m[1], m[2]]
    rows[2][k] = 50
    rows[0] += rows[2]
    return m


@case(view="row", store="all", place="entry", arguments=tables)
def rows_by_name(m: Any) -> Any:
    named = {"first": m[0], "last": m[-1]}
    if named["first"].sum() < named["last"].sum():
        named["first"][:] = named["last"]
    return m


@case(view="slice", store="*=", place="entry", arguments=vectors)
def parameters_in_one_vector(theta: Any) -> Any:
    p = {"weight": theta[:4].reshape(2, 2), "bias": theta[4:]}
    p["weight"] *= 2
    p["bias"][0] = 0
    return theta


@case(view="column", store="mask", place="entry", arguments=tables)
def columns_in_a_tuple(m: Any) -> Any:
    columns = (m[:, 0], m[:, 1])
    columns[0][columns[1] < 0] = 0
    return m


@case(view="whole", store="item +=", place="entry", arguments=lambda: ((floats(3), 2), (floats(3, first=3), 0)))
def history_of_one_array(a: Any, n: Any) -> Any:
    history = [a, a]
    for _ in range(n):
        history[0][1] += 1
    return history[1], a


# --- closures -------------------------------------------------------------------------------------------------------------------
@case(view="row", store="item", place="closure", arguments=lambda: ((floats(3, 4), 2), (floats(3, 4, first=3), 0)))
def row_in_a_closure(m: Any, k: Any) -> Any:
    row = m[1]

    def mark(i: Any) -> None:
        row[i] = 100

    mark(k)
    return m


@case(view="slice", store="+=", place="closure", arguments=lambda: ((floats(6), 2), (floats(6, first=3), 0)))
def slice_in_a_closure(a: Any, n: Any) -> Any:
    def shift() -> None:
        tail = a[3:]
        tail += a[:3]

    for _ in range(n):
        shift()
    return a


@case(view="T", store="mask", place="closure", arguments=tables)
def transposed_in_a_closure(m: Any) -> Any:
    t = m.T

    def clear(limit: Any) -> None:
        t[t < limit] = limit

    clear(m[0, 0])
    return m


@case(view="column", store="swap", place="closure", arguments=lambda: ((floats(3, 4), 2), (floats(3, 4, first=3), 0)))
def column_in_a_closure(m: Any, j: Any) -> Any:
    column = m[:, 0]
    swap = lambda i: exchange(column, i, 1)  # noqa: E731
    swap(j)
    return m


@case(view="whole", store="item", place="default", arguments=vectors)
def array_as_a_default(a: Any) -> Any:
    def put(i: Any, into: Any = a) -> Any:
        into[i] = 30
        return into

    put(0)
    return put(1), a


# --- aliases --------------------------------------------------------------------------------------------------------------------
@case(view="whole", store="item", place="alias", arguments=vectors)
def item_through_an_alias(a: Any) -> Any:
    b = a
    b[0] = 9
    a[1] = 8
    return a, b


@case(view="whole", store="all", place="alias", arguments=lambda: ({"a": floats(4), "n": 2}, {"n": 0, "a": floats(4, first=3)}))
def alias_in_a_loop(a: Any, n: Any) -> Any:
    b = a
    for k in range(n):
        b[:] = a + k
    return a


@case(view="whole", store="fill", place="alias", arguments=vectors)
def fill_through_an_alias(a: Any) -> Any:
    b = c = a
    if c[0] < 0:
        b.fill(3)
    return a


@case(view="whole", store="sort", place="alias", arguments=vectors)
def sort_through_an_alias(a: Any) -> Any:
    b = a
    c = sorted(a)
    b.sort()
    return a, c[0]


@case(view="whole", store="copyto", place="alias", arguments=lambda: ({"m": floats(2, 2), "n": floats(2, 2)}, {"m": floats(2, 2), "n": floats(2)}))
def copy_through_an_alias(m: Any, n: Any) -> Any:
    same = m
    np.copyto(same, n)
    n[0] = 100
    return m


@case(view="whole", store="swap", place="alias", arguments=lambda: ((floats(5), 4), (floats(5, first=3), 0)))
def swap_through_an_alias(a: Any, j: Any) -> Any:
    b = a
    a[0], b[j] = b[j], a[0]
    return a


@case(view="row", store="*=", place="alias", arguments=tables)
def one_row_under_two_names(m: Any) -> Any:
    first, again = m[0], m[0]
    first *= 2
    again += 1
    return m, first


@case(view="row", store="item", place="alias", arguments=lambda: ((floats(3, 4), 0), (floats(3, 4, first=3), 2)))
def maybe_the_same_row(m: Any, k: Any) -> Any:
    first, other = m[0], m[k]
    first[0] = 5
    other[0] += 1
    return first[0], other[0]


@case(view="whole", store="item", place="alias in a branch", arguments=lambda: ((floats(3), floats(3), True), (floats(3, first=3), floats(3), False)))
def one_of_two(x: Any, y: Any, p: Any) -> Any:
    b = x if p else y
    b[0] = 99
    return x, y


@case(view="whole", store="+=", place="alias in a branch", arguments=lambda: ((floats(3), floats(3, first=1)), (floats(3, first=3), floats(3))))
def the_smaller_grows(x: Any, y: Any) -> Any:
    if x.sum() < y.sum():
        b = x
    else:
        b = y
    b += 100
    return x, y, b


@case(view="whole", store="mask", place="alias in a branch", arguments=lambda: ((floats(4), floats(4, first=1)), (floats(4, first=3), floats(4))))
def mask_of_one_of_two(x: Any, y: Any) -> Any:
    b = y
    if x[0] < 0:
        b = x
    b[b < 0] = 0
    x[-1] = 50
    return b


@case(view="whole", store="fill", place="alias in a branch", arguments=lambda: ((floats(4), 1), (floats(4, first=3), -1)))
def new_or_given(a: Any, n: Any) -> Any:
    b = a if n > 0 else np.zeros(4, np.float32)
    b.fill(n)
    return a, b


@case(view="row", store="all", place="alias in a branch", arguments=lambda: ((floats(3, 4), 2.0), (floats(3, 4, first=3), -3.0)))
def row_or_row(m: Any, x: Any) -> Any:
    row = m[0] if x > 0 else m[1]
    row[:] = x
    return m


@case(view="slice", store="item +=", place="alias in a branch", arguments=vectors)
def half_or_half(a: Any) -> Any:
    b = a[:3] if a[0] < a[3] else a[3:]
    for i in range(3):
        b[i] += i
    return a


@case(view="T", store="+=", place="alias in a branch", arguments=lambda: ((floats(3, 3),), (floats(3, 3, first=3),)))
def turned_or_not(m: Any) -> Any:
    b = m.T if m[0, 0] < 0 else m
    b[0] += [10, 20, 30]
    return m


@case(view="reshape", store="sort", place="alias in a branch", arguments=lambda: ((floats(2, 3), floats(6)), (floats(2, 3, first=3), floats(6))))
def one_of_two_shapes(m: Any, other: Any) -> Any:
    b = m if m[0, 0] < 0 else other.reshape(2, 3)
    b.sort()
    return m, other


@case(view="whole", store="item", place="one of many", arguments=lambda: ((floats(3), floats(3), floats(3), 1), (floats(3), floats(3), floats(3), 2)))
def one_of_three(x: Any, y: Any, z: Any, k: Any) -> Any:
    b = [x, y, z][k]
    b[0] = 99
    return x[0], y[0], z[0]


@case(view="whole", store="+=", place="alias in a while", arguments=lambda: ((floats(3), floats(3, first=1), 2), (floats(3, first=3), floats(3), 0)))
def alias_given_up_in_a_loop(x: Any, y: Any, n: Any) -> Any:
    b = x
    while n > 0:
        b += n
        b = y
        n -= 1
    return x, y, b


@case(view="whole", store="all", place="swap in a loop", arguments=lambda: ((floats(5), floats(5), 3), (floats(5, first=3), floats(5), 2)))
def two_buffers(u: Any, v: Any, n: Any) -> Any:
    for _ in range(n):
        v[1:-1] = (u[:-2] + u[2:]) / 2
        u, v = v, u
    return u


@case(view="whole", store="item", place="swap in a loop", arguments=lambda: ((floats(3), floats(3, first=2), 3), (floats(3, first=3), floats(3), 0)))
def dealt_in_turns(u: Any, v: Any, n: Any) -> Any:
    while n > 0:
        u[n % 3] = n
        u, v = v, u
        n -= 1
    return u, v


@case(view="whole", store="+=", place="swap in a loop", arguments=lambda: ((floats(3), floats(3, first=2), 5), (floats(3, first=3), floats(3), 0)))
def fibonacci_of_vectors(u: Any, v: Any, n: Any) -> Any:
    for _ in range(n):
        u += v
        u, v = v, u
    return v


@case(view="whole", store="out=", place="swap in a loop", arguments=lambda: ((floats(4), 3), (floats(4, first=3), 0)))
def ping_pong(a: Any, n: Any) -> Any:
    here, there = a, np.empty(4, np.float32)
    for _ in range(n):
        np.multiply(here, 0.5, out=there)
        here, there = there, here
    return here


@case(view="row", store="all", place="swap in a loop", arguments=lambda: ((floats(2, 4), 3), (floats(2, 4, first=3), 0)))
def two_rows_in_turns(m: Any, n: Any) -> Any:
    old, new = m[0], m[1]
    for _ in range(n):
        new[:] = np.roll(old, 1) + 1
        old, new = new, old
    return old


@case(view="block", store="all", place="swap in a loop", arguments=lambda: ((floats(4, 4), 8.0), (floats(4, 4, first=3), 1000.0)))
def heat(u: Any, limit: Any) -> Any:
    v = u.copy()
    n = 0
    while u[1:-1, 1:-1].max() - u.min() < limit and n < 3:
        v[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1]) / 2 + n
        u, v = v, u
        n += 1
    return n, u


@case(view="whole", store="*=", place="swap in a loop", arguments=lambda: ((floats(3), floats(3, first=2)), (floats(3, first=3), floats(3))))
def swapped_by_data(u: Any, v: Any) -> Any:
    for k in range(3):
        if u.sum() > v.sum():
            u, v = v, u
        u *= 2
        u[k] += 3
    return u, v
