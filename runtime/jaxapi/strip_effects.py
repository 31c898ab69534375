"""A jaxpr without what it prints: iterations of a loop are made again on the way back, and were printed on the way."""

from __future__ import annotations

from typing import Any

from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi.traces import ClosedJaxpr

_PRINTS = frozenset({"debug_callback", "debug_print"})


def prints(jaxpr: Any) -> bool:
    """Whether a jaxpr calls the host for its effect alone."""
    return bool(_jax.primitives(jaxpr) & _PRINTS)


def quiet(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The jaxpr without such calls, in the jaxprs of its equations either."""
    eqns, dropped = [], frozenset[Any]()
    for eqn in closed.jaxpr.eqns:
        if eqn.primitive.name in _PRINTS:
            dropped |= eqn.effects
            continue
        params = {k: _quiet(v) for k, v in eqn.params.items()}
        inner = [j for v in eqn.params.values() for j in _jax.jaxprs_in(v) if prints(j)]
        gone = frozenset(eqn.effects) & _effects(*inner)
        eqns.append(eqn.replace(params=params, effects=frozenset(eqn.effects) - gone) if inner else eqn)
        dropped |= gone
    return ClosedJaxpr(closed.jaxpr.replace(eqns=eqns, effects=frozenset(closed.jaxpr.effects) - dropped), closed.consts)


def _effects(*jaxprs: Any) -> frozenset[Any]:
    """The effects of what jaxprs print."""
    found: set[Any] = set()
    for jaxpr in jaxprs:
        for eqn in getattr(jaxpr, "jaxpr", jaxpr).eqns:
            if eqn.primitive.name in _PRINTS:
                found |= eqn.effects
            found |= _effects(*(j for v in eqn.params.values() for j in _jax.jaxprs_in(v)))
    return frozenset(found)


def _quiet(value: Any) -> Any:
    if isinstance(value, ClosedJaxpr):
        return quiet(value) if prints(value) else value
    if isinstance(value, (tuple, list)) and any(isinstance(v, ClosedJaxpr) for v in value):
        return type(value)(map(_quiet, value))
    return value
