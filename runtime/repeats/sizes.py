"""How much equations are to compile."""

from __future__ import annotations

from typing import Any

from autograph.runtime.jaxapi import _jax

LONG = 250  # operations, of all turns together, from which on a loop is one compiled turn
_HEAVY = {"scatter": 8, "scatter-add": 8, "scatter-mul": 8, "gather": 4, "sort": 20, "dot_general": 4, "conv_general_dilated": 8}


def size_of(eqn: Any) -> int:
    """How much an equation is to compile, beside one operation."""
    if eqn.primitive.name.startswith(("random_", "threefry")):
        return 100
    inner = [j for v in eqn.params.values() for j in _jax.jaxprs_in(v)]
    return _HEAVY.get(eqn.primitive.name, 1) + sum(size_of(e) for j in inner for e in getattr(j, "jaxpr", j).eqns)
