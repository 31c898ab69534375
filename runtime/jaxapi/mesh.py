"""Values of a type inside `jax.shard_map`, which tells over which axes of a mesh they vary."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from autograph.runtime.jaxapi.traces import ad, axes_of, shaped, varying

Axes = frozenset[str]


def like(x: Any, *types: Any) -> Any:
    """A value, marked as one that varies over the axes that values of some types vary over."""
    return varying(x, frozenset[str]().union(*map(axes_of, types)))


def count_type(axes: Axes) -> Any:
    """The type of a number of iterations that differs along some axes."""
    return shaped((), jnp.dtype("int32"), False, axes)


def zeros(aval: Any) -> Any:
    """Zeros of a type."""
    return ad.zeros_like_aval(aval)


def room(aval: Any, rows: int) -> Any:
    """An array of so many rows of a type, to be written into."""
    mesh = getattr(getattr(aval, "sharding", None), "mesh", None)
    if mesh is not None and not mesh.empty:
        return jnp.broadcast_to(zeros(aval), (rows, *aval.shape))
    return like(
        lax.full((rows, *aval.shape), 0, aval.dtype), aval
    )  # `lax.empty` would have an axis of lanes under `jax.vmap`, and is as slow on the CPU
