"""Data-dependent subscripts of arrays, whose shape is static: spans of known length, and masks that are stored through."""

from __future__ import annotations

import builtins
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from autograph.runtime.arrays.indices import as_index
from autograph.runtime.effects.error_codes import fail
from autograph.runtime.effects.optional_values import read
from autograph.runtime.errors.errors import ConcreteValueError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.sequences.rows import unknown, weak_integers
from autograph.runtime.values.intervals import interval_of


class DynamicSlice(NamedTuple):
    """The slice `start:start + length` whose start is traced; `inside`: it is counted from the front, and does not leave the axis."""

    start: Any
    length: int
    inside: bool = False


def span(start: Any, stop: Any, length: Any) -> Any:
    """`slice(start, stop)`, of which the length is known where the bounds are not.

    >>> import jax, jax.numpy as jnp, autograph.runtime as ag
    >>> jax.jit(lambda x, i: ag.get_item(x, ag.span(i, i + 2, 2)))(jnp.arange(5), 1)
    Array([1, 2], dtype=int32)
    """
    start = read(start)
    if not unknown(start) or unknown(length) or not isinstance(length, (int, np.integer)):
        return builtins.slice(start, stop)
    return DynamicSlice(start, max(int(length), 0))


def has_span(i: Any) -> bool:
    return type(i) is DynamicSlice or type(i) is tuple and any(type(part) is DynamicSlice for part in i)


def windowed(x: Any, i: Any) -> tuple[list[Any], list[int], Any]:
    """Where the spans of an index begin in each axis of x, how long they are, and the index inside of them.

    A span that leaves the axis would be shorter in Python: that is an IndexError when the compiled program ends.
    """
    parts = i if type(i) is tuple and type(i) is not DynamicSlice else (i,)
    used = sum(1 for p in parts if p is not None and p is not Ellipsis)
    starts, lengths, inner, axis = [0] * x.ndim, list(x.shape), [], 0
    for part in parts:
        inner.append(builtins.slice(None) if type(part) is DynamicSlice else part)
        if part is Ellipsis:
            axis += x.ndim - used
            continue
        if type(part) is DynamicSlice:
            size = x.shape[axis]
            starts[axis], lengths[axis] = _start(part, axis, size), min(part.length, size)
        axis += part is not None
    return starts, lengths, tuple(inner)


def _start(span: DynamicSlice, axis: int, size: int) -> Any:
    """Where a span begins, counted from the front."""
    if span.inside:
        return span.start
    if not span.length:
        return 0  # an empty slice is empty wherever it begins
    start = weak_integers(span.start)
    low, high = interval_of(start)
    if low is not None and high is not None and low >= 0 and high + span.length <= size:
        return start
    negative = start < 0
    outside = (negative & (start + span.length >= 0)) | (start < -size) | (start + span.length > size)
    if unknown(outside):
        outside = _leaves(outside)
    fail(outside, IndexError, f"a slice of length {span.length} leaves axis {axis} with size {size}, where it would be shorter")
    return jnp.where(negative, start + size, start)


def slice_leaves_axis(outside: Any) -> Any:
    """Marks the truth value that a slice is shorter than its text says: a loop in which Python knows it is not rolled (`scalar_intervals.py`)."""
    return outside


_leaves = jax.jit(slice_leaves_axis)


def settled(x: Any, i: Any) -> tuple[Any, ...]:
    """An index with spans, which have been looked at: what a view reads later raises nothing."""
    parts = i if type(i) is tuple and type(i) is not DynamicSlice else (i,)
    starts = windowed(x, i)[0]
    axes, used, axis = [], sum(1 for p in parts if p is not None and p is not Ellipsis), 0
    for part in parts:
        axes.append(axis)
        axis += x.ndim - used if part is Ellipsis else part is not None
    return tuple(DynamicSlice(starts[k], p.length, True) if type(p) is DynamicSlice else p for k, p in zip(axes, parts, strict=True))


def load_span(x: Any, i: Any) -> Any:
    """`x[i]` of an index with spans."""
    x = jnp.asarray(x)
    starts, lengths, inner = windowed(x, i)
    return lax.dynamic_slice(x, starts, lengths)[as_index(inner)]


def store_span(x: Any, i: Any, value: Any) -> Any:
    """The array after `x[i] = value` of an index with spans."""
    starts, lengths, inner = windowed(x, i)
    window = lax.dynamic_slice(x, starts, lengths).at[as_index(inner)].set(value)
    return lax.dynamic_update_slice(x, window, starts)


def is_mask(i: Any) -> bool:
    return isinstance(i, jax.Array) and i.dtype == jnp.bool_ and unknown(i)


def store_masked(x: Any, mask: Any, value: Any) -> Any:
    """The array after `x[mask] = value`, where the value is one, or one row, for all places."""
    value = jnp.asarray(value)
    if value.ndim > x.ndim - mask.ndim:
        raise ConcreteValueError(
            f"an array of shape {value.shape} is stored through a traced mask: how many values it takes is not known", here(),
            "write `x = jnp.where(mask, values, x)` with a value for every place",
        )  # fmt: skip
    return where_masked(x, mask, value)


def where_masked(x: Any, mask: Any, value: Any) -> Any:
    """The value where the mask is true, in the type of x."""
    if mask.shape != x.shape[: mask.ndim]:
        raise IndexError(f"boolean index did not match indexed array: its shape is {mask.shape}, and the array has shape {x.shape}")
    return jnp.where(mask.reshape(mask.shape + (1,) * (x.ndim - mask.ndim)), value.astype(x.dtype), x)


def check_static(x: Any, i: Any) -> None:
    """Raise Python's IndexError for an integer of the text that is no index of an array: JAX would store nothing."""
    for axis, part in enumerate(i if type(i) is tuple else (i,)):
        if type(part) not in (int, slice) or axis >= x.ndim:  # what follows may stand for another axis
            return
        if type(part) is int and not -x.shape[axis] <= part < x.shape[axis]:
            raise IndexError(f"index {part} is out of bounds for axis {axis} with size {x.shape[axis]}")
