"""Stores into subscripts: a `jax.Array` gives a new array, anything else is changed in place by its own `__setitem__`."""

from __future__ import annotations

import builtins
from typing import Any

import jax
import numpy as np

from autograph.runtime.attributes import IN_PLACE, set_attr
from autograph.runtime.effects import Change
from autograph.runtime.errors import ArrayStoreError, EffectError
from autograph.runtime.frames import changed, watched
from autograph.runtime.optional import present, read
from autograph.runtime.places import here
from autograph.runtime.values import Maybe, traced

slice = builtins.slice


def is_array(x: Any) -> bool:
    """Whether a store into `x` gives a new array."""
    return isinstance(x, jax.Array) and not _is_ref(x)


def set_item(x: Any, i: Any, value: Any) -> Any:
    """`x[i] = value`; returns what the name `x` is bound to afterwards.

    Raises:
      ArrayStoreError: (AG403) a traced value into a NumPy array.
      EffectError: (AG405) a store, in a staged block, into a list or dict that the block did not make.
    """
    x = read(x)
    if is_array(x):
        return x.at[i].set(present(value, "a value is needed, and None is stored") if isinstance(value, Maybe) else value)
    store_item(x, i, value)
    return x


def store_item(x: Any, i: Any, value: Any) -> None:
    """`x[i] = value`, by the object's own `__setitem__`."""
    if isinstance(x, np.ndarray) and (traced(value) or traced(i)):
        raise ArrayStoreError("a traced value cannot be stored into a NumPy array", here(), "make it a `jnp` array before: `x = jnp.asarray(x)`")
    if watched() and not _is_ref(x):
        _log_store(x, i)
    x[i] = value


def _log_store(x: Any, i: Any) -> None:
    place, missing = here(), object()
    try:
        old = x[i].copy() if isinstance(x, np.ndarray) else x[i]
    except Exception:  # no such item yet: whatever the container raises for it
        old = missing

    def undo(x: Any) -> None:
        if old is missing:
            x.pop(i, None) if isinstance(x, dict) else None
        else:
            x[i] = old

    changed(lambda: Change(x, f"a store into a `{type(x).__name__}`", place, undo, EffectError, "use a `jnp` array, or a variable of its own"))


def set_attr_item(obj: Any, name: str, i: Any, value: Any) -> None:
    """`obj.name[i] = value`."""
    x = getattr(obj, name)
    if is_array(x):
        set_attr(obj, name, x.at[i].set(value))
    else:
        store_item(x, i, value)


def update_item(x: Any, i: Any, symbol: str, value: Any) -> Any:
    """`x[i] += value` (or another operator): read, operate, store; a repeated index counts once, as in NumPy."""
    x = read(x)
    return set_item(x, i, IN_PLACE[symbol](x[i], value))


def _is_ref(x: Any) -> bool:
    """Whether x is a mutable reference, which is an array type with its own stores."""
    return isinstance(x, jax.Array) and type(getattr(x, "aval", None)).__name__ == "AbstractRef"
