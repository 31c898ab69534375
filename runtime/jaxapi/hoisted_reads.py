"""Reads of items that a branch makes of an array from outside are made before it, and the branch is given the items.

    if x[i] > 0: y[i] = f(x[i])        the branch takes the number x[i], and not the array x

On the way back a branch gives the cotangents of all that it takes: of an array that is as many zeros as it has items, in each iteration of the loop
around.  Sound because a read has no effect and cannot fail: where the branch is not taken, nobody looks at what was read, though its place may be
outside of the array (`test_a_read_in_a_branch_that_is_not_taken`).
"""

from __future__ import annotations

import math
from typing import Any

from jax import lax

from autograph.runtime.jaxapi.traces import ClosedJaxpr, Literal, Var, jaxpr_with

LEAST = 512  # bytes of an array: to copy a smaller one, or to fill one with zeros, takes no longer than to do without
_MOST = 16  # items of a read, and reads of a branch: a branch that reads more, and is seldom taken, would cost more than it does
_OF_INDICES = frozenset({
    "add", "sub", "mul", "neg", "lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not", "select_n", "convert_element_type", "broadcast_in_dim",
    "reshape", "squeeze", "concatenate", "min", "max", "clamp", "rem", "div", "sign",
})  # fmt: skip


def with_reads_hoisted(body: ClosedJaxpr) -> ClosedJaxpr:
    """The body of a loop whose branches read no items of arrays from outside."""
    if not any(eqn.primitive is lax.cond_p for eqn in body.jaxpr.eqns):
        return body
    eqns: list[Any] = []
    for eqn in body.jaxpr.eqns:
        eqns += _hoisted(eqn) if eqn.primitive is lax.cond_p else [eqn]
    return jaxpr_with(body.jaxpr, body.jaxpr.invars, body.jaxpr.outvars, eqns)


def _hoisted(cond: Any) -> list[Any]:
    """The equations of reads, and the branch that takes what they give."""
    which, *operands = cond.invars
    branches = cond.params["branches"]
    if any(b.consts for b in branches):
        return [cond]
    before: list[Any] = []
    given: list[Any] = []  # what is read, outside
    own: list[dict[Any, int]] = []  # what is read, by the variables of each branch
    for branch in branches:
        reads: dict[Any, int] = {}
        outside = dict(zip(branch.jaxpr.invars, operands, strict=True))
        indices: dict[Any, Any] = {}  # equations that give an index, by their result
        for eqn in branch.jaxpr.eqns:
            if _reads_items(eqn, branch.jaxpr.invars) and all(_is_known(x, outside, indices) for x in eqn.invars):
                copied = _copied(eqn, outside, indices, before)
                reads[eqn.outvars[0]] = len(given)
                given.append(copied)
            elif _gives_index(eqn) and all(_is_known(x, outside, indices) for x in eqn.invars):
                indices[eqn.outvars[0]] = eqn
        own.append(reads)
    if not 0 < len(given) <= _MOST:
        return [cond]
    new = [_taking(branch, reads, [v.aval for v in given]) for branch, reads in zip(branches, own, strict=True)]
    used = [any(k in u for _, u in new) for k in range(len(operands) + len(given))]
    kept = [x for x, u in zip([*operands, *given], used, strict=True) if u]
    closed = tuple(jaxpr_with(b.jaxpr, [v for v, u in zip(b.jaxpr.invars, used, strict=True) if u], b.jaxpr.outvars, b.jaxpr.eqns) for b, _ in new)
    return [*before, cond.replace(invars=[which, *kept], params={**cond.params, "branches": closed})]


def _reads_items(eqn: Any, invars: Any) -> bool:
    if eqn.primitive not in (lax.dynamic_slice_p, lax.gather_p) or not isinstance(eqn.invars[0], Var) or eqn.invars[0] not in invars:
        return False
    array, read = eqn.invars[0].aval, eqn.outvars[0].aval
    large = getattr(array.dtype, "kind", "") == "f" and math.prod(array.shape) * array.dtype.itemsize >= LEAST
    return large and math.prod(read.shape) <= _MOST


def _gives_index(eqn: Any) -> bool:
    if eqn.primitive.name not in _OF_INDICES or len(eqn.outvars) != 1 or eqn.effects:
        return False
    aval = eqn.outvars[0].aval
    return getattr(aval.dtype, "kind", "") in "iub" and math.prod(aval.shape) <= _MOST


def _is_known(x: Any, outside: dict[Any, Any], indices: dict[Any, Any]) -> bool:
    return isinstance(x, Literal) or x in outside or x in indices


def _copied(eqn: Any, outside: dict[Any, Any], indices: dict[Any, Any], before: list[Any]) -> Any:
    """The result of an equation of a branch that is made before it, with what its indices are made of."""
    invars = []
    for x in eqn.invars:
        if isinstance(x, Var) and x not in outside:
            outside[x] = _copied(indices[x], outside, indices, before)
        invars.append(outside[x] if isinstance(x, Var) else x)
    result = Var(eqn.outvars[0].aval)
    before.append(eqn.replace(invars=invars, outvars=[result]))
    return result


def _taking(branch: ClosedJaxpr, reads: dict[Any, int], types: list[Any]) -> tuple[ClosedJaxpr, set[int]]:
    """A branch that takes what was read, and which of its operands it uses."""
    jaxpr = branch.jaxpr
    more = [Var(aval) for aval in types]
    for v, k in reads.items():
        more[k] = v
    wanted = {x for x in jaxpr.outvars if isinstance(x, Var)}
    eqns: list[Any] = []
    for eqn in reversed(jaxpr.eqns):
        if eqn.outvars and eqn.outvars[0] in reads or not (eqn.effects or any(v in wanted for v in eqn.outvars)):
            continue
        eqns.insert(0, eqn)
        wanted |= {x for x in eqn.invars if isinstance(x, Var)}
    invars = [*jaxpr.invars, *more]
    return jaxpr_with(jaxpr, invars, jaxpr.outvars, eqns), {k for k, v in enumerate(invars) if v in wanted}
