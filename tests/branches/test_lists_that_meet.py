"""Lists of several lengths that the sides of a branch give for one variable: what Python gives, or a refusal where another name holds the list."""

from __future__ import annotations

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag

# What a side makes of `found`, which may be made before; `k` is the column of the statement.
MADE = {
    "filtered": "found = [v for v in x if v > 0.2]",
    "others": "found = [v * 2.0 for v in x if v < 0.9]",
    "appended": "found = []\n        for v in x:\n            if v > p:\n                found.append(v)",
    "literal": "found = [1.0, 2.0]",
    "of traced": "found = [x[0]]",
    "empty": "found = []",
    "slice": "found = list(x[:2])",
    "repeated": "found = [0.5] * 4",
    "kept": "pass",
}
# What is done with it afterwards.
USED = {
    "length and sum": "return len(found), sum(found, 0.0)",
    "gone over": "total = 0.0\n    for k, v in enumerate(found):\n        total += (k + 1) * v\n    return total",
    "longer": "found.append(x[2])\n    return len(found), found[-1]",
    "filtered": "return sum([v for v in found if v > 0.4], 0.0)",
    "another branch": "if p > 0.5:\n        found = [v for v in found if v > 0.5]\n    return len(found), sum(found, 0.0)",
    "returned": "return found",
}
BEFORE = {"nothing": "", "empty": "    found = []\n", "some": "    found = [x[1], x[0], x[1]]\n"}
X = np.array([0.1, 0.5, 1.5, 0.3], np.float32)


def program(before: str, a: str, b: str, used: str, tmp_path: Any) -> Any:
    text = f"def program(x, p):\n{BEFORE[before]}    if p > 0:\n        {MADE[a]}\n    else:\n        {MADE[b]}\n    {USED[used]}\n"
    file = tmp_path / "program.py"
    file.write_text(text)
    space: dict[str, Any] = {}
    exec(compile(text, str(file), "exec"), space)
    return space["program"]


CELLS = [
    (before, a, b) for (a, b), before in itertools.product(itertools.combinations(MADE, 2), BEFORE) if (before == "nothing") == ("kept" not in (a, b))
]


@pytest.mark.parametrize("used", USED)
@pytest.mark.parametrize(("before", "a", "b"), CELLS)
def test_the_sides_give_lists(before: str, a: str, b: str, used: str, tmp_path: Any) -> None:
    f = program(before, a, b, used, tmp_path)
    compiled = ag.function(f)
    if used == "longer" and {a, b} in ({"literal", "slice"}, {"empty", "kept"}) and before != "some":  # of one length: either may have another name
        with pytest.raises(ag.AutographError, match="data-dependent"):
            compiled(jnp.asarray(X), 1.0)
        return
    for p in (1.0, -1.0, 0.4):
        expected = f(jnp.asarray(X), p)
        got = compiled(jnp.asarray(X), p)
        np.testing.assert_allclose(np.asarray(jax.tree.leaves(got), np.float32), np.asarray(jax.tree.leaves(expected), np.float32), rtol=1e-6)
        assert jax.tree.structure(got) == jax.tree.structure(expected)


def second_name(x: Any, p: Any) -> Any:
    found = [x[0]]
    other = found
    if p > 0:
        found = [v for v in x if v > 0.2]
    found.append(x[1])
    return len(found), len(other)


def second_name_in_a_list(x: Any, p: Any) -> Any:
    found: list[Any] = []
    held = [found]
    if p > 0:
        found = [x[0], x[1]]
    found.append(x[1])
    return len(found), len(held[0])


def second_name_in_an_object(x: Any, p: Any) -> Any:
    box = Box()
    if p > 0:
        found = [x[0], x[1]]
    else:
        found = box.items
    found.append(x[1])
    return len(found), len(box.items)


def made_and_held(x: Any, p: Any) -> Any:
    box = Box()
    if p > 0:
        found = [x[0], x[1]]
        box.items = found
    else:
        found = [x[0]]
        box.items = found
    found.append(x[1])
    return len(found), len(box.items)


def the_callers(x: Any, p: Any, given: Any) -> Any:
    found = given
    if p > 0:
        found = [x[0], x[1]]
    found.append(x[1])
    return len(found)


def the_modules(x: Any, p: Any) -> Any:
    found = SHARED
    if p > 0:
        found = [x[0], x[1]]
    SHARED.append(x[0])
    return len(found), len(SHARED)


def an_attributes(x: Any, p: Any) -> Any:
    box = Box()
    found = box.items
    if p > 0:
        found = [x[0], x[1]]
    box.items.append(x[0])
    return len(found), len(box.items)


def a_closures(x: Any, p: Any) -> Any:
    found: list[Any] = []

    def put() -> None:
        found.append(x[0])

    if p > 0:
        found = [x[0], x[1]]
    put()
    return len(found), 0


SHARED: list[Any] = []


class Box:
    def __init__(self) -> None:
        self.items: list[Any] = []


HELD = [second_name, second_name_in_a_list, second_name_in_an_object, made_and_held, the_modules, an_attributes, a_closures]


@pytest.mark.parametrize("f", HELD)
def test_another_name_sees_it_or_it_is_refused(f: Any) -> None:
    for p in (1.0, -1.0):
        SHARED.clear()
        try:
            got = ag.function(f)(jnp.asarray(X), p)
        except ag.AutographError as error:
            assert error.id in ("AG202", "AG405", "AG407")
        else:
            SHARED.clear()
            assert [int(v) for v in got] == [*f(jnp.asarray(X), p)]


def test_a_list_of_the_caller_is_changed_or_it_is_refused() -> None:
    for p in (1.0, -1.0):
        given, own = [jnp.float32(1.0)], [jnp.float32(1.0)]
        expected = the_callers(jnp.asarray(X), p, own)
        try:
            got = ag.function(the_callers)(jnp.asarray(X), p, given)
        except ag.AutographError as error:
            assert error.id in ("AG202", "AG405", "AG407")
        else:
            assert (int(got), len(given)) == (expected, len(own))


def test_in_a_loop_and_a_helper() -> None:
    def chosen(x: Any, limit: Any) -> Any:
        return [v for v in x if v > limit] if limit > 0.3 else [v for v in x if v < limit]

    def f(x: Any) -> Any:
        total = 0.0
        for limit in x:
            total += len(chosen(x, limit)) + sum(chosen(x, limit), 0.0)
        return total

    np.testing.assert_allclose(ag.function(f)(jnp.asarray(X)), f(jnp.asarray(X)), rtol=1e-6)


def test_items_of_two_kinds_are_refused() -> None:
    def f(x: Any, p: Any) -> Any:
        if p > 0:
            found = [x]
        else:
            found = [x[0], x[1]]
        return len(found)

    with pytest.raises(ag.AutographError) as caught:
        ag.function(f)(jnp.asarray(X), 1.0)
    assert caught.value.id == "AG202"
