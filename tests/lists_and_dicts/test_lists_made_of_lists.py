"""New lists that are made of a list of data-dependent length: slices, copies, sums, lists in order; and loops over lists that grow around them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag

INPUTS = [np.array([3, -2, 1, 7, 1, -5, 4]), np.array([-1, -2, -3, -1, -1, -1, -1]), np.array([2, 9, 8, 2, 5, 5, 1])]


def kept(v: Any) -> list[Any]:
    return [x for x in v if x > 0]


class Box:
    def __init__(self) -> None:
        self.items: list[Any] = []


def sort(v: Any) -> Any:
    k = kept(v)
    k.sort()
    return k


def sort_in_the_other_order(v: Any) -> Any:
    k = kept(v)
    k.sort(reverse=True)
    return k


def sort_by_a_key(v: Any) -> Any:
    k = kept(v)
    k.sort(key=lambda x: (x % 2, -x))
    return k, sorted(k, key=lambda x: -x)


def sort_tuples(v: Any) -> Any:
    k = [(x % 3, x) for x in v if x > 0]
    return sorted(k), sorted(k, key=lambda p: p[1]), sorted(k, key=operator.itemgetter(0), reverse=True)


def slices(v: Any) -> Any:
    k = kept(v)
    return k[1:], k[:-1], k[::-1], k[::2], k[-2:], k[:2], k[1:3], k[5:1:-2], k[9:]


def slices_of_traced_ends(v: Any) -> Any:
    k, i = kept(v), v[0]
    return k[:i], k[i:], k[i - 2 :: 2], k[-i:]


def sums(v: Any) -> Any:
    k = kept(v)
    return k + k, k + [1, 2], [9] + k, k[1:] + k[:1], [] + k


def equality(v: Any) -> Any:
    k = kept(v)
    return int(k == [3, 1, 7, 1, 4]), int(k == [3]), int(k == []), int(k != k[::-1]), int(k == k.copy()), int(k[:2] == [3, 1]), int([3] == k)


def copies_are_others(v: Any) -> Any:
    k = kept(v)
    c, d = list(k), k.copy()
    c.append(9)
    k.append(8)
    d.insert(0, 7)
    return c, k, d


def two_names_are_one(v: Any) -> Any:
    k = kept(v)
    same = k
    same.append(5)
    k.sort()
    return k, same


def pairs(v: Any) -> Any:
    k, out = kept(v), []
    for a, b in zip(k, k[1:], strict=False):
        out.append(b - a)
    return out


def loops_over_them(v: Any) -> Any:
    k, t = kept(v), 0
    for x in k[::-1]:
        t = (t * 10 + x) % 1009
    for i, x in enumerate(sorted(k)):
        t += i * x
    for x in reversed(k):
        t = (t * 3 + x) % 1009
    return t


def folds_of_them(v: Any) -> Any:
    k = kept(v)
    return sum(k[:2]), len(k[1:]), int(7 in k[1:]), max(k[:1] + [0])


def at_an_attribute(v: Any) -> Any:
    b = Box()
    for x in v:
        if x > 0:
            b.items.append(x)
    b.items.sort()
    c = sorted(b.items, reverse=True)
    b.items = b.items[1:]
    return b.items, c, list(b.items)


def in_a_branch(v: Any) -> Any:
    q = [x for x in v if x > 0]
    if v[0] > 2:
        q.sort()
    else:
        q = q[::-1]
    return q


def a_queue_by_slices(v: Any) -> Any:
    q, t = [x for x in v if x > 0], 0
    while q:
        t = t * 10 + q[0]
        q = q[1:]
    return t


def a_queue_that_grows(v: Any) -> Any:
    q, t = [v[0]], 0
    while q and t < 50:
        x = q[0]
        q = q[1:]
        t += 1
        if x > 0 and len(q) < 8:
            q = q + [x - 1, x - 2]
    return t, q


def the_best_three(v: Any) -> Any:
    best = []
    for x in v:
        if x > 0:
            best.append(x)
        best = sorted(best)[:3]
    return best


def the_last_two(v: Any) -> Any:
    best = []
    for x in v:
        best.append(x)
        best.sort()
        best = best[-2:]
    return best


def turned_on_the_way(v: Any) -> Any:
    path = []
    for x in v:
        if x < 0:
            path = path[::-1]
        path.append(x)
    return path


def a_stack_by_slices(v: Any) -> Any:
    a = []
    for x in v:
        if x > 0:
            a.append(x)
        else:
            a = a[:-1]
    return a, len(a)


def rotated(v: Any) -> Any:
    a = [1, 2, 3]
    for x in v:
        if x > 0:
            a = a[1:] + a[:1]
    return a


def sorted_in_a_loop(v: Any) -> Any:
    q = [x for x in v if x > 0]
    for i in range(3):
        q.sort(reverse=True)
        q.append(i)
    return q


def filtered_again_and_again(v: Any) -> Any:
    q = [x for x in v if x > 0]
    for k in range(2, 5):
        q = [x for x in q if x % k]
    return q


def extended_by_filters(v: Any) -> Any:
    a, out = [], []
    for x in v:
        if x > 0:
            a.append(x)
        out += [y for y in a if y < 5]
    return out


def an_inner_loop_over_what_grows(v: Any) -> Any:
    a, out = [], []
    for x in v:
        if x > 0:
            a.append(x)
        for y in a:
            if y > 1:
                out.append(y)
    return out


def an_inner_filter_of_what_grows(v: Any) -> Any:
    a, out = [], []
    for x in v:
        if x > 0:
            a.append(x)
        s = [y for y in a if y > 1]
        out.append(len(s))
        for z in s:
            if z > 3:
                out.append(z)
    return out


def an_inner_loop_at_an_attribute(v: Any) -> Any:
    b, out = Box(), []
    for x in v:
        if x > 0:
            b.items.append(x)
        for y in b.items:
            out.append(y)
    return out


def by_their_numbers(v: Any) -> Any:
    k = [x for x in v if x > 0]
    out, steps, pairs = [], [], []
    for i in range(len(k)):
        if k[i] > 1:
            out.append(k[i])
    for i in range(len(k) - 1):
        steps.append(k[i + 1] - k[i])
    n = len(k)
    for i in range(n):
        for j in range(i + 1, n):
            if k[i] > k[j]:
                pairs.append((i, j))
    return out, steps, pairs, [k[i] for i in range(1, len(k), 2)]


def sorted_by_exchanges(v: Any) -> Any:
    k = [x for x in v if x > 0]
    for i in range(len(k)):
        for j in range(len(k) - 1 - i):
            if k[j] > k[j + 1]:
                k[j], k[j + 1] = k[j + 1], k[j]
    return k


PROGRAMS = [
    by_their_numbers, sorted_by_exchanges,
    sort, sort_in_the_other_order, sort_by_a_key, sort_tuples, slices, slices_of_traced_ends, sums, equality, copies_are_others, two_names_are_one,
    pairs, loops_over_them, folds_of_them, at_an_attribute, in_a_branch, a_queue_by_slices, a_queue_that_grows, the_best_three, the_last_two,
    turned_on_the_way, a_stack_by_slices, rotated, sorted_in_a_loop, filtered_again_and_again, extended_by_filters, an_inner_loop_over_what_grows,
    an_inner_filter_of_what_grows, an_inner_loop_at_an_attribute,
]  # fmt: skip


def plain(x: Any) -> Any:
    return [plain(y) for y in x] if isinstance(x, (list, tuple)) else int(x)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_as_python(program: Callable[[Any], Any]) -> None:
    compiled = ag.function(program)
    for v in INPUTS:
        assert plain(compiled(v)) == plain(program(v)), v


def test_what_a_list_of_unknown_length_still_cannot() -> None:
    for use in (lambda k: k * 2, lambda k: {*k}, lambda k: k < [1], lambda k: tuple(k)):
        with pytest.raises(ag.AutographError) as caught:
            ag.function(lambda v, use=use: use([x for x in v if x > 0]))(INPUTS[0])
        assert caught.value.id == "AG405"


def arrays_of_lists(v: Any) -> Any:
    k = kept(v)
    at = [i for i in range(len(v)) if v[i] > 0]
    out = np.zeros(7, np.int32)
    out[at] = 5
    return np.sum(k), np.max(k + [0]), np.array(k + [1]).sum(), v[at].sum(), out.sum(), np.cumsum(k + [1])[-1], (np.diff(k + [1, 2]) ** 2).sum()


def arrays_stored_through_places(v: Any) -> Any:
    w, m = v.copy(), v[:6].reshape(3, 2).copy()
    at = np.nonzero(v > 1)[0]
    w[at] = v[at] * 2 - 1
    w[np.nonzero(v < -3)] = 9
    i, j = np.nonzero(m > 1)
    m[i, j] = 7
    for t in range(2):
        at = np.where(w > t)[0]
        w[at] += t + 1
    return list(w), m.sum(), list(v[v > 0])


def test_what_numpy_makes_of_them() -> None:
    for program in (arrays_of_lists, arrays_stored_through_places):
        compiled = ag.function(program)
        for v in INPUTS:
            assert plain(compiled(v)) == plain(program(v)), (program, v)
