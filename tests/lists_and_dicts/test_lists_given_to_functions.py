"""Lists that become longer in compiled loops, and are given to functions of the file that only read them."""

from __future__ import annotations

import ast
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from autograph.analysis.readers import Readers

XS = jnp.array([3.0, -1.0, 4.0, 1.0, -5.0, 9.0])


def total(items: Any) -> Any:
    return sum(items)


def largest(items: Any, least: Any = 0.0) -> Any:
    for x in items:
        if x > least:
            least = x
    return least


def score(hand: Any) -> Any:
    return total(hand) + largest(hand, least=1.0) * len(hand)


def average(items: Any) -> Any:
    return total(items) / len(items) if items else 0.0


def countdown(items: Any, n: int = 2) -> Any:
    return items[0] if n == 0 else countdown(items, n - 1) + total(items)


def in_a_branch(xs: Any) -> Any:
    kept: list[Any] = []
    for x in xs:
        if x > 0 and score(kept) < 30:
            kept.append(x)
    return kept, average(kept)


def in_the_test(xs: Any) -> Any:
    hand: list[Any] = []
    k = 0
    with ag.loop(max_steps=6):
        while total(hand) < 7 and k < len(xs):
            hand.append(xs[k])
            k += 1
    return hand, score(hand=hand)


def taken_from_another(xs: Any) -> Any:
    cards, hand = list(xs), []
    with ag.loop(max_steps=6):
        while total(hand) < 5:
            hand.append(cards.pop(0))
    return hand, len(cards), total(cards)


def recursive(xs: Any) -> Any:
    kept = [0.0]
    for x in xs:
        if countdown(kept) < 9:
            kept.append(x)
    return kept


PROGRAMS = [in_a_branch, in_the_test, taken_from_another, recursive]


@pytest.mark.parametrize("program", PROGRAMS)
def test_as_python(program: Any) -> None:
    want = program(np.asarray(XS))
    got = ag.function(program)(XS)
    assert jax.tree.structure(got) == jax.tree.structure(want)
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_the_text_says_so() -> None:
    assert "ag.reading(score, 0)(kept) < 30" in ag.to_code(in_a_branch)
    assert "ag.reading(score, 'hand')(hand=hand)" in ag.to_code(in_the_test)


KEPT: list[Any] = []


def keep(items: Any) -> Any:
    KEPT.append(items)
    return sum(items)


def test_another_function_under_the_name_may_keep_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the text shows is asked again of the function that the name stands for."""
    monkeypatch.setitem(globals(), "total", keep)
    with pytest.raises(ag.StagingError, match="AG405 `keep` is given a list that becomes longer, and it is no longer the function of this file"):
        ag.function(in_the_test)(XS)
    assert not KEPT


READS = """
def reads(a): return a[0] + len(a) + sum(x for x in a) + max(*a) + a.index(1) + (1 in a) + (2 if a else 3)
def goes_over(a):
    for k, x in enumerate(a):
        if not a or x and a: print(f"{a}", x)
    while a: return [y for y in reversed(a)], list(zip(a)), np.stack(a), a == [], a + [1]
def hands_to(b, a): return reads(a)
def itself(a): return itself(a) if len(a) > 1 else 0
"""
KEEPS = """
def gives(a): return a
def stores(a): x.b = a
def binds(a): b = a
def binds_again(a): a = a[1:]
def holds(a): return [a]
def holds_either(a): return a or 1
def changes(a): a.append(1)
def stores_into(a): a[0] = 1
def deletes(a): del a[0]
def generator(a): yield from a
def inner(a): return lambda: a
def later(a): return (x for x in a) if (y := a) else 0
def is_lazy(a): return enumerate(a)
def method(a): return a.__iter__
def unknown(a): return f(a)
def other(a): return gives(a)
def first(a): return second(a)
def second(a): return first(a) or gives(a)
@decorated
def wrapped(a): return sum(a)
def by_star(*a): return sum(a)
"""


def readers(text: str) -> dict[str, bool]:
    tree = ast.parse(text)
    defined = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
    names = set(dir(__builtins__)) if not isinstance(__builtins__, dict) else set(__builtins__)
    found = Readers(defined.get, lambda name: name in names and name not in defined, lambda name: name == "np")
    return {name: "a" in found.of(fn) for name, fn in defined.items()}


def test_which_parameters_are_only_read() -> None:
    assert [name for name, reads in readers(READS).items() if not reads] == []
    assert [name for name, reads in readers(KEEPS).items() if reads] == []
