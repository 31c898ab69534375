"""Converting and calling leave every class, module and function as they were, and what code that is not converted gives."""

from __future__ import annotations

import abc
import dataclasses
import enum
import functools
import os
import sys
import threading
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag


class Registered(type):
    def __instancecheck__(cls, obj: Any) -> bool:
        return type.__instancecheck__(cls, obj)

    def __getitem__(cls, k: Any) -> Any:
        return k * 2

    def __len__(cls) -> int:
        return 3


class Doubled:
    """A descriptor."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = "_" + name

    def __get__(self, obj: Any, owner: Any = None) -> Any:
        return self if obj is None else obj.__dict__[self.name] * 2

    def __set__(self, obj: Any, value: Any) -> None:
        obj.__dict__[self.name] = value if value > 0 else -value


class Vector(metaclass=Registered):
    twice = Doubled()

    def __init__(self, x: Any) -> None:
        self.x = x
        self.twice = x

    def __add__(self, other: Any) -> Any:
        return Vector(self.x + other.x if other.x > 0 else self.x)

    __radd__ = __add__

    def __neg__(self) -> Any:
        return Vector(-self.x)

    def __getitem__(self, k: Any) -> Any:
        return self.x * k if self.x > 1 else self.x

    def __len__(self) -> int:
        return 2

    def __iter__(self) -> Iterator[Any]:
        yield self.x
        yield self.x * 2

    def __contains__(self, v: Any) -> Any:
        return self.x == v

    def __call__(self, v: Any) -> Any:
        return self.x + v if v > 0 else self.x

    def __eq__(self, other: object) -> Any:
        return self.x == other.x if isinstance(other, Vector) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __lt__(self, other: Any) -> Any:
        return self.x < other.x

    def __bool__(self) -> Any:
        return self.x > 0

    def __enter__(self) -> Any:
        self.x = self.x + 1
        return self

    def __exit__(self, *error: Any) -> None:
        self.x = self.x - 1

    def __getattr__(self, name: str) -> Any:
        if name == "missing":
            return self.x * 3
        raise AttributeError(name)

    @property
    def size(self) -> Any:
        return self.x if self.x > 0 else -self.x

    @size.setter
    def size(self, value: Any) -> None:
        self.x = value if value > 0 else -value

    @functools.cached_property
    def half(self) -> Any:
        return self.x / 2 if self.x > 0 else self.x


@dataclasses.dataclass
class Pair:
    a: Any
    b: Any = 1.0


@dataclasses.dataclass(frozen=True, order=True)
class Point:
    x: Any
    y: Any = 0.0

    @property
    def far(self) -> Any:
        return self.x > 10


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self) -> Any: ...

    def __lt__(self, other: Any) -> Any:
        return self.area() < other.area()


class Square(Shape):
    __slots__ = ("side",)

    def __init__(self, side: Any) -> None:
        self.side = side

    def area(self) -> Any:
        return self.side**2 if self.side > 0 else 0.0

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)

    def __getattribute__(self, name: str) -> Any:
        return super().__getattribute__(name)


class Colour(enum.Enum):
    RED = 1
    BLUE = 2

    @property
    def weight(self) -> int:
        return self.value * 2


class Dist:
    def __init__(self, logits: Any) -> None:
        self.logits = logits

    @property
    def probs(self) -> Any:
        return jnp.tanh(self.logits)

    def __getitem__(self, k: Any) -> Any:
        return self.logits * k

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__


def loss(x: Any) -> Any:
    """Plain code, which uses the same classes."""
    d = Dist(x)
    p = d.probs * 2 + d[1]
    return jnp.sum(p**2), (p, Point(x, p).y, Pair(x).a, d == Dist(x))


def program(x: Any) -> Any:
    """Touches everything above."""
    v, w = Vector(x), Vector(x + 1)
    with v + w as s:
        total = s.x
    total = total + (-v)[2] + len(v) + sum(v) + v(1.0) + v.missing + v.size + v.half + v.twice
    v.size = x - 5
    total = total + (1.0 if v == w else 2.0) + (1.0 if v != w else 2.0) + (1.0 if v < w else 2.0) + (1.0 if v else 0.5) + Vector[2] + len(Vector)
    if Pair(x) == Pair(x, 1.0):
        total = total + 1
    if Point(x) < Point(x + 1) and not Point(x).far:
        total = total + Colour.BLUE.weight
    total = total + Dist(x).probs + Dist(x)[0]
    return total + (Square(x).side if Square(x) < Square(x + 1) else 0.0) + isinstance(v, Vector)


def gives() -> list[Any]:
    """The types that code which is not converted gets."""
    x = jnp.float32(2.0)
    found: list[Any] = []
    found += jax.grad(loss, has_aux=True)(x)[1]
    value, back, aux = jax.vjp(loss, x, has_aux=True)
    found += [value, *aux, back(x)]
    found += jax.jvp(lambda v: loss(v)[0], (x,), (x,))
    found += jax.jit(loss)(x)[1]
    seen: list[Any] = []
    jax.jit(lambda v: seen.append(type(v)) or loss(v)[0])(x)  # type: ignore[func-returns-value]
    jax.jvp(lambda v: seen.append(type(v)) or loss(v)[0], (x,), (x,))  # type: ignore[func-returns-value]
    jax.vmap(lambda v: seen.append(type(v)) or loss(v)[0])(x[None])  # type: ignore[func-returns-value]
    jax.eval_shape(lambda v: seen.append(type(v)) or loss(v)[0], x)  # type: ignore[func-returns-value]
    return [*map(type, found), *seen]


_LIBRARIES = ("jax", "jaxlib", "numpy", "optax", "abc", "enum", "functools", "dataclasses", "builtins", "collections", __name__)


def members() -> dict[Any, dict[str, Any]]:
    """All members of all modules and classes."""
    found: dict[Any, dict[str, Any]] = {}
    for name, module in list(sys.modules.items()):
        if module is None or name.split(".")[0] not in _LIBRARIES and name != __name__:
            continue
        found[name] = {k: v for k, v in vars(module).items() if not k.startswith("__")}
        for value in list(vars(module).values()):
            if isinstance(value, type):
                found[value] = {k: v for k, v in vars(value).items() if k not in ("_abc_impl", "__annotations_cache__")}
    return found


FORMS = [ag.function, lambda f: jax.jit(ag.convert(f)), lambda f: jax.jit(jax.grad(ag.convert(f))), lambda f: jax.vmap(ag.convert(f))]


@pytest.mark.parametrize("form", FORMS, ids=["function", "jit", "grad", "vmap"])
def test_every_class_and_module_is_what_it_was(form: Any) -> None:
    x = jnp.array([2.5]) if form is FORMS[3] else jnp.float32(2.5)
    form(lambda x: jnp.where(x > 0, x, -x))(x)  # what is imported when it is first needed
    program(2.0)
    types = gives()
    before = members()
    got = form(program)(x)
    after = members()
    wanted = (program(2.51) - program(2.49)) / 0.02 if form is FORMS[2] else program(2.5)
    assert np.allclose(got, wanted, rtol=1e-3)
    changed = [
        (k, name) for k in before for name in {*before[k], *after.get(k, {})} if after[k].get(name, members) is not before[k].get(name, members)
    ]
    assert not [c for c in changed if not (isinstance(c[0], str) and isinstance(after[c[0]].get(c[1]), type(sys)))]
    assert gives() == types


def test_after_an_error_too() -> None:
    before = members()

    def fails(x: Any) -> Any:
        v = Vector(x)
        if v.size > 0:
            raise ValueError("wrong")
        return v[1] + 0 * len([][1])  # type: ignore[index]

    for form in (ag.function, lambda f: jax.jit(ag.convert(f))):
        with pytest.raises(Exception):  # noqa: B017
            form(fails)(jnp.float32(2.0))
    after = members()
    assert all(after[k][name] is value for k in (Vector, Point, Square) for name, value in before[k].items())


def test_other_threads_get_the_class_as_it_is() -> None:
    """While one thread traces, another compares and reads: in its own traces, with its own types."""
    inside, done = threading.Event(), threading.Event()
    found: list[Any] = []

    def other() -> None:
        inside.wait(10)
        try:
            found.append(gives())
            found.append((type(Vector(2.0)[3]), Vector(2.0) == Vector(2.0), Vector(2.0).size))
        finally:
            done.set()

    def waits() -> None:
        inside.set()
        done.wait(20)

    @ag.convert
    def traced(x: Any) -> Any:
        v = Vector(x)
        total = v[1] + v.size
        ag.do_not_convert(waits)()
        return total + v[2]

    types = gives()
    thread = threading.Thread(target=other)
    thread.start()
    assert float(jax.jit(traced)(jnp.float32(2.0))) == 2 + 2 + 4
    thread.join()
    assert found == [types, (float, True, 2.0)]


OF_A_LIBRARY = """
import jax
from jax.interpreters import ad

