"""The Python scalars among the variables of a compiled iteration: which stay scalars, what they are in each, and what they are after the loop.

A number that each iteration sets to a constant, or adds one to, is told by its equation.  Any other that Python alone computes is computed before the
loop (`scalar_evolution.py`), and looked up by each iteration; so are comparisons of floats, remainders, and integers that may not fit.  What is
data-dependent is an array from the start.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from autograph.runtime.branches.traced_region import TracedRegion
from autograph.runtime.jaxapi.traces import Literal, Var
from autograph.runtime.loops.scalar_evolution import replayed
from autograph.runtime.loops.scalar_intervals import (
    Fraction,
    Integer,
    Known,
    Mixed,
    NotRollable,
    Number,
    Numbers,
    Truth,
    added,
    constant_step,
    union,
    within,
)
from autograph.runtime.state.state_refs import ContainerItems


class InductionVariable(NamedTuple):
    """One array that an iteration takes and leaves, for a variable or a place in an object."""

    name: str
    before: Any  # the Python number that it is before the loop, or None: an array
    v: Var
    out: Any
    always: Any  # the Python number that each iteration leaves, if it is known to
    single: bool  # whether it is all that the variable holds
    stands: bool  # whether an array of its type can be for the number
    is_list: bool  # whether it is of a list
    stays: Callable[[Any], None]  # takes what it is after the loop, if it is a Python number then
    length: bool = False  # whether it is how many items a list has, which may be traced


def settled(block: TracedRegion, index: Var, items: builtins.range, slots: Sequence[InductionVariable]) -> Known:
    """Let an iteration have Python's numbers, and tell what they are after the loop; what the variables of the iteration are known to be.

    Raises:
      NotRollable: a number would be another than Python's, for more than rounding.
    """
    known: Known = {index: Integer(within((min(items[0], items[-1]), max(items[0], items[-1])), "the index"))}
    numbers = {s.v: s for s in slots if s.before is not None}
    if any(isinstance(spec, ContainerItems) and spec.keys is None for spec in block.wrote.values()):
        Numbers(strict=False, lists=True).follow(block.eqns, {**known, **{v: Numbers.unknown(s.before) for v, s in numbers.items()}})
    changing: dict[Any, InductionVariable] = {}
    sums: list[InductionVariable] = []
    for s in numbers.values():
        if (after := _after(s, index, items, block.eqns)) is None:
            changing[s.v] = s
            continue
        known[s.v], now = after
        if s.out is not s.v:
            s.stays(now)
            if type(s.before) is float and type(s.always) is not float:
                sums.append(s)
    ahead: dict[Any, Number] = {}
    still, found = _still_numbers(block.eqns, known, changing, ahead)
    sometimes = [s for s in slots if s.single and s.v not in still and isinstance(_of(s, found), Mixed)]
    of = {v: (s.before, s.out) for v, s in numbers.items() if v in known or v in still}
    values: dict[Any, list[Any]] = {}
    last: list[Any] = []
    while True:
        if still or ahead or sometimes:
            values, last = replayed(block.eqns, index, items, of, list(ahead), [s.out for s in sometimes])
            ahead.update({v: union([*map(Numbers.constant, values[v])]) or Mixed() for v in ahead})
            known.update({v: union([*map(Numbers.constant, values[v][:-1])]) or Mixed() for v in still})
        count = len(ahead)
        found = Numbers(ahead=ahead).follow(block.eqns, known)
        if len(ahead) == count:  # none more that has to be computed before
            break
    for v in still:
        _check_kind(changing[v], values[v])
        changing[v].stays(values[v][-1])
    for s, x in zip(sometimes, last, strict=True):
        if x is not None:
            s.stays(x)
    for v, s in changing.items():
        if v not in still and not s.stands:
            raise NotRollable(f"the Python number `{s.name}` becomes an array of another type")
    tables = {**{v: values[v][:-1] for v in still}, **{v: values[v] for v in ahead}}
    for s in sometimes:
        _check_sometimes(s, block.eqns, known, _of(s, found))
    for s in slots:
        now = None if s.before is not None or s.is_list else _of(s, found)
        if now is not None and not (s.single and isinstance(now, Mixed)):
            raise NotRollable(f"`{s.name}` becomes a Python number")
    _refuse_items({s.v: s.name for s in slots if s.is_list}, block.eqns, found)
    for s in sums:
        _compute_sum(block, index, items, s)
    used = {v: row for v, row in tables.items() if _is_used(v, block, ahead)}
    for row in used.values():
        if type(row[0]) is int:
            within((min(row), max(row)), "what is computed from the index")
    block.look_up(used)
    return found


def _check_kind(s: InductionVariable, values: list[Any]) -> None:
    """Check a number that Python alone computes: its values in all iterations, and after them."""
    if {type(x) for x in values} != {type(s.before)}:
        raise NotRollable(f"the Python number `{s.name}` becomes one of another kind")
    if type(s.before) is int:
        within((min(values[:-1]), max(values[:-1])), f"the Python number `{s.name}`")


def _is_used(v: Any, block: TracedRegion, ahead: Collection[Any]) -> bool:
    """Whether a variable is used for more than for others that are computed before the loop."""
    return any(u is v for u in block.outvars) or any(any(u is v for u in e.invars) and not all(o in ahead for o in e.outvars) for e in block.eqns)


def _of(s: InductionVariable, found: Known) -> Number | None:
    """What an iteration is known to leave; of a constant nothing is asked."""
    return None if isinstance(s.out, Literal) else found.get(s.out)


def _still_numbers(eqns: Any, known: Known, candidates: dict[Any, InductionVariable], ahead: dict[Any, Number]) -> tuple[set[Any], Known]:
    """Which of some variables are Python numbers in all iterations: computed of such numbers alone; `ahead` takes what is to be computed before."""
    now = set(candidates)
    while True:
        ahead.clear()
        found = Numbers(strict=False, ahead=ahead).follow(eqns, {**known, **{v: Numbers.unknown(candidates[v].before) for v in now}})
        left = {v for v in now if isinstance(out := candidates[v].out, Literal) or not isinstance(found.get(out, Mixed()), Mixed)}
        if left == now:
            return now, found
        now = left


def _check_sometimes(s: InductionVariable, eqns: Any, known: Known, now: Number | None) -> None:
    """Check a variable that is a Python number in some iterations only: the array of the compiled iteration is to give what the number does."""
    number = now.number if isinstance(now, Mixed) else None
    if number is None or s.length:
        return
    aval = s.v.aval
    kind = "f" if isinstance(number, Fraction) else "b" if isinstance(number, Truth) else "iu"
    if not aval.weak_type or np.dtype(aval.dtype).kind not in kind:
        raise NotRollable(f"`{s.name}` becomes a Python number in some iterations")
    Numbers().follow(eqns, {**known, s.v: number if s.before is None else union([Numbers.constant(s.before), number]) or Mixed()})


def _refuse_items(lists: dict[Any, str], eqns: Any, found: Known) -> None:
    """Refuse Python numbers that are appended to a list: its items are arrays in the compiled loop; `lists` are the variables of lists' buffers."""
    source: dict[Any, Any] = {}
    for e in eqns if lists else ():
        if e.primitive.name in ("broadcast_in_dim", "reshape", "convert_element_type"):
            source[e.outvars[0]] = e.invars[0]
        elif "dynamic_update" in e.params.get("name", e.primitive.name) and not isinstance(e.invars[0], Literal) and e.invars[0] in lists:
            lists[e.outvars[0]] = lists[e.invars[0]]
            item = e.invars[1]
            while not isinstance(item, Literal) and item in source and item not in found:
                item = source[item]
            if isinstance(item, Literal) or item in found:
                raise NotRollable(f"`{lists[e.invars[0]]}` is given Python numbers")


