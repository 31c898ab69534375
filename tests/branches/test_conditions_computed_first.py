"""Branches that leave other keys or attributes: `ag.function` computes the condition first, and runs the program of that branch."""

from __future__ import annotations

import collections
import copy
import random
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from tests.harness import assert_same


class Record:
    def __init__(self) -> None:
        self.items: dict[str, Any] = {"n": 0.0}

    def note(self, x: Any) -> Any:
        self.items["n"] += 1.0
        if x > 0:
            self.last = x
        if x > 5:
            self.items["big"] = x
        return self.items["n"] + len(self.items)

    def has(self, x: Any) -> Any:
        if x > 0:
            self.seen = x * 2
        return self.seen if hasattr(self, "seen") else -x


def one_key(x: Any) -> Any:
    r = {"b": x}
    if x > 0:
        r["a"] = 2 * x
    return r


def read_afterwards(x: Any) -> Any:
    r = {"b": x}
    if x > 0:
        r["a"] = 2 * x
    total = 0.0
    for k in r:
        total += r[k]
    return total, len(r), "a" in r, list(r)


def elifs(x: Any) -> Any:
    r = {}
    if x > 5:
        r["big"] = x
    elif x > 0:
        r["small"] = x
    else:
        r["none"] = x
        r["why"] = 0.0
    return r


def two(x: Any) -> Any:
    r = {}
    if x > 0:
        r["a"] = x
    y = x * 3
    if y > 9:
        r["b"] = y
    return r


def nested(x: Any) -> Any:
    r = {"x": x}
    if x > 0:
        r["pos"] = x
        if x > 5:
            r["big"] = x
    return sorted(r)


def removed(x: Any) -> Any:
    r = {"a": x, "b": 2 * x}
    if x > 0:
        del r["b"]
    return r


def after_a_loop(x: Any) -> Any:
    r, k = {}, 0
    while x < 3:
        x = x + 1
        k += 1
    if k > 2:
        r["steps"] = k
    return r, x


def in_a_helper(x: Any) -> Any:
    return filled({}, x), filled({"b": 1.0}, -x)


def filled(r: Any, x: Any) -> Any:
    if x > 0:
        r["a"] = x
    return r


def early(x: Any) -> Any:
    r: dict[str, Any] = {}
    if x < 0:
        return r
    r["a"] = x
    return r


def sets(x: Any) -> Any:
    seen = {1}
    if x > 0:
        seen.add(2)
    return len(seen), 2 in seen


def defaults(x: Any) -> Any:
    d = collections.defaultdict(float)
    if x > 5:
        return d["q"] + x + len(d)
    return x + len(d)


def counted(x: Any) -> Any:
    c = collections.Counter("ab")
    if x > 0:
        c["c"] += 1
    return sum(c.values()), c["c"]


def fails_before(x: Any) -> Any:
    if x < -50:
        raise ValueError(f"{x} is too small")
    r = {}
    if x > 0:
        r["a"] = x
    return r


PROGRAMS: list[Callable[[Any], Any]] = [
    one_key, read_afterwards, elifs, two, nested, removed, after_a_loop, in_a_helper, early, sets, defaults, counted, fails_before,
]  # fmt: skip
XS = [1.0, -2.0, 7.0, 3.0, -2.5, 0.0, 1.0]


agree = assert_same


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_as_python(f: Callable[[Any], Any]) -> None:
    g = ag.function(f)
    for x in XS:
        agree(g(x), f(x))
        agree(g(jnp.float32(x)), f(np.float32(x)))


def test_an_object_keeps_what_its_branches_set() -> None:
    ours, pythons = Record(), Record()
    note, has = ag.function(Record.note), ag.function(Record.has)
    for x in XS:
        agree(note(ours, x), pythons.note(x))
        agree(ours.items, pythons.items)
        assert hasattr(ours, "last") == hasattr(pythons, "last")
        agree(has(ours, x), pythons.has(x))
    assert "big" in ours.items and float(ours.last) == pythons.last


COUNTS: Any = collections.defaultdict(float)


def look(x: Any) -> Any:
    if x > 5:
        return COUNTS["q"] + x
    return x


def test_a_branch_that_is_not_taken_makes_no_key() -> None:
    COUNTS.clear()
    f = ag.function(look)
    assert f(1.0) == 1 and "q" not in COUNTS and f(7.0) == 7 and "q" in COUNTS


def test_an_error_before_the_condition_is_raised() -> None:
    with pytest.raises(ValueError, match=r"-60\.0 is too small"):
        ag.function(fails_before)(-60.0)


