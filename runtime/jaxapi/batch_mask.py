"""Which lanes of `jax.vmap` are in a branch.

A batched predicate makes JAX evaluate both sides of a `cond` for all lanes and select.  A loop of unknown length in a side would go on for lanes
that are not there, perhaps for ever (jax#2947).  Its test therefore asks for the branch's predicate, through a primitive that is `True` until
`jax.vmap` gives it lanes: without lanes a side runs only where its predicate holds.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from autograph.runtime.errors.source_spans import in_kernel
from autograph.runtime.jaxapi.traces import Primitive, ad, batching, mlir
from autograph.runtime.tracing.trace_context import frames

_active_p = Primitive("ag_active")


def _everywhere(chosen: Any, *, side: int) -> Any:
    return jnp.ones_like(chosen, bool)


def _of_lanes(args: Any, dims: Any, *, side: int) -> Any:
    """The lanes for which a predicate or index chooses the side."""
    (chosen,) = args
    if chosen.dtype == bool:
        return (lax.bitwise_not(chosen) if side else chosen), dims[0]
    return lax.eq(chosen, lax.full_like(chosen, side)), dims[0]


def _jvp(primals: Any, tangents: Any, *, side: int) -> Any:
    out = _active_p.bind(*primals, side=side)
    return out, ad.Zero(jax.typeof(out).to_tangent_aval())


_active_p.def_impl(_everywhere)
_active_p.def_abstract_eval(lambda chosen, *, side: chosen.update(dtype=np.dtype(bool), weak_type=False))
mlir.register_lowering(_active_p, mlir.lower_fun(_everywhere, multiple_results=False))
batching.primitive_batchers[_active_p] = _of_lanes
ad.primitive_jvps[_active_p] = _jvp


def where_active(p: Any) -> Any:
    """The test of a loop, which the lanes of the branches around fail that are not in them."""
    there = lane_is_there()
    return p if there is None else lax.bitwise_and(jnp.asarray(p), there)


def lane_is_there() -> Any:
    """Whether the lane is in the branches around; None where there are none."""
    there = None
    for chosen, side in [] if in_kernel() else [frame.chosen for frame in frames() if frame.chosen is not None]:
        inside = _active_p.bind(chosen, side=side)
        there = inside if there is None else lax.bitwise_and(there, inside)
    return there
