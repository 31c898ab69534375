"""Lists, dicts and sets that a compiled function makes, leaves in objects or variables, and changes afterwards."""

from __future__ import annotations

import collections
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag

V = [1.0, -2.0, 3.0]
SHARED: list[Any] = []
Program = Callable[..., Any]


class Child:
    def __init__(self) -> None:
        self.x = 0.0


@jax.tree_util.register_dataclass
@dataclass
class Point:
    x: Any
    y: Any = 0.0


class Box:
    def __init__(self) -> None:
        self.a: Any = [0.0]
        self.b: Any = [1.0]
        self.d: Any = {}
        self.n: Any = 0.0
        self.t: Any = (1.0, [2.0])
        self.c: Any = None

    def flush(self) -> None:
        self.n = self.n + sum(self.a)
        self.a = []


def filled(o, v):
    o.a = []
    o.a.append(v[0])


def in_two_places(o, v):
    o.a = o.b = []
    o.a.append(v[0])


def in_each_other(o, v):
    x = [v[0]]
    o.a = x
    o.b = [x]
    x.append(v[1])


def in_a_place_and_the_result(o, v):
    o.a = []
    o.a.append(v[0])
    return o.a


def in_a_part_of_the_result(o, v):
    x = []
    o.a = x
    x.append(v[0])
    return {"x": (x, 1)}


def nested(o, v):
    o.d = {"l": [[]], "m": {}}
    o.d["l"][0].append(v[0])
    o.d["m"]["k"] = v[1]
    o.d["l"].append([v[2]])


def exchanged(o, v):
    o.a, o.b = o.b, o.a
    o.a.append(v[0])


def grown(o, v):
    o.a = []
    for x in v:
        if x > 0:
            o.a.append(x)
    o.n = sum(o.a)


def grown_and_given_up(o, v):
    for x in v:
        if x > 0:
            o.a.append(x)
    o.flush()
    o.a.append(v[0])


def given_up_in_turns(o, v):
    for k in range(3):
        o.a.append(v[k])
        if len(o.a) > 2:
            o.flush()


def stored_into(o, v):
    o.a = []
    for x in v:
        o.a.append(x)
    if v[0] > 0:
        o.a[0] = v[1]
    return len(o.a)


def of_the_module(o, v):
    o.a = SHARED[0]
    o.a.append(v[0])


def of_the_module_in_a_new_one(o, v):
    o.a = [SHARED[0]]
    o.a[0].append(v[0])


def added_to_one_of_the_module(o, v):
    SHARED.append([v[0]])
    SHARED[-1].append(v[1])


def in_a_tuple(o, v):
    o.t = (v[0], [v[1]])
    o.t[1].append(v[2])


def before_and_after(o, v):
    old = o.a
    o.a = []
    o.a.append(v[0])
    old.append(v[1])
    o.b = old


def a_set(o, v):
    o.d = set()
    o.d.add(1)
    o.d.add(2)


def in_every_turn(o, v):
    for k in range(3):
        o.a = []
        o.a.append(v[k])


def on_each_side(o, v):
    if v[0] > 0:
        o.a = [v[0]]
        o.a[0] += 1
    else:
        o.a = [v[1]]


def by_a_function_inside(o, v):
    def again():
        o.a = []
        o.a.append(v[0])

    again()
    again()


def after_a_possible_error(o, v):
    if v[0] > 0:
        raise ValueError("x")
    o.a = []
    o.a.append(v[1])


def before_a_possible_error(o, v):
    o.a.append(v[0])
    if v[1] < 0:
        raise ValueError("x")
    o.a = []
    o.a.append(v[1])


def a_counter(o, v):
    o.d = collections.Counter(o.d)
    o.d["x"] += v[0]


def an_ordered_dict(o, v):
    o.d = collections.OrderedDict(a=v[0], b=v[1])
    o.d["c"] = v[2]
    o.d.move_to_end("a")


def a_dict_with_a_default(o, v):
    o.d = collections.defaultdict(list)
    o.d["y"].append(v[1])
    o.n = o.d["y"][0]


def a_deque(o, v):
    o.a = collections.deque(maxlen=2)
    for k in range(3):
        o.a.append(v[k])


def by_setdefault(o, v):
    o.d.setdefault("k", []).append(v[0])


def rows_that_are_one(o, v):
    row = [0.0] * 2
    o.a = [row, row]
    o.a[1][0] = v[0]


def moved_and_replaced(o, v):
    o.a, o.d["z"] = [v[0]], o.a
    o.d["z"].append(v[1])


def an_object_that_is_a_pytree(o, v):
    o.c = Point(v[0])
    o.c.y = v[1]
    return o.c


def one_in_two_places(o, v):
    o.a = [Point(v[0])]
    o.c = o.a[0]
    o.c.y = v[1]


