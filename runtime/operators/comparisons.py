"""Comparisons where traced values are among the operands: chains, `is None`, `x in items`, equality of tuples and lists."""

from __future__ import annotations

import collections
import dataclasses
import functools
import operator
from collections.abc import Callable
from types import FunctionType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph.runtime.arrays.variable_ref import value_of
from autograph.runtime.branches.conditional import cond
from autograph.runtime.branches.short_circuit import and_, and_then, not_, or_
from autograph.runtime.effects.error_codes import fail
from autograph.runtime.effects.optional_values import compare_values, present, read
from autograph.runtime.errors.errors import NotStagedError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi.traces import recording
from autograph.runtime.operators.folds import Each, holds
from autograph.runtime.operators.is_operator import is_, is_not
from autograph.runtime.sequences.rows import Range, traced_part, unknown, weak_integers
from autograph.runtime.sequences.truth import truth
from autograph.runtime.tracing.hooks import call
from autograph.runtime.values.values import DynamicLength, Maybe

_FEW = 8  # values that are compared one by one


def in_(x: Any, items: Any) -> Any:
    """`x in items`: a bool, or a traced bool.

    Raises:
      NotStagedError: (AG501) a traced value is looked up by hash.
    """
    x, items = read(x), present(items, "argument of type 'NoneType' is not iterable") if isinstance(items, Maybe) else value_of(read(items))
    x = value_of(x)
    if isinstance(items, (type({}.values()), type({}.items()), collections.deque)):
        items = list(items)
    if isinstance(items, (list, tuple)):
        return _among(x, items) if traced_part(x) or any(map(traced_part, items)) or any(map(_compares, (x, *items))) else x in items
    if isinstance(items, Range):
        return _in_range(x, items)
    if isinstance(items, DynamicLength):
        return holds(Each(items, functools.partial(same, x), None, 0, False), "any")
    if not (traced_part(x) or unknown(items)):
        return x in items
    if isinstance(items, range):
        return _in_range(x, Range(items.start, items.stop, items.step))
    if isinstance(items, (bytes, bytearray)) and x.shape == () and x.dtype.kind in "iu":
        fail(jnp.logical_or(x < 0, x > 255), ValueError, "byte must be in range(0, 256)")
        return _among(x, list(items))
    if isinstance(items, (set, frozenset, dict, type({}.keys()))):
        raise NotStagedError(
            f"a traced value is looked up in a `{type(items).__name__}`, which needs a hash, and a traced value has none",
            here(),
            "use an array that it indexes, or a mask of those that are there (`there[x]`), in the place of a dict"
            if items == {}
            else "compare with the keys as a list (`x in list(d)`); the value is `list(d.values())[list(d).index(x)]`, where all are of one type"
            if isinstance(items, dict)
            else "use a list or tuple (`x in [1, 2]`), or an array of truth values in the place of the set (`seen = jnp.zeros(n, bool)`, `seen[x]`)",
        )
    if isinstance(items, (jax.Array, np.ndarray)):
        return jnp.any(jnp.asarray(items) == x) if np.ndim(items) == 1 else _among(x, list(items))
    method = getattr(type(items), "__contains__", None)
    return truth(call(method)(items, x)) if method is not None else x in items


def _compares(x: Any) -> bool:
    """Whether the class of an object compares by code of the user's, or by its fields: what that gives may be traced."""
    return recording() and isinstance(getattr(type(x), "__eq__", None), FunctionType)


def not_in(x: Any, items: Any) -> Any:
    """`x not in items`."""
    return not_(in_(x, items))


def equal(a: Any, b: Any) -> Any:
    """`a == b`; of tuples and lists with traced values in them, item by item."""
    a, b = value_of(read(a)), value_of(read(b))
    for kind in (tuple, list):
        if isinstance(a, kind) and isinstance(b, kind) and (traced_part(a) or traced_part(b) or any(map(_compares, (*a, *b)))):
            if len(a) != len(b):
                return False
            out: Any = True
            for x, y in zip(a, b, strict=True):
                out = and_(out, functools.partial(same, x, y))
                if out is False:
                    return False
            return out
    return b == a if isinstance(b, Maybe) else a == b  # an array would ask what may be None for an array


