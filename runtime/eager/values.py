"""Arrays that stand for one value of one Variable."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from autograph.runtime.jaxapi.tracers import content
from autograph.runtime.jaxapi.traces import Tracer


def fresh(x: Any) -> Any:
    """Another array object with the same values, over the same buffer where it is one: its identity is no other value's."""
    if isinstance(x, Tracer) or len(x.sharding.device_set) > 1 or jnp.issubdtype(x.dtype, jax.dtypes.extended):
        return content(lax.squeeze(lax.expand_dims(x, (0,)), (0,)))
    return x.addressable_data(0)
