"""A loop on flat lists of arrays as data that derivatives are made of: its test and iteration, what depends on what, and which leaves are active.

    while test(tc, x): x = turn(c, x)         tc: constants of the test, c: of the iteration (any shapes), x: the carry (shapes stay)

A leaf is active if it has an inexact dtype and depends on what is differentiated.  With ct of the shapes of the active leaves of x:

    forward    (x, dx) → (turn(c, x), J dx)                   a loop over values and tangents
    reverse    ct → Jᵀ ct, iterations backwards               states are stored at checkpoints and computed again between them

The derivative of a loop is a loop again, over the leaves and the tangents of the active ones; so the primitives of `loop_primitives.py` are closed
under differentiation.  The forward run counts the iterations; checkpoints as in Griewank and Walther, Algorithm 799
(https://doi.org/10.1145/347837.347846).
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from autograph.runtime.errors.errors import AutographError, NotDifferentiableError, SourceSpan
from autograph.runtime.errors.raise_sites import is_users
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi.mesh import Axes, count_type
from autograph.runtime.jaxapi.traces import ad, axes_of
from autograph.runtime.loops.derivatives.masks import drop, merge, pick, split

Types = tuple[Any, ...]
Turn = Callable[[list[Any], list[Any]], list[Any]]
Mask = tuple[bool, ...]


def inexact(aval: Any) -> bool:
    """Whether values of a type can carry a derivative."""
    return bool(jnp.issubdtype(aval.dtype, jnp.inexact))


def strong(aval: Any) -> Any:
    """A type that is not weak."""
    return aval.update(weak_type=False) if getattr(aval, "weak_type", False) else aval


def is_zero(tangent: Any) -> bool:
    """Whether a tangent is known to be zero."""
    return type(tangent) in (ad.Zero, jax.custom_derivatives.SymbolicZero) or getattr(tangent, "dtype", None) == jax.dtypes.float0


@dataclass(frozen=True, eq=False)
class LoopData:
    """`while test(tc, x): x = turn(c, x)`, closed over no tracer; `quiet` is the iteration without what it prints, to be made again.

    `via_pullback`: the iteration has no derivative of its own in forward mode, because a `jax.custom_vjp` is in it.  `order` counts the derivatives
    that the iteration consists of.
    """

    test: Callable[[list[Any], list[Any]], Any]
    iteration: Turn
    quiet: Turn
    test_types: Types
    const_types: Types
    carry_types: Types
    const_active: Mask
    carry_active: Mask
    effects: frozenset[Any] = frozenset()
    checkpoints: int | None = None
    via_pullback: bool = False
    order: int = 1
    place: SourceSpan | None = None
    same: LoopData | None = None  # a loop with the same dependencies

    def __repr__(self) -> str:
        return f"<loop at {self.place}>" if self.place else "<loop>"

    @property
    def consts(self) -> int:
        return len(self.const_types)

    @property
    def carry(self) -> int:
        return len(self.carry_types)

    @property
    def active_consts(self) -> int:
        return sum(self.const_active)

    @property
    def active_carry(self) -> int:
        return sum(self.carry_active)

    @functools.cached_property
    def dependencies(self) -> list[Mask]:
        """For each leaf of the carry, on which of the constants and of the carry an iteration makes it depend."""
        if self.same is not None:
            return self.same.dependencies
        jaxpr = jax.make_jaxpr(self.quiet)(list(self.const_types), list(self.carry_types)).jaxpr
        return [tuple(_jax.used_inputs(jaxpr, [k == i for k in range(self.carry)])) for i in range(self.carry)]

    @functools.cached_property
    def test_dependencies(self) -> Mask:
        """On which of its constants and of the carry the test depends."""
        if self.same is not None:
            return self.same.test_dependencies
        jaxpr = jax.make_jaxpr(self.test)(list(self.test_types), list(self.carry_types)).jaxpr
        return tuple(_jax.used_inputs(jaxpr, [True]))

    @functools.cached_property
    def test_axes(self) -> Axes:
        """The axes of a mesh along which the number of iterations may differ."""
        if not any(map(axes_of, (*self.test_types, *self.carry_types))):
            return frozenset()
        return axes_of(jax.make_jaxpr(self.test)(list(self.test_types), list(self.carry_types)).out_avals[0])

    def count(self) -> Any:
        """The type of the number of iterations."""
        return count_type(self.test_axes)

    def reached(self, consts: Sequence[bool], carry: Sequence[bool], ok: Callable[[Any], bool] = lambda aval: True) -> Mask:
        """The leaves of the carry that some leaves reach in any number of iterations, through leaves of types that are `ok`."""
        found = [f and ok(a) for f, a in zip(carry, self.carry_types, strict=True)]
        while True:
            flags = [*consts, *found]
            new = [
                ok(a) and (f or any(d and g for d, g in zip(depends, flags, strict=True)))
                for a, f, depends in zip(self.carry_types, found, self.dependencies, strict=True)
            ]
            if new == found:
                return tuple(found)
            found = new

    def activated(self, consts: Sequence[bool], carry: Sequence[bool]) -> LoopData:
        """The loop whose active leaves are those that some leaves reach."""
        const_active = tuple(f and inexact(a) for f, a in zip(consts, self.const_types, strict=True))
        carry_active = self.reached(const_active, carry, inexact)
        if (const_active, carry_active) == (self.const_active, self.carry_active):
            return self
        return dataclasses.replace(self, const_active=const_active, carry_active=carry_active, same=self)

    def on_active(self, c: list[Any], x: list[Any], iteration: Turn) -> tuple[Callable[..., Any], list[Any], list[Any]]:
        """The iteration as a function of the active leaves alone, which also gives the other leaves; and the active leaves."""

        def active(const: list[Any], carry: list[Any]) -> tuple[list[Any], list[Any]]:
            out = iteration(merge(self.const_active, const, drop(self.const_active, c)), merge(self.carry_active, carry, drop(self.carry_active, x)))
            return pick(self.carry_active, out), drop(self.carry_active, out)

        return active, pick(self.const_active, c), pick(self.carry_active, x)

    def tangent(self, c: list[Any], x: list[Any], dc: list[Any], dx: list[Any], iteration: Turn) -> tuple[list[Any], list[Any]]:
        """The carry after an iteration, and the tangents of its active leaves."""
        active, const, carry = self.on_active(c, x, iteration)
        if self.via_pullback:  # the transpose of the pullback, which is linear
            on, pull, off = jax.vjp(active, const, carry, has_aux=True)
            (tangents,) = jax.linear_transpose(lambda ct: pull(ct), on)((dc, dx))
        else:
            on, tangents, off = jax.jvp(active, (const, carry), (dc, dx), has_aux=True)
        return merge(self.carry_active, on, off), tangents

    @functools.cached_property
    def doubled(self) -> LoopData:
        """The loop over the carry and its tangents."""
        const_types = (*self.const_types, *map(strong, pick(self.const_active, self.const_types)))
        carry_types = (*self.carry_types, *map(strong, pick(self.carry_active, self.carry_types)))

        def both(iteration: Turn) -> Turn:
            def step(c: list[Any], x: list[Any]) -> list[Any]:
                (c, dc), (x, dx) = split(c, self.consts), split(x, self.carry)
                after, tangents = self.tangent(c, x, dc, dx, iteration)
                return [*after, *tangents]

            with self.errors():
                return traced(step, const_types, carry_types)

        iteration = both(self.iteration)
        return LoopData(
            lambda tc, x: self.test(tc, x[: self.carry]), iteration, iteration if self.quiet is self.iteration else both(self.quiet),
            self.test_types, const_types, carry_types, self.const_active + (True,) * self.active_consts,
            self.carry_active + (True,) * self.active_carry, self.effects, self.checkpoints, self.via_pullback, self.order + 1, self.place,
        )  # fmt: skip

    def masked(self, axes: Axes) -> LoopData:
        """A loop that counts its iterations, and in which nothing changes after `n` of them: n and a carry that is safe to evaluate are constants."""
        count = count_type(axes)

        def step(c: list[Any], x: list[Any]) -> list[Any]:
            (n, *safe), c = split(c, 1 + self.carry)
            i, *x = x
            going = i < n
            after = self.quiet(c, [jnp.where(going, v, w) for v, w in zip(x, safe, strict=True)])
            return [i + 1, *(jnp.where(going, v, w) for v, w in zip(after, x, strict=True))]

        return LoopData(
            self.test, step, step, (), (count, *self.carry_types, *self.const_types), (count, *self.carry_types),
            (False,) * (1 + self.carry) + self.const_active, (False, *self.carry_active),
            checkpoints=self.checkpoints, via_pullback=self.via_pullback, order=self.order, place=self.place,
        )  # fmt: skip

    def batched(self, lanes: Callable[[Turn, list[Any], list[Any]], Turn], const_types: Types, carry_types: Types, c: Any, x: Any) -> LoopData:
        """All lanes as one loop of a known number of iterations."""
        iteration = lanes(self.quiet, [0 if b else None for b in c], [0 if b else None for b in x])
        return dataclasses.replace(
            self, iteration=iteration, quiet=iteration, test_types=(), const_types=const_types, carry_types=carry_types, effects=frozenset(),
            same=self,
        )  # fmt: skip

    def errors(self) -> _Named:
        """Errors of JAX's about a derivative that does not exist name the loop."""
        return _Named(self.place)


