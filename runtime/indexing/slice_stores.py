"""Stores into sections: slices of arrays of NumPy's are views, masked items are arrays of their own."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from autograph.runtime.arrays.numpy_array import OPERATIONS
from autograph.runtime.indexing.stores import change, store
from autograph.runtime.jaxapi.tracers import Array
from autograph.runtime.sequences.dynamic_slices import PaddedSlice
from autograph.runtime.sequences.slicing import rows_after, stored_masked


def store_section(x: PaddedSlice, i: Any, value: Any) -> None:
    """`x[i] = value`: also in the array that it is a view of."""
    if x.part is not None:
        whole, part = x.part
        new = x.made(x.length, rows_after(x, x.rows, i, value))
        (store_section if isinstance(whole, PaddedSlice) else store)(whole, part, new)
        return
    if x.lost is not None:
        raise x.refusal("it is stored into, a view that was taken in a compiled loop or branch before", "take it again before the store")
    if not isinstance(x.kept, Array):
        raise x.refusal("it is stored into", "store into the array that it is taken from")

    def update(now: Any, p: Any) -> Any:
        if x.mask is None:
            new = rows_after(x, now, i, value)
        else:
            rows = x.made(x.length, rows_after(x, x.in_order(now), i, value))
            new = stored_masked(now, x.mask[1], rows)
        return new if p is None else jnp.where(p, new, now)

    change(x.kept, update)


def _update(x: PaddedSlice, symbol: str, value: Any) -> Any:
    """`x += value` (or another operator): what `x` is bound to, which is itself where it is NumPy's.

    Raises:
      TypeError: its type does not take what the operator gives.
    """
    new = getattr(x, symbol)(value)
    if not isinstance(new, PaddedSlice):
        return new
    if not np.can_cast(new.dtype, x.dtype, "same_kind"):
        raise TypeError(f"Cannot cast ufunc '{symbol.strip('_')}' output from {new.dtype!r} to {x.dtype!r} with casting rule 'same_kind'")
    store_section(x, slice(None), new)
    return x


OPERATIONS.update(update_section=_update, store_section=store_section)