def number_slots(block: TracedRegion, index: Var, slots: Sequence[InductionVariable]) -> dict[Var, tuple[Any, Any]]:
    """The variables that are Python numbers in all iterations: what they are before the loop, and what an iteration makes of them."""
    numbers = {s.v: s for s in slots if s.before is not None}
    still, _ = _still_numbers(block.eqns, {index: Integer(None)}, numbers, {})
    return {v: (numbers[v].before, numbers[v].out) for v in still}


def _after(s: InductionVariable, index: Any, items: builtins.range, eqns: Any) -> tuple[Number, Any] | None:
    """What a Python number is in the iterations, and what it is after them, where its equation tells."""
    x, out = s.before, s.out
    if out is s.v:
        return Numbers.constant(x), x
    if out is index:
        return union([*map(Numbers.constant, (x, items[0], items[-1]))]) or Mixed(), items[-1]
    if type(s.always) is type(x):
        return union([Numbers.constant(x), Numbers.constant(s.always)]) or Mixed(), s.always
    step = added(eqns, s.v, out)
    if type(x) is float and step is not None:
        after = _summed(x, step, len(items))
        return Fraction((max(abs(x), abs(after)), min(abs(step), 1.0) * 2.0**-53)), after
    step = constant_step(eqns, s.v, out)
    if step is None or type(x) is not int:
        return None
    after = x + len(items) * step
    return Integer(within((min(x, after), max(x, after)), "a number that the loop counts")), after


def _summed(x: float, step: Any, iterations: int) -> float:
    """What Python's additions give."""
    for _ in range(iterations):
        x += step
    return x


def _compute_sum(block: TracedRegion, index: Var, items: builtins.range, s: InductionVariable) -> None:
    """Compute a Python float to which each iteration adds a constant from the index: a sum of float32 would be less exact than Python's."""
    step = added(block.eqns, s.v, s.out)
    assert step is not None
    block.compute(s.v, index, lambda i: s.before + (i - items[0]) * (step / items.step))
