"""`len` and the truth of objects whose classes define them in Python, where traced values may decide."""

from __future__ import annotations

import builtins
import operator
from types import FunctionType
from typing import Any

from autograph.runtime.calls.calls import call
from autograph.runtime.effects.deferred import fail
from autograph.runtime.frames import watched
from autograph.runtime.sequences.predicates import truth
from autograph.runtime.sequences.rows import unknown

_NEGATIVE = "__len__() should return >= 0"


def length(x: Any) -> Any:
    """`len(x)`: a number, or a traced one."""
    method = _of_the_user(x, "__len__")
    if method is None:
        return builtins.len(x)
    n = call(method)(x)
    if not unknown(n):
        n = operator.index(n)
        if n < 0:
            raise ValueError(_NEGATIVE)
        return n
    if n.shape != () or n.dtype.kind not in "iu":
        raise TypeError(f"'{n.dtype}' object cannot be interpreted as an integer")
    fail(n < 0, ValueError, _NEGATIVE)
    return n


def truth_of(x: Any) -> Any:
    """`bool(x)` by the object's own `__bool__` or `__len__`: a bool, or a traced one."""
    method = _of_the_user(x, "__bool__")
    if method is None:
        return bool(x) if hasattr(type(x), "__bool__") or _of_the_user(x, "__len__") is None else truth(length(x) > 0)
    value = call(method)(x)
    if unknown(value) and value.shape == () and value.dtype == bool:
        return value
    if not isinstance(value, bool):
        raise TypeError(f"__bool__ should return bool, returned {type(value).__name__}")
    return value


def _of_the_user(x: Any, name: str) -> FunctionType | None:
    """A special method of an object in a trace, if it is written in Python, and not by JAX or here."""
    method = getattr(type(x), name, None)
    outside = isinstance(method, FunctionType) and (method.__module__ or "").split(".")[0] not in ("autograph", "jax", "jaxlib", "numpy")
    return method if outside and watched() else None
