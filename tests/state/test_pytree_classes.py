"""Objects of classes that are registered as pytrees, in branches and loops: nothing but arrays is ever put into them.

Each program is compared with plain Python on numbers; the classes are written as people write them.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag


@jax.tree_util.register_pytree_node_class
class ByHand:
    """As in JAX's documentation."""

    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y

    def tree_flatten(self) -> Any:
        return (self.x, self.y), None

    @classmethod
    def tree_unflatten(cls, aux: Any, parts: Any) -> Any:
        return cls(*parts)


@jax.tree_util.register_pytree_node_class
class Converting:
    """A constructor that needs arrays, and computes."""

    def __init__(self, x: Any, y: Any) -> None:
        self.x = jnp.asarray(x) * 1.0
        self.y = jnp.asarray(y) + 0.0
        self.size = self.x.shape

    def tree_flatten(self) -> Any:
        return (self.x, self.y), None

    @classmethod
    def tree_unflatten(cls, aux: Any, parts: Any) -> Any:
        return cls(*parts)


@jax.tree_util.register_pytree_node_class
class WithAux:
    def __init__(self, x: Any, y: Any, name: str = "a") -> None:
        assert isinstance(name, str)
        self.x, self.y, self.name = x, y, name

    def tree_flatten(self) -> Any:
        return (self.x, self.y), {"name": self.name}

    @classmethod
    def tree_unflatten(cls, aux: Any, parts: Any) -> Any:
        return cls(*parts, name=aux["name"])


class ByFunctions:
    __slots__ = ("x", "y")

    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y


def _without_init(_: Any, parts: Any) -> ByFunctions:
    new = object.__new__(ByFunctions)
    new.x, new.y = parts
    return new


jax.tree_util.register_pytree_node(ByFunctions, lambda v: ((v.x, v.y), ()), _without_init)


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Data:
    x: Any
    y: Any


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class PostInit:
    x: Any
    y: Any

    def __post_init__(self) -> None:
        self.x = jnp.asarray(self.x)
        assert self.x.ndim == 0


@functools.partial(jax.tree_util.register_dataclass, data_fields=["x", "y"], meta_fields=["rate"])
@dataclasses.dataclass(frozen=True)
class Frozen:
    x: Any
    y: Any
    rate: float = 0.5


@jax.tree_util.register_dataclass
@dataclasses.dataclass(eq=False)
class NoEq:
    x: Any
    y: Any


@jax.tree_util.register_pytree_node_class
class OddEq:
    """Whose comparison gives an array, or fails."""

    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y

    def __eq__(self, other: Any) -> Any:
        if not isinstance(other, OddEq):
            raise TypeError("compared with something else")
        return jnp.array([self.x == other.x, self.y == other.y])

    __hash__ = None  # type: ignore[assignment]

    def tree_flatten(self) -> Any:
        return (self.x, self.y), None

    @classmethod
    def tree_unflatten(cls, aux: Any, parts: Any) -> Any:
        return cls(*parts)


class Named(NamedTuple):
    x: Any
    y: Any


@jax.tree_util.register_pytree_node_class
class Computed:
    """Whose parts are no attributes of their own."""

    def __init__(self, x: Any, y: Any) -> None:
        self.pair = [x, y]

    @property
    def x(self) -> Any:
        return self.pair[0]

    @property
    def y(self) -> Any:
        return self.pair[1]

    def tree_flatten(self) -> Any:
        return tuple(self.pair), None

    @classmethod
    def tree_unflatten(cls, aux: Any, parts: Any) -> Any:
        return cls(*parts)


CLASSES = [ByHand, Converting, WithAux, ByFunctions, Data, PostInit, Frozen, NoEq, OddEq, Named, Computed]


def branch(V: Any, a: Any, n: Any) -> Any:
    p = V(a, 1.0)
    if a > 0:
        p = V(p.x + 1.0, p.y)
    return p.x, p.y


