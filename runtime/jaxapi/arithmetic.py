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


def _binary(name: str, do: Callable[[Any, Any], Any], only_floats: bool) -> Any:
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
        return by_jax(self, other)

    operate.__name__ = operate.__qualname__ = name
    return operate


def _of_truths(name: str, do: Callable[[Any, Any], Any]) -> Any:
    """An operator that Python's truth values take as numbers (`True + True` is 2), and JAX's as truths: recorded as no `|` or `&` is.

    So a loop that is to be compiled as one iteration sees that its truth values, which Python knows, are added (`blocks/exact.py`).
    """
    otherwise = getattr(Arithmetic, name)

    def operate(self: Arithmetic, other: Any) -> Any:
        now = self.now
        if isinstance(now, pe.DynamicJaxprTracer) and type(now.aval) is core.ShapedArray and now.aval.dtype == np.bool_ and not now.aval.shape:
            operand = other.now if isinstance(other, Arithmetic) else other
            if type(operand) is bool or isinstance(operand, core.Tracer) and operand.aval.dtype == np.bool_ and not operand.aval.shape:
                return do(now, operand)
        return otherwise(self, other)

    operate.__name__ = operate.__qualname__ = name
    return operate


for _name, _do in {"add": lax.add, "sub": lax.sub, "mul": lax.mul, "truediv": lax.div}.items():
    for _full in (f"__{_name}__", f"__r{_name}__"):
        setattr(Arithmetic, _full, _binary(_full, _do, only_floats=_name == "truediv"))
for _name, _do in {"add": lax.max, "mul": lax.min}.items():
    for _full in (f"__{_name}__", f"__r{_name}__"):
        setattr(Arithmetic, _full, _of_truths(_full, _do))
for _name, _do in {"lt": lax.lt, "le": lax.le, "gt": lax.gt, "ge": lax.ge, "eq": lax.eq, "ne": lax.ne}.items():
    setattr(Arithmetic, f"__{_name}__", _binary(f"__{_name}__", _do, only_floats=False))
