"""Python's numbers that change from iteration to iteration: what they are in each, computed before the loop as Python computes them.

What an iteration computes of the index and other Python numbers alone (`scalar_intervals.py` says which those are) is evaluated with Python's own
numbers, iteration by iteration, from the equations of the compiled iteration: the constants in them are Python's, and only values of the same kind
are met.
"""

from __future__ import annotations

import builtins
import itertools
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi.traces import Var
from autograph.runtime.loops.scalar_intervals import NotRollable, programs
from autograph.runtime.values.values import NUMBERS

_EXACT = 1 << 24  # integers up to here are float32 as well


def replayed(
    eqns: Sequence[Any], index: Var, items: builtins.range, numbers: Mapping[Var, tuple[Any, Any]], inner: Sequence[Var], last: Sequence[Any]
) -> tuple[dict[Var, list[Any]], list[Any]]:
    """The values of some variables before each iteration and after the last, in each of `inner`, which it computes, and of `last` at the end.

    `numbers` are what they are before the loop, and what an iteration makes of them.  What of `last` is an array at the end is None.

    Raises:
      NotRollable: Python would raise an error in an iteration, or what it computes is not known here, or not to be told.
    """
    values: dict[Var, list[Any]] = {**{v: [x] for v, (x, _) in numbers.items()}, **{v: [] for v in inner}}
    after: list[Any] = []
    for after in _iterations(eqns, ({index: item} for item in items), numbers, [*inner, *last]):
        for v, x in zip(values, after, strict=False):
            if type(x) not in NUMBERS:
                raise NotRollable("a Python number is computed by what Python does not have")
            values[v].append(x)
    return values, after[len(values) :]


def iterations_made(
    eqns: Sequence[Any], numbers: Mapping[Var, tuple[Any, Any]], test: Sequence[Any], asked: Mapping[Var, Var], going: Any, most: int
) -> int:
    """The trip count of a loop whose test asks such numbers alone; `asked` are the variables of the equations of its test that stand for them.

    Raises:
      NotRollable: the test asks for more, or there are more than `most` iterations.
    """
    now = {v: x for v, (x, _) in numbers.items()}
    for count, after in enumerate(_iterations(eqns, itertools.repeat({}, most), numbers, [])):
        p = _computed(test, {u: now[v] for u, v in asked.items() if v in now}, [going])[0]
        if p is False:
            return count
        if p is not True:
            raise NotRollable("its test reads more than Python scalars")
        now = dict(zip(numbers, after, strict=True))
    raise NotRollable(f"it makes more than {most} iterations")


def _iterations(
    eqns: Sequence[Any], items: Iterable[dict[Any, Any]], numbers: Mapping[Var, tuple[Any, Any]], more: Sequence[Any]
) -> Iterator[list[Any]]:
    """What numbers, and more variables, are after each iteration."""
    outs = [*(out for _, out in numbers.values()), *more]
    needed = _needed(eqns, outs)
    now: dict[Any, Any] = {v: x for v, (x, _) in numbers.items()}
    for item in items:
        after = _computed(needed, {**now, **item}, outs)
        yield after
        now = dict(zip(numbers, after, strict=False))


def _computed(eqns: Sequence[Any], known: dict[Any, Any], outs: Sequence[Any]) -> list[Any]:
    try:
        return _evaluated(eqns, known, outs)
    except OverflowError:
        raise NotRollable("a Python number becomes too large") from None
    except (ArithmeticError, ValueError, TypeError) as error:
        raise NotRollable(f"a Python number cannot be computed ahead: {error}") from None


def _needed(eqns: Sequence[Any], outs: Sequence[Any]) -> list[Any]:
    """The equations that some results need, in order."""
    wanted = {v for v in outs if isinstance(v, Var)}
    found = []
    for e in reversed(eqns):
        if wanted.intersection(e.outvars):
            found.append(e)
            wanted.update(v for v in e.invars if isinstance(v, Var))
    return found[::-1]


