"""Calls like earlier ones go straight to the compiled program; what has changed in between is seen all the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag


class Part:
    def __init__(self, w: Any = 1.0) -> None:
        self.w, self.k = jnp.full(3, w), 2


class Bare:
    """No array tells two of them apart."""

    def __init__(self) -> None:
        self.k = 1


class Other(Part):
    """The same attributes, and another method."""


class Machine:
    bias: Any = 10.0

    def __init__(self) -> None:
        self.h, self.g = jnp.zeros(3), jnp.ones(3)
        self.n: Any = 3
        self.rate: Any = 0.5
        self.mode: Any = "fast"
        self.on: Any = True
        self.act: Any = Part
        self.part, self.second = Part(), Part(2.0)
        self.bare, self.twin = Bare(), Bare()
        self.many = [1, 2, 3]
        self.long = list(range(20))
        self.parts = [Part(), Part(3.0)]
        self.table: Any = {"a": 1.0, "b": jnp.full(3, 2.0)}
        self.none: Any = None
        self.unread: Any = [[k] for k in range(50)]


SHARED = jnp.full(3, 7.0)


def use(m: Any, x: Any, scale: Any = 1.0) -> Any:
    y = x * m.n + m.h + m.g * m.rate + m.part.w * m.part.k + m.second.w * 3
    if m.mode == "fast":
        y = y + 1
    if m.on is True:
        y = y + 2
    if m.h is m.g:
        y = y + 4
    if m.part is m.second:
        y = y + 8
    if m.bare is m.twin:
        y = y + 512
    if m.h is SHARED:
        y = y + 16
    if m.none is None:
        y = y + 32
    if isinstance(m.n, bool):
        y = y + 64
    if isinstance(m.part, Other):
        y = y + 128
    y = y + sum(m.many) + m.long[3] + m.long[-1] + m.bias + len(m.parts)
    for p in m.parts:
        y = y + p.w * p.k
    for name in m.table:
        y = y * 1.5 + m.table[name]
    y = y + (1 if str(m.rate) == "-0.0" else 0) + (256 if m.act is Other else 0)
    return y * scale


class Adding(Machine):
    def __init__(self) -> None:
        super().__init__()
        self.total = jnp.zeros(3)


def change(m: Any, x: Any, scale: Any = 1.0) -> Any:
    m.total = m.total + x * m.n
    return m.total * scale


def choose(m: Any, x: Any, scale: Any = 1.0) -> Any:
    if x[0] > 0:
        m.total = m.total + x
    return m.total * scale


def fail(m: Any, x: Any, scale: Any = 1.0) -> Any:
    m.total = m.total + x
    assert m.total[0] < 1000, "too much"
    return m.total * scale


def same_array(m: Any) -> None:
    m.g = m.h


def same_part(m: Any) -> None:
    m.second = m.part


def set_item(held: Any, key: Any, value: Any) -> None:
    held[key] = value


CHANGES: dict[str, Callable[[Any], Any]] = {
    "nothing": lambda m: None,
    "an array": lambda m: setattr(m, "h", jnp.full(3, 5.0)),
    "an array of another shape": lambda m: setattr(m, "h", jnp.full((), 5.0)),
    "an array of another dtype": lambda m: setattr(m, "h", jnp.array([1, 2, 3])),
    "a NumPy array": lambda m: setattr(m, "h", np.full(3, 5.0, np.float32)),
    "a number for an array": lambda m: setattr(m, "h", 5.0),
    "a number": lambda m: setattr(m, "n", 4),
    "a float for an int": lambda m: setattr(m, "n", 3.0),
    "a bool for an int": lambda m: setattr(m, "n", True),
    "a NumPy number": lambda m: setattr(m, "n", np.int32(3)),
    "an array for a number": lambda m: setattr(m, "n", jnp.int32(3)),
    "zero": lambda m: setattr(m, "rate", 0.0),
    "less than zero": lambda m: (setattr(m, "rate", 0.0), setattr(m, "rate", -0.0)),
    "not a number": lambda m: setattr(m, "rate", float("nan")),
    "a text": lambda m: setattr(m, "mode", "slow"),
    "one for True": lambda m: setattr(m, "on", 1),
    "a class": lambda m: setattr(m, "act", Other),
    "something for None": lambda m: setattr(m, "none", 0),
    "an object": lambda m: setattr(m, "part", Part(5.0)),
    "an object of another class": lambda m: setattr(m, "part", Other(1.0)),
    "the class of an object": lambda m: setattr(m.part, "__class__", Other),
    "a number of a part": lambda m: setattr(m.part, "k", 5),
    "an array of a part": lambda m: setattr(m.part, "w", jnp.full(3, 9.0)),
    "two arrays become one": same_array,
    "two objects become one": same_part,
    "two objects without arrays become one": lambda m: setattr(m, "twin", m.bare),
    "an array that a global variable holds": lambda m: setattr(m, "h", SHARED),
    "an item": lambda m: set_item(m.many, 1, 7),
    "an item of another type": lambda m: set_item(m.many, 1, 2.0),
    "a bool for an item": lambda m: set_item(m.many, 0, True),
    "an array for an item": lambda m: set_item(m.many, 1, jnp.float32(2.5)),
    "a longer list": lambda m: m.many.append(4),
    "a shorter list": lambda m: m.many.pop(),
    "another list": lambda m: setattr(m, "many", [1, 2, 3]),
    "a tuple for a list": lambda m: setattr(m, "many", (1, 2, 4)),
    "an item of a long list": lambda m: set_item(m.long, 3, 30),
    "a float in a long list": lambda m: set_item(m.long, 3, 3.5),
    "a bool in a long list": lambda m: set_item(m.long, 1, True),
    "an object of a list": lambda m: set_item(m.parts, 0, Part(8.0)),
    "an object in a list": lambda m: setattr(m.parts[1], "k", 9),
    "the order of objects": lambda m: m.parts.reverse(),
    "an entry": lambda m: set_item(m.table, "a", 2.0),
    "an array of a dict": lambda m: set_item(m.table, "b", jnp.full(3, 4.0)),
    "a new key": lambda m: set_item(m.table, "c", 4.0),
    "the order of keys": lambda m: setattr(m, "table", {"b": m.table["b"], "a": m.table["a"]}),
    "an attribute that hides the class's": lambda m: setattr(m, "bias", 20.0),
    "an attribute less": lambda m: (setattr(m, "bias", 20.0), use_it(m), delattr(m, "bias")),
    "what is not read": lambda m: m.unread.append(1),
}


def use_it(m: Any) -> None:
    FUNCTIONS["use"](m, jnp.ones(3))


FUNCTIONS: dict[str, Any] = {f.__name__: ag.function(f) for f in (use, change, choose, fail)}
PLAIN: dict[str, Any] = {f.__name__: f for f in (use, change, choose, fail)}


def forget(f: Any) -> None:
    """Let calls be recalled as those of a function that has not been called."""
    f._recalled = None
    if "__call__" in vars(type(f)):
        del type(f).__call__


def same(a: Any, b: Any) -> bool:
    return np.array_equal(np.asarray(a), np.asarray(b), equal_nan=True)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("what", CHANGES)
def test_what_changes_between_calls_is_seen(name: str, what: str) -> None:
    f, plain = FUNCTIONS[name], PLAIN[name]
    mine, theirs, x = Adding(), Adding(), jnp.array([1.0, 2.0, 3.0])
    forget(f)
    for _ in range(3):
        assert same(f(mine, x), plain(theirs, x))
    CHANGES[what](mine)
    CHANGES[what](theirs)
    for _ in range(3):
        assert same(f(mine, x), plain(theirs, x))
    for args, kwargs in (((x * -1,), {}), ((2.0 * x, 3.0), {}), ((x,), {"scale": 2.0}), ((x,), {"scale": 3}), ((jnp.array([1, 2, 3]),), {})):
        for _ in range(2):
            assert same(f(mine, *args, **kwargs), plain(theirs, *args, **kwargs))
            assert same(mine.total, theirs.total)


def test_calls_like_earlier_ones_walk_over_nothing() -> None:
    for name in FUNCTIONS:
        f = ag.function(PLAIN[name])
        m, x = Adding(), jnp.ones(3)
        for _ in range(3):
            f(m, x)
        walks = []
        run = f._state.run
        f._state.run = lambda *args, run=run, walks=walks: walks.append(1) or run(*args)
        for _ in range(5):
            f(m, x)
            f(m, x * 2)
        assert not walks, name


def test_which_array_a_branch_leaves_is_known() -> None:
    f, m = ag.function(choose), Adding()
    for _ in range(3):
        f(m, jnp.ones(3))
    before = m.total
    f(m, -jnp.ones(3))
    assert m.total is before
    f(m, jnp.ones(3))
    assert m.total is not before


def test_an_error_of_a_recalled_call_is_the_users() -> None:
    f, m = ag.function(fail), Adding()
    for _ in range(3):
        f(m, jnp.ones(3))
    for _ in range(2):
        with pytest.raises(AssertionError, match="too much") as caught:
            f(m, jnp.full(3, 2000.0))
        assert caught.traceback[-1].name == "fail"
        assert not [entry for entry in caught.traceback if "runtime" in str(entry.path) and "recall" in str(entry.path)]
        assert float(m.total[0]) >= 2000
        m.total = jnp.zeros(3)


def test_calls_in_traces_and_without_compilation() -> None:
    import jax

    f, m = ag.function(use), Machine()
    x = jnp.ones(3)
    for _ in range(3):
        f(m, x)
    assert same(jax.jit(lambda x: f(m, x))(x), use(m, x))
    assert same(jax.grad(lambda x: f(m, x).sum())(x), jax.grad(lambda x: use(m, x).sum())(x))
    with jax.disable_jit():
        assert same(f(m, x), use(m, x))
    assert same(f(m, x), use(m, x))


def attribute_or_itself(o: Any, x: Any) -> Any:
    return x + (o.k if hasattr(o, "k") else o)


def called_or_added(f: Any, x: Any) -> Any:
    return f(x) if callable(f) else f + x


def by_class(o: Any, x: Any) -> Any:
    return x * o.k if isinstance(o, Bare) else x * o


def first_tried(o: Any, x: Any) -> Any:
    try:
        return o.k + x
    except AttributeError:
        return o - x


def checked(o: Any, x: Any) -> Any:
    k = o.k if isinstance(o, Bare) else o
    assert k < 10, "too large"
    return x * k


@pytest.mark.parametrize("f", [attribute_or_itself, called_or_added, by_class, first_tried, checked])
def test_arrays_first_and_objects_later(f: Any) -> None:
    g = ag.function(f)
    other = (lambda v: v * 3) if f is called_or_added else Bare()
    for o in (2.0, 2.0, other, 2.0, jnp.float32(3.0), other, other, other, 2.0):
        assert same(g(o, 5.0), f(o, 5.0))
    if f is checked:
        for o in (20.0, Bare()):
            if isinstance(o, Bare):
                o.k = 20
            with pytest.raises(AssertionError, match="too large"):
                g(o, 5.0)


def test_objects_later_beside_a_checkpoint_that_waits_for_variables(tmp_path: Any) -> None:
    path = ag.Checkpoint(v=ag.Variable(1.0)).save(str(tmp_path / "c"))
    ag.Checkpoint().restore(path)
    g = ag.function(by_class)
    for o in (2.0, Bare(), 2.0):
        assert same(g(o, 5.0), by_class(o, 5.0))
