"""Calls outside of every trace of functions that store: arrays of JAX's wherever the arguments hold them, as NumPy's, or AG407.

A call that stores into no array looks at a few items of its arguments only, whatever they hold.
"""

from __future__ import annotations

import copy
import gc
import sys
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag


class Box:
    def __init__(self, **held: Any) -> None:
        vars(self).update(held)


class Slots:
    __slots__ = ("rows",)

    def __init__(self, rows: Any) -> None:
        self.rows = rows


def pair() -> list[Any]:
    a, b = np.arange(3.0), np.arange(3.0) + 10
    return [a, b]


# What holds two arrays, where a call that begins finds them.
NEAR: dict[str, Callable[[], Any]] = {
    "list": pair,
    "attribute": lambda: Box(rows=pair()),
    "in_attributes": lambda: Box(inner=Box(inner=Box(rows=pair()))),
    "in_dict": lambda: {"a": {"b": {"rows": pair()}}},
    "in_list": lambda: [[[pair()]]],
    "slots": lambda: Box(inner=Slots(pair())),
    "default": lambda: Box(inner=defaultdict(list, rows=pair())),
    "twice": lambda: Box(rows=(p := pair()), other=Box(rows=p, same=[p[0]])),
}
# Where it does not look; in the last one the same array is found and stands deep as well.
FAR: dict[str, Callable[[], Any]] = {
    "deep": lambda: [[[[[[[[pair()]]]]]]]],
    "behind": lambda: Box(first=[[k] for k in range(40)], more={k: [k] for k in range(40)}, a=[[1], [2.0], [{}]], b=[{}], inner=Box(rows=pair())),
    "both": lambda: Box(rows=(p := pair()), inner=[[[[[[[p[0], p[1]]]]]]]]),
}


def rows_of(x: Any) -> Any:
    while True:
        if isinstance(x, list):
            if not isinstance(x[0], list):
                return x
            x = x[0]
        elif isinstance(x, dict):
            x = next(iter(x.values()))
        else:
            x = x.rows if hasattr(x, "rows") else x.inner


def by_name(h: Any) -> Any:
    r = rows_of(h)[0]
    r[1] = 5
    return r


def by_path(h: Any) -> Any:
    rows = rows_of(h)
    rows[0][1] = 5
    rows[0][2] += 1
    return rows[0]


def in_a_loop(h: Any) -> Any:
    for k, r in enumerate(rows_of(h)):
        r[k] += 2
    return rows_of(h)


def over_a_copy(h: Any) -> Any:
    for r in list(rows_of(h)):
        r[0] = 7
    return rows_of(h)[1]


def a_second_name_later(h: Any) -> Any:
    r = rows_of(h)[0]
    r[1] = 5
    s = rows_of(h)[0]
    s[2] = 6
    return r, s


def two_names_before(h: Any) -> Any:
    r = rows_of(h)[0]
    s = rows_of(h)[0]
    r[1] = 5
    return r, s


def another_before(h: Any) -> Any:
    r, s = rows_of(h)
    r[1] = 5
    s[0] = r[1] + 1
    return r, s


def swapped(h: Any) -> Any:
    rows = rows_of(h)
    r, s = rows
    for k in range(3):
        r[k] = s[k] * 2
        r, s = s, r
    return rows


def by_a_helper(h: Any) -> Any:
    put(rows_of(h), 1, 9)
    return rows_of(h)


def put(rows: Any, i: int, v: float) -> None:
    rows[0][i] = v


def to_a_helper(h: Any) -> Any:
    put_one(rows_of(h)[1], 9)
    return rows_of(h)


def put_one(r: Any, v: float) -> None:
    r[0] = v


def local_list_before(h: Any) -> Any:
    mine = [*rows_of(h), *rows_of(h)]
    rows = rows_of(h)
    rows[0][0] = 3
    mine[3][1] = 4
    return mine


def kept_then_put_away(h: Any) -> Any:
    r = rows_of(h)[0]
    mine: list[Any] = []
    rows = rows_of(h)  # all are looked through
    rows[1][0] = 3
    mine.append(r)
    r = None
    rows = rows_of(h)
    rows[0][0] = 4
    return mine


def in_a_closure(h: Any) -> Any:
    r = rows_of(h)[0]

    def peek() -> Any:
        return r[0]

    rows = rows_of(h)
    rows[0][0] = 4
    return peek()


def in_a_comprehension(h: Any) -> Any:
    return [(put_one(r, 9), r[0]) for r in rows_of(h)]


def in_a_tuple(h: Any) -> Any:
    both = tuple(rows_of(h))
    rows = rows_of(h)
    rows[0][0] = 4
    return both[0][0]


def replaced(h: Any) -> Any:
    rows = rows_of(h)
    rows[0] = rows[0] * 2
    old = rows[0]
    rows[0] = rows[0] + 1
    old[0] = 100
    return old, rows


