"""Functions of NumPy and of `jax.numpy` that are given a section: what works item by item, reductions, inner products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from autograph.runtime.effects.deferred import fail
from autograph.runtime.sequences.sections import Section, dot

REDUCTIONS = frozenset("sum prod any all mean min max argmin argmax".split())
_ORDERING = frozenset("sort argsort lexsort median percentile quantile unique searchsorted partition".split())
_ORDERED = (
    "with `k = jnp.arange(len(x))` of the whole array `x` and `mask = (k >= start) & (k < stop)`, let the other elements be last "
    "(`jnp.sort(jnp.where(mask, x, jnp.inf))`), of which `mask.sum()` are its own; for a median `jnp.nanmedian(jnp.where(mask, x, jnp.nan))`; "
    "or make the bound static (`static_argnames`)"
)
_SAME_NAME = {"amin": "min", "amax": "max", "abs": "absolute"}
_OPERANDS = {"arcsin": 0, "arccos": 0, "arctanh": 0, "arccosh": 2}  # behind the end, where the derivative is finite; else 1


def padded(x: Section, size: int, fill: Any) -> Any:
    """The rows as an array of `size` rows, filled up."""
    fail(x.length > size, IndexError, f"the items do not fit {size} rows")
    more = max(size - x.rows.shape[0], 0)
    rows = jnp.pad(x.rows, [(0, more), *[(0, 0)] * (x.ndim - 1)])[:size]
    return jnp.where((jnp.arange(size) < x.length).reshape((-1,) + (1,) * (x.ndim - 1)), rows, jnp.asarray(fill, rows.dtype))


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
        if isinstance(first, Section):
            if ufunc.nin == 2:
                return first.combined(args[1], op, fill)
            return first.made(first.length, op(first.filled(fill)), first.mask).mapped(lambda items: items)
        return args[1].combined(first, lambda a, b: op(b, a), fill)
    if isinstance(first, Section) and name in REDUCTIONS and len(args) <= 2 and not kwargs.keys() - {"axis"}:
        return getattr(first, name)(*args[1:], **kwargs)
    found = next(x for x in (*args, *kwargs.values()) if isinstance(x, Section))
    raise found.refusal(f"`{name}` is given it", _ORDERED if name in _ORDERING else "")
