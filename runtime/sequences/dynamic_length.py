"""NumPy's functions of which the values decide how many items they give: the places of what is not zero, and bins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import jax.numpy as jnp

from autograph.runtime.effects.error_codes import fail
from autograph.runtime.sequences.slicing import masked


def _array(x: Any) -> Any:
    return jnp.asarray(jnp.array(x) if isinstance(x, (list, tuple)) else x)


def _nonzero(a: Any) -> Any:
    """The places of what is not zero, an array for each axis: how many there are is data-dependent."""
    a = _array(a)
    if not a.ndim:
        raise ValueError("Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead.")
    return tuple(masked(place.astype(int), a != 0) for place in jnp.indices(a.shape))


def _where(condition: Any, *choices: Any) -> Any:
    return jnp.where(*(_array(x) for x in (condition, *choices))) if choices else _nonzero(condition)


def _argwhere(a: Any) -> Any:
    a = _array(a)
    if not a.ndim:
        return masked(jnp.zeros((1, 0), int), a[None] != 0)
    return masked(jnp.stack(jnp.indices(a.shape), axis=-1), a != 0)


def _bincount(x: Any, weights: Any = None, minlength: Any = 0) -> Any:
    """A bin for each number below `minlength`, which all have to be."""
    x = _array(x)
    if not minlength:
        return jnp.bincount(x, weights)
    fail(jnp.any(x < 0), ValueError, "'list' argument must have no negative elements")
    fail(jnp.any(x >= minlength), ValueError, f"np.bincount(minlength={minlength}) is given a larger number, and in compiled code has no more bins")
    return jnp.bincount(x, weights, length=minlength)


COUNTED: Final[dict[str, Callable[..., Any]]] = {
    "nonzero": _nonzero, "flatnonzero": lambda a: _nonzero(jnp.ravel(_array(a)))[0], "where": _where, "argwhere": _argwhere, "bincount": _bincount,
}  # fmt: skip
