"""`for_loop`: over a traced range, rows of traced arrays, or anything static; left early once the variable `until` is true.

    for v in xs:                    def body(v, s):              s = scan(body, s, xs)           rows of a traced array
        s = s + v            =>         return s + v       =>    s, i = while_loop(...)          a traced range, or an early end
                                    s = ag.for_loop(xs, body, s) Python's own loop               anything static

Rows without an early end are one `lax.scan_p`, which has reverse mode.  A traced range, or a loop that may end early, is a `while_loop` over an
index. Everything else is iterated in Python: a range that is long enough is rolled (`static_range.py`), and iterations that were recorded and are
equal are re-rolled afterwards (`reroll/`), where neither can be seen.

`for ... else` needs nothing here: the pass `jumps` writes the `else` as a branch on the flag that `break` sets.
"""

from __future__ import annotations

import builtins
import functools
import sys
from collections.abc import Callable, Iterable, Sequence, Sized
from types import FunctionType, MethodType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from autograph.runtime.arrays.numpy_array import MutableArray
from autograph.runtime.arrays.variable_ref import value_of
from autograph.runtime.branches.conditional import staged_cond
from autograph.runtime.effects.error_codes import Ending
from autograph.runtime.errors.source_spans import parameter_names
from autograph.runtime.host.host_effects import check_taken
from autograph.runtime.host.progress import Progress, ProgressStep
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.loops.carry_types import as_list, as_result
from autograph.runtime.loops.iterator_consumption import Taking, first_and_step, needs_position
from autograph.runtime.loops.loop_lowering import StagedLoop
from autograph.runtime.loops.reroll.record_iterations import record_iterations
from autograph.runtime.loops.row_loops import OfSeries, Series, series_of
from autograph.runtime.loops.static_or_rolled import compiled_or_unrolled
from autograph.runtime.loops.static_range import counted, roll_remaining
from autograph.runtime.loops.while_loop import run_while
from autograph.runtime.native.run_natively import loop_known
from autograph.runtime.sequences.bounded_list import refuse_hidden
from autograph.runtime.sequences.list_capacity import retry_with_capacity
from autograph.runtime.sequences.mutating_iteration import LiveWalk, longest, present, refuse_endless, unchanging
from autograph.runtime.sequences.rows import Range, Rows, index_rows, rows_of
from autograph.runtime.sequences.truth import truth
from autograph.runtime.state.decisions import decided, watching
from autograph.runtime.state.iterators import has_other_references
from autograph.runtime.state.length_bounds import iterating
from autograph.runtime.state.speculation import Speculation
from autograph.runtime.tracing.hooks import call
from autograph.runtime.tracing.trace_context import CallSite, Peel, TraceContext
from autograph.runtime.values.intervals import UNKNOWN, interval_of, note_interval
from autograph.runtime.values.loop_options import Hints, hints_here
from autograph.runtime.values.values import Unset, blank

HAS_OPERATIONS_OF_THE_USER = True  # which may fail: see `is_fault`

Body = Callable[..., Any]
_OF_A_RANGE = type(iter(range(0)))
FURTHEST = np.iinfo(np.int32).max  # an index that no loop reaches


