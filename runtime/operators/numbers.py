"""Builtins on numbers and rows whose values may be traced: `min max sum any all int float bool`.

With nothing traced each is Python's own.
"""

from __future__ import annotations

import builtins
import collections
import functools
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, ValuesView
from typing import Any

import jax.numpy as jnp

from autograph.runtime.arrays.numpy_array import MutableArray, as_kind
from autograph.runtime.branches.short_circuit import and_, or_
from autograph.runtime.effects.handlers import handler_around
from autograph.runtime.effects.optional_values import present, read
from autograph.runtime.errors.errors import ConcreteValueError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi.tracers import as_number, is_traced
from autograph.runtime.operators.comparisons import ordered
from autograph.runtime.operators.folds import Each, empty, extreme, holds, total
from autograph.runtime.sequences.rows import Range, Rows, unknown
from autograph.runtime.sequences.stacked_lists import rows_in_column
from autograph.runtime.sequences.truth import truth
from autograph.runtime.tracing.hooks import call
from autograph.runtime.values.values import ATOMS, DynamicLength, Maybe, traced


def _unknown_items(items: Any) -> builtins.bool:
    if isinstance(items, (Range, Rows)):
        return True
    return unknown(items) or (isinstance(items, (list, tuple)) and builtins.any(unknown(x) for x in items))


def _extreme(name: str, better: Callable[[Any, Any], Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    if not options and ATOMS.issuperset(map(type, args)):
        return getattr(builtins, name)(*args)
    items: Any = args[0] if len(args) == 1 else args
    if _jax.recording():
        items = list(items) if isinstance(items, (Iterator, KeysView, ValuesView, ItemsView, collections.deque)) else items
        options = {n: call(x) if n == "key" and x is not None else x for n, x in options.items()}
    items = _folding(items)
    python = getattr(builtins, name)
    if isinstance(items, Each):
        return extreme(items, name, better, options)
    if options.get("key") is not None and _jax.recording() or (isinstance(items, (list, tuple)) and traced(items)):
        return extreme(Each(items, _same, None, 0, False), name, better, options)
    if not _unknown_items(items):
        return python(*args, **options)
    if unknown(items):
        if items.ndim != 1:
            return python(*args, **options)
        if options:
            return extreme(Each(items, _same, None, 0, False), name, better, options)
        if items.shape[0] == 0:
            raise ValueError(empty(name))
        items = list(items) if items.shape[0] <= 8 else items
        if not isinstance(items, list):
            return _first_extreme(items, name)
    return extreme(Each(items, _same, None, 0, False), name, better, options)


def _first_extreme(items: Any, name: str) -> Any:
    """The first of the best: a nan at the start stays, others are passed over."""
    if jnp.issubdtype(items.dtype, jnp.floating):
        worst = jnp.inf if name == "min" else -jnp.inf
        nan = jnp.isnan(items)
        ranked = jnp.where(nan, worst, items)
        place = jnp.where(nan[0], 0, jnp.argmin(ranked) if name == "min" else jnp.argmax(ranked))
    else:
        place = jnp.argmin(items) if name == "min" else jnp.argmax(items)
    return items[place]


def min(*args: Any, **options: Any) -> Any:
    """`min`; of traced values `b if b < a else a`, Python's order with nan."""
    return _extreme("min", functools.partial(_order, "<"), args, options)


def max(*args: Any, **options: Any) -> Any:
    """`max`; of traced values `b if b > a else a`."""
    return _extreme("max", functools.partial(_order, ">"), args, options)


def sum(items: Any, /, start: Any = 0) -> Any:
    """`sum`; rows of a traced array keep their dtype and are added to the start."""
    items = _folding(items)
    if isinstance(items, Each):
        return total(items, start)
    rows = rows_in_column(items)
    items = items if rows is None else rows
    if unknown(items) and items.ndim > 0:
        if not items.shape[0]:
            return start
        first = start + items[0]  # truth values become numbers with the first addition
        return as_kind(
            start + jnp.sum(items, axis=0, dtype=first.dtype if items.dtype == jnp.bool_ else items.dtype), isinstance(items, MutableArray)
        )
    return builtins.sum(items, start)


def _folding(items: Any) -> Any:
    """A list or slice of data-dependent length, as a generator of its items; one whose length is known so far, as a list."""
    if not isinstance(items, DynamicLength):
        return items
    return Each(items, _same, None, 0, False) if unknown(items.length) else list(items)  # type: ignore[call-overload]


def _same(x: Any) -> Any:
    return x


def _order(symbol: str, a: Any, b: Any) -> Any:
    return ordered(a, symbol, b)


def any(items: Iterable[Any], /) -> Any:
    """`any`, of traced items too."""
    items = _folding(items)
    return holds(items, "any") if isinstance(items, Each) else _folded(items, jnp.any, or_, True)


def all(items: Iterable[Any], /) -> Any:
    """`all`, of traced items too."""
    items = _folding(items)
    return holds(items, "all") if isinstance(items, Each) else _folded(items, jnp.all, and_, False)


def _folded(items: Any, of_rows: Callable[[Any], Any], both: Callable[..., Any], decided: builtins.bool) -> Any:
    if unknown(items) and items.ndim == 1:
        return of_rows(items)
    out: Any = not decided
    for x in items:
        out = both(out, functools.partial(_same, x))
        if out is decided:
            break
    return out


def bool(x: Any = False) -> Any:
    """`bool`; of a traced value a traced bool."""
    return truth(x)


def _given(x: Any, text: str) -> Any:
    return present(x, text) if isinstance(x, Maybe) else read(x)


def _scalar(x: Any, name: str) -> Any:
    if x.shape != ():
        if x.size != 1 and handler_around(TypeError) is not None:  # which asks for this error of Python's
            raise TypeError("only length-1 arrays can be converted to Python scalars")
        raise ConcreteValueError(f"`{name}` of an array of shape {x.shape}", here(), f"use `.astype({name})`")
    return x


def int(x: Any = 0, *args: Any) -> Any:
    """`int`; of a traced 0-d value its truncation, a traced integer."""
    x = _given(x, "int() argument must be a string, a bytes-like object or a real number, not 'NoneType'")
    if not unknown(x):
        return builtins.int(x, *args)
    if args:
        raise TypeError("int() can't convert non-string with explicit base")
    whole = jnp.trunc(_scalar(x, "int")) if jnp.issubdtype(x.dtype, jnp.floating) else _scalar(x, "int")
    return as_number(whole.astype(builtins.int), builtins.int)


def float(x: Any = 0.0) -> Any:
    """`float`; of a traced 0-d value a traced float."""
    x = _given(x, "float() argument must be a string or a real number, not 'NoneType'")
    return as_number(_scalar(x, "float").astype(builtins.float), builtins.float) if is_traced(x) else builtins.float(x)


def complex(*args: Any, **kwargs: Any) -> Any:
    """`complex`; of traced 0-d values a traced complex number."""
    parts = [read(x) for x in (*args, *kwargs.values())]
    if not builtins.any(map(is_traced, parts)):
        return builtins.complex(*args, **kwargs)
    names = dict(zip(("real", "imag"), args, strict=False)) | kwargs
    real, imag = (_scalar(x, "complex") if is_traced(x) else x for x in (read(names.get(k, 0)) for k in ("real", "imag")))
    return jnp.asarray(real, builtins.complex) + 1j * jnp.asarray(imag, builtins.complex)
