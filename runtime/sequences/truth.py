"""The truth of a value: a Python bool when it is known now, else a traced bool of shape ().

A predicate has exactly one element (shapes (), (1,), (1, 1) ...); another size is Python's own ValueError, traced or not.
"""

from __future__ import annotations

import builtins
import operator
from types import FunctionType
from typing import Any

from jax import lax

from autograph.runtime.arrays.variable_ref import value_of
from autograph.runtime.effects.error_codes import fail
from autograph.runtime.effects.optional_values import has_value, read
from autograph.runtime.errors.advice import for_truth
from autograph.runtime.errors.errors import PredicateError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi.tracers import Array
from autograph.runtime.sequences.bounded_list import BoundedList, refuse_hidden
from autograph.runtime.sequences.rows import unknown
from autograph.runtime.tracing.hooks import call
from autograph.runtime.tracing.trace_context import watched
from autograph.runtime.values.path_conditions import facts_of, note
from autograph.runtime.values.values import Blank, Maybe, Unset


def truth(p: Any) -> Any:
    """`bool(p)`, or a traced bool array of shape () if that cannot be known now."""
    if p is True or p is False:
        return p
    p = value_of(p)
    if type(p) is not Array and isinstance(p, (Maybe, Unset)):
        p = read(p)
        if isinstance(p, Maybe):  # None is false
            there, inside = has_value(p), p.value if not isinstance(p.value, Blank) else False
            inside = truth(inside)
            return there if inside is True else False if inside is False else note(lax.bitwise_and(there, inside), facts_of(there))
    if type(p) is not Array and isinstance(p, BoundedList):
        return truth(p.length > 0)
    if not _jax.concrete(p):
        if p.size != 1:
            kind = "an empty array" if p.size == 0 else "an array with more than one element"
            place = here()
            raise PredicateError(f"the truth value of {kind} is ambiguous: this one has shape {p.shape}", place, for_truth(place, p.size))
        p = lax.reshape(p, ()) if p.shape else p
        return p if p.dtype == bool else lax.ne(p, lax.full((), 0, p.dtype))
    refuse_hidden(p)
    if isinstance(getattr(type(p), "__bool__", None) or getattr(type(p), "__len__", None), FunctionType):
        return truth_of(p)
    return bool(p)


_NEGATIVE = "__len__() should return >= 0"


def length(x: Any) -> Any:
    """`len(x)`: a number, or a traced one."""
    method = _of_the_user(x, "__len__")
    if method is None:
        return builtins.len(x)
    n = call(method)(x)
    if not unknown(n):
        n = operator.index(n)
        if n < 0:
            raise ValueError(_NEGATIVE)
        return n
    if n.shape != () or n.dtype.kind not in "iu":
        raise TypeError(f"'{n.dtype}' object cannot be interpreted as an integer")
    fail(n < 0, ValueError, _NEGATIVE)
    return n


def truth_of(x: Any) -> Any:
    """`bool(x)` by the object's own `__bool__` or `__len__`: a bool, or a traced one."""
    method = _of_the_user(x, "__bool__")
    if method is None:
        return bool(x) if hasattr(type(x), "__bool__") or _of_the_user(x, "__len__") is None else truth(length(x) > 0)
    value = call(method)(x)
    if unknown(value) and value.shape == () and value.dtype == bool:
        return value
    if not isinstance(value, bool):
        raise TypeError(f"__bool__ should return bool, returned {type(value).__name__}")
    return value


def _of_the_user(x: Any, name: str) -> FunctionType | None:
    """A special method of an object in a trace, if it is written in Python, and not by JAX or here."""
    method = getattr(type(x), name, None)
    outside = isinstance(method, FunctionType) and (method.__module__ or "").split(".")[0] not in ("autograph", "jax", "jaxlib", "numpy")
    return method if outside and watched() else None
