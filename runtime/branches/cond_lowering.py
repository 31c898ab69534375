"""A branch, as it is bound: a select of what both sides give, or `lax.cond_p` on their jaxprs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax import lax

from autograph.runtime.branches.traced_region import TracedRegion
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi.traces import ClosedJaxpr, Literal, Var
from autograph.runtime.values.values import blank

# Primitives that a select may run on the side that is not taken: no effects, cheap, and their derivative at any point is finite.
_SMOOTH = frozenset({
    "neg", "add", "sub", "max", "min", "add_any", "convert_element_type", "copy", "broadcast_in_dim", "reshape", "squeeze", "select_n",
    "stop_gradient",
    "eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not", "xor",
})  # fmt: skip
_INTEGER = _SMOOTH | {"mul", "sign", "abs", "shift_left", "shift_right_logical", "shift_right_arithmetic", "clamp", "is_finite"}
_LOADS = frozenset({"dynamic_slice", "concatenate", "slice"})  # of few items
_FEW = 16
_MOST_SELECTED = 8  # equations of both sides together, but for
_MOST_SMALL = 32  # those of few items, and
_WIDEST = 64  # branches of one conditional
_MOST_SCALARS = 128  # what is computed of single integers, such as places


def selectable(blocks: Sequence[TracedRegion]) -> bool:
    """Whether both sides may run: that is neither seen (an effect, a NaN in a derivative) nor felt (its time)."""
    if len(blocks) != 2 or not all(map(_is_selectable, blocks)):
        return False
    others = [e for b in blocks for e in b.eqns if not _is_of_integers(e)]
    large = [e for e in others if any(v.aval.size > _FEW for v in e.outvars)]
    return len(large) <= _MOST_SELECTED and len(others) <= _MOST_SMALL and sum(len(b.eqns) for b in blocks) - len(others) <= _MOST_SCALARS


def _is_selectable(block: TracedRegion) -> bool:
    whole = all(isinstance(v.aval.dtype, np.dtype) and v.aval.dtype.kind in "biu" for v in block.outvars)
    return all(not e.effects and (e.primitive.name in (_INTEGER if whole else _SMOOTH) or _scales(e) or _is_cheap(e)) for e in block.eqns)


def _is_cheap(eqn: Any) -> bool:
    """What is computed of single integers, and loads of few items."""
    name = eqn.primitive.name
    return _is_of_integers(eqn) and name in _INTEGER or name in _LOADS and all(v.aval.size <= _FEW for v in eqn.outvars)


def _is_of_integers(eqn: Any) -> bool:
    """Whether it computes few integers of few others, or loads few items."""
    few = all(v.aval.size <= 4 and isinstance(v.aval.dtype, np.dtype) and v.aval.dtype.kind in "biu" for v in (*eqn.invars, *eqn.outvars))
    return few or eqn.primitive.name in _LOADS


def _scales(eqn: Any) -> bool:
    """Multiplication by a finite constant."""
    return eqn.primitive.name == "mul" and any(isinstance(v, Literal) and bool(np.all(np.isfinite(v.val))) for v in eqn.invars)


def select(p: Any, x: Any, y: Any) -> Any:
    """`x` if `p` else `y`, of equal types."""
    if p is x or p is y or isinstance(x, (np.ndarray, bool)) or isinstance(y, (np.ndarray, bool)):
        truths = [bool(v) if not isinstance(v, jax.Array) and np.shape(v) == () and np.asarray(v).dtype == bool else None for v in (x, y)]
        match truths:
            case [None, False]:
                return lax.bitwise_and(p, x) if x.shape == () else lax.select_n_p.bind(p, y, x)
            case [True, None]:
                return lax.bitwise_or(p, y) if y.shape == () else lax.select_n_p.bind(p, y, x)
            case [True, False]:
                return p
            case [False, True]:
                return lax.bitwise_not(p)
    return lax.select_n_p.bind(p, y, x)


def bind_cond(p: Any, blocks: Sequence[TracedRegion]) -> list[Any]:
    """`lax.cond_p` on the kept jaxprs; what all sides pass through from outside unchanged does not go through it."""
    first, *others = blocks
    same = [
        first.consts[v] if isinstance(v, Var) and v in first.consts and all(_passes(b, k, first.consts[v]) for b in others) else None
        for k, v in enumerate(first.outvars)
    ]  # fmt: skip
    operands: dict[int, Any] = {id(c): c for blk in blocks for c in blk.consts.values()}

    def side(blk: TracedRegion) -> Any:
        mine = {id(c): v for v, c in blk.consts.items()}
        invars = [mine.get(k) or Var(_jax.aval_of(c)) for k, c in operands.items()]
        return blk.jaxpr(invars, [v for v, s in zip(blk.outvars, same, strict=True) if s is None])

    branches = tuple(map(side, reversed(blocks) if len(blocks) == 2 else blocks))  # of a truth value, false comes first
    if all(s is not None for s in same) and not any(j.effects for j in branches):
        return same
    done = iter(_bound(lax.convert_element_type(p, np.int32), [*operands.values()], branches))
    return [next(done) if s is None else s for s in same]


def _bound(index: Any, operands: Sequence[Any], branches: Sequence[ClosedJaxpr]) -> list[Any]:
    """`lax.cond_p`, in two levels where it has many branches: XLA takes the square of their number."""
    if len(branches) <= _WIDEST:
        return lax.cond_p.bind(index, *operands, branches=tuple(branches))  # type: ignore[no-any-return]
    width = math.isqrt(len(branches) - 1) + 1
    groups = [branches[k : k + width] for k in range(0, len(branches), width)]
    avals = list(map(_jax.aval_of, [index, *operands]))
    sides = []
    for group in groups:
        jaxpr, _ = _jax.trace(lambda inner, *given, group=group: _bound(inner, given, group), avals)
        sides.append(ClosedJaxpr(jaxpr, ()))
    outer = lax.div(index, np.int32(width))
    return lax.cond_p.bind(outer, lax.rem(index, np.int32(width)), *operands, branches=tuple(sides))  # type: ignore[no-any-return]


def _passes(block: TracedRegion, k: int, value: Any) -> bool:
    """Whether a block gives, as its k-th result, this value from outside."""
    v = block.outvars[k]
    return isinstance(v, Var) and block.consts.get(v, blank) is value