def _evaluated(eqns: Sequence[Any], known: dict[Any, Any], outs: Sequence[Any]) -> list[Any]:
    """What variables are after some equations; None is what is not of Python's numbers alone."""
    for e in eqns:
        given = [_value(v, known) for v in e.invars]
        if any(x is not None and isinstance(v, Var) for x, v in zip(given, e.invars, strict=True)):
            known.update(zip(e.outvars, _results(e, given), strict=True))
    return [_value(v, known) for v in outs]


def _value(v: Any, known: Mapping[Any, Any]) -> Any:
    if isinstance(v, Var):
        return known.get(v)
    if getattr(v.aval, "shape", None) != ():
        return None
    held = np.asarray(v.val).item() if not isinstance(v.val, (bool, int, float)) else v.val
    if isinstance(held, float) and not isinstance(v.val, float) and not (held.is_integer() and abs(held) <= _EXACT):
        return None  # a constant that was rounded
    return bool(held) if v.aval.dtype == np.bool_ else int(held) if isinstance(held, int) else float(held)


def _results(e: Any, given: list[Any]) -> Sequence[Any]:
    name, unknown = e.primitive.name, [None] * len(e.outvars)
    if name == "select_n":
        return unknown if given[0] is None else [given[1 + int(given[0])]]
    if name == "cond":
        return unknown if given[0] is None else _inside(e.params["branches"][int(given[0])].jaxpr, given[1:])
    if name in ("jit", "pjit") and None not in given:
        operation = _jax.operation(e)
        if operation == "round" and len(programs(e)[0].eqns) > 1:  # Python rounds the decimal number, not its multiple
            raise NotRollable("a Python float is rounded to some digits")
        return [_DIVISIONS[operation](*given)] if operation in _DIVISIONS else _inside(programs(e)[0], given)
    kind = getattr(getattr(e.outvars[0].aval, "dtype", None), "kind", "")
    if None in given:
        return unknown
    if name == "round":
        return [float(round(given[0])) if int(e.params["rounding_method"]) == 1 else unknown[0]]
    if name == "convert_element_type":
        return [{"b": bool, "f": float}.get(kind, int)(given[0])]
    if name == "integer_pow":
        return [given[0] ** e.params["y"]]
    if (of := _PYTHONS.get(name)) is None:
        return unknown
    if kind == "b" and name in ("max", "min"):  # `jaxapi/arithmetic.py`
        raise NotRollable("truth values are used as numbers")
    return [float(of(*given)) if kind == "f" else of(*given)]


def _inside(jaxpr: Any, given: Sequence[Any]) -> list[Any]:
    return _evaluated(jaxpr.eqns, dict(zip(jaxpr.invars, given, strict=True)), jaxpr.outvars)


def _not(a: Any) -> Any:
    return not a if isinstance(a, bool) else ~a


_DIVISIONS: dict[str, Callable[..., Any]] = {
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "_remainder": operator.mod,
    "mod": operator.mod,
}
_PYTHONS: dict[str, Callable[..., Any]] = {
    "and": operator.and_, "or": operator.or_, "xor": operator.xor, "not": _not, "eq": operator.eq, "ne": operator.ne, "lt": operator.lt,
    "le": operator.le, "gt": operator.gt, "ge": operator.ge,
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "neg": operator.neg, "abs": abs, "max": max, "min": min,
    "floor": math.floor, "ceil": math.ceil, "rem": math.fmod, "shift_left": operator.lshift, "shift_right_arithmetic": operator.rshift,
    "pow": pow, "square": lambda x: x * x, "copy": lambda x: x, "sqrt": math.sqrt, "exp": math.exp, "exp2": math.exp2, "expm1": math.expm1,
    "log": math.log, "log1p": math.log1p, "log2": math.log2, "cbrt": math.cbrt, "sin": math.sin, "cos": math.cos, "tan": math.tan, "asin": math.asin,
    "acos": math.acos, "atan": math.atan, "atan2": math.atan2, "sinh": math.sinh, "cosh": math.cosh, "tanh": math.tanh, "asinh": math.asinh,
    "acosh": math.acosh, "atanh": math.atanh, "erf": math.erf, "erfc": math.erfc, "lgamma": math.lgamma,
}  # fmt: skip
