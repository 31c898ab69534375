"""`for_loop`: over a traced range, rows of traced arrays, or anything static; left early once the variable `until` is true.

A traced array without an early end is one `lax.scan_p` (it has reverse mode); a traced range, or a loop that may end early, is a
`while_loop` over an index; everything else is iterated in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from jax import lax

from autograph.runtime.branches import staged_cond
from autograph.runtime.frames import Place
from autograph.runtime.loops import Stage, given, listed, run_while
from autograph.runtime.places import parameter_names
from autograph.runtime.predicates import truth
from autograph.runtime.rows import Range, Rows, rows_of


def for_loop(items: Any, body: Callable[..., Any], *state: Any, until: str | None = None) -> Any:
    """`for item in items: state = body(item, *state)`; staged if the items or their number are traced.

    Args:
      items: any iterable, an array (its rows), or what `ag.range`, `ag.enumerate`, `ag.zip` and `ag.reversed` give.
      body: a function of the item and the state that returns the new state.
      state: the loop variables.
      until: the name of a loop variable that ends the loop once it is true.

    >>> import jax, jax.numpy as jnp, autograph.runtime as ag
    >>> jax.jit(lambda xs: ag.for_loop(xs, lambda x, s: s + x, 0))(jnp.array([1.0, 2.0, 3.0]))
    Array(6., dtype=float32)
    """
    count = len(state)
    flag = None if until is None else parameter_names(body, count).index(until)
    values = list(state)
    rows = rows_of(items)
    if isinstance(rows, Range) or (isinstance(items, range) and flag is not None):
        r = rows if isinstance(rows, Range) else Range(items.start, items.stop, items.step)
        return given(_counted(r.start, r.stop, r.step, lambda i: i, body, values, flag))
    if rows is not None and flag is not None:
        return given(_counted(0, rows.length, 1, rows.item, body, values, flag))
    if rows is not None:
        return given(_scanned(rows, body, values))
    return given(_unrolled(items, body, values, flag))


def _scanned(rows: Rows, body: Callable[..., Any], state: list[Any]) -> list[Any]:
    if rows.length == 0:
        return state
    place = Place(getattr(body, "__code__", None))
    stage = Stage(body, state, body, place, items=[rows.spec])
    return stage.run_scan(rows.arrays, rows.length, 1)


def _counted(start: Any, stop: Any, step: int, item: Callable[[Any], Any], body: Callable[..., Any], state: list[Any], flag: int | None) -> list[Any]:
    def test(i: Any, *state: Any) -> Any:
        going = i < stop if step > 0 else i > stop
        if flag is None:
            return going
        going, left = truth(going), truth(state[flag])
        if going is False or left is True:
            return False
        if left is False:
            return going
        return lax.bitwise_not(left) if going is True else lax.bitwise_and(going, lax.bitwise_not(left))

    def turn(i: Any, *state: Any) -> Any:
        return given([i + step, *listed(body(item(i), *state), len(state))])

    return run_while(test, turn, [start, *state], body, ("the index",))[1:]


def _unrolled(items: Iterable[Any], body: Callable[..., Any], state: list[Any], flag: int | None) -> list[Any]:
    count = len(state)
    left: Any = False
    for x in items:
        if left is False:
            state = listed(body(x, *state), count)
        else:  # a traced value decides whether the loop goes on: the rest is unrolled under the flag
            state = listed(staged_cond(left, lambda *s: given(s), lambda *s, x=x: body(x, *s), state, (body,)), count)
        left = flag is not None and truth(state[flag])
        if left is True:
            break
    return state
