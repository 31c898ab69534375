"""Known numbers inside of equations, which may be others in each iteration: where a slice begins, literals in branches and loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from jax import lax

from autograph.runtime.jaxapi.equation_ranges import equation
from autograph.runtime.jaxapi.scans import with_more_constants
from autograph.runtime.jaxapi.traces import Literal, Var, jaxpr_with


def numbers_in(eqn: Any) -> list[Any]:
    """The numbers inside of an equation, as literals or as integers of NumPy's."""
    if _is_slice(eqn):
        return [np.int32(start) for start in eqn.params["start_indices"]]
    return [v for inner in _inside(eqn) for v in _numbers(inner.jaxpr)] if is_open(eqn) else []


def is_open(eqn: Any) -> bool:
    """Whether the literals in the jaxprs of an equation are numbers inside of it."""
    return bool(inside := _inside(eqn)) and not any(inner.consts for inner in inside)


def _inside(eqn: Any) -> Sequence[Any]:
    """The sides of a branch, the iteration of a loop of known length."""
    if eqn.primitive is lax.cond_p:
        return eqn.params["branches"]  # type: ignore[no-any-return]
    return [eqn.params["jaxpr"]] if eqn.primitive is lax.scan_p else []


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
    opened, first = [], 0
    for inner in _inside(eqn):
        extra = [Var(aval) for aval in avals]
        opened.append(_opened(inner.jaxpr, extra, iter(extra[first:])))
        first += sum(1 for _ in _numbers(inner.jaxpr))
    if eqn.primitive is lax.scan_p:
        return equation(eqn, [*numbers, *operands], params={**with_more_constants(eqn.params, len(avals)), "jaxpr": opened[0]})
    index, *others = operands
    return equation(eqn, [index, *numbers, *others], params={**eqn.params, "branches": tuple(opened)})


def _opened(jaxpr: Any, extra: Sequence[Var], numbers: Iterator[Var]) -> Any:
    """A jaxpr with more inputs before its own, of which some stand for the numbers in it, in their order."""
    eqns = []
    for e in jaxpr.eqns:
        operands = [next(numbers) if isinstance(v, Literal) else v for v in e.invars]
        inside = [next(numbers) for _ in numbers_in(e)]
        eqns.append(with_numbers(e, operands, inside) if inside else equation(e, operands))
    outvars = [next(numbers) if isinstance(v, Literal) else v for v in jaxpr.outvars]
    return jaxpr_with(jaxpr, [*extra, *jaxpr.invars], outvars, eqns)


def _is_slice(eqn: Any) -> bool:
    return eqn.primitive is lax.slice_p and (eqn.params["strides"] is None or set(eqn.params["strides"]) <= {1})


def _sizes(eqn: Any) -> tuple[int, ...]:
    return tuple(b - a for a, b in zip(eqn.params["start_indices"], eqn.params["limit_indices"], strict=True))
