"""Lists that a branch begins anew (`current = []`), while other turns make them longer: what Python gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from tests.numpys import as_numpy
from tests.sourced import define

V = np.array([0.6, 0.3, 0.05, 0.01, 0.8, 0.9, 0.2], np.float32)
INPUTS = (V, V[::-1].copy(), np.zeros(3, np.float32), np.ones(4, np.float32))


def longest_run(v: Any) -> Any:
    current, longest = [], 0
    for x in v:
        if x > 0.5:
            current = []
        else:
            current.append(x)
        longest = max(longest, len(current))
    return longest


def sums_of_groups(v: Any) -> Any:
    sums, group = [], []
    for x in v:
        group.append(x)
        if sum(group) > 0.7:
            sums.append(sum(group))
            group = []
    return sums, group


def begun_with_an_item(v: Any) -> Any:
    run, lengths = [v[0]], []
    for k in range(1, len(v)):
        if v[k] > v[k - 1]:
            run.append(v[k])
        else:
            lengths.append(len(run))
            run = [v[k]]
    return run, lengths


def begun_with_more(v: Any) -> Any:
    window = []
    total = 0.0
    for x in v:
        if x > 0.5:
            window = [x, x, x]
        elif x > 0.1:
            window.append(x)
        total += sum(window) - len(window)
    return window, total


def in_a_while(v: Any) -> Any:
    k, kept = 0, []
    while k < len(v) and v[k] < 0.95:
        if v[k] < 0.02:
            kept = []
        kept.append(v[k])
        k += 1
    return kept, k


def in_turns(v: Any) -> Any:
    starts = []
    for x in v:
        row = []
        for y in v:
            if y > x:
                row = []
            row.append(y)
        starts.append(sum(row))
    return starts


def without_a_loop(v: Any) -> Any:
    items = [v[0], v[1]]
    if v[0] > 0.5:
        items = []
    if v[1] > 0.1:
        items.append(v[2])
    return items


def with_a_window(v: Any) -> Any:
    items, sizes = [], []
    for x in v:
        items.append(x)
        sizes.append(len(items))
        if x > 0.5:
            items = [x]
        if len(items) > 2:
            items.pop(0)
    return items, sizes


PROGRAMS = [longest_run, sums_of_groups, begun_with_an_item, begun_with_more, in_a_while, in_turns, without_a_loop, with_a_window]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_as_python(f: Callable[[Any], Any]) -> None:
    for v in INPUTS:
        as_numpy(f, lambda: (v.copy(),))


def test_transformations() -> None:
    f = ag.convert(lambda v: sum(sums_of_groups(v)[0]) + 0.0)
    np.testing.assert_allclose(jax.jit(f)(V), f(V), rtol=1e-6)
    np.testing.assert_allclose(jax.jit(jax.vmap(f))(np.stack([V, V[::-1]])), [f(V), f(V[::-1])], rtol=1e-6)
    np.testing.assert_allclose(jax.jit(jax.grad(f))(V), [1, 1, 1, 1, 1, 1, 0], rtol=1e-6)


def test_what_is_begun_in_each_turn_keeps_a_known_length() -> None:
    def f(v: Any) -> Any:
        row, total = [], 0.0
        for x in v:
            row = []
            for k in range(3):
                row.append(x * k)
            total += jnp.stack(row).max()
        return total

    np.testing.assert_allclose(ag.function(f)(jnp.asarray(V)), f(jnp.asarray(V)), rtol=1e-6)


def test_the_text_says_so() -> None:
    text = ag.to_code(
        define("def f(v):\n    items = []\n    for x in v:\n        if x > 0:\n            items = []\n        items.append(x)\n    return items")
    )
    assert "ag.renewed(items, [])" in text and text.count("renewed") == 1


def test_an_item_that_something_else_holds_is_refused() -> None:
    """A list of traced length keeps copies of the lists in it."""

    def f(v: Any) -> Any:
        kept: Any = []
        for x in v:
            row = [x, x * 2]
            if x > 0.5:
                kept = [row]
                row[0] = 7.0
            else:
                kept.append([x, x])
        return kept

    with pytest.raises(ag.AutographError, match="AG405 a `list` that other code holds is appended"):
        ag.function(f)(V)


def test_a_filtered_list_where_python_decides() -> None:
    def f(v: Any, all_of_them: bool) -> Any:
        kept = []
        if not all_of_them:
            kept = [x for x in v if x > 0.3]
        if v[0] > 0.5:
            kept.append(v[1])
        return kept

    compiled = ag.function(f, static_argnames="all_of_them")
    for flag in (True, False):
        assert compiled(V, all_of_them=flag) == f(V, flag)
