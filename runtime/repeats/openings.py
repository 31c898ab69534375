"""Known numbers inside of equations, which may be others in each turn: where a slice begins, and literals in the sides of a branch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from jax import lax

from autograph.runtime.jaxapi._jax import Literal, Var, jaxpr_with
from autograph.runtime.jaxapi.spans import equation


def numbers_in(eqn: Any) -> list[Any]:
    """The numbers inside of an equation, as literals or as integers of NumPy's."""
    if _is_slice(eqn):
        return [np.int32(start) for start in eqn.params["start_indices"]]
    return [v for b in eqn.params["branches"] for v in _numbers(b.jaxpr)] if is_open(eqn) else []


def is_open(eqn: Any) -> bool:
    """Whether the literals in the jaxprs of an equation are numbers inside of it."""
    return eqn.primitive is lax.cond_p and not any(b.consts for b in eqn.params["branches"])


def _numbers(jaxpr: Any) -> Iterator[Any]:
    for e in jaxpr.eqns:
        yield from (v for v in e.invars if isinstance(v, Literal))
        yield from numbers_in(e)
    yield from (v for v in jaxpr.outvars if isinstance(v, Literal))


def without_numbers(eqn: Any) -> dict[str, Any]:
    """The parameters of an equation but for its numbers, if these are no literals."""
    if not _is_slice(eqn):
        return dict(eqn.params)
    return {"sizes": _sizes(eqn)}


def with_numbers(eqn: Any, operands: Sequence[Any], numbers: Sequence[Any]) -> Any:
    """The equation, which takes its numbers as operands."""
    if _is_slice(eqn):
        return equation(eqn, [*operands, *numbers], lax.dynamic_slice_p, {"slice_sizes": _sizes(eqn)})
    avals = [v.aval for v in numbers]
    branches, first = [], 0
    for b in eqn.params["branches"]:
        extra = [Var(aval) for aval in avals]
        branches.append(_opened(b.jaxpr, extra, iter(extra[first:])))
        first += sum(1 for _ in _numbers(b.jaxpr))
    return equation(eqn, [*operands, *numbers], params={**eqn.params, "branches": tuple(branches)})


def _opened(jaxpr: Any, extra: Sequence[Var], numbers: Iterator[Var]) -> Any:
    """A jaxpr with more inputs, of which some stand for the numbers in it, in their order."""
    eqns = []
    for e in jaxpr.eqns:
        operands = [next(numbers) if isinstance(v, Literal) else v for v in e.invars]
        inside = [next(numbers) for _ in numbers_in(e)]
        eqns.append(with_numbers(e, operands, inside) if inside else equation(e, operands))
    outvars = [next(numbers) if isinstance(v, Literal) else v for v in jaxpr.outvars]
    return jaxpr_with(jaxpr, [*jaxpr.invars, *extra], outvars, eqns)


def _is_slice(eqn: Any) -> bool:
    return eqn.primitive is lax.slice_p and (eqn.params["strides"] is None or set(eqn.params["strides"]) <= {1})


def _sizes(eqn: Any) -> tuple[int, ...]:
    return tuple(b - a for a, b in zip(eqn.params["start_indices"], eqn.params["limit_indices"], strict=True))
