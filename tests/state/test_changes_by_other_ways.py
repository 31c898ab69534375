"""Containers and objects that change otherwise than by a statement on them: functions of `operator`, methods of the class, keys that a read makes."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import operator
import random
from collections import Counter, UserDict, UserList, defaultdict, deque
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from tests.sourced import define


class Thing:
    a: Any


def by_setitem(d: Any, l: Any, o: Any, x: Any) -> Any:
    if x > 0:
        operator.setitem(d, "a", 1.0)
    return d["a"]


def by_the_method_of_dict(d: Any, l: Any, o: Any, x: Any) -> Any:
    if x > 0:
        dict.__setitem__(d, "a", 1.0)
    return d["a"]


def by_the_setattr_of_object(d: Any, l: Any, o: Any, x: Any) -> Any:
    if x > 0:
        object.__setattr__(o, "a", x + 1)
    return o.a


def by_its_own_setattr(d: Any, l: Any, o: Any, x: Any) -> Any:
    if x > 0:
        o.__setattr__("a", x + 1)
    return o.a


def by_operators_in_place(d: Any, l: Any, o: Any, x: Any) -> Any:
    if x > 0:
        operator.iconcat(l, [1])
        l.pop()
        operator.setitem(l, 0, x)
    return operator.add(l[0], 1)


def by_methods_of_list(d: Any, l: Any, o: Any, x: Any) -> Any:
    list.append(l, x)
    list.sort(l, key=lambda v: -v)
    operator.delitem(d, "b")
    return l[0] + len(d)


def a_deque(d: Any, l: Any, o: Any, x: Any) -> Any:
    q = deque([x, x])
    if x > 0:
        q[0] = x + 1
    q.appendleft(q.pop() + x)
    return q[0]


def a_bytearray(d: Any, l: Any, o: Any, x: Any) -> Any:
    q = bytearray(b"ab")
    q[0] = 5
    return q[0] + x


def a_counter(d: Any, l: Any, o: Any, x: Any) -> Any:
    c = Counter("aab")
    if x > 0:
        c["a"] += 1
    return c.total() + c["z"]


def a_key_that_is_there(d: Any, l: Any, o: Any, x: Any) -> Any:
    e: Any = defaultdict(float)
    e["q"] += x
    if x > 0:
        e["q"] += x
    return len(e) + e["q"]


WORK = [
    by_setitem, by_the_method_of_dict, by_the_setattr_of_object, by_its_own_setattr, by_operators_in_place, by_methods_of_list, a_deque, a_bytearray,
    a_counter, a_key_that_is_there,
]  # fmt: skip


def outcome(f: Callable[..., Any], x: Any) -> Any:
    o, d, l = Thing(), {"a": 0.0, "b": 1.0}, [3.0, 1.0]
    o.a = 0.5
    out = float(f(d, l, o, x))
    return out, {k: float(v) for k, v in d.items()}, [float(v) for v in l], float(o.a)


@pytest.mark.parametrize("x", [-1.0, 1.0])
@pytest.mark.parametrize("f", WORK, ids=lambda f: f.__name__)
def test_as_in_python(f: Callable[..., Any], x: float) -> None:
    assert outcome(ag.function(f), jnp.float32(x)) == outcome(f, x)


def a_user_list(d: Any, l: Any, o: Any, x: Any) -> Any:
    u = UserList([0.0, 1.0])
    if x > 0:
        u[0] = 5.0
    return u[0]


def a_key_that_a_read_makes(d: Any, l: Any, o: Any, x: Any) -> Any:
    e: Any = defaultdict(float)
    if x > 0:
        y = e["q"]
    return len(e)


def a_key_that_an_operator_makes(d: Any, l: Any, o: Any, x: Any) -> Any:
    e: Any = defaultdict(float)
    if x > 0:
        e["q"] += x
    return len(e)


def a_key_that_is_made_and_set(d: Any, l: Any, o: Any, x: Any) -> Any:
    e: Any = defaultdict(float)
    if x > 0:
        e["q"] = e["q"] + 1
    return len(e)


@pytest.mark.parametrize("f", [a_user_list, a_key_that_a_read_makes, a_key_that_an_operator_makes, a_key_that_is_made_and_set])
def test_on_one_side_only_it_is_refused(f: Callable[..., Any]) -> None:
    with pytest.raises(ag.StagingError, match="AG405"):
        outcome(lambda d, l, o, x: jax.jit(lambda x: ag.convert(f)(d, l, o, x))(x), jnp.float32(-1))


@pytest.mark.parametrize("x", [-1, 1])
@pytest.mark.parametrize("f", [a_key_that_a_read_makes, a_key_that_an_operator_makes, a_key_that_is_made_and_set])
def test_in_a_call_keys_on_one_side_are_pythons(f: Callable[..., Any], x: int) -> None:
    assert outcome(ag.function(f), jnp.float32(x)) == outcome(f, np.float32(x))


def shared_and_left_early(a: Any, l: Any) -> Any:
    def g(e: Any) -> None:
        l[0] += e

    if a > 3:
        return a
    l.append(a)
    return a


def shared_in_a_branch(a: Any, l: Any) -> Any:
    def g(e: Any) -> None:
        l[0] += e

    if a > 3:
        l.append(a)
    g(2)
    return len(l)


def bound_by_a_function_inside(a: Any, l: Any) -> Any:
    def g(e: Any) -> None:
        nonlocal l
        l = [e]

    if a > 3:
        l.append(a)
    return a


@pytest.mark.parametrize("f", [shared_and_left_early, shared_in_a_branch, bound_by_a_function_inside])
def test_a_list_of_the_caller_that_only_a_shared_variable_holds_does_not_grow(f: Callable[..., Any]) -> None:
    items = [1, 2, 3]
    with pytest.raises(ag.StagingError, match="AG405 the list .* comes from outside of the function and becomes longer or shorter"):
        ag.function(f)(jnp.int32(5), items)
    assert items == [1, 2, 3]


def test_truth_values_are_added_as_numbers() -> None:
    assert ag.function(lambda v: sum(v))(jnp.array([True, True, False, True])) == 3
    assert ag.function(lambda v: sum(v, 10))(jnp.array([True, True])) == 12
    assert ag.function(lambda v: sum(v > 1))(jnp.array([1, 2, 3])) == 2
    assert ag.function(lambda v: sum(v))(jnp.ones((3, 2), bool)).tolist() == [3, 3]
    small = ag.function(lambda v: sum(v))(jnp.array([100, 100], jnp.int8))
    assert small == -56 and small.dtype == jnp.int8


class Remembers:
    def __init__(self, x: Any) -> None:
        self.x, self.made = x, 0

    @functools.cached_property
    def doubled(self) -> Any:
        self.made += 1
        return self.x * 2


def test_a_cached_property_of_an_argument() -> None:
    given, want = Remembers(jnp.float32(2)), Remembers(2.0)

    def f(m: Any) -> Any:
        return m.doubled + m.doubled

    g = ag.function(f)
    for _ in range(2):
        assert g(given) == f(want) == 8
        assert {k: float(v) for k, v in vars(given).items()} == {k: float(v) for k, v in vars(want).items()}


def test_a_function_that_stays_python_leaves_no_tracer() -> None:
    o = Thing()
    o.a = 0.0

    @ag.function
    def f(o: Any, x: Any) -> Any:
        o.a = o.a + x
        return len(vars(o))

    assert f(o, 1.0) == 1 and o.a == 1 and f(o, 2.0) == 1 and o.a == 3


held = Thing()
counts = [0.0]
total = 0.0


def sets_an_attribute(x: Any) -> Any:
    locals()
    held.a = held.a + x
    return held.a


def makes_an_attribute(x: Any) -> Any:
    locals()
    held.inner.made = x
    return x


def appends_and_sets_an_item(x: Any) -> Any:
    locals()
    counts[0] += x
    counts.append(x)
    return x


def binds_a_global_variable(x: Any) -> Any:
    global total
    locals()
    total += x
    return x


def binds_a_variable_of_a_function_around(x: Any) -> Any:
    n, k = 0.0, [0.0]

    def inner() -> None:
        nonlocal n
        locals()
        n, k[0] = x, x + 1

    inner()
    return n, k[0]


def jumps_out_of_a_finally(x: Any) -> Any:
    try:
        return x
    finally:
        held.a = x
        return x + 1  # noqa: B012


def yields_inside_of_an_expression(x: Any) -> Any:
    sums = accumulates(x)
    next(sums)
    return sums.send(x) + sums.send(x * 2)


def accumulates(x: Any) -> Any:
    held.a = x
    while True:
        held.a += yield held.a
        counts.append(held.a)


def in_a_branch(x: Any) -> Any:
    if x > 1:
        sets_an_attribute(x)
        binds_a_global_variable(x)
    return x


def in_a_loop(x: Any) -> Any:
    while x < 8:
        x = x + sets_an_attribute(x)
    return x


STAYING = [
    sets_an_attribute, makes_an_attribute, appends_and_sets_an_item, binds_a_global_variable, binds_a_variable_of_a_function_around,
    jumps_out_of_a_finally, yields_inside_of_an_expression, in_a_branch, in_a_loop,
]  # fmt: skip


@pytest.mark.parametrize("f", STAYING, ids=lambda f: f.__name__)
def test_what_a_function_that_stays_python_changes_outside(f: Callable[[Any], Any]) -> None:
    def run(g: Callable[[Any], Any], number: Callable[[float], Any]) -> Any:
        global total
        held.a, held.inner, counts[:], total = 0.0, Thing(), [0.0], 0.0
        out = [g(number(3.0)), g(number(0.5))]
        return jax.tree.map(float, (out, held.a, vars(held.inner), counts, total))

    assert run(ag.function(f), jnp.float32) == run(f, float)


def through_the_dict(o: Any, x: Any) -> Any:
    o.__dict__["a"] -= 1
    if x > 0:
        o.a = x
    vars(o)["b"] = o.a + x
    return o.b


def through_the_dict_in_a_loop(o: Any, x: Any) -> Any:
    while o.a < 20:
        vars(o)["a"] += 2
        o.b += o.a
        o.__dict__["b"] += 1
        o.a += 3
    return "a" in dir(o)


def of_a_new_object(o: Any, x: Any) -> Any:
    made = Thing()
    made.__dict__.update(a=x, n=0.0)
    made.n += 1
    while made.n < x:
        made.__dict__["n"] *= 2
        made.a = made.n + 1
    return made.a, made.n


@pytest.mark.parametrize("f", [through_the_dict, through_the_dict_in_a_loop, of_a_new_object])
@pytest.mark.parametrize("x", [3.0, -1.0])
def test_an_attribute_that_is_an_item_of_the_dict_of_its_object(f: Callable[[Any, Any], Any], x: float) -> None:
    def run(g: Callable[[Any, Any], Any], x: Any) -> Any:
        o = Thing()
        o.a, o.b = 1.0, 0.0
        return jax.tree.map(float, (g(o, x), vars(o)))

    assert run(ag.function(f), jnp.float32(x)) == run(f, x)


def test_an_attribute_and_the_dict_on_two_sides_of_a_branch() -> None:
    o = Thing()
    o.a = 0.0

    @ag.function
    def f(x: Any) -> Any:
        if x > 0:
            o.a = x
        else:
            vars(o)["a"] = x * 2
        return o.a

    with pytest.raises(ag.StagingError, match="AG401 `Thing.a` is changed in a compiled branch, and the `__dict__` that holds it is changed too"):
        f(1.0)
    assert o.a == 0.0


class StandsForAnother:
    """As lazy objects of web frameworks: whatever it is asked, it asks something that is not there."""

    @property
    def __class__(self) -> Any:
        raise RuntimeError("not there")


def test_global_variables_that_a_function_does_not_name_are_not_asked() -> None:
    space: dict[str, Any] = {"lazy": StandsForAnother(), "a": jnp.ones(2)}
    f = define(
        """
        def f(x):
            a[0] = x
            if x > 0:
                return a.sum()
            return x
    """,
        **space,
    )
    assert ag.function(f)(2.0) == 3


def test_what_an_error_leaves_changed_without_telling() -> None:
    o = Thing()
    o.a = 0.0

    @ag.function
    def f(o: Any, x: Any) -> Any:
        vars(o)["a"] = x
        if x > 0:
            return locals()
        return x

    with pytest.raises(ag.StagingError, match="AG501"):
        f(o, 1.0)
    assert o.a == 0.0


def test_an_attribute_of_a_class_that_the_function_makes() -> None:
    @ag.function
    def f(x: Any) -> Any:
        class Local:
            n = 0.0

        Local.n = x
        return Local.n

    with pytest.raises(ag.StagingError, match="AG401 `Local.n` is changed, and what holds it is created again in each call"):
        f(1.0)


@dataclasses.dataclass
class Point:
    x: Any
    y: Any


@dataclasses.dataclass(order=True)
class Job:
    due: Any
    name: str = dataclasses.field(default="", compare=False)


def compared(a: Any, b: Any) -> Any:
    p, q = Point(a, b), Point(b, a)
    same = 1 if p == q else 0
    other = 1 if p != q else 0
    first = Job(a, "a").due if Job(a, "a") <= Job(b, "b") else -1
    return same, other, first, 1 if p in [q, Point(a, 2.0)] else 0, p == 3, 1 if Job(a) > Job(b) else 0


@pytest.mark.parametrize("values", [(2.0, 2.0), (1.0, 3.0), (3.0, 1.0), (1.0, 2.0)])
def test_dataclasses_compare_their_fields(values: tuple[float, float]) -> None:
    assert [float(x) for x in ag.function(compared)(*map(jnp.float32, values))] == [float(x) for x in compared(*values)]
    assert Point(1, 2) == Point(1, 2) and Point(1, 2) != Point(1, 3) and Job(1, "a") == Job(1, "b") and Job(1) < Job(2)
    with pytest.raises(TypeError, match="not supported between instances of 'Job' and 'int'"):
        Job(1) < 2


given: dict[str, Any] = {}
several: list[Any] = []
tally: Counter[str] = Counter()


def appended_by_map(x: Any) -> Any:
    list(map(several.append, [x, 2 * x]))
    deque(map(several.append, [x]), maxlen=0)
    jax.tree.map(several.append, [x])
    return several[0]


def set_by_map(x: Any) -> Any:
    if x > 1:
        list(map(given.__setitem__, ["a", "b"], [x, 1.0]))
    list(itertools.starmap(given.__setitem__, [("c", x)]))
    return given["a"]


def attributes_set_by_map(x: Any) -> Any:
    set_a = functools.partial(setattr, held, "a")
    if x > 1:
        set_a(x)
    list(map(setattr, [held], ["b"], [x]))
    return held.a


def counted(x: Any) -> Any:
    if x > 1:
        tally.update("a")
    for _ in range(3):
        tally.update({"b": 1})
    tally.subtract({"b": x})
    return tally["a"]


@pytest.mark.parametrize("f", [appended_by_map, set_by_map, attributes_set_by_map, counted])
@pytest.mark.parametrize("x", [3.0, 0.5])
def test_builtin_methods_that_are_handed_on(f: Callable[[Any], Any], x: float) -> None:
    def run(g: Callable[[Any], Any], x: Any) -> Any:
        several.clear()
        given.update(a=0.0, b=0.0, c=0.0)
        held.a = held.b = 0.0
        tally.clear()
        tally.update(a=1, b=1)
        return jax.tree.map(float, (g(x), several, dict(given), held.a, held.b, dict(tally)))

    assert run(ag.function(f), jnp.float32(x)) == run(f, x)


class Items(dict):  # type: ignore[type-arg]
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


class Cached:
    @functools.lru_cache  # noqa: B019
    def half(self, k: int) -> float:
        return k * 0.5


settings = Items(rate=1.0)
cached = Cached()


@pytest.mark.parametrize("x", [3.0, -1.0])
def test_a_dict_of_which_the_items_are_attributes(x: float) -> None:
    def f(x: Any) -> Any:
        if x > 0:
            settings.rate = x
        settings.rate += cached.half(1)
        made = Items(n=x)
        made.n = made.n + 1
        return settings.rate, made["n"]

    def run(g: Callable[[Any], Any], x: Any) -> Any:
        settings.rate = 1.0
        return jax.tree.map(float, (g(x), dict(settings)))

    assert run(ag.function(f), jnp.float32(x)) == run(f, x)


def test_containers_of_the_standard_library_keep_no_traced_value() -> None:
    held_items, held_keys = UserList([1.0]), UserDict(a=1.0)

    def appends(x: Any) -> Any:
        held_items.append(x)
        return x

    def sets(x: Any) -> Any:
        held_keys["a"] += x
        return x

    for f in (appends, sets):
        with pytest.raises(ag.StagingError, match="AG405 a `User.*` is given a traced value"):
            ag.function(f)(1.0)
    assert held_items == [1.0] and held_keys == {"a": 1.0}


@pytest.mark.parametrize("x", [1.0, -1.0])
def test_a_list_that_is_shuffled_in_a_branch(x: float) -> None:
    def f(x: Any) -> Any:
        deck = [1, 2, 3, 4, 5]
        if x > 0:
            random.Random(1).shuffle(deck)
        return deck

    assert [int(v) for v in ag.function(f)(jnp.float32(x))] == f(x)
