"""Dicts whose keys have no order: objects, None, numbers beside strings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import autograph as ag


class Node:
    def __init__(self, name: str) -> None:
        self.name = name


@dataclass(frozen=True)
class Cell:
    row: int
    column: int


A, B, C = Node("a"), Node("b"), Node("c")


def in_a_branch(x):
    d = {A: 1.0, B: x, None: 0.0}
    if x > 0:
        d[A] += x
    else:
        d[None] -= x
    return d[A] - d[B] + d[None]


def in_a_loop(x):
    d = {"a": 1.0, 2: x}
    i = 0
    while i < x:
        d[2] = d[2] * 2
        d["a"] += x
        i += 1
    return d["a"], d[2]


def relaxed(x):
    edges = {A: [(B, 1.0), (C, x)], B: [(C, 2.0)], C: []}
    distance = {A: 0.0, B: 100.0, C: 100.0}
    for _ in range(2):
        for node, out in edges.items():
            for other, length in out:
                if distance[node] + length < distance[other]:
                    distance[other] = distance[node] + length
    return distance[B], distance[C]


def made_by_a_branch(x):
    d = {"a": x, 2: 1.0} if x > 0 else {"a": 0.0, 2: x}
    return d["a"] + d[2]


def returned(x):
    return {"a": x, 2: {Cell(0, 1): x * 2, Cell(1, 0): x - 1}, "list": [x]}


def returned_with_an_assertion(x):
    assert x < 100
    return {"a": x, None: x + 1}


PROGRAMS = [in_a_branch, in_a_loop, relaxed, made_by_a_branch, returned, returned_with_an_assertion]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_dicts_with_such_keys_are_what_they_are_in_python(f: Callable[[Any], Any]) -> None:
    compiled = ag.function(f)
    for x in (2.5, -1.0, 2.5):
        assert compiled(x) == f(x)


def test_arguments_and_what_objects_hold() -> None:
    class Holder:
        def __init__(self) -> None:
            self.seen: dict[Any, Any] = {A: 0.0, "b": 1.0}

    def f(d: Any, holder: Any, x: Any) -> Any:
        if x > 0:
            d[1] += x
            holder.seen[A] += 1
        d["a"] += 1
        return d["a"] + holder.seen["b"]

    compiled = ag.function(f)
    theirs, ours = ({1: 0.0, "a": 2.0}, Holder()), ({1: 0.0, "a": 2.0}, Holder())
    for x in (1.0, -1.0, 3.0):
        assert compiled(*ours, x) == f(*theirs, x)
        assert ours[0] == theirs[0] and ours[1].seen == theirs[1].seen


def test_under_transformations() -> None:
    @ag.convert
    def f(x):
        d = {"a": x, 2: x * x}
        if x > 1:
            d["a"] = d[2] * 3
        return d["a"]

    assert jax.grad(f)(2.0) == 12.0
    assert jax.vmap(f)(jnp.array([0.5, 2.0])).tolist() == [0.5, 12.0]
