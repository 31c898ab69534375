"""Every construct of `tests/corpora/language` in every form: Python's value or exception, or the refusal that the construct states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from tests.corpora.language import FORMS, Construct, arrays, constructs, document

PAGE = Path(__file__).parents[2] / "docs" / "language.md"
EVERY = constructs()


@dataclass(frozen=True)
class Raised:
    """What a call raised."""

    error: Exception

    @property
    def refusal(self) -> str | None:
        return self.error.id if isinstance(self.error, ag.AutographError) else None


def outcome(f: Callable[..., Any], *args: Any) -> Any:
    try:
        return jax.block_until_ready(f(*args))
    except Exception as error:
        return Raised(error)


def numbers(leaf: Any) -> Any:
    """A leaf of a result as NumPy sees it."""
    if isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        leaf = jax.random.key_data(leaf)
    array = np.asarray(leaf)
    if array.dtype == jax.dtypes.float0:
        return np.zeros(array.shape)
    return array.astype(np.float32) if array.dtype == jnp.bfloat16 else array


def same(got: Any, want: Any, broadcast: bool = False) -> None:
    """The structure, the shapes and the values are those of plain Python."""
    assert not isinstance(got, Raised), f"{type(got.error).__name__}: {got.error}"
    assert jax.tree.structure(got) == jax.tree.structure(want), (got, want)
    for g, w in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        if isinstance(w, str):
            assert g == w
            continue
        g, w = numbers(g), numbers(w)
        if broadcast and w.ndim < g.ndim:
            w = np.broadcast_to(w, g.shape)
        assert g.shape == w.shape, (got, want)
        np.testing.assert_allclose(g, w, rtol=1e-5, atol=1e-6)


def as_python(got: Any, want: Any, always_fails: bool, broadcast: bool) -> None:
    """The outcome of a call is the oracle's. Where every input fails, an error of ours of the same type says so while tracing."""
    if not isinstance(want, Raised):
        same(got, want, broadcast)
        return
    assert isinstance(got, Raised), f"no {type(want.error).__name__} but {got}"
    assert isinstance(got.error, type(want.error)), f"{type(got.error).__name__}: {got.error}"
    assert got.refusal is None or always_fails, f"{type(got.error).__name__}: {got.error}"


def check(c: Construct, form: str, pairs: list[tuple[Any, Any]], always_fails: bool | None = None) -> None:
    """Each outcome, given with the oracle's, agrees with it, or is the refusal that the construct states."""
    stated = c.refused.get(form)
    if always_fails is None:
        always_fails = all(isinstance(want, Raised) for _, want in pairs)
    for got, want in pairs:
        assert not isinstance(want, Raised) or not isinstance(want.error, jax.errors.JAXTypeError), f"the oracle needs concrete values: {want.error}"
        if stated is None:
            as_python(got, want, always_fails, c.broadcast)
            continue
        assert isinstance(got, Raised), f"stated as refused with {stated}, and gives {got}"
        assert got.refusal == stated, f"stated as refused with {stated}, and raises {type(got.error).__name__}: {got.error}"


def static(c: Construct) -> None:
    """On values: the plain form and the staged form on Python's numbers, the staged form on arrays."""
    oracle, plain, staged = c.oracle or c.function, ag.convert(c.function), ag.convert(c.function, form="staged")
    for args in c.inputs:
        want = outcome(oracle, *args)
        check(c, "static", [(outcome(plain, *args), want), (outcome(staged, *args), want)])
    check(c, "static", [(outcome(staged, *args), outcome(oracle, *args)) for args in map(arrays, c.inputs)])


def jit(c: Construct) -> None:
    oracle, f = c.oracle or c.function, ag.function(c.function)
    check(c, "jit", [(outcome(f, *args), outcome(oracle, *args)) for args in map(arrays, c.inputs)])


