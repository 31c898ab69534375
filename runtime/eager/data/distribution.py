"""Rows of arrays that are spread over the devices of a mesh: a batch is spread as the array is, so that each device computes its part of it."""

from __future__ import annotations

import math
from typing import Any

import jax
from jax import lax
from jax.sharding import AxisType, NamedSharding, PartitionSpec

from autograph.runtime.jaxapi.traces import Tracer


def sharding_of(x: Any) -> NamedSharding | None:
    """How an array is spread over several devices; None of one that is not."""
    found = None if isinstance(x, Tracer) else x.sharding
    return found if isinstance(found, NamedSharding) and len(found.device_set) > 1 else None


def rows(x: Any, index: Any, spread: NamedSharding | None) -> Any:
    """The rows of an array with some numbers, an array of any shape."""
    if spread is None:
        return x.at[index].get(mode="promise_in_bounds")
    axes: list[Any] = [*tuple(spread.spec), *[None] * (x.ndim - len(spread.spec))]  # type: ignore[misc]
    first, *rest = axes
    names: tuple[str, ...] = first if isinstance(first, tuple) else () if first is None else (first,)
    parts = math.prod(spread.mesh.shape[name] for name in names)
    batch = [first if index.shape and index.shape[0] % parts == 0 else None, *[None] * (index.ndim - 1)] if index.ndim else []
    wanted = NamedSharding(spread.mesh, PartitionSpec(*batch, *rest))
    if AxisType.Explicit in spread.mesh.axis_types:
        whole = PartitionSpec(None, *rest)  # what is taken may stand on any device
        x = jax.sharding.reshard(x, NamedSharding(spread.mesh, whole)) if first is not None else x
        return x.at[index].get(mode="promise_in_bounds", out_sharding=wanted)
    return lax.with_sharding_constraint(x.at[index].get(mode="promise_in_bounds"), wanted)