class _Named:
    """As a context: not one that `contextlib` makes, whose frames would be in the user's traceback."""

    def __init__(self, place: SourceSpan | None) -> None:
        self.place = place

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        if isinstance(error, AutographError) or not isinstance(error, (NotImplementedError, ValueError, TypeError)):
            return
        if not _jax.about_derivatives(error):
            return
        why = str(error).splitlines()[0]
        raise NotDifferentiableError(
            f"a derivative is asked for through this loop, and something in it has none: {why}", self.place,
            "write the loop of JAX's in it as a `while` or `for` statement, which has a derivative" if "lax.while_loop" in why
            else "keep what it is given out of what is differentiated with `lax.stop_gradient` (`f(lax.stop_gradient(x))`), "
            "or give it a derivative with `jax.custom_jvp`",
            [(_operation(error), "")],
        ) from (error if _jax.full() else None)  # fmt: skip


def _operation(error: BaseException) -> SourceSpan | None:
    """Where the user has written the operation that failed: JAX keeps what led to it as the error's cause."""
    tb, place = error.__cause__.__traceback__ if error.__cause__ is not None else None, None
    while tb is not None:
        place = SourceSpan(tb.tb_frame.f_code.co_filename, tb.tb_lineno) if is_users(tb.tb_frame.f_code.co_filename) else place
        tb = tb.tb_next
    return place


def traced(step: Turn, const_types: Types, carry_types: Types) -> Turn:
    """An iteration that has been traced: each use evaluates its jaxpr."""
    closed = jax.make_jaxpr(lambda c, x: step(c, x))(list(const_types), list(carry_types))
    run = _jax.jaxpr_as_fun(closed)
    return lambda c, x: list(run(*c, *x))
