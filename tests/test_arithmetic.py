"""Operators on traced arrays: the equations, types and errors that JAX gives without us."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag

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