def rebound(h: Any) -> Any:
    r = rows_of(h)[0]
    h = None
    r[0] = 8
    return r


def whole(h: Any) -> Any:
    rows = rows_of(h)
    rows[0][:] = rows[1]
    rows[1][0] = -1
    return rows[0]


def returned_inside(h: Any) -> Any:
    rows = rows_of(h)
    rows[0][1:] = 0
    return {"rows": rows, "first": rows[0]}


def raises_after(h: Any) -> Any:
    rows = rows_of(h)
    rows[0][0] = 4
    raise ValueError("after a store")


PROGRAMS = [
    by_name, by_path, in_a_loop, over_a_copy, a_second_name_later, two_names_before, another_before, swapped, by_a_helper, to_a_helper,
    local_list_before, kept_then_put_away, in_a_closure, in_a_comprehension, in_a_tuple, replaced, rebound, whole, returned_inside, raises_after,
]  # fmt: skip


ARRAY = type(jnp.zeros(3))


def filled(x: Any, seen: dict[int, Any]) -> Any:
    """The same with arrays of JAX's for NumPy's."""
    if id(x) in seen:
        return seen[id(x)]
    if isinstance(x, np.ndarray):
        seen[id(x)] = jnp.asarray(x)
        return seen[id(x)]
    seen[id(x)] = x
    if isinstance(x, list):
        x[:] = [filled(v, seen) for v in x]
    elif isinstance(x, dict):
        x.update({k: filled(v, seen) for k, v in x.items()})
    elif isinstance(x, (Box, Slots)):
        for name in ("rows", "inner", "other", "same"):
            if hasattr(x, name):
                setattr(x, name, filled(getattr(x, name), seen))
    return x


def shown(x: Any) -> Any:
    """Values and classes of what something holds."""
    if isinstance(x, (np.ndarray, jax.Array)):
        assert type(x) in (np.ndarray, ARRAY), "an object of ours is left"
        return np.asarray(x).tolist()
    if isinstance(x, (list, tuple)):
        return [shown(v) for v in x]
    if isinstance(x, dict):
        return {k: shown(v) for k, v in x.items()}
    if isinstance(x, (Box, Slots)):
        return {name: shown(getattr(x, name)) for name in ("rows", "inner", "other", "same") if hasattr(x, name)}
    return x


def outcome(f: Callable[[Any], Any], h: Any) -> Any:
    try:
        out = shown(f(h))
    except ag.AutographError as error:
        return error
    except ValueError as error:
        out = type(error)
    gc.collect()
    return out, shown(h)


@pytest.mark.parametrize("holder", NEAR)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_what_is_found_is_as_numpys(f: Callable[[Any], Any], holder: str) -> None:
    h = NEAR[holder]()
    want = outcome(f, copy.deepcopy(h))
    assert outcome(ag.convert(f), filled(h, {})) == want


@pytest.mark.parametrize("holder", FAR)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_what_is_not_found_is_right_or_refused(f: Callable[[Any], Any], holder: str) -> None:
    h = FAR[holder]()
    want = outcome(f, copy.deepcopy(h))
    got = outcome(ag.convert(f), filled(h, {}))
    if isinstance(got, ag.AutographError):
        assert got.id == "AG407"
    else:
        assert got == want


def count_calls(f: Callable[..., Any], *args: Any) -> int:
    """How many calls of functions, in Python and in C, a call makes."""
    found = 0

    def count(_: Any, event: str, __: Any) -> None:
        nonlocal found
        found += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        f(*args)
    finally:
        sys.setprofile(before)
    return found


def put_item(a: Any, i: int) -> None:
    a[i] = 0


def put_inside(g: Any, i: int) -> None:
    g[i][0] += 1


def put_held(b: Any, i: int) -> None:
    b.a[i] = 1


@pytest.mark.parametrize(
    ("f", "make"),
    [
        (put_item, lambda n: list(range(n))),
        (put_item, lambda n: {k: k for k in range(n)}),
        (put_item, lambda n: np.zeros(n)),
        (put_inside, lambda n: [[k, k] for k in range(n)]),
        (put_inside, lambda n: [np.zeros(2) for _ in range(n)]),
        (put_held, lambda n: Box(a=list(range(n)), b=[[k] for k in range(n)])),
        (put_held, lambda n: Box(a=[0] * 9, w=jnp.zeros(3), b=list(range(n)))),
    ],
)
def test_a_call_costs_the_same_whatever_its_arguments_hold(f: Callable[..., Any], make: Callable[[int], Any]) -> None:
    g = ag.convert(f)
    few, many = make(10), make(10_000)
    g(few, 3)
    g(many, 3)
    assert count_calls(g, few, 3) == count_calls(g, many, 3)