def kind(v):
    return v * (2.0 if isinstance(v, ad.JVPTracer) else 3.0 if isinstance(v, jax.core.Tracer) else 5.0)
"""


def test_a_library_sees_the_tracers_that_jax_gives() -> None:
    space: dict[str, Any] = {}
    exec(compile(OF_A_LIBRARY, f"{os.path.dirname(jax.__path__[0])}/asking.py", "exec"), space)  # noqa: S102
    kind = space["kind"]

    def several(x: Any) -> Any:
        return jax.jvp(kind, (x,), (x,))[0], jax.vmap(kind)(x[None])[0], kind(x), jax.grad(kind)(x)

    x = jnp.float32(1.0)
    assert [float(v) for v in ag.function(several)(x)] == [float(v) for v in jax.jit(several)(x)]
    assert float(ag.function(several)(x)[0]) == 2


def test_a_class_that_is_copied_and_given_methods_in_a_trace() -> None:
    before = dict(vars(Dist)), dict(vars(Vector))

    def copies(x: Any) -> Any:
        first = Dist(x)[2]
        copied = type("Copied", (), {k: v for k, v in vars(Dist).items() if k not in ("__dict__", "__weakref__")})
        names = [name for name in vars(Dist) if name == "probs"]
        return first + copied(x)[3] + copied(x).probs + len(names)  # type: ignore[call-arg,index,attr-defined]

    want = copies(2.0)
    for _ in range(3):
        assert np.allclose(ag.function(copies)(jnp.float32(2.0)), want)
        assert (dict(vars(Dist)), dict(vars(Vector))) == before
