"""Between which integers a traced integer lies, as far as loops and the equations that compute it tell.

The index of a loop lies in its range, the length of a list below its bound; what is computed of such integers by additions, products, minima,
remainders and the like is followed through the equations that have been recorded, as in interval arithmetic (Moore, Interval Analysis, 1966).
Nothing is known of an integer that an equation may wrap around.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi.origins import equation_of, stands_for
from autograph.runtime.jaxapi.tracers import content
from autograph.runtime.tracing.trace_context import frames

_DEEPEST = 30  # equations


class Interval(NamedTuple):
    """The smallest and the largest integer that a value may be, both included; None where that is not known."""

    low: int | None = None
    high: int | None = None


UNKNOWN = Interval()
Ends = Any  # an interval both of whose ends are numbers
Rule = Callable[..., Any]


def note_interval(n: Any, low: int | None = None, high: int | None = None) -> None:
    """Let it be known, in the trace that is made now, that a traced integer is never smaller than `low` or larger than `high`."""
    if isinstance(n, jax.Array) and frames():
        variable = _variable(content(n))
        frames()[0].intervals[id(variable)] = variable, Interval(low, high), False


def _variable(x: Any) -> Any:
    """What stands for a value in the trace: several tracers may."""
    return getattr(x, "val", x)


def interval_of(n: Any) -> Interval:
    """Between which integers an integer lies.

    >>> interval_of(3)
    Interval(low=3, high=3)
    """
    if isinstance(n, (int, np.integer)):
        return Interval(int(n), int(n))
    if not isinstance(n, jax.Array) or not frames() or n.shape != () or n.dtype.kind not in "iu":
        return UNKNOWN
    low, high = _of(content(n), frames()[0].intervals, _DEEPEST)
    least, most = _limits(n)
    return Interval(None if low == least else low, None if high == most else high)


def _limits(x: Any) -> Interval:
    """What the type of an integer can hold."""
    return Interval(int(np.iinfo(x.dtype).min), int(np.iinfo(x.dtype).max))


def _of(x: Any, noted: dict[int, Any], depth: int) -> Interval:
    """Both ends: where nothing is known they are those of the type, so that what may wrap around is found by either."""
    variable, limits = _variable(x), _limits(x)
    known: Interval
    _, known, looked = noted.get(id(variable), (None, UNKNOWN, False))
    if looked:
        return known
    known = _both(known, limits)
    if depth == 0:
        return known
    if (value := stands_for(x)) is not x:
        found = _number(value) if not isinstance(value, jax.core.Tracer) else _of(value, noted, depth - 1)
    else:
        found = _computed(equation_of(x), noted, depth)
    if any(end is not None and not limits[0] <= end <= limits[1] for end in found):  # type: ignore[operator]
        found = UNKNOWN
    found = _both(known, found)
    noted[id(variable)] = variable, found, True  # that each is looked at once
    return found


def _number(value: Any) -> Interval:
    """Of a number, or an array of one, that is known."""
    if isinstance(value, (int, np.integer)) or isinstance(value, (np.ndarray, jax.Array)) and value.shape == () and value.dtype.kind in "iu":
        return Interval(int(value), int(value))
    return UNKNOWN


def _computed(eqn: Any, noted: dict[int, Any], depth: int) -> Interval:
    """Of the result of an equation."""
    if eqn is None or any(getattr(t, "shape", None) != () for t in eqn.in_tracers):
        return UNKNOWN
    name = _jax.operation(eqn)
    if name in ("select_n", "_where") and len(eqn.in_tracers) == 3 and eqn.in_tracers[1].dtype.kind in "iu":
        return _chosen(eqn.in_tracers, name == "_where", noted, depth)
    rule = _RULES.get(name)
    if rule is None or any(t.dtype.kind not in "iu" for t in eqn.in_tracers):
        return UNKNOWN
    return Interval(*rule(*(_of(t, noted, depth - 1) for t in eqn.in_tracers)))


def _chosen(given: Sequence[Any], true_first: bool, noted: dict[int, Any], depth: int) -> Interval:
    """Of one of two values: what the comparison that chooses says of it holds on its side."""
    test, *sides = given
    found = [
        _both(_of(side, noted, depth - 1), _if(truth, equation_of(test), side, noted, depth - 1))
        for truth, side in zip((true_first, not true_first), sides, strict=True)
    ]  # fmt: skip
    return Interval(min(low for low, _ in found), max(high for _, high in found))  # type: ignore[type-var]


def _if(truth: bool, test: Any, x: Any, noted: dict[int, Any], depth: int) -> Interval:
    """Where a value lies if a comparison, which an equation makes, is true or false."""
    if test is None or test.primitive.name not in _OPPOSITE or any(t.shape != () or t.dtype.kind not in "iu" for t in test.in_tracers):
        return UNKNOWN
    name = test.primitive.name if truth else _OPPOSITE[test.primitive.name]
    a, b = test.in_tracers
    for one, other, less in ((a, b, name[0] == "l"), (b, a, name[0] == "g")):  # is it below the other?
        if _variable(one) is _variable(x):
            low, high = _of(other, noted, depth)
            apart = name in ("lt", "gt")
            return Interval(None, high - apart) if less else Interval(low + apart, None)  # type: ignore[operator]
    return UNKNOWN


_OPPOSITE = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}


def _both(a: Interval, b: Interval) -> Interval:
    """Of a value that lies in both."""
    lows, highs = ([x for x in ends if x is not None] for ends in ((a.low, b.low), (a.high, b.high)))
    return Interval(max(lows, default=None), min(highs, default=None))


def _corners(of: Callable[[int, int], int]) -> Rule:
    """The rule of an operation that is monotone in each of its operands."""

    def rule(a: Ends, b: Ends) -> Interval:
        found = [of(x, y) for x in a for y in b]
        return Interval(min(found), max(found))

    return rule


def _remainder(a: Ends, b: Ends) -> Interval:
    """Python's, by a number that is not 0."""
    return Interval(0, b[1] - 1) if b[0] > 0 else Interval(b[0] + 1, 0) if b[1] < 0 else UNKNOWN


def _smaller(a: Ends, b: Ends) -> Interval:
    return Interval(min(a[0], b[0]), min(a[1], b[1]))


def _larger(a: Ends, b: Ends) -> Interval:
    return Interval(max(a[0], b[0]), max(a[1], b[1]))


_RULES: dict[str, Rule] = {  # by the names that equations have (`_jax.operation`)
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "sub": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "mul": _corners(lambda x, y: x * y),
    "neg": lambda a: (-a[1], -a[0]),
    **dict.fromkeys(("min", "minimum"), _smaller),
    **dict.fromkeys(("max", "maximum"), _larger),
    "clamp": lambda least, x, most: _smaller(_larger(least, x), most),
    **dict.fromkeys(("convert_element_type", "copy"), lambda a: a),
    **dict.fromkeys(("remainder", "mod"), _remainder),
    "floor_divide": lambda a, b: _corners(lambda x, y: x // y)(a, b) if b[0] > 0 else UNKNOWN,
}