def for_loop(
    items: Any, body: Body, *state: Any, until: str | None = None, targets: Sequence[str] = (), unread: Sequence[str] = (), held: bool | None = None
) -> Any:  # fmt: skip
    """`for item in items: state = body(item, *state)`; staged if the items or their number are traced.

    Args:
      items: any iterable, an array (its rows), or what `ag.range`, `ag.enumerate`, `ag.zip` and `ag.reversed` give.
      body: a function of the item and the state that returns the new state.
      state: the loop variables.
      until: the name of a loop variable that ends the loop once it is true.
      targets: the names of loop variables that each iteration sets to the item, or a part of it, before anything else.
      unread: those of them that no statement reads after the loop, though a function that captures them might.
      held: whether the items are an iterator that something else holds, too; by default that is counted.

    >>> import jax, jax.numpy as jnp, autograph.runtime as ag
    >>> jax.jit(lambda xs: ag.for_loop(xs, lambda x, s: s + x, 0))(jnp.array([1.0, 2.0, 3.0]))
    Array(6., dtype=float32)
    """
    hints, ours = hints_here(), 0
    if isinstance(items, Progress) and _jax.recording():
        watched, ours = items, 1
        items, total, parts = watched.iterations()
        body = ProgressStep(watched, body, total, parts)
    count = sys.getrefcount(items) - ours
    held = has_other_references(items, count) if held is None else held
    if type(items) is _OF_A_RANGE and not held and _jax.compiling():  # `reversed(range(n))`
        state_of: Any = items.__reduce__()
        items = state_of[1][0][state_of[2] or 0 :]
    flag = None if until is None else parameter_names(body, len(state)).index(until)
    values = list(state)
    if (known := loop_known(items, body, values, flag, held)) is not NotImplemented:
        return known
    refuse_hidden(items)
    rows = rows_of(items)
    if isinstance(rows, Range):
        hints = hints._replace(unroll=max(hints.unroll, rows.unroll))
        if rows.static is None:
            return as_result(_counted(rows, body, values, flag, hints))
        items = rows.static
        if flag is None and rows.rolled is not False and (rows.rolled or hints.unroll > 1) and _jax.recording():
            return as_result(_scanned(index_rows(items), body, values, hints))
        if rows.rolled is False:
            return as_result(_unrolled(items, body, values, flag, hints, roll=False))
    elif rows is not None:
        if targets and (rows.length or rows.tail is not None):  # an iteration is made: what they hold before the loop may have another type
            names = parameter_names(body, len(values))
            values = [blank if n in targets else x for n, x in zip(names, values, strict=True)]
        if rows.tail is not None:
            return as_result(_with_tail(rows, body, values, flag, hints, unread))
        if rows.length == 1:
            return as_result(as_list(body(rows.item(0), *values), len(values)))

        return as_result(_over_rows(rows, body, values, flag, hints))
    if flag is not None and (counting := first_and_step(items)) is not None and _jax.recording() and not held:
        first, step = counting
        return as_result(_counted(Range(first, FURTHEST if step > 0 else -FURTHEST, step), body, values, flag, hints))
    if isinstance(items, builtins.range) and flag is not None and _jax.recording():
        iterations = Range(items.start, items.stop, items.step)
        return as_result(_tried(lambda: _counted(iterations, body, values, flag, hints), items, body, values, flag, hints))
    try:
        return as_result(_unrolled(items, body, values, flag, hints, roll=True, held=held))
    except Ending as error:
        need = needs_position(error)
    raise need


def over(x: Any) -> Any:
    """What Python goes over for x: what a method of its own gives; anything else, arrays among it, goes over itself, row by row as each is then.

    >>> import autograph.runtime as ag
    >>> [row for row in ag.over([1, 2])]
    [1, 2]
    """
    x = value_of(x)
    own = None if isinstance(x, jax.Array) or type(x).__module__.startswith("autograph.") else getattr(type(x), "__iter__", None)
    return _UsersIterator(MethodType(call(own), x)) if type(own) is FunctionType else x


class _UsersIterator:
    """An object whose own method gives what it is gone over by: what it raises comes through no frame of ours."""

    __slots__ = ("__iter__",)

    def __init__(self, method: Callable[[], Any]) -> None:
        self.__iter__ = method


def _tried(compiled: Callable[[], list[Any]], items: Any, body: Body, state: list[Any], flag: int | None, hints: Hints) -> list[Any]:
    """A loop as one compiled iteration; iteration by iteration where that is refused."""
    unrolled = functools.partial(_unrolled, items, body, state, flag, hints, False)
    return compiled_or_unrolled(getattr(body, "__code__", None), compiled, unrolled)  # type: ignore[no-any-return]


def _over_rows(rows: Rows, body: Body, state: list[Any], flag: int | None, hints: Hints) -> list[Any]:
    def compiled() -> list[Any]:
        if flag is not None:
            return _counted(Range(0, rows.length, 1, item=rows.item, over=rows.over), body, state, flag, hints)
        return _scanned(rows, body, state, hints)

    return _tried(compiled, rows, body, state, flag, hints)


