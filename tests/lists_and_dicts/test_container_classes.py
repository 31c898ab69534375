"""Classes of the user's that are lists, dicts, sets and deques, with methods of their own."""

from __future__ import annotations

import collections
import types
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import autograph as ag


class Log(list):  # type: ignore[type-arg]
    def __init__(self, *items: Any) -> None:
        super().__init__(*items)
        self.stores = 0

    def __setitem__(self, i: Any, value: Any) -> None:
        self.stores += 1
        super().__setitem__(i, value * 2)

    def append(self, value: Any) -> None:
        self.stores += 10
        super().append(value)

    def extend(self, values: Any) -> None:
        self.stores += 100
        super().extend(values)


class Ring(collections.deque):  # type: ignore[type-arg]
    total = 0.0

    def append(self, x: Any) -> None:
        self.total = self.total + x
        super().append(x)

    def extend(self, values: Any) -> None:
        for x in values:
            self.append(x)

    def rotate(self, n: int = 1) -> None:
        self.total += 1
        super().rotate(n)

    def clear(self) -> None:
        self.total = -1.0
        super().clear()


class Seen(set):  # type: ignore[type-arg]
    asked = 0

    def add(self, x: Any) -> None:
        self.asked += 1
        super().add(x)

    def update(self, *others: Any) -> None:
        for other in others:
            for x in other:
                self.add(x)


class Table(dict):  # type: ignore[type-arg]
    stores = deleted = 0

    def __setitem__(self, key: Any, value: Any) -> None:
        self.stores += 1
        super().__setitem__(key, value + 1)

    def __delitem__(self, key: Any) -> None:
        self.deleted += 1
        super().__delitem__(key)


class Circular(list):  # type: ignore[type-arg]
    def __getitem__(self, i: Any) -> Any:
        return super().__getitem__(i % len(self))

    def __setitem__(self, i: Any, value: Any) -> None:
        list.__setitem__(self, i % len(self), value)


class FromOne(tuple):  # type: ignore[type-arg]
    __slots__ = ()

    def __getitem__(self, i: Any) -> Any:
        return super().__getitem__(i - 1)


class Holder:
    def __init__(self) -> None:
        self.log = Log([1.0, 2.0])
        self.ring = Ring([1.0, 2.0, 3.0], maxlen=3)
        self.seen = Seen()
        self.table = Table(a=1.0, b=2.0)

    def everything(self) -> Any:
        log, ring, seen, table = self.log, self.ring, self.seen, self.table
        return [
            [float(x) for x in log], int(log.stores), [float(x) for x in ring], float(ring.total), sorted(seen), int(seen.asked),
            [(k, float(v)) for k, v in table.items()], int(table.stores), table.deleted,
        ]  # fmt: skip


def in_a_branch(h: Holder, x: Any) -> Any:
    if x > 0:
        h.log[0] += x
        h.ring.append(x)
        h.table["a"] = x
    else:
        h.ring.rotate(2)
        h.log[1] = x
    return sum(h.log) + h.ring[-1]


def in_a_loop(h: Holder, x: Any) -> Any:
    k = 0
    while k < x:
        h.log[k % 2] = h.log[0] + k
        h.ring.rotate()
        h.ring.append(h.log[0])
        h.table["b"] += k
        k += 1
    return h.log[1]


def after_a_branch(h: Holder, x: Any) -> Any:
    if x > 0:
        h.log[0] = x
    h.log.append(x)
    h.log.extend([x, 3.0])
    h.log.pop(0)
    h.seen.add(3)
    h.seen.update({4, 5})
    del h.table["a"]
    return len(h.log) + len(h.seen)


def made_inside(h: Holder, x: Any) -> Any:
    own = Holder()
    for f in (in_a_branch, in_a_loop, after_a_branch):
        f(own, x)
    h.log[0] = own.log[0] + own.log.stores
    h.table["a"] = own.table["b"] + own.table.stores + own.ring.total
    return own.seen.asked


@pytest.mark.parametrize("f", [in_a_branch, in_a_loop, after_a_branch, made_inside], ids=lambda f: f.__name__)
def test_as_in_python(f: Callable[[Holder, Any], Any]) -> None:
    mine, python, compiled = Holder(), Holder(), ag.function(f)
    for x in (2.0, -1.0, 3.0):
        if f is after_a_branch:
            mine.table["a"] = python.table["a"] = 1.0
        assert float(compiled(mine, jnp.float32(x))) == float(f(python, jnp.float32(x)))
        assert mine.everything() == python.everything()


@pytest.mark.parametrize("x", [2.0, -1.0])
def test_items_at_traced_places(x: float) -> None:
    def f(x: Any) -> Any:
        ring, one = Circular([1.0, 2.0, 3.0]), FromOne((1.0, 2.0, 3.0))
        k = 0
        while k < 4 + x:
            ring[k] = ring[k + 1] + x
            ring[k + 2] += one[k % 3 + 1]
            k += 1
        return ring[k], sum(ring)

    got, want = ag.function(f)(jnp.float32(x)), f(jnp.float32(x))
    assert jax.tree.map(float, got) == jax.tree.map(float, want)


def test_classes_and_functions_without_source() -> None:
    module = types.ModuleType("without_source")
    source = "class Tally:\n    def __init__(self):\n        self.n = 0.0\n    def add(self, x):\n        self.n += x\n"
    exec(source + "TOTAL = [0.0]\ndef bump(x):\n    TOTAL[0] = TOTAL[0] + x\n", module.__dict__)

    def f(x: Any) -> Any:
        tally = module.Tally()
        if x > 0:
            tally.add(x)
            module.bump(x)
        return tally.n

    compiled = ag.function(f)
    assert [float(compiled(jnp.float32(x))) for x in (2.0, -1.0, 3.0)] == [2.0, 0.0, 3.0]
    assert [float(x) for x in module.TOTAL] == [5.0]
