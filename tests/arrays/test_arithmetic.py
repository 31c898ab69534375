"""Operators on traced arrays: the equations, types and errors that JAX gives without us."""

from __future__ import annotations

import contextlib
import itertools
import operator
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from autograph.runtime.jaxapi.scattering import put_at

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    name: getattr(operator, name)
    for name in "add sub mul truediv lt ge eq itruediv".split()
}  # fmt: skip
NUMBERS = (2, -1, 2**31 - 1, 2**31, -(2**31), 0.1, 1e40, float("inf"), float("nan"), True, 1j, np.float32(0.1), np.float64(0.1), np.int8(2))


def told(f: Callable[..., Any], *args: Any) -> tuple[str, Any] | str:
    """The program of a function and the type of its result, or its error."""
    try:
        made = jax.make_jaxpr(f)(*args)
    except Exception as error:
        return next(c.__name__ for c in type(error).__mro__ if not c.__module__.startswith("autograph"))
    return str(made.eqns and [(e.primitive.name, [str(v.aval).lstrip("~") for v in e.invars], e.params) for e in made.eqns]), made.out_avals


def differs(do: Callable[..., Any], *args: Any) -> bool:
    return told(ag.convert(do), *args) != told(do, *args)


def weak(x: Any) -> Any:
    """An array of a weak type."""
    return jnp.asarray(1.0) * 1 if x == "float" else jnp.asarray(1) * 1


@contextlib.contextmanager
def checked() -> Iterator[None]:
    """With the operators of `jax.numpy` noting nans and divisions by zero (`jax.experimental.error_check`)."""
    names = "jax_error_checking_behavior_nan", "jax_error_checking_behavior_divide"
    for name in names:
        jax.config.update(name, "raise")
    try:
        yield
    finally:
        for name in names:
            jax.config.update(name, "ignore")


@pytest.mark.parametrize(
    ("name", "mode"),
    [(name, "standard") for name in OPERATORS] + [(name, mode) for name in ("add", "truediv", "lt") for mode in ("strict", "x64", "checked")],
)
def test_as_jax(name: str, mode: str) -> None:
    do = OPERATORS[name]
    how = {
        "standard": contextlib.nullcontext, "x64": jax.enable_x64, "strict": lambda: jax.numpy_dtype_promotion("strict"),
        "checked": checked,
    }  # fmt: skip
    different: list[Any] = []
    with how[mode]():
        arrays = [jnp.ones((3,)), jnp.ones((3,), "int32"), jnp.ones(()), weak("float"), weak("int")]
        for x in arrays + [jnp.ones((3,), d) for d in ("bfloat16", "uint8", "bool", "complex64") if mode == "standard"]:
            different += [(x, y) for y in NUMBERS if differs(lambda v, y=y: do(v, y), x)]
            different += [(y, x) for y in NUMBERS if differs(lambda v, y=y: do(y, v), x)]
            different += [(x, y) for y in arrays if differs(lambda u, v: do(u, v), x, y)]
    assert not different


STORED: list[Any] = [3, 2.5, True, 1e300, 2**40, float("inf"), float("nan"), 1j, np.float32(1)]
STORED += [lambda x: x[0], lambda x: x, lambda x: x.ravel()[0], lambda x: jnp.sum(x) * 0 + 1]
INDICES: list[Any] = [0, -1, 1, (0,), (1, 2), (0, -1), (1, 2, 3), True, np.int32(1), (slice(None), 1), 7]


@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 4), (0, 3)])
def test_stores_as_jax(shape: tuple[int, ...], x64: bool) -> None:
    """What `x[k] = value` records is what `x.at[k].set(value)` does, with its warnings."""

    def at(set_: Callable[[Any, Any, Any], Any], k: Any, value: Any) -> tuple[Any, list[str]]:
        def f(x: Any) -> Any:
            return set_(x, k, value(x) if callable(value) else value)

        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                return str(jax.make_jaxpr(f)(x)), [str(w.message) for w in said]
            except Exception as error:
                return type(error), [str(w.message) for w in said]

    different: list[Any] = []
    with jax.enable_x64(x64):
        for dtype in ("float32", "int32", "bool", "float16", *(["float64", "int64"] if x64 else [])):
            x = jnp.zeros(shape, dtype)
            pairs = itertools.product(INDICES, STORED)
            different += [(dtype, k, v) for k, v in pairs if at(lambda x, k, v: x.at[k].set(v), k, v) != at(put_at, k, v)]
    assert not different


def test_stores_with_explicit_sharding() -> None:
    with jax.set_mesh(jax.make_mesh((1,), ("a",), axis_types=(jax.sharding.AxisType.Explicit,))):
        x = jax.device_put(jnp.zeros((4, 4)), jax.P(None, "a"))
        for k, value in ((1, 2.0), ((1, 2), 2.0), (1, jnp.arange(4.0))):
            wanted = told(lambda x, k=k, value=value: x.at[k].set(value), x)
            assert told(lambda x, k=k, value=value: put_at(x, k, value), x) == wanted


@pytest.mark.parametrize(("k", "value"), [(0, 5.0), ((1, -1), 2), (1, jnp.arange(3.0))])
def test_stores_take_no_detour(k: Any, value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the test above compares JAX with itself."""

    def detour(*_: Any) -> Any:
        raise AssertionError("`x.at` was asked")

    monkeypatch.setattr(jax.core.Tracer, "at", property(detour), raising=False)
    jaxpr = jax.make_jaxpr(lambda x, v: put_at(x, k, v if isinstance(value, jax.Array) else value))(jnp.zeros((2, 3)), jnp.arange(3.0))
    assert jaxpr.eqns[-1].primitive.name == "scatter"
