"""How long a `while` makes a list at most, where its test compares the length, or a number that iterations count, with a number that is known.

`while len(out) < n and token != END: out.append(token)` needs room for n items.  The test is traced and read: a conjunction holds where each of
its parts does.  A flag that `break` sets is what the iteration before has left in it, so the iteration is read, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from autograph.runtime.branches.traced_region import TracedRegion
from autograph.runtime.jaxapi.traces import Literal
from autograph.runtime.loops.scalar_intervals import constant_step
from autograph.runtime.sequences.bounded_list import BoundedList
from autograph.runtime.sequences.truth import truth
from autograph.runtime.state.length_bounds import LengthBound, Marks
from autograph.runtime.state.state_refs import StateRef
from autograph.runtime.tracing.trace_context import in_block
from autograph.runtime.values.abstract_values import AbstractValue, ArrayType, types


class BoundedLoop(Protocol):
    """What is asked of a loop whose types are settled (`carry_types.py`)."""

    block: TracedRegion
    test: Callable[..., Any] | None
    iterations: int | None
    extra: int
    place: Any
    specs: list[AbstractValue]
    items: list[AbstractValue]
    state: list[Any]


_INTEGERS = {np.dtype("int32"), np.dtype("int64")}
_NEGATED = {"lt": "ge", "ge": "lt", "le": "gt", "gt": "le", "eq": "ne", "ne": "eq"}
_SWAPPED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}


class Limits(NamedTuple):
    """How many iterations a loop makes at most, if that is known, and how many items lists have at most when an iteration begins."""

    iterations: int | None
    lengths: dict[LengthBound, int]


class _Number(NamedTuple):
    """A loop variable that is one number: of which list the length, or what it is before the loop; in the test, and at both ends of an iteration."""

    what: Any
    tested: Any
    inner: Any
    outer: Any


class _Compared(NamedTuple):
    """A comparison with a number that holds; or (`is`) a truth value that is no comparison."""

    how: str
    variable: Any
    number: int


def limits_of(loop: BoundedLoop, before: Marks) -> Limits:
    """Those of a loop of which one iteration has been traced; `before`: what was known of lengths when it began."""
    test, block = loop.test, loop.block
    if loop.iterations is not None or test is None or not any(bound.top > top for bound, (top, _, _) in before.items()):
        return Limits(loop.iterations, {})
    asked = TracedRegion(
        lambda *s: truth(test(*s[: len(s) - loop.extra])), loop.specs, loop.place, "limit", lambda _, p: [p], [test], outside=block.wrote
    )
    numbers = list(_numbers(loop, asked))
    found: list[tuple[_Number, _Compared, int]] = []  # with how many iterations lie between the comparison and the iteration that it allows
    flags: list[tuple[Any, bool]] = []  # what iterations leave in flags, and what that has to be for the loop to go on

    def read(eqns: Sequence[Any], p: Any, value: bool, at: Mapping[Any, tuple[_Number, int]]) -> None:
        for c in _needed(p, value, {v: e for e in eqns for v in e.outvars}):
            if c.variable not in at:
                continue
            number, ago = at[c.variable]
            if c.how != "is":
                found.append((number, c, ago))
            elif number.outer is not None and not any(number.outer is f for f, _ in flags):
                flags.append((number.outer, bool(c.number)))
                ends = {n.inner: (n, ago + 1) for n in numbers}
                ends |= {n.outer: (n, ago) for n in numbers if not isinstance(n.outer, Literal)}
                read(block.eqns, number.outer, bool(c.number), ends)

    read(asked.eqns, asked.outvars[0], True, {n.tested: (n, 0) for n in numbers})
    iterations: list[int] = []
    lengths: dict[LengthBound, int] = {}
    for number, c, ago in found:
        begin, step = _counts(block, number, before, flags)
        first = ago > 0 or number.tested is not c.variable  # it is not asked before the first iteration
        limit = _limit(c, begin, step, first)
        if limit is None:
            continue
        if isinstance(number.what, LengthBound) and c.how not in ("ge", "gt"):
            top = before[number.what][0]
            most = max(limit, top) + ago * max(number.what.top - top, 0)
            lengths[number.what] = min(lengths.get(number.what, most), most)
        if begin is not None and step:
            iterations.append(max((limit - begin) // step + 1, int(first)) + ago)
    return Limits(min(iterations, default=None), lengths)


def _numbers(loop: BoundedLoop, asked: TracedRegion) -> Iterator[_Number]:
    block = loop.block
    tested, inner, outer = iter(asked.invars), iter(block.invars[len(types(loop.items)) :]), iter(block.outvars)
    for x, spec in zip(loop.state, loop.specs, strict=True):
        parts = [(next(tested), next(inner), next(outer)) for _ in types([spec])]
        if isinstance(x, BoundedList):
            yield _Number(x.kind.bound, *parts[0])
        elif isinstance(spec, ArrayType):
            yield _Number(x, *parts[0])
    for location, spec in block.wrote.items():
        ends = [next(outer) for _ in types([spec])]
        if isinstance(location, StateRef) and isinstance(x := location.get(), BoundedList):
            first, last = (b.reads[location][1][0] if location in b.reads else None for b in (asked, block))
            yield _Number(x.kind.bound, first, last, ends[0])


def _counts(block: TracedRegion, number: _Number, before: Marks, flags: Sequence[tuple[Any, bool]]) -> tuple[int | None, int | None]:
    """What a number is before the loop, and what each iteration adds to it, if that is known: one after which the loop goes on."""
    if isinstance(bound := number.what, LengthBound):
        begin = None if in_block() else before[bound][1]  # in an iteration of another loop it counts from the first of them
        return begin, bound.exact - begin if begin is not None and bound.exact is not None else None
    step = constant_step(block.eqns, number.inner, number.outer)
    for flag, value in flags if step is None else ():
        step = _step_beside(block.eqns, number.inner, number.outer, flag, value) if step is None else step
    return (number.what, step) if type(number.what) is int and step is not None else (None, None)


def _step_beside(eqns: Sequence[Any], inner: Any, outer: Any, flag: Any, value: bool) -> int | None:
    """What is added to a number on the sides of branches on which a flag gets the value with which the loop goes on (a counter behind a `break`)."""
    made: dict[Any, Any] = {v: e for e in eqns for v in e.outvars}
    v, added = _counted(outer, made)
    if v is inner:
        return added
    e = made.get(v) if not isinstance(v, Literal) else None
    if e is None or e.primitive.name not in ("cond", "select_n"):
        return None
    other: Any = made.get(flag) if not isinstance(flag, Literal) else None
    found: set[int | None] = set()
    if e.primitive.name == "select_n":
        same = other is not None and other.primitive.name == "select_n" and other.invars[0] is e.invars[0]
        for k, side in enumerate(e.invars[1:]):
            if not (same and other is not None and _is(other.invars[1 + k], not value)):
                found.add(_step_beside(eqns, inner, side, flag, value))
    else:
        k, beside = e.outvars.index(v), None if other is not e else e.outvars.index(flag)
        place = next((j for j, u in enumerate(e.invars[1:]) if u is inner), None)
        for side in (branch.jaxpr for branch in e.params["branches"]) if place is not None else ():
            its = side.outvars[beside] if beside is not None else flag
            if not _is(its, not value):
                found.add(_step_beside(side.eqns, side.invars[place], side.outvars[k], its, value))
    step = found.pop() if len(found) == 1 else None
    return None if step is None else added + step


def _limit(c: _Compared, begin: int | None, step: int | None, first: bool) -> int | None:
    """The last number at which an iteration may begin; None if the comparison limits nothing."""
    if c.how == "ne":  # which stops what comes by
        if begin is None or step not in (1, -1) or (c.number - begin) * step < int(first):
            return None
        return c.number - step
    if c.how in ("lt", "le", "eq"):
        return c.number - (c.how == "lt") if step is None or step > 0 else None
    return c.number + (c.how == "gt") if step is not None and step < 0 else None


def _needed(p: Any, value: bool, made: Mapping[Any, Any]) -> Iterator[_Compared]:
    """What certainly holds where a truth value is the one given."""
    e = made.get(p) if not isinstance(p, Literal) else None
    name = e.primitive.name if e is not None else ""
    if isinstance(p, Literal):
        return
    if e is None:
        yield _Compared("is", p, int(value))
    elif name in ("and", "or"):
        if value is (name == "and"):
            for part in e.invars:
                yield from _needed(part, value, made)
    elif name == "not":
        yield from _needed(e.invars[0], not value, made)
    elif name == "convert_element_type" and e.invars[0].aval.dtype == np.bool_:
        yield from _needed(e.invars[0], value, made)
    elif name == "select_n" and len(e.invars) == 3:
        p, otherwise, then = e.invars
        side, chosen = (True, then) if _is(otherwise, not value) else (False, otherwise)
        if side or _is(then, not value):
            yield from _needed(p, side, made)
            yield from _needed(chosen, value, made)
    elif name == "cond" and len(e.params["branches"]) == 2:  # the second operand of an `and` that may fail
        sides = [_is(branch.jaxpr.outvars[e.outvars.index(p)], not value) for branch in e.params["branches"]]
        index = made.get(e.invars[0])
        if sides in ([True, False], [False, True]) and index is not None and index.primitive.name == "convert_element_type":
            yield from _needed(index.invars[0], sides[0], made)
    elif name in _NEGATED:
        a, b = e.invars
        holds = name if value else _NEGATED[name]
        for v, limit, how in ((a, b, holds), (b, a, _SWAPPED[holds])):
            if isinstance(limit, Literal) and np.shape(limit.val) == () and np.asarray(limit.val).dtype in _INTEGERS:
                v, added = _counted(v, made)
                yield _Compared(how, v, int(limit.val) - added)


def _is(x: Any, value: bool) -> bool:
    return isinstance(x, Literal) and np.shape(x.val) == () and np.asarray(x.val).dtype == np.bool_ and bool(x.val) is value


def _counted(v: Any, made: Mapping[Any, Any]) -> tuple[Any, int]:
    """The integer that a value is made of by adding a constant, and the constant."""
    added = 0
    while not isinstance(v, Literal) and (e := made.get(v)) is not None:
        if e.primitive.name == "convert_element_type" and {e.params["new_dtype"], e.invars[0].aval.dtype} <= _INTEGERS:
            v = e.invars[0]
        elif e.primitive.name in ("add", "sub") and isinstance(e.invars[1], Literal) and np.shape(e.invars[1].val) == ():
            added += int(e.invars[1].val) if e.primitive.name == "add" else -int(e.invars[1].val)
            v = e.invars[0]
        else:
            break
    return v, added
