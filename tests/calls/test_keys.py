"""Functions and other things that are no arrays, as arguments and in attributes: what does the same does not compile again, what does not is seen."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag


class Owner:
    def __init__(self, k: Any = 2.0) -> None:
        self.k, self.w = k, jnp.full(3, k)

    def times(self, x: Any) -> Any:
        return x * self.k

    def plus(self, x: Any) -> Any:
        return x + self.w

    @classmethod
    def named(cls, x: Any) -> Any:
        return x + len(cls.__name__)

    @ag.function
    def compiled(self, x: Any) -> Any:
        return x * self.k + self.w


class Longer(Owner):
    pass


def scaled(k: Any) -> Callable[[Any], Any]:
    return lambda x: x * k


def with_default(k: Any) -> Callable[[Any], Any]:
    def f(x: Any, k: Any = k) -> Any:
        return x * k

    return f


def with_keyword(k: Any) -> Callable[[Any], Any]:
    def f(x: Any, *, k: Any = k) -> Any:
        return x + k

    return f


def nested(k: Any) -> Callable[[Any], Any]:
    inner = scaled(k)
    return lambda x: inner(x) + 1


def counting() -> Callable[[Any], Any]:
    n = 0

    def f(x: Any) -> Any:
        nonlocal n
        n += 1
        return x + n

    return f


def holding(held: list[Any]) -> Callable[[Any], Any]:
    return lambda x: x + held[0]


def of_object(o: Owner) -> Callable[[Any], Any]:
    return lambda x: x * o.k


def product(a: Any, b: Any) -> Any:
    return a * b


def with_attribute(k: Any) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        return x + k

    f.k = k  # type: ignore[attr-defined]
    return f


ONE, TWO = jnp.ones(3), jnp.full(3, 2.0)
O = Owner()  # noqa: E741
PAIRS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {  # two ways to make a function, that do not give the same
    "closures over numbers": (lambda: scaled(1.0), lambda: scaled(2.0)),
    "an int and a float": (lambda: scaled(2), lambda: scaled(2.0)),
    "one and True": (lambda: scaled(1), lambda: scaled(True)),
    "closures over arrays": (lambda: scaled(ONE), lambda: scaled(TWO)),
    "defaults": (lambda: with_default(1.0), lambda: with_default(2.0)),
    "keyword defaults": (lambda: with_keyword(1.0), lambda: with_keyword(2.0)),
    "nested closures": (lambda: nested(1.0), lambda: nested(2.0)),
    "lists in closures": (lambda: holding([1.0]), lambda: holding([2.0])),
    "lambdas": (lambda: lambda x: x + 1, lambda: lambda x: x + 2),
    "code": (lambda: scaled(2.0), lambda: with_default(2.0)),
    "methods of objects": (lambda: Owner(2.0).times, lambda: Owner(3.0).times),
    "arrays of objects": (lambda: Owner(2.0).plus, lambda: Owner(3.0).plus),
    "methods": (lambda: Owner(2.0).times, lambda: Owner(2.0).plus),
    "class methods": (lambda: Owner.named, lambda: Longer.named),
    "compiled methods": (lambda: Owner(2.0).compiled, lambda: Owner(3.0).compiled),
    "partials": (lambda: functools.partial(product, 2.0), lambda: functools.partial(product, 3.0)),
    "keywords of partials": (lambda: functools.partial(product, b=2.0), lambda: functools.partial(product, b=3.0)),
    "partials of functions": (lambda: functools.partial(with_default(2.0), k=1.0), lambda: functools.partial(scaled(4.0))),
    "functions with attributes": (lambda: with_attribute(1.0), lambda: with_attribute(2.0)),
    "functions of JAX": (lambda: jnp.sin, lambda: jnp.cos),
    "closures over objects": (lambda: of_object(Owner(2.0)), lambda: of_object(Owner(3.0))),
}
COMPILED_ANEW = frozenset({"lists in closures", "functions with attributes", "closures over objects", "class methods"})  # each is only itself


def apply(f: Any, x: Any) -> Any:
    return f(x) * 2


class Model:
    def __init__(self, act: Any) -> None:
        self.act, self.h = act, jnp.zeros(3)

    def step(self, x: Any) -> Any:
        self.h = self.h + self.act(x)
        return self.h


@pytest.mark.parametrize("what", PAIRS)
def test_an_argument_that_is_a_function(what: str) -> None:
    f = ag.function(apply)
    one, other = PAIRS[what]
    for make in (one, one, other, one, other, other):
        got, expected = f(make(), ONE), apply(make(), ONE)
        assert np.allclose(got, expected), what
    if what not in COMPILED_ANEW:
        assert f._state.jitted._cache_size() <= 3  # what the second reads as well the first is compiled anew with, once


@pytest.mark.parametrize("what", PAIRS)
def test_an_attribute_that_is_a_function(what: str) -> None:
    class Mine(Model):
        step = ag.function(Model.step)

    one, other = PAIRS[what]
    for make in (one, one, other, one, other, other):
        mine, theirs = Mine(make()), Model(make())
        for _ in range(3):
            assert np.allclose(mine.step(ONE), theirs.step(ONE)), what
    if what not in COMPILED_ANEW:
        assert Mine.step._state.jitted._cache_size() <= 3


def test_an_object_of_a_method_may_change() -> None:
    f, o = ag.function(apply), Owner()
    for k in (2.0, 3.0, 3.0, 4.0):
        o.k, o.w = k, jnp.full(3, k)
        assert np.allclose(f(o.times, ONE), apply(o.times, ONE))
        assert np.allclose(f(o.plus, ONE), apply(o.plus, ONE))
        assert np.allclose(f(o.compiled, ONE), apply(o.compiled, ONE))


def test_a_counter_in_a_closure_counts() -> None:
    f, mine, theirs = ag.function(apply), counting(), counting()
    for _ in range(4):
        assert np.allclose(f(mine, ONE), apply(theirs, ONE))
    fresh, also = counting(), counting()
    for _ in range(3):
        assert np.allclose(f(fresh, ONE), apply(also, ONE))
        assert np.allclose(f(mine, ONE), apply(theirs, ONE))


def test_a_variable_of_a_closure_may_change() -> None:
    def made() -> tuple[Any, Any]:
        k = 1.0

        def put(value: Any) -> None:
            nonlocal k
            k = value

        return (lambda x: x * k), put

    f = ag.function(apply)
    act, put = made()
    for value in (1.0, 2.0, 2.0, 5.0):
        put(value)
        assert np.allclose(f(act, ONE), apply(act, ONE))


def test_two_functions_may_be_one() -> None:
    def same(f: Any, g: Any, x: Any) -> Any:
        return x + (1 if f is g else 0)

    class Two:
        def __init__(self, f: Any, g: Any) -> None:
            self.f, self.g = f, g

    def of(o: Any, x: Any) -> Any:
        return x + (1 if o.f is o.g else 0)

    f, g = ag.function(same), ag.function(of)
    a, b = scaled(1.0), scaled(1.0)
    for pair in ((a, a), (a, b), (b, a), (b, b), (a, a), (a, b)):
        for _ in range(3):
            assert float(f(*pair, 1.0)) == same(*pair, 1.0)
            assert float(g(Two(*pair), 1.0)) == of(Two(*pair), 1.0)


def test_arrays_of_objects() -> None:
    class Grid:
        def __init__(self, *items: Any) -> None:
            self.items, self.h = np.array([*items, None], dtype=object), jnp.zeros(3)

    def f(o: Any, x: Any) -> Any:
        n = 0
        for item in o.items:
            n += 0 if item is None else item
        return x + o.h + n

    g = ag.function(f)
    for items in ((1, 2), (1, 2), (1, 3), (1.0, 3), (True, 3)):
        assert np.allclose(g(Grid(*items), ONE), f(Grid(*items), ONE))
    assert g._state.jitted._cache_size() == 4
    o = Grid(1, 2)
    for value in (1, 5, 7):
        o.items[0] = value
        assert np.allclose(g(o, ONE), f(o, ONE))


def test_new_objects_of_a_class_are_no_new_programs() -> None:
    class Machine:
        def __init__(self, seed: int) -> None:
            self.slots, self.act = np.array([[None]]), lambda x: x * 2
            self.rng, self.name, self.h = np.random.default_rng(seed), f"machine {seed}", jnp.zeros(3)
            self.started = time.time()

        @ag.function
        def step(self, x: Any) -> Any:
            if x[0] > 0:
                self.h = self.h + x
            return self.act(self.h)

    for seed in range(5):
        m = Machine(seed)
        assert np.allclose(m.step(ONE), 2.0)
    assert Machine.step._state.jitted._cache_size() == 1
    m.act, m.h = (lambda x: x * 3), jnp.ones(3)
    assert np.allclose(m.step(ONE), 6.0)


SCALE = 1.0
ACTS = [scaled(3.0), scaled(3.0)]
A, B = scaled(2.0), scaled(2.0)
WEIGHTS = {A: 1.0, B: 10.0}


class Trainer:
    def __init__(self) -> None:
        self.rate = 0.5
        self.cfg = {"k": 1.0}
        self.v = np.ones(1)

    def act(self) -> Callable[[Any], Any]:
        return lambda x: x * self.rate


def named(name: str) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        return x * 2

    f.__name__ = name
    return f


def test_what_a_new_function_reads_may_change() -> None:
    global SCALE
    f, t, box, v, cfg = ag.function(apply), Trainer(), [1.0], np.ones(1), {"k": 1.0}

    def of_dict(c: Any, x: Any) -> Any:
        return c["k"] * x

    for k in (1.0, 2.0, 2.0, 3.0):
        SCALE = t.rate = box[0] = v[0] = cfg["k"] = k
        for make in (
            lambda: lambda x: x * SCALE,
            lambda: lambda x: x * t.rate,
            t.act,
            lambda: lambda x: x * box[0],
            lambda: lambda x: x * v[0],
            lambda: lambda x: x * cfg["k"],
            lambda: lambda x, c=cfg: x * c["k"],
            lambda: functools.partial(of_dict, cfg),
            lambda: functools.partial(lambda s, x: x * s.rate, t),
        ):
            for _ in range(2):
                assert np.allclose(f(make(), ONE), apply(make(), ONE))


def test_a_function_may_be_told_by_its_name_or_as_a_key() -> None:
    f = ag.function(lambda g, x: x + len(g.__name__))
    assert [float(f(named(n), 1.0)) for n in ("a", "ab", "a")] == [2, 3, 2]
    weighted = ag.function(lambda g, x: WEIGHTS[g] * g(x))
    assert [float(weighted(g, 1.0)) for g in (A, B, A)] == [2, 20, 2]


def test_a_function_that_is_kept_is_the_one_that_was_given() -> None:
    class Bus:
        def __init__(self) -> None:
            self.act: Any = None
            self.acts: list[Any] = []
            self.n = jnp.zeros(())

        @ag.function
        def install(self, act: Any) -> None:
            self.act = act
            self.acts.append(act)
            self.n = self.n + 1

    a, b = Owner(1.0), Owner(1.0)
    p, q = Bus(), Bus()
    p.install(a.times)
    q.install(b.times)
    b.k = 7.0
    assert q.act.__self__ is b and q.act(1.0) == 7.0 and q.acts[0].__self__ is b and p.act.__self__ is a
    f, g = scaled(2.0), scaled(2.0)
    p.install(f)
    q.install(g)
    assert p.act is f and q.act is g


def test_a_compiled_method_is_copied_and_pickled() -> None:
    import copy
    import pickle

    o = Owner(2.0)
    o.cb = o.compiled  # type: ignore[attr-defined]
    for other in (copy.deepcopy(o), pickle.loads(pickle.dumps(o))):
        assert other.cb.__self__ is other and np.allclose(other.cb(ONE), 4.0)  # type: ignore[attr-defined]
    assert copy.copy(o.compiled) == o.compiled


def test_sites_of_functions_that_stay_python() -> None:
    @ag.convert
    def casts(text: str) -> Any:
        locals()
        return [f() for f in (text.strip, str, text.upper, list)]

    @ag.convert
    def both(items: Any, x: Any) -> Any:
        locals()
        return [f(x) for f in (items.append, list, items.count)]

    for _ in range(3):
        assert casts(" a ") == ["a", "", " A ", []] and both([], (1, 2)) == [None, [1, 2], 1]
