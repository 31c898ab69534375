"""`cond`: a branch whose predicate may be traced.

Each side's Python runs once per trace.  The sides are joined leaf by leaf to the least common type and bound to `lax.cond_p`, or chosen
by a select where that can be seen neither in values nor in gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax import lax

from autograph.runtime import _jax
from autograph.runtime._jax import Literal, Var
from autograph.runtime.block import Block
from autograph.runtime.errors import BranchTypeError, IntegerRangeError
from autograph.runtime.frames import Place
from autograph.runtime.places import assigned_names, caller, last_store, place_of, returned_names
from autograph.runtime.predicates import truth
from autograph.runtime.values import Mismatch, Spec, blank, describe, flat_arrays, join, of_aval, pack, spec_of, types, unpack

# Primitives that a select may run on the side that is not taken: no effects, cheap, and their derivative at any point is finite.
_SMOOTH = frozenset({
    "neg", "add", "sub", "max", "min", "add_any", "convert_element_type", "copy", "broadcast_in_dim", "reshape", "squeeze", "select_n",
    "stop_gradient",
    "eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not", "xor",
})  # fmt: skip
_INTEGER = _SMOOTH | {"mul", "sign", "abs", "shift_left", "shift_right_logical", "shift_right_arithmetic", "clamp", "is_finite"}
_MOST_SELECTED = 8  # equations of both sides together


def cond(pred: Any, then: Callable[..., Any], orelse: Callable[..., Any], *state: Any) -> Any:
    """`then(*state)` if `pred` else `orelse(*state)`; one staged branch if `pred` is traced.

    Args:
      pred: a Python object, or an array with one element.
      then, orelse: functions of the state; they return what the branch assigns (one value, or a tuple).
      state: the values that the branches may rebind.

    Raises:
      BranchTypeError: (AG202) the two sides give values that no type covers.

    >>> import jax, autograph.runtime as ag
    >>> jax.jit(lambda x: ag.cond(x > 0, lambda: x, lambda: 0))(-3.0)
    Array(0., dtype=float32, weak_type=True)
    """
    p = truth(pred)
    if p is True:
        return then(*state)
    if p is False:
        return orelse(*state)
    return staged_cond(p, then, orelse, state)


def keep(*state: Any) -> Any:
    """The side of a branch that changes nothing."""
    return state[0] if len(state) == 1 else state or None


def staged_cond(
    p: Any, then: Callable[..., Any], orelse: Callable[..., Any], state: Sequence[Any], sources: Sequence[Callable[..., Any]] = ()
) -> Any:
    """`cond` with a traced predicate; `sources` are the user's blocks, where the sides are wrappers around them."""
    place = Place(getattr(then, "__code__", None))

    def first(block: Block, out: Any) -> list[Any]:
        spec[:] = [spec_of(out)]
        return flat_arrays([out])

    def second(block: Block, out: Any) -> list[Any]:
        spec.append(_joined(spec[0], spec_of(out), then, orelse))
        return _packed(out, spec[1])

    spec: list[Spec] = []
    a = Block(lambda: then(*state), (), place, 0, first, sources or (then,))
    b = Block(lambda: orelse(*state), (), place, 1, second, sources or (orelse,))
    joint = spec[1]
    try:
        outs = a.emit(unpack(spec[0], iter(a.outvars)), joint)
    except OverflowError as error:
        raise IntegerRangeError(f"{error}, the joint type of the two sides of this branch", place_of(caller())) from None
    a.outvars = outs
    assert [of_aval(v.aval) for v in outs] == [of_aval(v.aval) for v in b.outvars] == types([joint]), (outs, b.outvars, joint)
    a.merge_constants()
    b.merge_constants()
    effects = any(e.effects for side in (a, b) for e in side.eqns)
    if not types([joint]) and not effects:
        return unpack(joint, iter(()))
    if _selectable(a) and _selectable(b) and len(a.eqns) + len(b.eqns) <= _MOST_SELECTED:
        sides = [blk.inline() for blk in (a, b)]
        chosen: list[Any] = [x if x is y else _select(p, x, y) for x, y in zip(*sides, strict=True)]
        return unpack(joint, iter(chosen))
    return unpack(joint, iter(_bind(p, a, b)))