compare_values(equal)


def not_equal(a: Any, b: Any) -> Any:
    """`a != b`, likewise."""
    a, b = read(a), read(b)
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return not_(equal(a, b))
    return b != a if isinstance(b, Maybe) else a != b


def ordered(a: Any, symbol: str, b: Any) -> Any:
    """`a < b` and the like; of tuples and lists with traced values in them, by the first items that differ."""
    for kind in (tuple, list):
        if isinstance(a, kind) and isinstance(b, kind) and (traced_part(a) or traced_part(b) or any(map(_compares, (*a, *b)))):
            if not (a and b):
                return _ORDER[symbol](len(a), len(b))
            rest = functools.partial(ordered, a[1:], symbol, b[1:])
            first = functools.partial(ordered, a[0], symbol, b[0])
            return cond(same(a[0], b[0]), lambda: truth(rest()), lambda: truth(first()))
    return _ORDER[symbol](a, b)


_ORDER: dict[str, Callable[[Any, Any], Any]] = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def same(x: Any, y: Any) -> Any:
    """Whether a container that holds one of them holds the other, as `in` asks: a bool, or a traced bool."""
    return True if x is y else truth(equal(x, y))


def _among(x: Any, items: Any) -> Any:
    kinds = {type(i) for i in items}
    if len(items) > _FEW and unknown(x) and x.shape == () and kinds in ({int}, {float}) and jnp.issubdtype(x.dtype, jnp.integer) == (kinds == {int}):
        return jnp.any(jnp.stack([jnp.asarray(i) for i in items]) == x)
    out: Any = False
    for item in items:
        out = or_(out, functools.partial(same, x, item))
        if out is True:
            return True
    return out


def _in_range(x: Any, items: Range) -> Any:
    if not isinstance(x, (int, float, jax.Array, np.generic)):
        return False
    start, stop, step = items.start, items.stop, items.step
    if unknown(x) and jnp.issubdtype(jnp.asarray(x).dtype, jnp.integer):
        x = weak_integers(x)
    if unknown(step):
        inside: Any = jnp.where(step > 0, (start <= x) & (x < stop), (x <= start) & (stop < x))
        return and_(inside, lambda: (x - start) % step == 0)
    low, high = (start <= x, x < stop) if step > 0 else (x <= start, stop < x)
    return and_(and_(low, lambda: high), lambda: (x - start) % step == 0)


_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    **{symbol: functools.partial(lambda symbol, a, b: ordered(a, symbol, b), symbol) for symbol in _ORDER}, "==": equal, "!=": not_equal,
    "is": is_, "is not": is_not, "in": in_, "not in": not_in,
}  # fmt: skip


_DUNDERS = {"__eq__": "==", "__ne__": "!=", "__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}


def by_fields(cls: type, name: str) -> Callable[[Any, Any], Any]:
    """The comparison that `dataclass` writes for a class, of fields that may be traced."""
    compared, symbol = [f.name for f in dataclasses.fields(cls) if f.compare], _DUNDERS[name]

    def method(self: Any, other: Any) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return _COMPARE[symbol](*(tuple(getattr(x, n) for n in compared) for x in (self, other)))

    method.__name__, method.__qualname__, method.__module__ = name, f"{cls.__qualname__}.{name}", cls.__module__
    return method


def unlike(cls: type) -> Callable[[Any, Any], Any]:
    """The `__ne__` that Python derives from the `__eq__` of a class, which may give a traced value."""

    def method(self: Any, other: Any) -> Any:
        found = call(type(self).__eq__)(self, other)
        return found if found is NotImplemented else not_(found)

    method.__name__, method.__qualname__, method.__module__ = "__ne__", f"{cls.__qualname__}.__ne__", cls.__module__
    return method


def compare(left: Any, symbol: str, right: Any, *rest: Any) -> Any:
    """The chain `left symbol right ...`: `compare(a, '<', b, '<', lambda: c)`; each operand is evaluated once, when it is reached."""
    first = _COMPARE[symbol](left, right)
    if not rest:
        return first
    following, operand, *others = rest
    return and_then(first, lambda: compare(right, following, operand(), *others))
