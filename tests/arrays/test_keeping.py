"""Functions and generators that keep an array which is stored into later show the store, as NumPy's do."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.numpys import JITTED, as_numpy


def total(a: Any, k: Any = 0) -> Any:
    return a.sum() + k


def make(a: Any) -> Callable[[Any], Any]:
    def f(k: Any) -> Any:
        return a.sum() + k

    return f


def make_with_default(a: Any) -> Callable[..., Any]:
    def f(k: Any, b: Any = a) -> Any:
        return b.sum() + k

    return f


def make_with_keyword(a: Any) -> Callable[..., Any]:
    def f(k: Any, *, b: Any = a) -> Any:
        return b.sum() + k

    return f


class Grid:
    def __init__(self, a: Any) -> None:
        self.a, self.on_change = a, None

    def put(self, i: Any, v: Any) -> None:
        self.a[i] = v

    def total(self, k: Any) -> Any:
        return self.a.sum() + k


def partial(x: Any) -> Any:
    a = x * 1
    f = functools.partial(total, a)
    a[2] = 10.0
    return f(1), a


def partial_of_an_attribute(x: Any) -> Any:
    g = Grid(x * 1)
    f = functools.partial(total, k=1, a=g.a)
    g.put(2, 10.0)
    return f(), g.a


def closure(x: Any) -> Any:
    a = x * 1
    f = make(a)
    a[2] = 10.0
    return f(1), a


def closure_of_an_attribute(x: Any) -> Any:
    g = Grid(x * 1)
    f = make(g.a)
    g.put(2, 10.0)
    return f(1), g.a


def default(x: Any) -> Any:
    g = Grid(x * 1)
    f, h = make_with_default(g.a), make_with_keyword(g.a)
    g.put(2, 10.0)
    return f(1) + h(2), g.a


def default_of_a_lambda(x: Any) -> Any:
    a = x * 1
    fs = [lambda k, b=a: b.sum() + k]
    a[2] = 10.0
    return fs[0](1), a


def method_of_the_array(x: Any) -> Any:
    g = Grid(x * 1)
    f = g.a.sum
    g.put(2, 10.0)
    return f(), g.a


def generator(x: Any) -> Any:
    g = Grid(x * 1)

    def elements(b: Any) -> Any:
        for k in range(6):
            yield b[k]

    it = elements(g.a)
    t = next(it)
    g.put(1, 10.0)
    return t + next(it), g.a


def callback(x: Any) -> Any:
    g = Grid(x * 1)
    g.on_change = make(g.a)
    g.put(2, 10.0)
    return g.on_change(1), g.a


def method_of_the_object(x: Any) -> Any:
    g = Grid(x * 1)
    f = g.total
    g.a[2] = 10.0
    return f(1), g.a


def closure_of_the_object(x: Any) -> Any:
    g = Grid(x * 1)
    f = functools.partial(Grid.total, g)
    g.put(2, 10.0)
    return f(1), g.a


def its_own_variable(x: Any) -> Any:
    a, t = x * 1, 0.0

    def f(k: Any) -> Any:
        return a.sum() + k

    for k in range(3):
        a[k] = 2.0
        t = t + f(k)
    return t, a


def not_called_again(x: Any) -> Any:
    a = x * 1
    f = make(a)
    t = f(1)
    a[2] = 10.0
    return t, a


def made_again(x: Any) -> Any:
    a = x * 1
    f = make(a)
    a[2] = f(1)
    f = make(a)
    return f(1), a


PROGRAMS = [
    partial, partial_of_an_attribute, closure, closure_of_an_attribute, default, default_of_a_lambda, method_of_the_array, generator, callback,
    method_of_the_object, closure_of_the_object, its_own_variable, not_called_again, made_again,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_as_numpy(f: Callable[..., Any]) -> None:
    as_numpy(f, lambda: (np.array([0.5, 1.5, 2.5, -1.0, 3.0, 4.0], np.float32),), JITTED)