def _joined(a: Spec, b: Spec, then: Callable[..., Any], orelse: Callable[..., Any]) -> Spec:
    try:
        return join(a, b)
    except Mismatch as m:
        frame = caller()
        names = assigned_names(frame) or returned_names(frame, len(a) if isinstance(a, tuple) else 1)
        if isinstance(a, tuple) and isinstance(b, tuple) and len(names) == len(a) == len(b) and len(names) > 1:
            for name, x, y in zip(names, a, b, strict=True):
                try:
                    join(x, y)
                except Mismatch as inner:
                    raise _disagree(name, inner, then, orelse, frame) from None
        raise _disagree(names[0] if len(names) == 1 else "", m, then, orelse, frame) from None


def _disagree(name: str, m: Mismatch, then: Any, orelse: Any, frame: Any) -> BranchTypeError:
    what = f"`{name}{m.path}`" if name else "what this branch gives"
    lines = [last_store(fn, name) for fn in (then, orelse)] if name else [None, None]
    sides = [f"{describe(s)}{f' (line {at.line})' if at else ''}" for s, at in zip((m.a, m.b), lines, strict=True)]
    why = f"; {m.why}" if m.why else ""
    advice = "give both sides the same type and shape"
    if name and ("unset" in sides[0] or "unset" in sides[1]):
        advice = f"set `{name}` before the branch"
    elif "None" in sides:
        advice = "return a number or array on both sides: one side returns None" if not name else f"start `{name}` with a value instead of None"
    return BranchTypeError(f"{what} is {sides[0]} where the test is true and {sides[1]} where it is false{why}", place_of(frame), advice)


def _packed(out: Any, joint: Spec) -> list[Any]:
    try:
        return pack(out, joint)
    except OverflowError as error:
        raise IntegerRangeError(f"{error}, the joint type of the two sides of this branch", place_of(caller())) from None


def _selectable(block: Block) -> bool:
    """Whether running this side untaken is neither seen (an effect, a NaN in a derivative) nor felt (its time)."""
    if all(isinstance(v.aval.dtype, np.dtype) and v.aval.dtype.kind in "biu" for v in block.outvars):
        return all(e.primitive.name in _INTEGER and not e.effects for e in block.eqns)
    return all(not e.effects and (e.primitive.name in _SMOOTH or _scales(e)) for e in block.eqns)


def _scales(eqn: Any) -> bool:
    """Multiplication by a finite constant."""
    return eqn.primitive.name == "mul" and any(isinstance(v, Literal) and bool(np.all(np.isfinite(v.val))) for v in eqn.invars)


def _select(p: Any, x: Any, y: Any) -> Any:
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


def _bind(p: Any, a: Block, b: Block) -> list[Any]:
    """`lax.cond_p` on the two kept jaxprs; what both sides pass through from outside unchanged does not go through it."""
    same = [
        a.consts[u] if isinstance(u, Var) and isinstance(v, Var) and u in a.consts and a.consts[u] is b.consts.get(v, blank) else None
        for u, v in zip(a.outvars, b.outvars, strict=True)
    ]  # fmt: skip
    operands: dict[int, Any] = {id(c): c for blk in (a, b) for c in blk.consts.values()}

    def side(blk: Block) -> Any:
        mine = {id(c): v for v, c in blk.consts.items()}
        invars = [mine.get(k) or Var(_jax.aval_of(c)) for k, c in operands.items()]
        return blk.jaxpr(invars, [v for v, s in zip(blk.outvars, same, strict=True) if s is None])

    branches = (side(b), side(a))
    if all(s is not None for s in same) and not any(j.effects for j in branches):
        return same
    done = iter(lax.cond_p.bind(lax.convert_element_type(p, np.int32), *operands.values(), branches=branches))
    return [next(done) if s is None else s for s in same]
