"""What a loop and its derivatives compute: forwards with a count, forwards with tangents, and backwards with stored states.

None of these functions is differentiated: derivatives of derivatives are loops as well.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from autograph.runtime.jaxapi.mesh import like, room, zeros
from autograph.runtime.jaxapi.traces import varying
from autograph.runtime.loops.derivatives.loop_data import LoopData, strong
from autograph.runtime.loops.derivatives.masks import pick, split
from autograph.runtime.loops.derivatives.pullback import Pullback, plan, pullback_of

Sums = tuple[list[Any], list[Any]]  # the cotangents of the carry, and those of the constants so far


def run(loop: LoopData, operands: list[Any]) -> list[Any]:
    """The number of iterations, and the carry after them."""
    tc, c, x = split(operands, len(loop.test_types), loop.consts)
    start = varying(jnp.int32(0), loop.test_axes)
    n, x = lax.while_loop(lambda s: loop.test(tc, s[1]), lambda s: (s[0] + 1, loop.iteration(c, s[1])), (start, x))
    return [n, *x]


def both(loop: LoopData, operands: list[Any]) -> list[Any]:
    """The number of iterations, the carry after them, and the tangents of its active leaves."""
    tc, c, x, dc, dx = split(operands, len(loop.test_types), loop.consts, loop.carry, loop.active_consts)
    return run(loop.doubled, [*tc, *c, *dc, *x, *dx])


def tangents(loop: LoopData, operands: list[Any]) -> list[Any]:
    """The tangents after a known number of iterations."""
    (n,), c, x, dc, dx = split(operands, 1, loop.consts, loop.carry, loop.active_consts)

    def iteration(s: Any) -> Any:
        i, x, dx = s
        return i + 1, *loop.tangent(c, x, dc, dx, loop.quiet)

    out: list[Any] = lax.while_loop(lambda s: s[0] < n, iteration, (jnp.zeros_like(n), x, dx))[2]
    return out


def cotangents(loop: LoopData, operands: list[Any], lanes: int = 1) -> list[Any]:
    """The cotangents of the active constants and of the carry before a known number of iterations."""
    (n,), c, x, ct = split(operands, 1, loop.consts, loop.carry)
    return _Sweep(loop, n, c, x, lanes).cotangents(ct)


def cotangents_and_tangents(loop: LoopData, operands: list[Any], lanes: int = 1) -> list[Any]:
    """What `cotangents` gives, and its derivative in the direction of some tangents: by one sweep of the loop of values and tangents."""
    (n,), c, x, ct, dc, dx, dct = split(operands, 1, loop.consts, loop.carry, loop.active_carry, loop.active_consts, loop.active_carry)
    out = cotangents(loop.doubled, [n, *c, *dc, *x, *dx, *dct, *ct], lanes)
    dconsts, consts, dcarry, carry = split(out, loop.active_consts, loop.active_consts, loop.active_carry)
    return [*consts, *carry, *dconsts, *dcarry]


def tangents_of_cotangents(loop: LoopData, operands: list[Any], lanes: int = 1) -> list[Any]:
    """The derivative of `cotangents` alone."""
    return cotangents_and_tangents(loop, operands, lanes)[loop.active_consts + loop.active_carry :]


def _at(buffers: list[Any], k: Any) -> list[Any]:
    return [lax.dynamic_index_in_dim(b, k, keepdims=False) for b in buffers]


def _put(buffers: list[Any], values: list[Any], k: Any) -> list[Any]:
    return [lax.dynamic_update_index_in_dim(b, v, k, 0) for b, v in zip(buffers, values, strict=True)]


def _down(count: Any, iteration: Callable[[Any, Sums], Sums], sums: Sums) -> Sums:
    """`for k in range(count - 1, -1, -1): sums = turn(k, sums)`."""
    out: Sums = lax.while_loop(lambda s: s[0] >= 0, lambda s: (s[0] - 1, iteration(s[0], s[1])), (count - 1, sums))[1]
    return out


class _Sweep:
    """The way back through `n` iterations from `x`: states at fixed strides in each level, what the pullbacks read in the innermost."""

    def __init__(self, loop: LoopData, n: Any, c: list[Any], x: list[Any], lanes: int) -> None:
        self.loop, self.n, self.c = loop, n, c
        self.back: Pullback = pullback_of(loop)
        self.plan = plan(loop, lanes)
        self.start = pick(self.back.needed, x)
        self.fixed = self.back.linear(c, self.start)[1]  # of these only the residuals that no iteration changes are used
        self.zero = like(jnp.int32(0), jax.typeof(n))

    def cotangents(self, ct: list[Any]) -> list[Any]:
        consts = [zeros(strong(jax.typeof(v))) for v in pick(self.loop.const_active, self.c)]

        def whole(sums: Sums) -> Sums:
            out: Sums = lax.while_loop(lambda s: s[0] > 0, self._block, (self.n, sums))[1]
            return out

        for rows in reversed(self.plan.short):
            few = functools.partial(self._innermost, self.start, self.n, rows)
            whole = functools.partial(lax.cond, self.n <= rows, few, whole)
        carry, consts = whole((ct, consts))
        return [*consts, *carry]

    def _span(self, level: int) -> int:
        """The iterations that so many levels reach."""
        return int(min(self.plan.inner * self.plan.rows ** (level - 1), 2**30))

    def _block(self, s: Any) -> Any:
        """The last iterations that all levels together reach: all of them, mostly."""
        end, sums = s
        start = jnp.maximum(0, end - self._span(self.plan.levels))
        return start, self._sweep(self.plan.levels, self.start, end - start, sums, start)

    def _sweep(self, level: int, x: list[Any], length: Any, sums: Sums, first: Any = 0) -> Sums:
        """The way back through `length` iterations, no more than the span of the level, which begin `first` iterations after x."""
        if level == 1:
            return self._innermost(x, length, self.plan.inner, sums)
        stride = self._span(level - 1)
        parts = -(-length // stride)
        starts = self._states(x, (parts - 1) * stride, stride, self.plan.rows, first)
        return _down(parts, lambda k, sums: self._sweep(level - 1, _at(starts, k), jnp.minimum(stride, length - k * stride), sums), sums)

    def _innermost(self, x: list[Any], length: Any, rows: int, sums: Sums) -> Sums:
        stored = self._residuals(x, length, rows) if self.plan.dense else self._states(x, length - 1, 1, rows)
        return _down(length, lambda k, sums: self._back(_at(stored, k), sums), sums)

    def _states(self, x: list[Any], iterations: Any, stride: int, rows: int, first: Any = 0) -> list[Any]:
        """Row k holds the state k strides after the first iterations: of what is written to a row the last stays, so that no condition is needed."""

        def iteration(s: Any) -> Any:
            i, x, stored = s
            x = self.back.next(self.c, x)
            return i + 1, x, _put(stored, x, jnp.maximum(0, (i - first + stride) // stride) if stride != 1 else i + 1)

        stored = _put([room(a, rows) for a in self.back.state_types], x, 0)
        out: list[Any] = lax.while_loop(lambda s: s[0] < first + iterations, iteration, (self.zero, x, stored))[2]
        return out

    def _residuals(self, x: list[Any], iterations: Any, rows: int) -> list[Any]:
        """Row k holds what the pullback of iteration k reads."""

        def iteration(s: Any) -> Any:
            i, x, stored = s
            x, residuals = self.back.linear(self.c, x)
            return i + 1, x, _put(stored, self.back.changing(residuals), i)

        stored = [room(a, rows) for a in self.back.residual_types]
        out: list[Any] = lax.while_loop(lambda s: s[0] < iterations, iteration, (self.zero, x, stored))[2]
        return out

    def _back(self, stored: list[Any], sums: Sums) -> Sums:
        """One iteration back."""
        carry, consts = sums
        read = stored if self.plan.dense else self.back.changing(self.back.linear(self.c, stored)[1])
        more, carry = self.back.apply(self.fixed, read, carry)
        return carry, [a + b for a, b in zip(consts, more, strict=True)]
