"""A loop of unknown length, as it is bound: `lax.while_loop` where nothing is differentiated, and the derivatives of our own where something is."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax import lax

from autograph.runtime.errors.errors import SourceSpan
from autograph.runtime.errors.source_spans import in_kernel
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi.forward_only import forward_only
from autograph.runtime.jaxapi.ordered_stores import ordered
from autograph.runtime.jaxapi.strip_effects import prints, quiet
from autograph.runtime.jaxapi.traces import ClosedJaxpr
from autograph.runtime.loops.derivatives.host_calls import Log, on_host
from autograph.runtime.loops.derivatives.loop_data import LoopData, inexact, is_zero
from autograph.runtime.loops.derivatives.loop_primitives import bind
from autograph.runtime.loops.derivatives.loop_rules import instantiated
from autograph.runtime.loops.derivatives.masks import merge, split


def bind_while(
    test: ClosedJaxpr, iteration: ClosedJaxpr, tested: Sequence[Any], consts: Sequence[Any], carry: Sequence[Any], place: SourceSpan | None,
    checkpoints: int | None = None,
) -> list[Any]:  # fmt: skip
    """`while test(*tested, *carry): carry = turn(*consts, *carry)` on arrays.

    A loop that writes to references, that carries nothing a derivative could be of, or that stands in a Pallas kernel, is JAX's own.
    """

    tests, fixed = len(tested), len(consts)
    operands = [*tested, *consts, *carry]
    kernel = in_kernel()
    iteration = iteration if kernel else ordered(iteration)
    plain = functools.partial(lax.while_p.bind, cond_nconsts=tests, cond_jaxpr=test, body_nconsts=fixed, body_jaxpr=iteration)
    if not any(inexact(v.aval) for v in iteration.jaxpr.invars[fixed:]) or kernel:
        return list(plain(*operands))
    if any(map(_jax.is_reference, operands)):
        return forward_only(plain(*operands), place)
    derivative = _derivative_of(plain, test, iteration, tests, fixed, place, checkpoints)
    return _jax.bind_custom_jvp(lambda *operands: list(plain(*operands)), derivative, operands)


def _derivative_of(
    plain: Callable[..., Any], test: ClosedJaxpr, iteration: ClosedJaxpr, tests: int, fixed: int, place: SourceSpan | None, checkpoints: int | None
) -> Callable[..., list[Any]]:
    """The derivative of a loop of JAX's, as a function of its flat operands and their tangents."""

    @functools.cache
    def as_data() -> LoopData:  # only when it is differentiated
        types = [v.aval for v in iteration.jaxpr.invars]
        silent = quiet(iteration) if prints(iteration) else iteration
        run, again, asked = (_jax.jaxpr_as_fun(j) for j in (iteration, silent, test))
        return LoopData(
            lambda tc, x: asked(*tc, *x)[0], lambda c, x: list(run(*c, *x)), lambda c, x: list(again(*c, *x)),
            tuple(v.aval for v in test.jaxpr.invars[:tests]), tuple(types[:fixed]), tuple(types[fixed:]),
            (False,) * fixed, (False,) * (len(types) - fixed), frozenset(test.effects | iteration.effects), checkpoints,
            "custom_vjp_call" in _jax.primitives(iteration), place=place,
        )  # fmt: skip

    def with_log(log: Log) -> LoopData:
        """The loop whose functions on the host are called once: its first constant is the number of the run."""
        loop = as_data()
        return dataclasses.replace(
            loop, iteration=lambda c, x: log.forwards(*c, *x), quiet=lambda c, x: log.again(*c, *x),
            const_types=(jax.core.ShapedArray((), np.int32), *loop.const_types), const_active=(False, *loop.const_active),
            via_pullback=log.has_custom_vjp(),
        )  # fmt: skip

    def derivative(*given: Any) -> list[Any]:
        log = Log(iteration, place) if on_host(iteration.effects) else None
        loop, more = (as_data(), 0) if log is None else (with_log(log), 1)
        primals, tangents = split(given, len(given) // 2)
        _, dc, dx = split(tangents, tests, fixed)
        tc, c, x = split(primals, tests, fixed)
        active = loop.activated([False] * more + [not is_zero(t) for t in dc], [not is_zero(t) for t in dx])
        if not active.active_carry:
            out, on = list(plain(*primals)), []
        else:
            moved = [*instantiated(active.const_active[more:], dc, c), *instantiated(active.carry_active, dx, x)]
            run = []
            if log is not None:
                log.refuse_active([v.aval for v in iteration.jaxpr.invars], [*active.const_active[more:], *active.carry_active])
                run = [log.begin()]
            _, *found = bind("both", active, *tc, *run, *c, *x, *moved)
            out, on = split(found, loop.carry)
        none = [jax.custom_derivatives.SymbolicZero(jax.typeof(o).to_tangent_aval()) for o, a in zip(out, active.carry_active, strict=True) if not a]
        return [*out, *merge(active.carry_active, on, none)]

    return derivative