def both_sides(V: Any, a: Any, n: Any) -> Any:
    if a > 0:
        p = V(a, a * 2)
    else:
        p = V(-a, a)
    return p.x + p.y


def returned(V: Any, a: Any, n: Any) -> Any:
    def make(a: Any) -> Any:
        if a > 2:
            return V(a, 0.0)
        return V(0.0, a)

    p = make(a)
    return p.x, p.y


def loop(V: Any, a: Any, n: Any) -> Any:
    p = V(a, 0.0)
    for i in range(n):
        p = V(p.x * 0.5, p.y + i)
    return p.x, p.y


def while_loop(V: Any, a: Any, n: Any) -> Any:
    p = V(a, 0.0)
    while p.y < n:
        p = V(p.x + 1.0, p.y + 1.0)
        if p.x > 4:
            break
    return p.x, p.y


def made_in_a_loop(V: Any, a: Any, n: Any) -> Any:
    s = 0.0
    for i in range(n):
        p = V(a * i, a)
        s = s + p.x
    return s


def in_a_list(V: Any, a: Any, n: Any) -> Any:
    ps = [V(a, 0.0), V(0.0, a)]
    for _ in range(n):
        ps[0] = V(ps[0].x + 1.0, ps[0].y)
        if a > 0:
            ps[1] = V(ps[1].y, ps[1].x)
    return [(p.x, p.y) for p in ps]


def in_a_dict(V: Any, a: Any, n: Any) -> Any:
    d = {"p": V(a, 0.0)}
    for i in range(n):
        d["p"] = V(d["p"].x + i, d["p"].y - 1.0)
    return d["p"].x, d["p"].y


def in_a_tuple(V: Any, a: Any, n: Any) -> Any:
    t = (V(a, 0.0), 1.0)
    for _ in range(n):
        t = (V(t[0].y, t[0].x), t[1] * 2)
    return t[0].x, t[0].y, t[1]


class Holder:
    def __init__(self, p: Any) -> None:
        self.p = p
        self.best = p


def as_attribute(V: Any, a: Any, n: Any) -> Any:
    h = Holder(V(a, 0.0))
    for i in range(n):
        h.p = V(h.p.x + 1.0, h.p.y + i)
        if h.p.y > 1:
            h.best = h.p
    return h.p.x, h.best.y


def none_before(V: Any, a: Any, n: Any) -> Any:
    best = None
    for i in range(n):
        p = V(a + i, a)
        if best is None or p.x > best.x:
            best = p
    return -1.0 if best is None else best.x


def unset_before(V: Any, a: Any, n: Any) -> Any:
    for i in range(n + 1):
        p = V(a * i, a)
    return p.x, p.y


def through_vmap(V: Any, a: Any, n: Any) -> Any:
    def one(x: Any) -> Any:
        p = V(x, 0.0)
        while p.x > 1:
            p = V(p.x / 2, p.y + 1.0)
        return p

    ps = jax.vmap(one)(jnp.array([1.0, 4.0, 9.0]))
    return jnp.ravel(ps.y)


PROGRAMS = [branch, both_sides, returned, loop, while_loop, made_in_a_loop, in_a_list, in_a_dict, in_a_tuple, as_attribute, none_before, unset_before]
INPUTS = [(3.0, 3), (-2.0, 2), (1.5, 0)]


def same(got: Any, want: Any) -> bool:
    return jax.tree.structure(got) == jax.tree.structure(want) and all(map(np.allclose, jax.tree.leaves(got), jax.tree.leaves(want)))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("cls", CLASSES, ids=lambda c: c.__name__)
def test_as_in_python(cls: Any, program: Callable[..., Any], quick_compilation: None) -> None:
    def f(a: Any, n: Any) -> Any:
        return program(cls, a, n)

    compiled = ag.function(f)
    for a, n in INPUTS:
        assert same(compiled(a, n), program(cls, a, n)), (a, n)


