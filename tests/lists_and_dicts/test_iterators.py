"""Iterators and generators from outside of data-dependent branches and loops: nothing is taken of them twice, or on the wrong side."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import jax.numpy as jnp
import pytest

import autograph as ag


def numbers() -> Iterator[float]:
    for k in range(6):
        yield float(k)


def running() -> Any:
    total = 0.0
    while True:
        got = yield total
        if got is not None:
            total += got


class Feeder:
    def __init__(self) -> None:
        self.total = running()
        next(self.total)

    def feed(self, x: Any) -> Any:
        return self.total.send(x)


def sends(x):
    g = running()
    next(g)
    if x > 0:
        g.send(10.0)
    return g.send(x)


def sends_in_a_loop(x):
    g = running()
    next(g)
    i = 0
    while i < x:
        g.send(1.0)
        i += 1
    return next(g)


def closes(x):
    g = numbers()
    next(g)
    if x > 0:
        g.close()
    return next(g, -5.0)


def loops(x):
    g = numbers()
    total = 0.0
    if x > 0:
        for v in g:
            total += v
    return total, sum(g)


def lists(x):
    m = map(abs, [1.0, -2.0])
    found = []
    if x > 0:
        found = list(m)
    return len(found) + sum(m)


def unpacks(x):
    it = iter([1.0, 2.0, 3.0])
    if x > 0:
        a, b, c = it
        x = a + b + c
    return x, list(it)


def stars(x):
    it = iter([1.0, 2.0])
    if x > 0:
        x = max(*it)
    return x, list(it)


def least(x):
    it = iter([1.0, 2.0])
    if x > 0:
        x = min(it)
    return x, list(it)


def counts(x):
    c = itertools.count()
    if x > 0:
        x = x + next(iter(zip(c, "a")))[0]
    return x, next(c)


def of_an_object(x):
    feeder = Feeder()
    if x > 0:
        feeder.feed(3.0)
    return feeder.feed(1.0)


def of_dict_items(x):
    it = iter({"a": 1.0, "b": 2.0}.items())
    if x > 0:
        for _, v in it:
            x += v
    return x, list(it)


def comprehends(x):
    g = numbers()
    if x > 0:
        x += sum([v + 1 for v in g])
    return x, sum(g)


TAKING = [
    sends, sends_in_a_loop, closes, loops, lists, unpacks, stars, least, counts, of_an_object, of_dict_items, comprehends,
]  # fmt: skip


@pytest.mark.parametrize("f", TAKING, ids=lambda f: f.__name__)
def test_taking_in_a_traced_branch_or_loop_is_refused(f: Callable[[Any], Any]) -> None:
    f(1.0)  # Python can
    with pytest.raises(ag.AutographError) as caught:
        ag.function(f)(1.0)
    assert caught.value.id == "AG405" and "once" in caught.value.message


def breaks(x):
    it = iter([1.0, 2.0, 3.0, 4.0])
    for v in it:
        if v > x:
            break
    return v, list(it)


def breaks_a_zip(x):
    pairs = zip([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])
    total = 0.0
    for a, b in pairs:
        if b > x:
            break
        total += a
    for a, b in pairs:
        total += 100 * a
    return total


def any_of(x):
    it = iter([1.0, 2.0, 3.0])
    return any(v > x for v in it), list(it)


def first_of(x):
    it = iter([1.0, 2.0, 3.0])
    return next((v for v in it if v > x), -1.0), list(it)


@pytest.mark.parametrize("f", [breaks, breaks_a_zip, any_of, first_of], ids=lambda f: f.__name__)
def test_how_much_is_taken_of_a_kept_iterator_may_not_depend_on_traced_values(f: Callable[[Any], Any]) -> None:
    with pytest.raises(ag.AutographError) as caught:
        ag.function(f)(1.5)
    assert caught.value.id == "AG501" and "how many items of this" in caught.value.message


def own(x):
    total = 0.0
    if x > 0:
        g = numbers()
        next(g)
        total += next(g) + sum(g)
        for a, b in zip(iter([1.0, 2.0]), (3.0, 4.0)):
            if a + b > x:
                break
            total += a * b
    i = 0
    while i < x:
        total += max(iter([1.0, x])) + sum(v for v in numbers())
        i += 1
    return total


def before_and_after(x):
    g = numbers()
    a = next(g)
    if x > a:
        x = x - 1
    b = next(g)
    for v in g:
        if v > x:
            x = v
    return x + b


def with_a_break(x):
    total = 0.0
    for k, v in enumerate(reversed([1.0, 2.0, 3.0])):
        if v < x:
            break
        total += v * k
    return total


@pytest.mark.parametrize("f", [own, before_and_after, with_a_break], ids=lambda f: f.__name__)
def test_iterators_that_nothing_else_sees_work(f: Callable[[Any], Any]) -> None:
    compiled = ag.function(f)
    for x in (-1.0, 1.5, 3.5):
        assert jnp.allclose(compiled(x), f(x))


class Holder:
    it: Any = None


def generator_of(x):
    while True:
        x = x * 2
        yield x


def keeps_a_generator(x, holder):
    holder.it = generator_of(x)
    return next(holder.it)


def keeps_an_iterator(x, holder):
    holder.it = iter([x, 2.0])
    return x


def keeps_a_closure(x, holder):
    y = x * 2
    holder.it = lambda: y
    return x


def keeps_an_error(x, holder):
    holder.it = ValueError(x)
    return x


@pytest.mark.parametrize("f", [keeps_a_generator, keeps_an_iterator, keeps_a_closure, keeps_an_error], ids=lambda f: f.__name__)
def test_nothing_that_holds_traced_values_is_left_in_an_object(f: Callable[[Any, Any], Any]) -> None:
    holder = Holder()
    with pytest.raises(ag.AutographError) as caught:
        ag.function(f)(1.0, holder)
    assert caught.value.id == "AG401" and "`Holder.it` would keep a" in caught.value.message and holder.it is None


GLOBAL = running()
next(GLOBAL)


def test_a_generator_from_outside_is_not_sent_traced_values() -> None:
    @ag.function
    def f(x):
        return GLOBAL.send(x)

    with pytest.raises(ag.AutographError) as caught:
        f(1.0)
    assert caught.value.id == "AG405" and "traced value" in caught.value.message
    assert GLOBAL.send(2.0) == 2.0, "it holds what it did"