PROGRAMS = [
    filled, in_two_places, in_each_other, in_a_place_and_the_result, in_a_part_of_the_result, nested, exchanged, grown, grown_and_given_up,
    given_up_in_turns, stored_into, of_the_module, of_the_module_in_a_new_one, added_to_one_of_the_module, in_a_tuple, before_and_after, a_set,
    in_every_turn, on_each_side, by_a_function_inside, after_a_possible_error, before_a_possible_error, a_counter,
    an_ordered_dict, a_dict_with_a_default, a_deque, by_setdefault, rows_that_are_one, moved_and_replaced,
    an_object_that_is_a_pytree, one_in_two_places,
]  # fmt: skip


def shape(x: Any, known: dict[int, int]) -> Any:
    """What a value is made of, and which parts of it are one object."""
    if isinstance(x, tuple):
        return tuple(shape(v, known) for v in x)
    if isinstance(x, (list, dict, set, collections.deque, Box, Point)):
        if id(x) in known:
            return f"object {known[id(x)]}"
        known[id(x)] = len(known)
    if isinstance(x, (Box, Point)):
        return {k: shape(v, known) for k, v in vars(x).items()}
    if isinstance(x, dict):
        return type(x).__name__, [(k, shape(v, known)) for k, v in x.items()]
    if isinstance(x, (list, collections.deque)):
        return type(x).__name__, [shape(v, known) for v in x]
    return x if x is None or isinstance(x, (str, set)) else np.asarray(x).tolist()


def twice(f: Program, v: Any) -> list[Any]:
    SHARED[:] = [[0.0], [1.0]]
    o = Box()
    before = o.a, o.b, o.d, o.t
    found = []
    for _ in range(2):
        out = error = None
        try:
            out = f(o, v)
        except ValueError as e:
            error = str(e)
        found.append((shape((out, o, SHARED, before), {}), error))
    return found


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_as_python(f: Program) -> None:
    assert twice(ag.function(f), jnp.asarray(V)) == twice(f, np.asarray(V, np.float32))


def test_each_call_makes_its_own() -> None:
    fill = ag.function(filled)
    one, other = Box(), Box()
    fill(one, jnp.asarray(V))
    kept = one.a
    fill(one, jnp.asarray(V))
    fill(other, jnp.asarray(V))
    kept.append(5.0)
    assert len(one.a) == len(other.a) == 1 and one.a is not other.a


def test_a_new_object_is_refused() -> None:
    @ag.function
    def f(o, v):
        o.c = Child()
        o.c.x = 2.0

    o = Box()
    with pytest.raises(ag.StagingError, match="AG401 `Box.c` would keep a `Child` that is made when this function is compiled"):
        f(o, jnp.asarray(V))
    assert o.c is None


@pytest.mark.parametrize("before", [None, np.zeros(3), jnp.zeros(3)], ids=["none", "NumPy's", "values"])
def test_the_refusal_is_at_the_place_of_the_change(before: Any) -> None:
    @ag.function
    def f(o, v):
        o.c = Child()  # here
        return v

    o = Box()
    o.c = before
    with pytest.raises(ag.StagingError, match="AG401") as refused:
        f(o, jnp.asarray(V))
    assert "o.c = Child()  # here" in str(refused.value)


def test_a_change_behind_a_possible_error_is_refused() -> None:
    @ag.function
    def f(o, v):
        o.a = []
        o.a.append(v[0])
        if v[0] > 5:
            raise ValueError("x")
        o.a.append(v[1])

    o = Box()
    with pytest.raises(ag.StagingError, match="AG405 `o.a`, a `list`, .*a data-dependent error before it .* would prevent that it becomes longer"):
        f(o, jnp.asarray(V))
    assert o.a == [0.0]


def _list_of_one(n: Any) -> Any:
    states, out = [jnp.zeros(3)], jnp.zeros(5)
    for i in range(n):
        states = [states[0] + 1.0]
        out[i] = states[0].sum()
    return out, states


def _dict_in_while(n: Any) -> Any:
    state, out, i = {"h": jnp.zeros(3)}, np.zeros(5, np.float32), 0
    while i < n:
        state = {"h": state["h"] + 1.0}
        out[i] = state["h"].sum()
        i += 1
    return out, state


def _moved_and_stored_into(n: Any) -> Any:
    pair, out = [jnp.zeros(2), jnp.ones(2)], jnp.zeros(5)
    for i in range(n):
        pair = [pair[1], pair[0] + pair[1]]
        out[i] = pair[0].sum()
        pair[1][0] = 5.0
    return out, pair


@pytest.mark.parametrize("f", [_list_of_one, _dict_in_while, _moved_and_stored_into], ids=lambda f: f.__name__[1:])
def test_a_new_container_in_each_turn_beside_a_store(f):
    for n in (0, 1, 4):
        for got, want in zip(jax.tree.leaves(ag.function(f)(n)), jax.tree.leaves(ag.convert(f)(n)), strict=True):
            np.testing.assert_allclose(got, want)
