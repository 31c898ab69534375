"""The pullback of one iteration as data: what it reads from step to step, what stays, and which leaves of the carry make an iteration again.

The way back through a loop either stores what the pullbacks read, or stores states and makes iterations again (Griewank and Walther, Algorithm 799:
Revolve, 2000; here with fixed strides, as the trip count is static only when the loop has run).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax

from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi import trees
from autograph.runtime.jaxapi.mesh import room, zeros
from autograph.runtime.jaxapi.traces import Literal
from autograph.runtime.loops.derivatives.loop_data import LoopData, inexact
from autograph.runtime.loops.derivatives.masks import drop, merge, pick

BUDGET = 32 * 2**20  # bytes of stored states, all levels together
REACH = 2**19  # iterations that the levels reach; a longer loop is swept in blocks of so many
DENSE = 2**20  # bytes of what pullbacks read, in the innermost level
ROWS = 64  # the fewest iterations for which that is worth it
_LOOPS = frozenset({"while", "scan", "ag_loop", "ag_loop_jvp", "ag_loop_tangents", "ag_loop_vjp", "ag_loop_vjp_jvp", "ag_loop_vjp_tangents"})
FEW_LEVELS = 2**18  # bytes of a level that spares another, where a level is a further copy of much work
SHORT = 2**17  # above so many bytes of buffers, a loop of few iterations gets its own small buffer


def size(aval: Any) -> int:
    """The bytes of a value of a type; a random key is taken for 8 bytes."""
    return int(math.prod(aval.shape) * getattr(aval.dtype, "itemsize", 8))


class Pullback:
    """The pullback of a loop's iteration.  One jaxpr gives the next carry and the residuals, which are the leaves of `jax.vjp`'s result.

    Residuals that no iteration changes are computed once; a leaf of the carry that residuals do not depend on, such as an output array that is only
    written to, is not stored.
    """

    def __init__(self, loop: LoopData) -> None:
        found: dict[str, Any] = {}

        def linear(c: list[Any], x: list[Any]) -> list[Any]:
            active, const, carry = loop.on_active(c, x, loop.quiet)
            on, pull, off = jax.vjp(active, const, carry, has_aux=True)
            residuals, found["tree"] = trees.flatten(pull)
            return [*merge(loop.carry_active, on, off), *residuals]

        with loop.errors():
            self.closed = jax.make_jaxpr(linear)(list(loop.const_types), list(loop.carry_types))
        jaxpr = self.closed.jaxpr
        self.loop, self.tree, self.run = loop, found["tree"], _jax.jaxpr_as_fun(self.closed)
        changing = set(jaxpr.invars[loop.consts :])
        for eqn in jaxpr.eqns:
            if any(not isinstance(v, Literal) and v in changing for v in eqn.invars):
                changing.update(eqn.outvars)
        residuals = jaxpr.outvars[loop.carry :]
        slots: dict[Any, int] = {}
        self.slots = [slots.setdefault(v, len(slots)) if not isinstance(v, Literal) and v in changing else None for v in residuals]
        self.residual_types = [v.aval for v in slots]
        wanted = [False] * loop.carry + [s is not None for s in self.slots]
        self.needed = loop_closed(loop, _jax.used_inputs(jaxpr, wanted)[loop.consts :])
        self.state_types = pick(self.needed, loop.carry_types)
        self.state_size = max(1, sum(map(size, self.state_types)))
        self.residual_size = max(1, sum(map(size, self.residual_types)))
        self.has_loops = not _LOOPS.isdisjoint(_jax.primitives(jaxpr))

    def full(self, state: list[Any]) -> list[Any]:
        """A carry; in the place of leaves that nothing needs there is anything."""
        others = [zeros(a) if inexact(a) else room(a, 1)[0] for a in drop(self.needed, self.loop.carry_types)]
        return merge(self.needed, state, others)

    def next(self, c: list[Any], state: list[Any]) -> list[Any]:
        """The state after an iteration."""
        return pick(self.needed, self.loop.quiet(c, self.full(state)))

    def linear(self, c: list[Any], state: list[Any]) -> tuple[list[Any], list[Any]]:
        """The state after an iteration, and its residuals."""
        out = self.run(*c, *self.full(state))
        return pick(self.needed, out[: self.loop.carry]), list(out[self.loop.carry :])

    def changing(self, residuals: list[Any]) -> list[Any]:
        """The residuals that change from iteration to iteration, each once."""
        return list({k: r for k, r in zip(self.slots, residuals, strict=True) if k is not None}.values())

    def apply(self, fixed: list[Any], changing: list[Any], cotangents: list[Any]) -> tuple[list[Any], list[Any]]:
        """The cotangents of the active constants and of the carry before an iteration."""
        leaves = [f if k is None else changing[k] for k, f in zip(self.slots, fixed, strict=True)]
        consts, carry = jax.tree.unflatten(self.tree, leaves)(cotangents)
        return list(consts), list(carry)


def loop_closed(loop: LoopData, needed: list[bool]) -> tuple[bool, ...]:
    """The leaves of the carry that some of them are computed from in any number of iterations."""
    while True:
        more = [n or any(m and depends[loop.consts + k] for m, depends in zip(needed, loop.dependencies, strict=True)) for k, n in enumerate(needed)]
        if more == needed:
            return tuple(needed)
        needed = more


class PullbackPlan(NamedTuple):
    """How the way back through a loop is swept: what the innermost level stores (residuals if `dense`, else states) and how many rows of it,
    the rows of each level above, the number of levels, and the rows of the buffers for short loops."""

    dense: bool
    inner: int
    rows: int
    levels: int
    short: tuple[int, ...]


def pullback_of(loop: LoopData) -> Pullback:
    """The pullback of a loop, traced once."""
    found: Pullback | None = vars(loop).get("pullback")
    if found is None:
        found = vars(loop)["pullback"] = Pullback(loop)  # it lives as long as the loop
    return found


def plan(loop: LoopData, lanes: int = 1) -> PullbackPlan:
    """The fewest levels that reach `REACH` iterations within the budget; `checkpoints` rows in each, if that is what the user said."""
    back = pullback_of(loop)
    state, residuals = lanes * back.state_size, lanes * back.residual_size
    if loop.checkpoints:
        k = loop.checkpoints
        return PullbackPlan(k * residuals <= DENSE, k, k, max(2, math.ceil(math.log(REACH, max(2, k)))), ())
    single = back.has_loops or loop.order > 1  # much work in an iteration: one copy of it, or nested loops and hessians grow too large
    inner = min(128 if single else 1024, DENSE // residuals)
    dense = inner >= ROWS
    most = max(1024, FEW_LEVELS // state) if single else 1024
    for levels in range(2, 8):
        rows = max(2, math.ceil((REACH / inner) ** (1 / (levels - 1)) if dense else REACH ** (1 / levels)))
        if rows <= most and rows * (levels - dense) * state <= BUDGET:
            break
    if not dense:
        inner = rows
    row = residuals if dense else state
    held = inner * row + (levels - 1) * rows * state
    short: list[int] = []
    if held > SHORT and not single:  # a loop of few iterations must not pay for filling the buffers of a long one
        few = max(4, SHORT // row)
        while few * row <= held // 2 and (few < inner or not dense) and len(short) < 2:
            short.append(few)
            few *= 8
    return PullbackPlan(dense, inner, rows, levels, tuple(short))