def _through(series: Series, body: Body, state: list[Any], iteration: Callable[[Any, list[Any]], list[Any]]) -> list[Any]:
    """The loop over lists whose items are rows of arrays; a list may change, and then it is gone over as it is."""

    def going(k: int, state: list[Any]) -> list[Any]:
        return iteration(series.item(k), state) if series.has(k) else state

    state = roll_remaining(builtins.range(series.count), OfSeries(series, body), state, going, series.is_changed)
    k = series.count
    while series.has(k):
        state, k = iteration(series.item(k), state), k + 1
    return state


def _with_tail(rows: Rows, body: Body, state: list[Any], flag: int | None, hints: Hints, unread: Sequence[str]) -> list[Any]:
    """The loop over rows, and one iteration more for the last item, which has another type: a smaller batch.

    Where it is data-dependent whether that iteration is made, `unread` variables are unset after it: they would have one of two types.
    """
    tail = rows.tail
    assert tail is not None
    if rows.length == 1:
        state = as_list(body(rows.item(0), *state), len(state))
    elif rows.length:
        state = as_list(as_result(_over_rows(rows.full, body, state, flag, hints)), len(state))
    left = False if flag is None or not rows.length else truth(state[flag])
    if left is True:
        return state
    if left is False:
        return as_list(body(tail(), *state), len(state))
    names = parameter_names(body, len(state))

    def but_unread(state: list[Any]) -> Any:
        return as_result([Unset(n) if n in unread else x for n, x in zip(names, state, strict=True)])

    sides = lambda *s: but_unread(list(s)), lambda *s: but_unread(as_list(body(tail(), *s), len(s)))  # noqa: E731
    return as_list(staged_cond(left, *sides, state, (body,)), len(state))


class _OfItems:
    """The body of a loop over rows as one over their numbers: rows may change, and one of NumPy's is a view.  It stands for the user's in errors."""

    def __init__(self, rows: Rows, body: Body) -> None:
        self.rows, self.body = rows, body
        for name in ("__code__", "__closure__", "__globals__", "__module__", "__defaults__", "__kwdefaults__"):
            setattr(self, name, getattr(body, name, None))

    def __call__(self, i: Any, *state: Any) -> Any:
        return self.body(self.rows.item(i), *state)


def _scanned(rows: Rows, body: Body, state: list[Any], hints: Hints, peels: bool = True) -> list[Any]:
    if rows.length == 0:
        return state
    if rows.computed or any(isinstance(x, MutableArray) and x.ndim > 1 for x in rows.over):
        body, rows = _OfItems(rows, body), index_rows(builtins.range(rows.length))
    place = CallSite(getattr(body, "__code__", None))
    token: object = None

    def scanned(state: list[Any]) -> list[Any]:
        stage = StagedLoop(body, state, body, place, items=[rows.spec], iterations=rows.length, all_made=True, token=token, indices=rows.numbers)
        if stage.stores_into(rows.over):  # each row is as it is when it is reached
            return _scanned(index_rows(builtins.range(rows.length)), _OfItems(rows, body), state, hints)
        out = stage.run_scan(rows.arrays, rows.length, min(hints.unroll, rows.length))
        known = counted(stage, rows.length, state)
        return [known.get(k, x) for k, x in enumerate(out)]

    if not peels:
        return retry_with_capacity(scanned, state, place, rows.length)  # type: ignore[no-any-return]
    speculation, token = Speculation(), object()
    try:
        with place.scope("whole") as whole:
            return retry_with_capacity(scanned, state, place, rows.length)  # type: ignore[no-any-return]
    except Peel as need:
        if need.token is not token:
            raise
        speculation.roll_back(whole)
    with place.scope("first"):
        state = as_list(body(rows.item(0), *state), len(state))
    return _scanned(rows.rest, body, state, hints, peels=False)


