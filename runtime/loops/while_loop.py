"""`while_loop`: a loop whose test may be traced.

    while err > tol:                                                        the user's text
        x, err = step(x)

    x, err = ag.while_loop(lambda x, err: err > tol, body, x, err)          converted
    while_p[cond_jaxpr=..., body_jaxpr=...]                                 in the jaxpr

`run_while` decides:

- The test is static in every iteration: Python makes them all (recorded, so that equal ones may be re-rolled).
- The test is traced before the first iteration: the loop is staged (`_staged`: `StagedLoop`).
- The test becomes traced in the first iteration: that iteration is undone (`Speculation.roll_back`), and the loop is staged from its start.  Only the
  types that it gave are kept, as the types to begin with (`begin`).  If it has done what cannot be undone, it stays.
- The test becomes traced later: the finished iterations stay, and the rest is staged.

A first iteration that gives a variable another shape, or sets what others read, may be traced apart (`Peel`): that needs a test that is certainly
true.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from autograph.runtime.effects.error_codes import fail
from autograph.runtime.errors.errors import EffectError, StepLimitError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi import trees
from autograph.runtime.loops.carry_types import ROTATED, Rotate, as_list, as_result, unless_failed
from autograph.runtime.loops.loop_lowering import StagedLoop
from autograph.runtime.loops.reroll.record_iterations import record_iterations
from autograph.runtime.loops.static_range import cost, stored_into
from autograph.runtime.loops.static_while import is_worth_a_trial, rest_of_while
from autograph.runtime.native.run_natively import while_known
from autograph.runtime.sequences.bounded_list import BoundedList
from autograph.runtime.sequences.list_capacity import retry_with_capacity
from autograph.runtime.sequences.truth import truth
from autograph.runtime.state.captured_state import may_have_failed
from autograph.runtime.state.cells import left_in
from autograph.runtime.state.container_aliasing import containers_of
from autograph.runtime.state.decisions import decided, watching
from autograph.runtime.state.length_bounds import iterating
from autograph.runtime.state.speculation import Speculation
from autograph.runtime.state.state_refs import ContentsRef
from autograph.runtime.tracing.trace_context import CallSite, Peel, frames
from autograph.runtime.values.abstract_values import AbstractValue, Static, spec_in_block
from autograph.runtime.values.loop_options import hints_here
from autograph.runtime.values.value_objects import opened
from autograph.runtime.values.values import Maybe, is_value


def while_loop(test: Callable[..., Any], body: Callable[..., Any], *state: Any) -> Any:
    """`while test(*state): state = body(*state)`; one staged loop if the test is traced.

    Args:
      test: a function of the state; an object or an array with one element.
      body: a function of the state that returns the new state (one value, or a tuple).
      state: the loop variables; the names in errors are the parameters of `body`.

    Returns:
      The state after the last iteration; a Python number that no iteration changed is still a Python number.

    Raises:
      LoopTypeError: (AG201) a loop variable changes shape or structure.

    >>> import jax, autograph.runtime as ag
    >>> jax.jit(lambda n: ag.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + i), 0, 0.0))(5)
    (Array(5, dtype=int32, weak_type=True), Array(10., dtype=float32, weak_type=True))
    """
    if (known := while_known(test, body, state)) is not NotImplemented:
        return known
    return as_result(run_while(test, body, list(state), body, limit=hints_here().max_steps))


def run_while(
    test: Callable[..., Any],
    body: Callable[..., Any],
    state: list[Any],
    source: Callable[..., Any],
    hidden: tuple[str, ...] = (),
    limit: int | None = None,
    most: int | None = None,
) -> list[Any]:
    """The state after a loop of at most `most` iterations, if that is known; its lists may grow.

    `source` is the body that the user wrote, where `body` is a wrapper around it that has `hidden` variables before the user's.

    A loop with a hidden index is finite: it ends even if something has failed.
    """
    if limit is not None:
        return _limited(test, body, state, source, hidden, limit)
    place = CallSite(getattr(body, "__code__", None))
    finite = bool(hidden)  # it ends, though an error has occurred
    begin: list[AbstractValue] | None = None
    p, state = _going(test, state, finite)
    certain = p is True  # at least one iteration is made
    if not place.remembers:
        iterations, size, why = 0, 0, ""
        looked = finite or not _jax.compiling()
        speculation, run = Speculation() if p is True else None, None
        with record_iterations() as made, iterating(most or 8):
            while p is True:
                recorded = _jax.equations()
                with place.scope("turn" if iterations else "body", again=run if iterations > 1 else None) as run:
                    asked, p, after = _asked(test, as_list(body(*state), len(state)), finite)
                made.mark()
                iterations += 1
                only_errors_end_it = iterations == 1 and asked is True and not isinstance(p, bool)
                size = cost(1, recorded) if not looked else size
                if not looked and (only_errors_end_it or p is True and is_worth_a_trial(iterations, size)):
                    looked = True
                    if not isinstance(rest := rest_of_while(test, body, after, source, stored_into(run, after), size), str):
                        if watching():
                            decided("loop", f"scan of {rest[1]} iterations", "the test is static in every iteration")
                        return rest[0]
                    why = f"; one compiled iteration is not possible: {rest}" if rest else ""
                    if only_errors_end_it and not _is_constant(test, state):  # Python knows the test, and makes all iterations
                        p, finite, only_errors_end_it = True, True, False
                if iterations == 1 and not isinstance(p, bool) and _jax.staging() and not run.changed:
                    # What the iteration has put into containers of its own is undone with it: their types are taken now.
                    before, changed = {id(c) for x in state for _, c in containers_of(x)}, run.saved
                    begin = [spec_in_block(opened(x), lambda c: id(c) not in before and ContentsRef(c) in changed) for x in after]
                    assert speculation is not None
                    speculation.roll_back(run)
                    break
                state, certain = after, False
            joined = p is False and made.join()
        if p is False:
            if not joined:
                made.tell(iterations, f"its test is static{why}")
            if watching():
                how = f"{'scan of' if joined else 'Python,'} {iterations} iteration{'s' * (iterations != 1)}{', re-rolled' * joined}"
                decided("loop", how, f"the test is static in every iteration{why}")
            return state
    p = True if begin is not None else p  # not that of the iteration that is thrown away
    staging = functools.partial(_staged, test, body, source=source, hidden=hidden, most=most, place=place)
    if p is not True:
        return retry_with_capacity(functools.partial(staging, before=state, begin=begin, certain=certain, p=p, token=None), state, place, most or 8)  # type: ignore[no-any-return]
    speculation, token = Speculation(), object()
    try:
        with place.scope("whole") as whole:
            staged = functools.partial(staging, before=state, begin=begin, certain=certain, p=p, token=token)
            return retry_with_capacity(staged, state, place, most or 8)  # type: ignore[no-any-return]
    except Peel as need:
        if need.token is not token:
            raise
        speculation.roll_back(whole)
    with place.scope("first"):
        p, state = _going(test, as_list(body(*state), len(state)), finite)
    if p is False:
        return state
    staged = functools.partial(staging, before=state, begin=None, certain=True, p=p, token=None)
    return retry_with_capacity(staged, state, place, most or 8)  # type: ignore[no-any-return]


def _staged(
    test: Callable[..., Any], body: Callable[..., Any], state: list[Any], *, before: list[Any], begin: list[AbstractValue] | None,
    source: Callable[..., Any],
    hidden: tuple[str, ...], most: int | None, place: CallSite, certain: bool, p: Any, token: object,
) -> list[Any]:  # fmt: skip
    """The state after the iterations that are data-dependent; `begin` are the types after one that was thrown away.

    A list that has become a `BoundedList` since `before`, or became one in that iteration, has the type that it has now.
    """
    finite = bool(hidden)
    if begin is not None:
        same = [x is old and isinstance(x, BoundedList) == isinstance(spec, BoundedList) for spec, x, old in zip(begin, state, before, strict=True)]
        begin = [spec if s else spec_in_block(opened(x)) for s, spec, x in zip(same, begin, state, strict=True)]
    if place.remembered != ROTATED:
        speculation, run = Speculation(), frames()[-1]  # of the attempt that stages the loop
        try:
            return StagedLoop(body, state, source, place, begin, test=test, hidden=hidden, iterations=most, token=token).run_while(test, certain)
        except Rotate:
            place.remember(ROTATED)
            speculation.roll_back(run)

    def iteration(_: Any, *state: Any) -> Any:
        p, after = _going(test, as_list(body(*state), len(state)), finite)
        return as_result([p, *after])

    def asked(p: Any, *_: Any) -> Any:
        return p

    entry = begin and [Static(True), *begin]
    stage = StagedLoop(iteration, [p, *state], source, CallSite(iteration.__code__), entry, test=asked, hidden=("the test", *hidden), iterations=most)
    try:
        return stage.run_while(asked, certain)[1:]
    except Rotate:
        raise EffectError(
            "the test of this loop changes something, or may fail, whenever what it asks is read",
            here(),
            "compute what it asks in the loop, as a number",
        ) from None


def _limited(test: Callable[..., Any], body: Callable[..., Any], state: list[Any], source: Callable[..., Any], hidden: Any, limit: int) -> list[Any]:
    """A loop that may not make more than `limit` iterations."""

    def counted(iterations: Any, *state: Any) -> Any:
        return as_result([iterations + 1, *as_list(body(*state), len(state))])

    @functools.wraps(test)
    def going(iterations: Any, *state: Any) -> Any:
        more = iterations < limit
        if more is False:
            return False
        p = truth(test(*state))
        return more if p is True else p if more is True or p is False else lax.bitwise_and(p, more)

    iterations, *after = run_while(going, counted, [0, *state], source, ("the number of iterations", *hidden), most=limit)
    over = iterations >= limit
    p = truth(test(*after)) if over is not False else False
    if p is False:
        return after
    when = over if p is True else p if over is True else lax.bitwise_and(p, over)
    if hints_here().exceeded == "nan":
        return [_nan(x, when) if x is not y else x for x, y in zip(after, state, strict=True)]
    fail(when, StepLimitError, f"this loop makes more than max_steps={limit} iterations", advice="allow more iterations: a larger `max_steps=`")
    return after


def _nan(value: Any, when: Any) -> Any:
    """A value whose floating-point numbers are nan where `when` holds."""

    def leaf(x: Any) -> Any:
        if isinstance(x, Maybe):
            return Maybe(_nan(x.value, when), x.tag, x.bits, x.name)
        inexact = isinstance(x, float) or isinstance(x, jax.Array) and jnp.issubdtype(x.dtype, jnp.inexact)
        return jnp.where(when, jnp.asarray(jnp.nan, jnp.result_type(x)), x) if inexact else x

    return trees.map(leaf, value, is_leaf=is_value)


def _is_constant(test: Callable[..., Any], state: list[Any]) -> bool:
    """Whether a test does not ask the state: only an error, or a `break`, ends such a loop."""
    try:
        return test(*[_Unread()] * len(state)) is True
    except _Read:
        return False


class _Read(Exception):
    pass


class _Unread:
    """A value that must not be asked for anything."""

    def __getattribute__(self, name: str) -> Any:
        raise _Read

    def _refuse(self, *_: Any) -> Any:
        raise _Read

    __bool__ = __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse
    __len__ = __iter__ = __getitem__ = __contains__ = __neg__ = __invert__ = __mod__ = __rmod__ = __and__ = __rand__ = __or__ = __ror__ = _refuse
    __hash__ = None  # type: ignore[assignment]


def _going(test: Callable[..., Any], state: list[Any], finite: bool) -> tuple[Any, list[Any]]:
    """Whether a loop goes on, and the state, which the test may change; a loop that need not end otherwise ends when something has failed."""
    _, p, after = _asked(test, state, finite)
    return p, after


def _asked(test: Callable[..., Any], state: list[Any], finite: bool) -> tuple[Any, Any, list[Any]]:
    """The truth of a loop's test, whether it goes on, and the state."""
    p = truth(test(*state))
    return p, (unless_failed(p) if p is not False and not (finite and p is True) and may_have_failed() else p), left_in(test, state)
