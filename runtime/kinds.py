"""`isinstance` and `type` of values that may be traced, or None where only traced values know."""

from __future__ import annotations

import builtins
from typing import Any

import jax
import jax.numpy as jnp

from autograph.runtime._jax import Tracer
from autograph.runtime.optional import is_none, is_not_none, present, read
from autograph.runtime.values import Blank, Maybe


def isinstance(x: Any, kinds: Any) -> Any:
    """`isinstance`; where only traced values know whether x is None, and the answer depends on it, a traced bool."""
    x = read(x)
    if type(x) is not Maybe:
        return builtins.isinstance(x, kinds)
    none, value = builtins.isinstance(None, kinds), not builtins.isinstance(x.value, Blank) and builtins.isinstance(x.value, kinds)
    return none if none == value else is_none(x) if none else is_not_none(x)


def type_of(x: Any) -> Any:
    """`type(x)`; of a traced value that of an array."""
    x = read(x)
    if type(x) is Maybe:
        x = present(x, "the type of a value that may be None is asked for")
    return type(jnp.zeros(())) if type(x) is not jax.Array and builtins.isinstance(x, Tracer) else type(x)
