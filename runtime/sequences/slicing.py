"""Taking slices and masked items of data-dependent length, and stores through them."""

from __future__ import annotations

import operator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from autograph.runtime.arrays.numpy_array import MutableArray, View
from autograph.runtime.effects.error_codes import fail
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi.tracers import content
from autograph.runtime.sequences.dynamic_slices import Origin, PaddedSlice, counted
from autograph.runtime.sequences.rows import unknown, weak_integers
from autograph.runtime.sequences.subscripts import is_mask, store_masked

_SLICE = "the end of a slice"


def indices(i: slice, length: Any, most: int) -> tuple[Any, Any, Any]:
    """Where a slice of an axis of some length, `most` at most, starts, its step, and how many rows it takes, as `slice.indices` says."""
    step = 1 if i.step is None else weak_integers(i.step) if unknown(i.step) else operator.index(i.step)
    if unknown(step):
        fail(step == 0, ValueError, "slice step cannot be zero")
        step = jnp.clip(step, -max(most, 1), max(most, 1))  # one that is longer takes the same row
    elif step == 0:
        raise ValueError("slice step cannot be zero")
    back = step < 0
    if isinstance(back, bool):
        lower, upper = (-1, length - 1) if back else (0, length)
        first, last = (upper, lower) if back else (lower, upper)
    else:
        lower, upper = jnp.where(back, -1, 0), jnp.where(back, length - 1, length)
        first, last = jnp.where(back, upper, lower), jnp.where(back, lower, upper)

    def end(x: Any, default: Any) -> Any:
        if x is None:
            return default
        x = weak_integers(x) if unknown(x) else operator.index(x)
        return jnp.clip(jnp.where(x < 0, x + length, x), lower, upper)

    start, stop = end(i.start, first), end(i.stop, last)
    return start, step, jnp.maximum((stop - start + step - jnp.sign(step)) // step if i.step is not None else stop - start, 0)


def sliced(x: Any, i: slice) -> PaddedSlice:
    """`x[a:b:c]` along the first axis of an array, or of another section; of an array of NumPy's it is a view."""
    of = x if isinstance(x, PaddedSlice) else None
    if of is not None:
        all_rows, length, origin = of.rows, of.length, of.origin
    else:
        whole = (x.root if isinstance(x, View) else x) if isinstance(x, MutableArray) else None
        all_rows, length, origin = jnp.asarray(x), x.shape[0], Origin(here(), _SLICE, whole is not None, whole)
    most = all_rows.shape[0]
    start, step, count = indices(i, length, most)

    def take(rows: Any) -> Any:
        if i.step is not None:
            rows = rows[jnp.clip(start + jnp.arange(most) * step, 0, max(most - 1, 0))]
        elif i.start is not None and most:
            rows = lax.dynamic_slice_in_dim(jnp.concatenate([rows, jnp.zeros_like(rows)]), start, most)
        return PaddedSlice(count, rows, origin.copied()).mapped(lambda rows: rows).rows

    return PaddedSlice(counted(count), take(all_rows), origin, *((x, i), take) if origin.of_numpy else ())


def masked(x: Any, mask: Any) -> PaddedSlice:
    """`x[mask]` for a mask of the first axis, or of all axes; of an array, or of a section and a mask of its length."""
    origin = x.origin.copied() if isinstance(x, PaddedSlice) else Origin(here(), "a mask", isinstance(x, MutableArray))
    rows, taken = (x.rows if isinstance(x, PaddedSlice) else jnp.asarray(x)), mask
    if isinstance(mask, PaddedSlice):
        length = x.length if isinstance(x, PaddedSlice) else x.shape[0]
        fail(jnp.asarray(mask.length != length), IndexError, "boolean index did not match shape of indexed array")
        taken = mask.rows
    if taken.shape != rows.shape[: taken.ndim]:
        raise IndexError(f"boolean index did not match shape of indexed array: its shape is {taken.shape}, and the array has shape {rows.shape}")
    if taken.ndim > 1:
        rows, taken = rows.reshape(-1, *rows.shape[taken.ndim :]), taken.reshape(-1)
    if isinstance(x, PaddedSlice) and not isinstance(mask, PaddedSlice):
        raise x.refusal("a mask of known length is taken of it")
    return PaddedSlice(counted(jnp.sum(taken)), rows, origin, mask=(content(mask), taken)).mapped(lambda items: items)


def at_places(x: Any, places: PaddedSlice) -> PaddedSlice:
    """`x[places]` for places whose number is data-dependent."""
    return PaddedSlice(places.length, jnp.asarray(x)[places.rows], places.origin.copied()).mapped(lambda rows: rows)


def has_places(i: Any) -> bool:
    """Whether an index is, or has among its parts, places whose number is data-dependent (`np.nonzero(mask)`)."""
    return any(isinstance(p, PaddedSlice) and p.ndim == 1 and jnp.issubdtype(p.dtype, jnp.integer) for p in (i if type(i) is tuple else (i,)))


def _at_each(x: Any, i: Any) -> tuple[PaddedSlice, tuple[Any, ...]]:
    """An index with places: one of them, and the index with an array for each, which is outside where there is none."""
    parts = i if type(i) is tuple else (i,)
    places = [p for p in parts if isinstance(p, PaddedSlice)]
    if not all(isinstance(p, (PaddedSlice, int, np.integer)) or p == slice(None) or isinstance(p, jax.Array) and p.ndim == 0 for p in parts):
        raise places[0].refusal("it is an index beside an array or a slice")
    most = max(p.most() for p in places)
    for p in places[1:]:
        fail(p.length != places[0].length, IndexError, "shape mismatch: indexing arrays could not be broadcast together")
    there = jnp.arange(most) < places[0].length
    found: list[Any] = []
    for axis, p in enumerate(parts):
        if isinstance(p, PaddedSlice):
            size = x.shape[axis]
            rows = jnp.pad(p.rows, (0, most - p.most()))
            fail(jnp.any(there & ((rows < -size) | (rows >= size))), IndexError, f"index is out of bounds for axis {axis} with size {size}")
            p = jnp.where(there, jnp.where(rows < 0, rows + size, rows), size)
        found.append(p)
    return places[0], tuple(found)


def loaded_at_each(x: Any, i: Any) -> PaddedSlice:
    """`x[i]` of an index with several such places, as `np.nonzero(mask)` gives."""
    x = jnp.asarray(x)
    places, index = _at_each(x, i)
    rows = x.at[index].get(mode="fill", fill_value=0)
    return PaddedSlice(places.length, rows, places.origin.copied()).mapped(lambda rows: rows)


def stored_at_each(x: Any, i: Any, value: Any) -> Any:
    """The array after `x[i] = value` of an index with such places."""
    places, index = _at_each(x, i)
    most = next(len(p) for p in index if getattr(p, "ndim", 0) == 1)
    if isinstance(value, PaddedSlice):
        fail(value.length != places.length, ValueError, "the values do not go with the places: their numbers differ")
        value = jnp.pad(value.rows, [(0, max(most - value.most(), 0)), *[(0, 0)] * (value.ndim - 1)])[:most]
    else:
        value = jnp.asarray(value)
        inner = x.ndim - len(index)
        if value.ndim > inner and value.shape[0] != 1:
            fail(places.length != value.shape[0], ValueError, "the values do not go with the places: their numbers differ")
            value = jnp.pad(value, [(0, max(most - value.shape[0], 0)), *[(0, 0)] * (value.ndim - 1)])[:most]
    return x.at[index].set(value.astype(x.dtype), mode="drop")


def split_index(i: Any) -> tuple[Any, slice] | None:
    """Of an index that has integers and then one slice with traced ends: the index with that slice whole (none if it is alone), and the slice."""
    if isinstance(i, slice):
        return ((), i) if _is_traced(i) else None
    if type(i) is not tuple or sum(isinstance(p, slice) and _is_traced(p) for p in i) != 1:
        return None
    k = next(k for k, p in enumerate(i) if isinstance(p, slice))
    if not (_is_traced(i[k]) and all(map(_is_basic, i))):
        return None
    return (*i[:k], slice(None), *i[k + 1 :]), i[k]


def _is_basic(part: Any) -> bool:
    """Whether a part of an index is a slice or an integer."""
    if isinstance(part, (slice, int, np.integer)):
        return not isinstance(part, bool)
    return isinstance(part, jax.Array) and part.ndim == 0 and jnp.issubdtype(part.dtype, jnp.integer)


def _is_traced(i: slice) -> bool:
    return any(unknown(p) for p in (i.start, i.stop, i.step))


def stored(x: Any, i: slice, value: Any, length: Any = None) -> Any:
    """The array after `x[a:b:c] = value`, along the first axis; of a section its rows, of which it has `length`."""
    x = jnp.asarray(x)
    start, step, count = indices(i, x.shape[0] if length is None else length, x.shape[0])
    far = jnp.arange(x.shape[0]) - start
    k = far // step  # which of the rows of the value belongs to each row
    inside = ((far % step == 0) & (k >= 0) & (k < count)).reshape((-1,) + (1,) * (x.ndim - 1))
    if not isinstance(value, PaddedSlice):
        value = jnp.asarray(value)
        if value.ndim > x.ndim:
            raise ValueError(f"could not broadcast input array from shape {value.shape} into a slice of an array of shape {x.shape}")
        if value.ndim < x.ndim or value.shape[0] == 1:
            return jnp.where(inside, value.astype(x.dtype), x)
        value = PaddedSlice(counted(value.shape[0]), value, Origin(here(), _SLICE))
    fits = (value.length == count) | (value.length == 1)
    fail(~jnp.asarray(fits), ValueError, "could not broadcast the values into the slice: their lengths differ")
    if not value.rows.shape[0]:
        return x
    taken = value.rows[jnp.where(value.length == 1, 0, jnp.clip(k, 0, value.rows.shape[0] - 1))]
    return jnp.where(inside, taken.astype(x.dtype), x)


def stored_masked(x: Any, mask: Any, value: PaddedSlice) -> Any:
    """The array after `x[mask] = value`, where the value has one row for each place."""
    if mask.shape != x.shape[: mask.ndim]:
        raise IndexError(f"boolean index did not match indexed array: its shape is {mask.shape}, and the array has shape {x.shape}")
    there = mask.reshape(mask.shape + (1,) * (x.ndim - mask.ndim))
    if value.mask is not None and value.mask[0] is content(mask):
        return jnp.where(there, value.kept.reshape(*mask.shape, *value.kept.shape[1:]).astype(x.dtype), x)
    fail(jnp.sum(mask) != value.length, ValueError, "cannot assign the values to the places where the mask is true: their numbers differ")
    place = (jnp.cumsum(mask.reshape(-1)) - 1).reshape(mask.shape)
    taken = value.rows[jnp.clip(place, 0, max(value.rows.shape[0] - 1, 0))]
    return jnp.where(there, taken.astype(x.dtype), x)


def item_of(self: PaddedSlice, i: Any) -> Any:
    """`x[i]` of a section."""
    if isinstance(i, slice):
        return sliced(self, i)
    if is_mask(i) or isinstance(i, PaddedSlice) and i.dtype == bool:
        return masked(self, i)
    if isinstance(i, tuple) and i and i[0] == slice(None) and not any(p is None or p is Ellipsis or isinstance(p, PaddedSlice) for p in i):
        return self.made(self.length, self.rows[i])
    if not _is_integer(i):
        raise self.refusal("it is indexed by more than an integer")
    fail(self.length == 0, IndexError, "index is out of bounds for axis 0 with size 0")
    return self.row(jnp.clip(_from_start(self, i), 0, jnp.maximum(self.length - 1, 0)))


def _is_integer(i: Any) -> bool:
    return isinstance(i, (int, np.integer, np.ndarray, jax.Array)) and np.shape(i) == () and jnp.result_type(i).kind in "iu"


def _from_start(x: PaddedSlice, i: Any) -> Any:
    i = jnp.asarray(i)
    return jnp.where(i < 0, i + x.length, i)


def rows_after(x: PaddedSlice, rows: Any, i: Any, value: Any) -> Any:
    """The rows of a section after `x[i] = value`."""
    if i is Ellipsis:
        i = slice(None)
    if isinstance(i, slice):
        return stored(rows, i, value, x.length)
    if isinstance(i, PaddedSlice) and i.dtype == bool:
        fail(i.length != x.length, IndexError, "boolean index did not match shape of indexed array")
        size = rows.shape[0]
        mask = jnp.pad(i.rows, [(0, max(size - i.most(), 0))])[:size]
        return stored_masked(rows, mask, value) if isinstance(value, PaddedSlice) else store_masked(rows, mask, value)
    if isinstance(i, tuple) and i and i[0] == slice(None) and not any(p is None or p is Ellipsis or isinstance(p, PaddedSlice) for p in i):
        return jnp.where(x.inside, rows.at[i].set(value), rows)
    if not _is_integer(i):
        raise x.refusal("it is stored into at more than an integer, slice or mask")
    place = _from_start(x, i)
    fail((place < 0) | (place >= x.length), IndexError, "index is out of bounds")
    return rows.at[jnp.where((place < 0) | (place >= x.length), rows.shape[0], place)].set(value, mode="drop")


PaddedSlice.__getitem__ = item_of  # type: ignore[method-assign, assignment]
