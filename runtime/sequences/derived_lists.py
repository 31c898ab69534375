"""New lists that are made of a list of data-dependent length: copies, slices, sums, lists in order; and whether two are equal."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import jax.numpy as jnp
import numpy as np

from autograph.runtime.errors.source_spans import here
from autograph.runtime.sequences.dynamic_slices import Origin, PaddedSlice, counted
from autograph.runtime.sequences.rows import unknown, weak_integers
from autograph.runtime.sequences.slicing import indices
from autograph.runtime.values.abstract_values import generalize, spec_of, type_of, types
from autograph.runtime.values.flatten import flatten
from autograph.runtime.values.value_objects import opened


class OfDynamicLength(Protocol):
    """What is asked of a list of data-dependent length (`bounded_list.py`): how many items it has, and room for at most `kind.capacity`."""

    length: Any
    buffers: Any

    @property
    def kind(self) -> Any: ...
    def most(self) -> int: ...
    def refusal(self, *args: Any) -> Any: ...
    def derived(self, length: Any, buffers: Iterable[Any], most: int, by: int | None = None) -> Any: ...


def sliced(x: OfDynamicLength, s: slice) -> Any:
    """`x[a:b:c]`."""
    capacity = x.kind.capacity
    start, step, count = indices(slice(*map(_bound, (s.start, s.stop, s.step))), x.length, capacity)
    places = jnp.clip(start + jnp.arange(capacity) * step, 0, max(capacity - 1, 0))
    return x.derived(weak_integers(count), [b[places] for b in x.buffers], _most_of(s, x.most()), _fewer(s))


def _bound(i: Any) -> Any:
    if unknown(i) and (i.shape != () or i.dtype.kind not in "iu"):
        raise TypeError("slice indices must be integers or None or have an __index__ method")
    return i


def _most_of(s: slice, most: int) -> int:
    """How many items a slice has at most."""
    ends = [default if v is None else v for v, default in ((s.start, 0), (s.stop, most))]
    if type(s.step) not in (int, type(None)) or s.step not in (None, 1) or any(type(v) is not int for v in ends):
        return most
    start, stop = ends
    if start >= 0 and stop >= 0:
        return max(min(stop, most) - start, 0)
    return min(most, -start) if start < 0 and s.stop is None else most


def _fewer(s: slice) -> int:
    """How many items a slice has more than the list, at most: `q[1:]` has one less, if there are any."""
    if type(s.start) is int and s.start > 0 and s.stop is None and s.step in (None, 1):
        return -s.start
    return s.stop if type(s.stop) is int and s.stop < 0 and s.start is None and s.step in (None, 1) else 0


def opposite(x: OfDynamicLength) -> Any:
    """`x[::-1]`."""
    return sliced(x, slice(None, None, -1))


def joined(parts: Sequence[Any]) -> Any:
    """The items of some lists, one after the other; of lists of Python's as well."""
    first = next(x for x in parts if hasattr(type(x), "derived"))
    spec, most = first.kind.spec, sum(x.most() if hasattr(type(x), "derived") else len(x) for x in parts)
    out, length = first.derived(0, [jnp.zeros((most, *t.shape), t.dtype) for t in types([spec])], 0), 0
    for x in parts:
        if hasattr(type(x), "derived"):
            if x.kind.spec != spec:
                raise x.refusal("a list of other items is added", "append each item")
            places = jnp.where(jnp.arange(x.kind.capacity) < x.length, jnp.arange(x.kind.capacity) + length, most)
            buffers = [o.at[places].set(b, mode="drop") for o, b in zip(out.buffers, x.buffers, strict=True)]
            out, length = first.derived(weak_integers(length + x.length), buffers, most), length + x.length
        else:
            for item in x:
                out = first.derived(length, out.buffers, most).with_row(length, item, length + 1)
                length = length + 1
    return first.derived(out.length, out.buffers, most, most - first.most())


def in_order(x: OfDynamicLength, keys: OfDynamicLength, reverse: bool) -> Any:
    """The items in the order of `keys`, numbers or tuples of them: stable, as `sorted`."""
    if any(b.ndim != 1 for b in keys.buffers) or any(not jnp.issubdtype(b.dtype, jnp.number) and b.dtype != bool for b in keys.buffers):
        raise x.refusal("it is sorted by what is no number", "sort by a number, or by a tuple of numbers: `sorted(items, key=...)`")
    places = jnp.arange(x.kind.capacity)
    if reverse:  # equal ones stay in their order
        places = jnp.where(places < x.length, x.length - 1 - places, places)
    columns = [b[places] for b in keys.buffers]
    order = places[jnp.lexsort((*columns[::-1], jnp.arange(x.kind.capacity) >= x.length))]
    if reverse:
        back = jnp.arange(x.kind.capacity)
        order = order[jnp.where(back < x.length, x.length - 1 - back, back)]
    return x.derived(x.length, [b[order] for b in x.buffers], x.most(), 0)


def equal(x: OfDynamicLength, other: Any) -> Any:
    """`x == other`, of another such list or one of Python's: a traced truth value, or False where it is no list."""
    if hasattr(type(other), "derived"):
        length, most, columns = other.length, other.most(), other.buffers
    elif isinstance(other, list):
        if not other:
            return x.length == 0
        specs = [generalize(spec_of(opened(item))) for item in other]
        if any([t.shape for t in types([spec])] != [t.shape for t in types([x.kind.spec])] for spec in specs):
            return False
        length, most = len(other), len(other)
        flat = [flatten(item, spec) for item, spec in zip(map(opened, other), specs, strict=True)]
        columns = [jnp.stack([jnp.asarray(v) for v in column]) for column in zip(*flat, strict=True)]
    else:
        return False
    if len(columns) != len(x.buffers):
        return False
    rows = min(most, x.kind.capacity)
    inside = jnp.arange(rows) < x.length
    same = [_same(a[:rows], b[:rows]) | ~inside for a, b in zip(x.buffers, columns, strict=True)]
    return functools.reduce(jnp.logical_and, [jnp.all(s) for s in same], jnp.asarray(x.length == length))


def as_section(x: Any) -> Any:
    """Of such a list of numbers, or of arrays of one shape, the array that NumPy makes of it; anything else as it is."""
    if not hasattr(type(x), "derived") or len(x.buffers) != 1 or type_of(x.kind.spec) is None:
        return x
    rows = x.buffers[0]
    there = (jnp.arange(x.kind.capacity) < x.length).reshape((-1,) + (1,) * (rows.ndim - 1))
    return PaddedSlice(counted(x.length), jnp.where(there, rows, jnp.zeros((), rows.dtype)), Origin(here(), "the length of a list", True))


def _same(a: Any, b: Any) -> Any:
    found = a == b
    return found if found.ndim == 1 else np.all(found, axis=tuple(range(1, found.ndim)))