@pytest.mark.parametrize("cls", [c for c in CLASSES if c not in (Converting, PostInit)], ids=lambda c: c.__name__)
def test_under_vmap(cls: Any, quick_compilation: None) -> None:
    got = ag.function(lambda a: through_vmap(cls, a, 0))(1.0)
    assert got.tolist() == [0.0, 2.0, 4.0]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda c: c.__name__)
def test_as_an_argument_and_a_result(cls: Any, quick_compilation: None) -> None:
    @ag.function
    def grow(p: Any, n: Any) -> Any:
        while p.y < n:
            p = cls(p.x * 2, p.y + 1.0)
        return p

    p = grow(cls(1.0, 0.0), 3)
    assert type(p) is cls and float(p.x) == 8.0 and float(p.y) == 3.0
    gradient = jax.grad(lambda p: grow(p, 3).x)(cls(1.0, 0.0))
    assert float(gradient.x) == 8.0


# objects that traced values choose are values: a change of one that would be lost is refused


def _tellers() -> list[Any]:
    return [Data(1.0, 0.0), Data(0.5, 0.0)]


def chosen_by_a_conditional(ps: Any, x: Any) -> Any:
    p = ps[0] if ps[0].x < ps[1].x else ps[1]
    p.x += x
    return ps[0].x + ps[1].x


def chosen_by_min(ps: Any, x: Any) -> Any:
    for _ in range(3):
        p = min(ps, key=lambda p: p.x)
        p.x += x
    return ps[0].x + ps[1].x


def chosen_by_sorted(ps: Any, x: Any) -> Any:
    p = sorted(ps, key=lambda p: p.x)[0]
    p.x += x
    return ps[0].x + ps[1].x


def chosen_in_a_loop(ps: Any, x: Any) -> Any:
    least = ps[0]
    for p in ps:
        if p.x < least.x:
            least = p
    least.x += x
    return ps[0].x + ps[1].x


def chosen_by_a_helper(ps: Any, x: Any) -> Any:
    def pick() -> Any:
        if x > 0:
            return ps[0]
        return ps[1]

    p = pick()
    p.x += x
    return ps[0].x + ps[1].x


def its_source_changes(ps: Any, x: Any) -> Any:
    p = ps[0] if x > 0 else ps[1]
    ps[0].x += x
    return p.x


@pytest.mark.parametrize(
    "program",
    [chosen_by_a_conditional, chosen_by_min, chosen_by_sorted, chosen_in_a_loop, chosen_by_a_helper, its_source_changes],
    ids=lambda f: f.__name__,
)
def test_a_change_of_a_chosen_object_is_refused(program: Callable[..., Any]) -> None:
    with pytest.raises(ag.AutographError, match="(?s)AG401 `Data.x` is changed.*data-dependent.*in each branch"):
        ag.function(program)(_tellers(), 1.0)


def test_objects_that_a_side_makes_may_change() -> None:
    def f(ps: Any, x: Any) -> Any:
        if x > 0:
            p = Data(ps[0].x, x)
        else:
            p = Data(ps[1].x * 2, x)
        p.x += 1.0
        q = ps[0] if x > 0 else ps[1]
        total = q.x
        ps[0].x += 1.0
        return p.x, total, ps[0].x, min(ps, key=lambda p: p.x).x, next((p.x for p in ps if p.x > 0), 0.0)

    for x in (1.0, -1.0):
        assert [*map(float, ag.function(f)(_tellers(), x))] == [*f(_tellers(), x)]


def test_the_error_for_objects_whose_text_shows_their_attributes() -> None:
    @dataclasses.dataclass
    class Config:
        rate: Any

    def f(w: Any, rate: Any) -> Any:
        config = Config(rate)
        if w > 0:
            config = dataclasses.replace(config, rate=config.rate * 0.5)
        return config.rate

    with pytest.raises(ag.AutographError, match="AG202 `config` is a `Config` .line .* where the test is true and another `Config`"):
        ag.function(f)(1.0, 2.0)