def vmap(c: Construct) -> None:
    """The inputs of equal shapes are the lanes."""
    oracle, f = c.oracle or c.function, jax.vmap(ag.convert(c.function))
    kinds: dict[Any, list[Any]] = {}
    for args in map(arrays, c.inputs):
        kind = jax.tree.structure(args), tuple((leaf.shape, leaf.dtype) for leaf in jax.tree.leaves(args))
        kinds.setdefault(kind, []).append(args)
    for lanes in kinds.values():
        stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *lanes)
        got = outcome(f, *stacked)
        wants = [outcome(oracle, *jax.tree.map(lambda leaf, k=k: leaf[k], stacked)) for k in range(len(lanes))]
        if isinstance(got, Raised):  # the error of the lowest lane that fails
            first = next((w for w in wants if isinstance(w, Raised)), wants[0])
            check(c, "vmap", [(got, first)], all(isinstance(w, Raised) for w in wants))
        else:
            check(c, "vmap", [(jax.tree.map(lambda leaf, k=k: leaf[k], got), want) for k, want in enumerate(wants)])


def jvp(c: Construct) -> None:
    derivative(c, "jvp", forward)


def vjp(c: Construct) -> None:
    derivative(c, "vjp", backward)


def derivative(c: Construct, form: str, mode: Callable[..., Any]) -> None:
    """The derivative by the inputs that are floats, or by a factor of the result."""
    function = c.function if c.oracle is None else c.oracle
    if any(map(differentiable, jax.tree.leaves(c.inputs))):
        f, oracle, inputs = ag.function(c.function), function, c.inputs
    elif c.jvp is not None:
        f, oracle, inputs = ag.function(c.jvp), c.jvp, [(2.0, *args) for args in c.inputs]
    else:
        f, oracle, inputs = ag.function(scaled(c.function)), scaled(function), [(2.0, *args) for args in c.inputs]
    check(c, form, [(outcome(mode, f, args), outcome(mode, oracle, args)) for args in map(arrays, inputs)])


def differentiable(leaf: Any) -> bool:
    return not isinstance(leaf, str) and jnp.issubdtype(jnp.result_type(leaf), jnp.inexact)


def scaled(f: Callable[..., Any]) -> Callable[..., Any]:
    def g(scale: Any, *args: Any) -> Any:
        out = f(*args)
        return None if out is None else jax.tree.map(lambda leaf: leaf * scale, out)

    return g


def forward(f: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The value and the derivative in one direction."""
    g, point = of_floats(f, args)
    return jax.jvp(g, point, tuple(map(direction, point)))


def backward(f: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The value and the gradient of a weighted sum of its floats."""
    g, point = of_floats(f, args)
    value, pull = jax.vjp(g, *point)
    return value, pull(jax.tree.map(direction, value))


def direction(leaf: Any) -> Any:
    x = jnp.asarray(leaf)
    if not jnp.issubdtype(x.dtype, jnp.inexact):
        return np.zeros(x.shape, jax.dtypes.float0)
    return jnp.cos(jnp.arange(x.size)).reshape(x.shape).astype(x.dtype)


def of_floats(f: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A function of the arguments that are floats, and their values."""
    leaves, tree = jax.tree.flatten(args)
    places = [k for k, leaf in enumerate(leaves) if differentiable(leaf)]

    def g(*floats: Any) -> Any:
        every = list(leaves)
        for k, value in zip(places, floats):
            every[k] = value
        return f(*jax.tree.unflatten(tree, every))

    return g, tuple(leaves[k] for k in places)


RUN = {"static": static, "jit": jit, "vmap": vmap, "jvp": jvp, "vjp": vjp}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("c", EVERY, ids=lambda c: c.name)
def test_construct(c: Construct, form: str) -> None:
    RUN[form](c)


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == document(), "run `python -m tests.corpora.language --update`"


def test_every_refusal_has_a_page() -> None:
    for c in EVERY:
        for error in c.refused.values():
            assert (PAGE.parent / "errors" / f"{error}.md").exists(), (c.name, error)