def _counted(r: Range, body: Body, state: list[Any], flag: int | None, hints: Hints) -> list[Any]:
    step = r.step
    made = unchanging(r, body)

    def inside(i: Any, stop: Any) -> Any:
        if not isinstance(step, int):
            return jnp.where(step > 0, i < stop, i > stop)
        return i < stop if step > 0 else i > stop

    def test(i: Any, *state: Any) -> Any:
        going = inside(i, present(r, state).stop)
        if flag is None:
            return going
        going, left = truth(going), truth(state[flag])
        if going is False or left is True:
            return False
        if left is False:
            return going
        return lax.bitwise_not(left) if going is True else lax.bitwise_and(going, lax.bitwise_not(left))

    def following(i: Any) -> Any:
        after = i + step
        if isinstance(i, int) or (isinstance(step, int) and abs(step) == 1):
            return after
        wrapped = jnp.where(step > 0, after < i, after > i) if not isinstance(step, int) else after < i if step > 0 else after > i
        return jnp.where(wrapped, r.stop, after)  # beyond the largest integer: the loop ends

    start, stop = interval_of(r.start), UNKNOWN if r.lists else interval_of(r.stop)  # lists may grow while it is gone over

    def iteration(i: Any, *state: Any) -> Any:
        if isinstance(step, int) and step > 0:
            note_interval(i, start.low, None if stop.high is None else stop.high - 1)
        elif isinstance(step, int):
            note_interval(i, None if stop.low is None else stop.low + 1, start.high)
        return as_result([following(i), *as_list(made(present(r, state).item(i), *state), len(state))])

    ends = (r.start, r.stop, step)
    most = len(builtins.range(*ends)) if all(isinstance(e, int) for e in ends) and abs(r.stop) < FURTHEST else r.most
    before = longest(r)
    out = run_while(test, iteration, [r.start, *state], body, ("the index",), hints.max_steps, most)[1:]
    if hints.max_steps is None:
        refuse_endless(before)
    return out


def _unrolled(
    items: Iterable[Any] | Rows, body: Body, state: list[Any], flag: int | None, hints: Hints, roll: bool, why: str = "", held: bool = False
) -> list[Any]:
    """The loop iteration by iteration; `why` says what has forbidden to compile one iteration."""
    count = len(state)
    place = CallSite(getattr(body, "__code__", None))

    asks = isinstance(items, Sized) and not isinstance(type(items).__len__, FunctionType)  # a method of the user's is not called by Python
    iterations = len(items) if asks and isinstance(items, Sized) else 8

    def iteration(x: Any, state: list[Any]) -> list[Any]:
        return as_list(body(x, *state), count)

    if flag is None and roll and _jax.compiling() and isinstance(items, builtins.range):
        return roll_remaining(items, body, state, iteration)
    if flag is None and roll and _jax.compiling() and not held and (series := series_of(items)) is not None:
        return _through(series, body, state, iteration)

    def ended(*state: Any) -> Any:
        """What an iteration leaves that is not made any more: the flag is known there."""
        return as_result([True if k == flag else x for k, x in enumerate(state)])

    check_taken(items)
    gone_over = over(items)
    left: Any = False
    taking = Taking(gone_over, lambda: left, held)
    walk = LiveWalk(gone_over, lambda _: iter(taking))
    walk.state = state
    run: TraceContext | None = None
    with record_iterations(roll or bool(why)) as made, iterating(iterations):
        for x in walk:
            if left is False:
                with place.scope("turn", again=run) as run:  # blocks in it remember what those of the iteration before have found
                    state = iteration(x, state)
            else:  # a traced value decides whether the loop goes on: the rest is unrolled under the flag
                state = as_list(staged_cond(left, ended, lambda *s, x=x: body(x, *s), state, (body,)), count)
            left = flag is not None and truth(state[flag])
            made.mark()
            if left is True:
                break
            walk.state = state
            if (rest := walk.rest()) is not None:
                return _counted(rest, body, state, flag, hints)
        joined = made.join()
    reason = f"one compiled iteration is not possible: {why}" if why else f"it runs over {_named(items)}, which is static"
    if not joined:
        made.tell(walk.made, reason)
    taking.settle()
    if watching():
        iterations_of = f"{walk.made} iteration{'s' * (walk.made != 1)}"
        decided("loop", f"scan of {iterations_of}, re-rolled" if joined else f"unrolled, {iterations_of}", reason)
    return state


def _named(items: Any) -> str:
    name = type(items).__name__
    return "a range" if isinstance(items, builtins.range) else f"a{'n' * (name[0] in 'aeiou')} `{name}`"
