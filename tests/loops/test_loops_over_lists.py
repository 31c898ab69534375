"""Loops over lists that their bodies change: each turn takes the item that is at its place then (RULES 24)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag

Program = Callable[[Any], Any]
INPUTS = [[3, 1, 2, 0, 4, 2], [1, 1, 2, 2, 2, 4]]


class Box:
    def __init__(self, *items: int) -> None:
        self.items: list[Any] = list(items)


def known_items_removed(xs: Any) -> Any:
    s = [3, 2, 0, 1]
    t = 0
    for y in s:
        t = t * 2 + y
        if xs[y] == 2:
            s.remove(y)
    return s, t


def known_items_popped(xs: Any) -> Any:
    s = [xs[0], xs[1], xs[2], xs[3]]
    t = 0
    for y in s:
        t = t * 2 + y
        if y == 2:
            s.pop()
    return s, t


def removed(xs: Any) -> Any:
    s = [1, 2, 3, 4, 5]
    if xs[0] > 2:
        s.append(8)
    t = 0
    for y in s:
        t = t * 2 + y
        if y == 2:
            s.remove(y)
    return s, t


def reversed_in_the_loop(xs: Any) -> Any:
    s = [1, 2, 3, 4, 5]
    if xs[0] > 2:
        s.append(8)
    t = 0
    for y in s:
        t = t * 2 + y
        if y == 2:
            s.reverse()
    return s, t


def stored(xs: Any) -> Any:
    s = [1, 2, 3, 4, 5]
    if xs[0] > 2:
        s.append(8)
    t = 0
    for i, y in enumerate(s):
        t = t * 2 + y
        if y == 2:
            s[i + 1] = 50
    return s, t


def cleared(xs: Any) -> Any:
    s: list[Any] = []
    for x in xs:
        if x > 1:
            s.append(x)
    t = 0
    for y in s:
        t = t * 3 + y
        s.clear()
        s.append(4)
    return s, t


def inserted_until_a_break(xs: Any) -> Any:
    s = [1, 2, 3, 4, 5]
    if xs[0] > 2:
        s.append(8)
    t = 0
    with ag.loop(max_steps=20):
        for y in s:
            t = t * 2 + y
            if y == 2:
                s.insert(0, 9)
            if t > 50:
                break
    return s, t


def appended(xs: Any) -> Any:
    s: list[Any] = []
    for x in xs:
        if x > 1:
            s.append(x)
    with ag.loop(max_steps=20):
        for a in s:
            if a > 0:
                s.append(a - 2)
    return s


def breadth_first(xs: Any) -> Any:
    order = [0]
    seen = jnp.zeros(6, bool)
    seen[0] = True
    with ag.loop(max_steps=8):
        for node in order:
            for k in range(6):
                if xs[(node + k) % 6] > 2 and not seen[k]:
                    seen[k] = True
                    order.append(k)
    return order


def counted_and_left(xs: Any) -> Any:
    a = [5, 4, 3, 2, 1]
    t = 0
    for i, y in enumerate(a, 2):
        t = t * 3 + y * i
        if xs[y] == 2:
            a.remove(y)
        if xs[y] == 1:
            return a, t
        if t > 500:
            break
    else:
        t += 1000
    return a, t


def one_in_another(xs: Any) -> Any:
    a = [5, 4, 3, 2, 1]
    t = 0
    for y in a:
        for z in a:
            t = t * 3 + y * z
            if xs[y] == z:
                a.remove(y)
    return a, t


def popped_in_an_inner_loop(xs: Any) -> Any:
    s = [3, 2, 0, 1]
    for y in s:
        for x in xs:
            if x == y:
                s.pop()
    return s


def attribute(xs: Any) -> Any:
    box = Box(5, 4, 3, 2, 1)
    t = 0
    for y in box.items:
        t = t * 3 + y
        if xs[y] == 2:
            box.items.remove(y)
    return box.items, t


def attribute_of_unknown_length(xs: Any) -> Any:
    box = Box()
    for x in xs:
        if x > 1:
            box.items.append(x)
    t = 0
    for i, y in enumerate(box.items):
        t = t * 3 + y * i
        if y == 2:
            box.items.pop()
    return box.items, t


def in_a_nested_function(xs: Any) -> Any:
    box = Box(5, 4, 3, 2, 1)
    t = 0

    def drop(y: Any) -> None:
        if xs[y] == 2:
            box.items.remove(y)

    for y in box.items:
        t = t * 3 + y
        drop(y)
    return box.items, t


def another_list(xs: Any) -> Any:
    """What the loop runs over is bound anew, and not changed."""
    a = [5, 4, 3, 2, 1]
    t = 0
    for y in a:
        t = t * 3 + y
        if xs[y] == 2:
            a = [1, 2, 3, 4, y]
    return a, t


def filtered(xs: Any) -> Any:
    """As many turns as the list has items at most: others may grow with them."""
    s: list[Any] = []
    for x in xs:
        if x > 1:
            s.append(x)
    small: list[Any] = []
    for y in s:
        if y < 4:
            small.append(y * 2)
    pairs: list[Any] = []
    for y in s:
        for z in small:
            if z < y:
                pairs.append((y, z))
    products: list[Any] = []
    for y, z in zip(s, range(3), strict=False):
        products.append(y * z)
    for y in reversed(s):
        products.append(y)
    return s, small, pairs, products


def of_a_masked_array(xs: Any) -> Any:
    out: list[Any] = []
    for y in xs[xs > 1]:
        if y < 4:
            out.append(y * 2)
        out.append(y)
    return out


def left_before_a_pop(xs: Any) -> Any:
    """The first turn of a loop knows of no items but those that it has appended itself."""
    s: list[Any] = []
    for x in xs:
        s.append(x)
        if x == 0:
            break
        s.pop()
    return s


def left_before_a_clear(xs: Any) -> Any:
    s: list[Any] = []
    for x in xs:
        s.append(x)
        if x == 0:
            return len(s)
        if x == 2:
            s.clear()
    return s


def left_before_a_deletion(xs: Any) -> Any:
    s: list[Any] = []
    for k in range(6):
        s.append(xs[k])
        if xs[k] == 0:
            break
        if xs[k] == 2:
            del s[0]
    return s


PROGRAMS: list[Program] = [
    known_items_removed, known_items_popped, removed, reversed_in_the_loop, stored, cleared, inserted_until_a_break, appended, breadth_first,
    counted_and_left, one_in_another, popped_in_an_inner_loop, attribute, attribute_of_unknown_length, in_a_nested_function, another_list, filtered,
    of_a_masked_array, left_before_a_pop, left_before_a_deletion,
]  # fmt: skip


def plain(x: Any) -> Any:
    return [plain(y) for y in x] if isinstance(x, (list, tuple)) else int(x)


@pytest.mark.parametrize("xs", INPUTS, ids=str)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_as_python(f: Program, xs: list[int]) -> None:
    values = np.array(xs, np.int32)
    want = plain(ag.convert(f)(copy.copy(values)))  # only `x[i] = v` of `jnp` arrays needs it
    assert plain(ag.function(f)(jnp.asarray(values))) == want


def test_lists_of_two_lengths() -> None:
    with pytest.raises(ag.AutographError, match="AG202"):
        ag.function(left_before_a_clear)(jnp.array(INPUTS[0]))


def endless(xs: Any) -> Any:
    s = [1, 2, 3]
    for y in s:
        if xs[y] == 2:
            s.append(y)
    return s


def beside_another(xs: Any) -> Any:
    s = [1, 2, 3]
    for x, y in zip(xs, s, strict=False):
        if x == 2:
            s.remove(y)
    return s


def backwards(xs: Any) -> Any:
    s = [5, 4, 3, 2, 1]
    for y in reversed(s):
        if xs[y] == 2:
            s.remove(y)
    return s


def backwards_of_unknown_length(xs: Any) -> Any:
    s: list[Any] = []
    for x in xs:
        if x > 1:
            s.append(x)
    for y in reversed(s):
        if y == 2:
            s.pop()
    return s


def by_a_generator(xs: Any) -> Any:
    s = [5, 4, 3, 2, 1]
    for y in (v - 1 for v in s):
        if xs[y] == 2:
            s.pop()
    return s


@pytest.mark.parametrize("f", [beside_another, backwards, backwards_of_unknown_length, by_a_generator], ids=lambda f: f.__name__)
def test_an_iterator_over_a_list_that_changes(f: Program) -> None:
    with pytest.raises(ag.AutographError, match="AG405 `s` becomes longer or shorter while a loop runs over it by an iterator"):
        ag.function(f)(jnp.array(INPUTS[0]))


def test_a_list_that_the_loop_over_it_makes_longer_needs_a_limit() -> None:
    with pytest.raises(ag.AutographError, match="AG405 `s` grows in a compiled loop whose trip count is data-dependent"):
        ag.function(endless)(jnp.array(INPUTS[0]))


class Bag:
    def __init__(self, items: Any) -> None:
        self.items, self.asked = items, 0

    def __len__(self) -> int:
        self.asked += 1
        return len(self.items)

    def __iter__(self) -> Any:
        return iter(self.items)


def test_a_loop_does_not_ask_an_object_for_its_length() -> None:
    bag = Bag([1.0, 2.0])

    @ag.function
    def f(x: Any) -> Any:
        for v in bag:
            x = x + v
        return x

    assert f(1.0) == 4 and bag.asked == 0
