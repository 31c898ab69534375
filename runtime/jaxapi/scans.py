"""`lax.scan` on jaxprs: how it is bound, how many operands it has of each kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jax import lax

from autograph.runtime.jaxapi.private import flattree as _flattree
from autograph.runtime.jaxapi.traces import ClosedJaxpr, jaxpr_with, trace


def bind_scan(body: ClosedJaxpr, consts: Sequence[Any], carry: Sequence[Any], xs: Sequence[Any], length: int, unroll: int) -> list[Any]:
    """`lax.scan_p` without stacked outputs, on a jaxpr whose inputs are constants, carry and items."""
    if _flattree is None:
        kinds = {"num_consts": len(consts), "num_carry": len(carry)}
    else:
        nones = _flattree.nones
        kinds = {
            "ft_in": _flattree.pack((nones(len(consts)), nones(len(carry)), nones(len(xs)))),
            "ft_out": _flattree.pack((nones(len(carry)), nones(0))),
        }
    return list(lax.scan_p.bind(*consts, *carry, *xs, reverse=False, length=length, jaxpr=body, unroll=unroll, **kinds))


def scan_counts(params: dict[str, Any]) -> tuple[int, int]:
    """How many operands of a scan are constants, and how many its carry."""
    if "num_consts" in params:
        return params["num_consts"], params["num_carry"]
    consts, carry, _ = params["ft_in"].unpack()
    return len(consts), len(carry)


def with_more_constants(params: dict[str, Any], more: int) -> dict[str, Any]:
    """The parameters of a scan that has more constants before its own."""
    if "num_consts" in params:
        return {**params, "num_consts": params["num_consts"] + more}
    nones = _flattree.nones
    parts = [len(part) for part in params["ft_in"].unpack()]
    return {**params, "ft_in": _flattree.pack((nones(parts[0] + more), nones(parts[1]), nones(parts[2])))}


def unless(body: ClosedJaxpr, code: int, carry: range) -> ClosedJaxpr:
    """An iteration of a scan that changes nothing once input `code`, an error code, is not zero."""
    avals = [v.aval for v in body.jaxpr.invars]
    keep, _ = trace(lambda *a: [a[k] for k in carry], avals)
    kept = jaxpr_with(keep, keep.invars, keep.outvars, keep.eqns)

    def iteration(*a: Any) -> Any:
        going = lax.convert_element_type(lax.eq(a[code], np.int32(0)), np.int32)
        return lax.cond_p.bind(going, *a, branches=(kept, body))

    jaxpr, _ = trace(iteration, avals)
    return jaxpr_with(jaxpr, jaxpr.invars, jaxpr.outvars, jaxpr.eqns)
