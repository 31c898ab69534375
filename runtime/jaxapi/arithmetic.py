"""Operators on arrays of a trace that need no promotion, recorded without the `jit` that `jax.numpy` puts around each operation.

The equation is the same, and recording it takes a third of the time.  Both operands are of one type, or one is a Python number that the
other's type holds as JAX has it; everything else is JAX's own operator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from jax import lax

from autograph.runtime.jaxapi.private import config, core
from autograph.runtime.jaxapi.private import partial_eval as pe


class Arithmetic(core.Tracer):  # type: ignore[misc]
    """A tracer that holds a value of JAX's, `now`, and whose operators go to it."""

    __slots__ = ()
    now: Any


_FLOATS = np.dtype("float32"), np.dtype("float64")  # of Python's numbers without and with `jax_enable_x64`
_INTEGERS = np.dtype("int32"), np.dtype("int64")
_MOST = 2**31
_LARGEST = float(np.finfo(np.float32).max)


def _operand(other: Any, aval: Any) -> Any:
    """`other` as what JAX's operation takes beside an array of a type; None if it has to be promoted, or the array has."""
    kind = type(other)
    if kind is int or kind is float:
        x64 = config.enable_x64.value
        if not -_MOST <= other < _MOST and (kind is int or not -_LARGEST <= other <= _LARGEST):  # JAX raises, or warns
            return None
        if aval.dtype == _FLOATS[x64]:
            return float(other)
        return other if kind is int and aval.dtype == _INTEGERS[x64] else None
    now = other.now if isinstance(other, Arithmetic) else other
    if not isinstance(now, pe.DynamicJaxprTracer) or aval.dtype not in _FLOATS + _INTEGERS:
        return None
    return now if now.aval is aval or now.aval == aval else None


def _is_direct() -> bool:
    """Whether nothing is to be done beside an operation (`jax.experimental.error_check`)."""
    return bool(config.error_checking_behavior_nan.value == config.error_checking_behavior_divide.value == "ignore")


def _truth(x: Any) -> Any:
    """`x` as a truth value that JAX's operations take, if it is one; else None."""
    x = x.now if isinstance(x, Arithmetic) else x
    if type(x) is bool:
        return x
    is_truth = isinstance(x, core.Tracer) and type(x.aval) is core.ShapedArray and x.aval.dtype == np.bool_ and not x.aval.shape
    return x if is_truth else None


def _binary(name: str, do: Callable[[Any, Any], Any], only_floats: bool, of_truths: Callable[[Any, Any], Any] | None = None) -> Any:
    """An operator that is JAX's operation itself where nothing has to be promoted.

    Python's truth values add and multiply as numbers (`True + True` is 2), and JAX's as truths: `of_truths` records what no `|` or `&` records.  So a
    loop that is to be compiled as one iteration sees that its truth values, which Python knows, are added (`loops/scalar_intervals.py`).
    """
    by_jax = getattr(core.Tracer, name)
    swapped = name.startswith("__r")

    def operate(self: Arithmetic, other: Any) -> Any:
        now = self.now
        if isinstance(now, pe.DynamicJaxprTracer) and _is_direct():
            aval = now.aval
            if type(aval) is core.ShapedArray and not (only_floats and aval.dtype not in _FLOATS):
                operand = _operand(other, aval)
                if operand is not None:
                    return do(operand, now) if swapped else do(now, operand)
        if of_truths is not None and isinstance(now, pe.DynamicJaxprTracer) and _truth(now) is not None and (operand := _truth(other)) is not None:
            return of_truths(now, operand)
        return by_jax(self, other)

    operate.__name__ = operate.__qualname__ = name
    return operate


_OF_TRUTHS = {"add": lax.max, "mul": lax.min}
for _name, _do in {"add": lax.add, "sub": lax.sub, "mul": lax.mul, "truediv": lax.div}.items():
    for _full in (f"__{_name}__", f"__r{_name}__"):
        setattr(Arithmetic, _full, _binary(_full, _do, only_floats=_name == "truediv", of_truths=_OF_TRUTHS.get(_name)))
for _name, _do in {"lt": lax.lt, "le": lax.le, "gt": lax.gt, "ge": lax.ge, "eq": lax.eq, "ne": lax.ne}.items():
    setattr(Arithmetic, f"__{_name}__", _binary(f"__{_name}__", _do, only_floats=False))