def stores(x: Any, a: Any) -> Any:
    a[0] += 1
    r = {}
    if x > 0:
        r["a"] = x
        a[1] = x
    return r


def test_arguments_are_stored_into_once() -> None:
    f = ag.function(stores)
    ours, pythons = np.zeros(2, np.float32), np.zeros(2, np.float32)
    for x in XS:
        agree(f(x, ours), stores(x, pythons))
        np.testing.assert_array_equal(ours, pythons)


def test_each_branch_is_one_program() -> None:
    """The condition, and each of the branches: three traces, however often it is called."""
    g = ag.function(early)
    for x in XS * 3:
        agree(g(x), early(x))
    assert [h._checks.count for h in (g, *g._deciding.values())] == [1, 1, 1]


def test_variables_change_once() -> None:
    v = ag.Variable(1.0)

    @ag.function
    def f(x: Any) -> Any:
        v.assign_add(x)
        r = {}
        if v > 2:
            r["large"] = v + 0.0
        return r

    assert f(0.5) == {} and float(v) == 1.5
    assert float(f(1.0)["large"]) == 2.5 and float(v) == 2.5 and float(f(1.0)["large"]) == 3.5


def test_a_call_within_a_function_of_ours_and_jaxs_transformations_raise() -> None:
    """Nobody can compute the condition first there."""
    g = ag.function(one_key)
    for call in (
        lambda: jax.jit(ag.convert(one_key))(1.0),
        lambda: jax.jit(g)(1.0),
        lambda: jax.vmap(g)(jnp.ones(2)),
        lambda: jax.grad(lambda x: g(x)["b"])(1.0),
        lambda: ag.function(lambda xs: [g(x) for x in xs])(jnp.ones(2)),
        lambda: g.lower(1.0),
        lambda: ag.function(in_a_loop)(jnp.ones(3)),
        lambda: ag.function(one_key, donate_argnums=0)(jnp.float32(1.0)),
    ):
        with pytest.raises(ag.StagingError, match="AG405"):
            call()
    agree(g(1.0), one_key(1.0))


def in_a_loop(xs: Any) -> Any:
    r = {}
    for x in xs:
        if x > 0:
            r["a"] = x
    return r


def prints(x: Any) -> Any:
    print("once", x)
    r = {}
    if x > 0:
        r["a"] = x
    return r


def draws(x: Any) -> Any:
    y = x + random.random()
    r = {}
    if y > 0:
        r["a"] = y
    return r


@pytest.mark.parametrize("f", [prints, draws])
def test_what_was_done_before_is_not_done_twice(f: Callable[[Any], Any]) -> None:
    with pytest.raises(ag.StagingError, match="AG405") as caught:
        ag.function(f)(1.0)
    assert "a `print` or another effect on the host comes before it" in caught.value.__notes__[0]


def prints_in_a_branch(x: Any) -> Any:
    r = {}
    if x > 0:
        r["a"] = x
        print("positive")
    print("done")
    return r


def test_prints_afterwards_come_once(capfd: pytest.CaptureFixture[str]) -> None:
    f = ag.function(prints_in_a_branch)
    for x in (1.0, -1.0, 2.0):
        f(x)
    jax.effects_barrier()
    assert capfd.readouterr().out.split() == ["positive", "done", "done", "positive", "done"]


def test_a_tape_around_the_call_raises() -> None:
    v = ag.Variable(1.0)
    f = ag.function(lambda: one_key(v * 2))
    with ag.GradientTape() as tape:
        with pytest.raises(ag.StagingError, match="AG405"):
            f()
        y = v * v
    assert float(tape.gradient(y, v)) == 2.0


def test_shapes_and_objects_of_other_kinds_are_other_programs() -> None:
    @ag.function
    def f(x: Any, by: Any) -> Any:
        r = dict(by)
        if jnp.sum(x) > 2:
            r["sum"] = jnp.sum(x)
        return r

    for n in (1, 3, 1, 3, 5):
        agree(f(jnp.ones(n), {"k": 1.0}), {"k": 1.0, "sum": float(n)} if n > 2 else {"k": 1.0})
        agree(f(jnp.ones(n), {}), {"sum": float(n)} if n > 2 else {})


def test_methods_and_copies() -> None:
    class Twice(Record):
        @ag.function
        def step(self, x: Any) -> Any:
            if x > 0:
                self.value = x
            return hasattr(self, "value")

    a = Twice()
    assert not a.step(-1.0) and not hasattr(a, "value") and a.step(2.0) and float(a.value) == 2.0 and a.step(-1.0)
    b = Twice()
    assert not b.step(-1.0) and copy.copy(a).step(-3.0)
