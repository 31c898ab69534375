"""How much equations are to compile."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax

from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.tracing.trace_context import frames

LONG = 250  # operations, of all iterations together, from which on a loop is one compiled iteration
# XLA's CPU backend makes one kernel of iterations that are elementwise and written out. LLVM vectorises it no more from a handful of calls of these
# on, by the number of items of the array: ten in a row took 1.3 to 3 times as long as a loop of ten (jax 0.10).
_FUSED = dict.fromkeys(("sin", "cos", "tan", "pow"), 8) | dict.fromkeys(("exp", "exp2", "expm1", "log", "log1p", "tanh", "logistic", "erf"), 32)
_WEIGHT = 30
_ELEMENTWISE = _FUSED.keys() | frozenset(
    "abs add and broadcast_in_dim ceil clamp convert_element_type copy div eq floor ge gt integer_pow le lt max min mul ne neg not or rem round "
    "rsqrt select_n sign sqrt square sub xor".split()
)
_HEAVY = {"scatter": 8, "scatter-add": 8, "scatter-mul": 8, "gather": 4, "sort": 20, "dot_general": 4, "conv_general_dilated": 8}


def size_of(eqn: Any) -> int:
    """How much an equation is to compile, beside one operation."""
    if eqn.primitive.name.startswith(("random_", "threefry")):
        return 100
    inner = [j for v in eqn.params.values() for j in _jax.jaxprs_in(v)]
    return _HEAVY.get(eqn.primitive.name, 1) + sum(size_of(e) for j in inner for e in getattr(j, "jaxpr", j).eqns)


def size_of_all(eqns: Sequence[Any]) -> int:
    """How much the equations of an iteration are, if the loop is written out."""
    size = sum(map(size_of, eqns))
    calls = [e for e in eqns if e.primitive.name in _FUSED]
    if not calls or any(e.primitive.name not in _ELEMENTWISE for e in eqns) or jax.default_backend() != "cpu":
        return size
    beside = math.prod(_jax.lanes(f.around) for f in frames())
    large = [e for e in calls if math.prod(e.outvars[0].aval.shape) * beside >= _FUSED[e.primitive.name]]
    return size + _WEIGHT * len(large)
