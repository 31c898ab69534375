"""Stores into subscripts: a `jax.Array` gives a new array, anything else is changed in place by its own `__setitem__`."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from autograph.runtime.block import in_block
from autograph.runtime.errors import ArrayStoreError, EffectError
from autograph.runtime.places import here
from autograph.runtime.unset import read
from autograph.runtime.values import traced

slice = builtins.slice

IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "+=": operator.iadd, "-=": operator.isub, "*=": operator.imul, "/=": operator.itruediv, "//=": operator.ifloordiv, "%=": operator.imod,
    "**=": operator.ipow, "@=": operator.imatmul, "<<=": operator.ilshift, ">>=": operator.irshift, "&=": operator.iand, "|=": operator.ior,
    "^=": operator.ixor,
}  # fmt: skip


def is_array(x: Any) -> bool:
    """Whether a store into `x` gives a new array."""
    return isinstance(x, jax.Array) and not _is_ref(x)


def set_item(x: Any, i: Any, value: Any) -> Any:
    """`x[i] = value`; returns what the name `x` is bound to afterwards.

    Raises:
      ArrayStoreError: (AG403) a traced value into a NumPy array.
      EffectError: (AG405) a store into a list or dict in a staged block.
    """
    x = read(x)
    if isinstance(x, jax.Array) and not _is_ref(x):
        return x.at[i].set(value)
    if isinstance(x, np.ndarray) and (traced(value) or traced(i)):
        raise ArrayStoreError(
            "a traced value cannot be stored into a NumPy array", here(), "make it a `jnp` array before: `x = jnp.asarray(x)`"
        )
    if in_block() and not _is_ref(x):
        raise EffectError(
            f"a store into a `{type(x).__name__}` in a block that only traced values decide to run", here(),
            "use a `jnp` array, or a variable of its own",
        )  # fmt: skip
    x[i] = value
    return x


def update_item(x: Any, i: Any, symbol: str, value: Any) -> Any:
    """`x[i] += value` (or another operator): read, operate, store; a repeated index counts once, as in NumPy."""
    x = read(x)
    return set_item(x, i, IN_PLACE[symbol](x[i], value))


def _is_ref(x: Any) -> bool:
    """Whether x is a mutable reference, which is an array type with its own stores."""
    return isinstance(x, jax.Array) and type(getattr(x, "aval", None)).__name__ == "AbstractRef"
