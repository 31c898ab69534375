"""The axes of a mesh over which a value varies inside `jax.shard_map`, which its type tells."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from autograph.runtime._jax import ShapedArray, ad

Axes = frozenset[str]


def axes_of(aval: Any) -> Axes:
    """The mesh axes that a value of a type varies over; the attribute of the type has moved between versions of JAX."""
    kind = getattr(aval, "manual_axis_type", None)
    axes = kind.varying if kind is not None else getattr(aval, "vma", None)
    return frozenset(axes or ())


def varying(x: Any, axes: Iterable[str]) -> Any:
    """A value, marked as one that varies over some axes."""
    more = frozenset(axes) - axes_of(jax.typeof(x))
    return lax.pcast(x, tuple(sorted(more)), to="varying") if more else x


def like(x: Any, *types: Any) -> Any:
    """A value, marked as one that varies over the axes that values of some types vary over."""
    return varying(x, frozenset().union(*map(axes_of, types)))


def count_type(axes: Axes) -> Any:
    """The type of a number of turns that differs along some axes."""
    if not axes:
        return ShapedArray((), jnp.dtype("int32"))
    return jax.make_jaxpr(lambda: varying(jnp.int32(0), axes))().out_avals[0]


def zeros(aval: Any) -> Any:
    """Zeros of a type."""
    return ad.zeros_like_aval(aval)


def room(aval: Any, rows: int) -> Any:
    """An array of so many rows of a type, to be written into."""
    mesh = getattr(getattr(aval, "sharding", None), "mesh", None)
    if mesh is not None and not mesh.empty:
        return jnp.broadcast_to(zeros(aval), (rows, *aval.shape))
    return like(lax.empty((rows, *aval.shape), aval.dtype), aval)
