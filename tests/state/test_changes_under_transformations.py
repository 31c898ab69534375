"""What functions that are given to JAX may change: whatever holds no array, and objects that they make; in trials that are given up, too."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import lax

import autograph as ag

UNDER: dict[str, Callable[[Any, Any], Any]] = {
    "grad": lambda f, x: jax.grad(f)(x),
    "vjp": lambda f, x: jax.vjp(f, x)[0],
    "jvp": lambda f, x: jax.jvp(f, (x,), (x,))[0],
    "linearize": lambda f, x: jax.linearize(f, x)[0],
    "vmap": lambda f, x: jax.vmap(f)(jnp.stack([x, x]))[0],
    "cond": lambda f, x: lax.cond(True, f, f, x),
    "scan": lambda f, x: lax.scan(lambda c, _: (f(c), None), x, None, 2)[0],
    "fori_loop": lambda f, x: lax.fori_loop(0, 2, lambda k, c: f(c), x),
    "while_loop": lambda f, x: lax.while_loop(lambda c: c < 3.0, f, x),
    "checkpoint": lambda f, x: jax.checkpoint(f)(x),
    "custom_jvp": lambda f, x: with_rule(f)(x),
    "eval_shape": lambda f, x: x + jax.eval_shape(f, x).size,
    "jit": lambda f, x: jax.jit(f)(x),
    "switch": lambda f, x: lax.switch(jnp.int32(0), [f, f], x),
}


def with_rule(f: Any) -> Any:
    new = jax.custom_jvp(f)
    new.defjvps(lambda t, y, x: t)
    return new


PLACES: dict[str, Callable[[Callable[[Any], Any], Any], Any]] = {
    "straight": lambda g, x: g(x),
    "branch": lambda g, x: branch(g, x),
    "loop": lambda g, x: loop(g, x),
}


def branch(g: Callable[[Any], Any], x: Any) -> Any:
    if x > 0:
        x = g(x)
    return x


def loop(g: Callable[[Any], Any], x: Any) -> Any:
    count = 0
    while count < 2:
        x = g(x)
        count += x * 0 + 1  # an int first, then a float: the body is traced again
    return x


@pytest.mark.parametrize("under", UNDER)
@pytest.mark.parametrize("place", PLACES)
def test_a_flag_that_is_set(under: str, place: str) -> None:
    """It is set wherever Python sets it, however often the code around is traced again."""
    transformed, around = UNDER[under], PLACES[place]

    class Held:
        flag = 0

    def program(x: Any) -> Any:
        held = Held()
        held.flag = 0

        def f(v: Any) -> Any:
            held.flag = 7
            return v * 2.0

        return around(lambda v: transformed(f, v), x), held.flag

    x = jnp.float32(1.0)
    expected = transformed(lambda v: v * 2.0, x)
    if place == "loop":
        expected = transformed(lambda v: v * 2.0, expected)
    for convert in (lambda f: jax.jit(ag.convert(f)), ag.function):
        try:
            got = convert(program)(x)
        except ag.AutographError as error:
            assert (error.id, under) == ("AG401", "custom_jvp")  # which JAX keeps, and with it what the function holds
        else:
            assert (float(got[0]), int(got[1])) == (float(expected), 7)


@dataclasses.dataclass(eq=False)
class Note:
    kind: type
    text: str
    dtype: Any = None
    inner: Any = None


@dataclasses.dataclass(frozen=True, slots=True)
class Slotted:
    shape: tuple[int, ...]


@pytest.mark.parametrize("under", UNDER)
def test_objects_without_arrays_are_noted_in_a_list_of_the_caller(under: str) -> None:
    """As in plain JAX, while it traces."""
    notes: list[Note] = []

    def f(v: Any) -> Any:
        notes.append(Note(type(notes), f"{v.shape}", v.dtype, [Slotted(v.shape), kept]))
        return v * 2.0

    def program(x: Any) -> Any:
        return UNDER[under](f, x)

    x, kept = jnp.float32(1.0), None
    expected = UNDER[under](lambda v: v * 2.0, x)
    assert float(jax.jit(ag.convert(program))(x)) == float(expected)
    assert notes and {(n.kind, n.text, n.dtype, n.inner[0].shape) for n in notes} == {(list, "()", jnp.dtype("float32"), ())}


class Registry:
    def __init__(self) -> None:
        self.held: dict[int, Any] = {}

    def add(self, x: Any) -> None:
        self.held[id(x)] = x

    def remove(self, x: Any) -> None:
        del self.held[id(x)]


BEING_MADE = Registry()


class Noting(type):
    def __call__(cls, *args: Any) -> Any:
        made = super().__call__(*args)
        BEING_MADE.remove(made)
        return made


class Noted(metaclass=Noting):
    def __new__(cls, *args: Any) -> Any:
        made = super().__new__(cls)
        BEING_MADE.add(made)
        return made

    def __init__(self, x: Any) -> None:
        self.x = x if x > 0 else -x


@pytest.mark.parametrize("under", UNDER)
def test_objects_that_are_noted_while_they_are_made(under: str) -> None:
    """A registry that is as before at the end is not changed; `__new__` is converted, so that what it does is known."""
    transformed = UNDER[under]

    def program(x: Any) -> Any:
        return transformed(lambda v: Noted(v - 3.0).x + 1.0, x)

    x = jnp.float32(1.0)
    expected = transformed(lambda v: abs(v - 3.0) + 1.0, x)
    for convert in (lambda f: jax.jit(ag.convert(f)), ag.function):
        assert float(convert(program)(x)) == float(expected)
        assert not BEING_MADE.held


class Leaf:
    pass


@pytest.mark.parametrize("under", ["vmap", "vjp", "cond", "checkpoint"])
def test_objects_made_there_hold_arrays(under: str) -> None:
    transformed = UNDER[under]

    def f(v: Any) -> Any:
        leaf = Leaf()
        leaf.value = v * 2.0
        if leaf.value > 0:
            leaf.value += 1.0
        return leaf.value

    for convert in (lambda f: jax.jit(ag.convert(f)), ag.function):
        assert float(convert(lambda x: transformed(f, x))(jnp.float32(1.0))) == 3


def test_what_would_keep_a_tracer_is_refused() -> None:
    leaf = Leaf()

    def f(v: Any) -> Any:
        leaf.value = v * 2.0
        return v

    with pytest.raises(ag.AutographError, match="AG405 `Leaf.value` is changed by a function under `cond`"):
        jax.jit(ag.convert(lambda x: lax.cond(True, f, f, x)))(1.0)
    assert not vars(leaf)


def test_functions_in_trees_stay_what_they_are() -> None:
    def double(x: Any) -> Any:
        return x * 2 if x > 0 else x

    def program(x: Any) -> Any:
        tree = {"f": double, "x": x}
        leaves, definition = jax.tree.flatten(tree)
        again = jax.tree.unflatten(definition, leaves)
        assert again["f"] is double and jax.tree.leaves(tree)[0] is double
        mapped = jax.tree.map(lambda v: v if callable(v) else (v + 1 if v > 0 else v), tree)
        assert mapped["f"] is double
        return mapped["f"](mapped["x"])

    for convert in (lambda f: jax.jit(ag.convert(f)), ag.function):
        assert float(convert(program)(jnp.float32(1.0))) == 4


def test_a_message_with_traced_values_can_be_read() -> None:
    def refuses(x: Any) -> Any:
        if x.ndim == 1:
            raise ValueError(f"no vector: {x}")
        return x

    with pytest.raises(ValueError, match=r"no vector: \[1. 2.\]"):
        ag.function(refuses)(jnp.array([1.0, 2.0]))
    with pytest.raises(ValueError, match="no vector: .*Tracer"):
        jax.jit(ag.convert(refuses))(jnp.array([1.0, 2.0]))
    with pytest.raises(ValueError, match="no vector: .*Tracer"):
        ag.function(lambda x: jax.vmap(refuses)(x))(jnp.ones((2, 2)))


SEEN: list[Any] = []


def test_after_an_error_lists_of_the_module_are_lists() -> None:
    def grows(x: Any) -> Any:
        while x < 10:
            SEEN.append(x)
            x = x + 1
        return x

    SEEN[:] = [1]
    with pytest.raises(ag.AutographError):
        jax.jit(ag.convert(grows))(0.0)
    assert repr(SEEN) == "[1]"


def test_a_function_that_is_jitted_inside_can_be_lowered() -> None:
    def halves(x: Any) -> Any:
        return x / 2 if x > 1 else x

    def program(x: Any) -> Any:
        jitted = jax.jit(halves)
        assert "func" in jitted.lower(x).as_text() and jitted.eval_shape(x).shape == () and jitted.trace(x).jaxpr.eqns
        return jitted(x)

    for convert in (lambda f: jax.jit(ag.convert(f)), ag.function):
        assert float(convert(program)(jnp.float32(3.0))) == 1.5


def nested(flat: list[tuple[tuple[str, ...], Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for path, value in flat:
        inside = result
        for key in path[:-1]:
            if key not in inside:
                inside[key] = {}
            inside = inside[key]
        inside[path[-1]] = value
    return result


@pytest.mark.parametrize("under", [jax.grad, jax.value_and_grad], ids=lambda f: f.__name__)
def test_dicts_that_a_cycle_of_the_function_holds_too_come_out_filled(under: Any) -> None:
    def loss(y: Any) -> Any:
        out = y**2, nested([(("a", "x", "w"), y), (("a", "x", "v"), y + 1), (("a", "z", "w"), y * 2), (("b", "x", "w"), y * 3)])

        def itself() -> Any:
            return itself, out

        return itself()[1]

    def program(x: Any) -> Any:
        return under(loss, has_aux=True)(x)

    expected = jax.tree.map(float, program(3.0))
    for convert in (lambda f: jax.jit(ag.convert(f)), ag.function):
        assert jax.tree.map(float, convert(program)(3.0)) == expected


def test_a_counter_that_no_lane_changes_its_own_way() -> None:
    calls = {"n": 0}

    def energy(x: Any, k: Any) -> Any:
        calls["n"] += 1
        if x > k:
            return (x - k) ** 2
        return 0.0

    def total(xs: Any) -> Any:
        values, slopes = jax.vmap(jax.value_and_grad(energy), in_axes=(0, None))(xs, 1.0)
        return values.sum() + slopes.sum()

    f = ag.function(total)
    for k in (1, 2):
        assert float(f(jnp.array([0.5, 2.0, 3.0]))) == 11 and int(calls["n"]) == k

    def lanes(xs: Any) -> Any:
        def keep(x: Any) -> Any:
            calls["n"] = x
            return x

        return jax.vmap(keep)(xs)

    with pytest.raises(ag.AutographError, match="AG405 .* is changed under `vmap`, differently for each batch element"):
        ag.function(lanes)(jnp.arange(3))
