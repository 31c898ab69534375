"""Functions of NumPy and of `jax.numpy` that are given a section: what works item by item, reductions, inner products."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph.runtime.effects.error_codes import fail
from autograph.runtime.sequences.dynamic_slices import PaddedSlice, dot

REDUCTIONS = frozenset("sum prod any all mean min max argmin argmax".split())
_ORDERING = frozenset("sort argsort lexsort median percentile quantile unique searchsorted partition".split())
_ORDERED = (
    "with `k = jnp.arange(len(x))` of the whole array `x` and `mask = (k >= start) & (k < stop)`, let the other elements be last "
    "(`jnp.sort(jnp.where(mask, x, jnp.inf))`), of which `mask.sum()` are its own; for a median `jnp.nanmedian(jnp.where(mask, x, jnp.nan))`; "
    "or make the bound static (`static_argnames`)"
)
_SAME_NAME = {"amin": "min", "amax": "max", "abs": "absolute"}
_OPERANDS = {"arcsin": 0, "arccos": 0, "arctanh": 0, "arccosh": 2}  # behind the end, where the derivative is finite; else 1


def padded(x: PaddedSlice, size: int, fill: Any) -> Any:
    """The rows as an array of `size` rows, filled up."""
    fail(x.length > size, IndexError, f"the items do not fit {size} rows")
    more = max(size - x.rows.shape[0], 0)
    rows = jnp.pad(x.rows, [(0, more), *[(0, 0)] * (x.ndim - 1)])[:size]
    return jnp.where((jnp.arange(size) < x.length).reshape((-1,) + (1,) * (x.ndim - 1)), rows, jnp.asarray(fill, rows.dtype))


def _copied(x: PaddedSlice, dtype: Any = None, *, copy: Any = None, order: Any = None) -> PaddedSlice:
    return x.copy() if dtype is None else x.astype(jax.dtypes.canonicalize_dtype(dtype))


def _variance(x: PaddedSlice, axis: Any = None, *, ddof: Any = 0) -> Any:
    away = jnp.where(x.inside, x.items - x.mean(axis), 0)
    count = x.length if axis is not None or x.ndim == 1 else x.size
    return jnp.sum(jnp.abs(away) ** 2, axis=0 if axis is not None else None) / (count - ddof)


def _sorted(x: PaddedSlice) -> PaddedSlice:
    rows = PaddedSlice(x.length, x.rows, x.origin.copied())
    return rows.made(x.length, jnp.sort(rows.filled(_last(x.dtype)), axis=0)).mapped(lambda rows: rows)


def _last(dtype: Any) -> Any:
    """What stands behind all others in order."""
    return jnp.inf if jnp.issubdtype(dtype, jnp.floating) else True if dtype.kind == "b" else jnp.iinfo(dtype).max


def _order(x: PaddedSlice) -> PaddedSlice:
    rows = PaddedSlice(x.length, x.rows, x.origin.copied())
    order = jnp.lexsort((rows.rows, ~jnp.broadcast_to(rows.inside, rows.rows.shape)))
    return rows.made(x.length, order).mapped(lambda rows: rows)


def _median(x: PaddedSlice) -> Any:
    ordered, n = _sorted(x).rows, x.length
    middle = (ordered[jnp.maximum((n - 1) // 2, 0)] + ordered[jnp.minimum(n // 2, len(ordered) - 1)]) / 2
    return jnp.where(n == 0, jnp.nan, middle)


def _difference(x: PaddedSlice) -> PaddedSlice:
    rows = x.rows
    return x.made(jnp.maximum(x.length - 1, 0), jnp.concatenate([rows[1:] - rows[:-1], jnp.zeros_like(rows[:1])])).mapped(lambda rows: rows)


def _running(x: PaddedSlice, add: Any, neutral: int) -> PaddedSlice:
    rows = PaddedSlice(x.length, x.rows, x.origin.copied())
    return rows.made(x.length, add(rows.filled(neutral), axis=0)).mapped(lambda rows: rows)


_OF_ALL: dict[str, Any] = {  # of the whole section, with the options that are named here
    "array": _copied, "asarray": _copied, "ascontiguousarray": _copied, "copy": _copied, "var": _variance,
    "std": lambda x, axis=None, *, ddof=0: jnp.sqrt(_variance(x, axis, ddof=ddof)), "ptp": lambda x: x.max() - x.min(), "average": lambda x: x.mean(),
}  # fmt: skip
_OF_ONE_AXIS: dict[str, Any] = {  # of a section of numbers
    "sort": _sorted, "argsort": _order, "median": _median, "diff": _difference, "norm": lambda x: jnp.sqrt(jnp.sum(jnp.abs(x.filled(0)) ** 2)),
    "cumsum": lambda x: _running(x, jnp.cumsum, 0), "cumprod": lambda x: _running(x, jnp.cumprod, 1), "ravel": _copied, "flip": lambda x: x[::-1],
}  # fmt: skip


for _name in ("std", "var", "ptp"):
    setattr(PaddedSlice, _name, _OF_ALL[_name])
for _name in ("cumsum", "cumprod", "argsort"):
    setattr(PaddedSlice, _name, _OF_ONE_AXIS[_name])


_OF_LISTS = frozenset("stack vstack hstack concatenate column_stack".split())
_PADDED = "take as many rows as there may be, and how many there are: `ag.padded(items, 100), len(items)`"


def function_of(name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """A function of NumPy or `jax.numpy` that is given a section."""
    name = _SAME_NAME.get(name, name)
    if name in ("dot", "inner", "vdot", "matmul") and len(args) == 2 and not kwargs:
        return dot(*args)
    if name == "divmod" and len(args) == 2 and not kwargs:
        return tuple(function_of(part, args, kwargs) for part in ("floor_divide", "remainder"))
    first = args[0] if args else None
    ufunc, op = getattr(np, name, None), getattr(jnp, name, None)
    if isinstance(ufunc, np.ufunc) and op is not None and len(args) == ufunc.nin <= 2 and ufunc.nout == 1 and not kwargs:
        fill = _OPERANDS.get(name, 1)
        if isinstance(first, PaddedSlice):
            if ufunc.nin == 2:
                return first.combined(args[1], op, fill)
            return first.made(first.length, op(first.filled(fill)), first.mask).mapped(lambda items: items)
        return args[1].combined(first, lambda a, b: op(b, a), fill)
    if isinstance(first, PaddedSlice) and name in REDUCTIONS and len(args) <= 2 and not kwargs.keys() - {"axis"}:
        return getattr(first, name)(*args[1:], **kwargs)
    own = _OF_ALL.get(name) or (_OF_ONE_AXIS.get(name) if isinstance(first, PaddedSlice) and first.ndim == 1 else None)
    if own is not None and isinstance(first, PaddedSlice) and not any(isinstance(x, PaddedSlice) for x in (*args[1:], *kwargs.values())):
        try:
            inspect.signature(own).bind(*args, **kwargs)
        except TypeError:
            raise first.refusal(f"`{name}` is given it with these options", _ORDERED if name in _ORDERING else "") from None
        return own(*args, **kwargs)
    found = next(x for x in (*args, *kwargs.values()) if isinstance(x, PaddedSlice))
    raise found.refusal(f"`{name}` is given it", _ORDERED if name in _ORDERING else _PADDED if name in _OF_LISTS else "")
