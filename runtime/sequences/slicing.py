"""Taking slices and masked items of which traced values know the length, and stores through them."""

from __future__ import annotations

import operator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from autograph.runtime.effects.deferred import fail
from autograph.runtime.messages.places import here
from autograph.runtime.sequences.rows import unknown, weak_integers
from autograph.runtime.sequences.sections import Origin, Section, counted
from autograph.runtime.sequences.subscripts import is_mask

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


def sliced(x: Any, i: slice) -> Section:
    """`x[a:b:c]` along the first axis of an array, or of another section."""
    of = x if isinstance(x, Section) else None
    rows, length, origin = (of.rows, of.length, of.origin) if of is not None else (jnp.asarray(x), x.shape[0], Origin(here(), _SLICE))
    start, step, count = indices(i, length, rows.shape[0])
    if i.step is not None:
        rows = rows[jnp.clip(start + jnp.arange(rows.shape[0]) * step, 0, max(rows.shape[0] - 1, 0))]
    elif i.start is not None and rows.shape[0]:
        rows = lax.dynamic_slice_in_dim(jnp.concatenate([rows, jnp.zeros_like(rows)]), start, rows.shape[0])
    return Section(counted(count), rows, origin).mapped(lambda rows: rows)


def masked(x: Any, mask: Any) -> Section:
    """`x[mask]` for a mask of the first axis, or of all axes; of an array, or of a section and a mask of its length."""
    origin = x.origin if isinstance(x, Section) else Origin(here(), "a mask")
    rows, taken = (x.rows if isinstance(x, Section) else jnp.asarray(x)), mask
    if isinstance(mask, Section):
        length = x.length if isinstance(x, Section) else x.shape[0]
        fail(jnp.asarray(mask.length != length), IndexError, "boolean index did not match shape of indexed array")
        taken = mask.rows
    if taken.shape != rows.shape[: taken.ndim]:
        raise IndexError(f"boolean index did not match shape of indexed array: its shape is {taken.shape}, and the array has shape {rows.shape}")
    if taken.ndim > 1:
        rows, taken = rows.reshape(-1, *rows.shape[taken.ndim :]), taken.reshape(-1)
    if isinstance(x, Section) and not isinstance(mask, Section):
        raise x.refusal("a mask of known length is taken of it")
    order = jnp.argsort(~taken, stable=True)
    return Section(counted(jnp.sum(taken)), rows[order], origin).mapped(lambda rows: rows)


def at_places(x: Any, places: Section) -> Section:
    """`x[places]` for places of which only traced values know how many there are."""
    return Section(places.length, jnp.asarray(x)[places.rows], places.origin).mapped(lambda rows: rows)


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


def stored(x: Any, i: slice, value: Any) -> Any:
    """The array after `x[a:b:c] = value`, along the first axis."""
    x = jnp.asarray(x)
    start, step, count = indices(i, x.shape[0], x.shape[0])
    far = jnp.arange(x.shape[0]) - start
    k = far // step  # which of the rows of the value belongs to each row
    inside = ((far % step == 0) & (k >= 0) & (k < count)).reshape((-1,) + (1,) * (x.ndim - 1))
    if not isinstance(value, Section):
        value = jnp.asarray(value)
        if value.ndim > x.ndim:
            raise ValueError(f"could not broadcast input array from shape {value.shape} into a slice of an array of shape {x.shape}")
        if value.ndim < x.ndim or value.shape[0] == 1:
            return jnp.where(inside, value.astype(x.dtype), x)
        value = Section(counted(value.shape[0]), value, Origin(here(), _SLICE))
    fits = (value.length == count) | (value.length == 1)
    fail(~jnp.asarray(fits), ValueError, "could not broadcast the values into the slice: their lengths differ")
    if not value.rows.shape[0]:
        return x
    taken = value.rows[jnp.where(value.length == 1, 0, jnp.clip(k, 0, value.rows.shape[0] - 1))]
    return jnp.where(inside, taken.astype(x.dtype), x)


def stored_masked(x: Any, mask: Any, value: Section) -> Any:
    """The array after `x[mask] = value`, where the value has one row for each place."""
    if mask.shape != x.shape[: mask.ndim]:
        raise IndexError(f"boolean index did not match indexed array: its shape is {mask.shape}, and the array has shape {x.shape}")
    fail(jnp.sum(mask) != value.length, ValueError, "cannot assign the values to the places where the mask is true: their numbers differ")
    place = (jnp.cumsum(mask.reshape(-1)) - 1).reshape(mask.shape)
    taken = value.rows[jnp.clip(place, 0, max(value.rows.shape[0] - 1, 0))]
    return jnp.where(mask.reshape(mask.shape + (1,) * (x.ndim - mask.ndim)), taken.astype(x.dtype), x)


def item_of(self: Section, i: Any) -> Any:
    """`x[i]` of a section."""
    if isinstance(i, slice):
        return sliced(self, i)
    if is_mask(i) or isinstance(i, Section) and i.dtype == bool:
        return masked(self, i)
    if isinstance(i, tuple) and i and i[0] == slice(None) and not any(p is None or p is Ellipsis or isinstance(p, Section) for p in i):
        return Section(self.length, self.rows[i], self.origin)
    i = jnp.asarray(i) if isinstance(i, (int, np.integer, np.ndarray, jax.Array)) else np.zeros(0)
    if i.shape != () or i.dtype.kind not in "iu":
        raise self.refusal("it is indexed by more than an integer")
    fail(self.length == 0, IndexError, "index is out of bounds for axis 0 with size 0")
    return self.row(jnp.clip(jnp.where(i < 0, i + self.length, i), 0, jnp.maximum(self.length - 1, 0)))


Section.__getitem__ = item_of  # type: ignore[method-assign, assignment]
