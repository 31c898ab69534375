"""Parts of arrays as NumPy's views have them: what a part is of the whole, and the whole with another part.

A part is a lens: `get(whole)` takes it, `put(whole, new)` gives the whole that has another in its place.  Indices of indices are one index
(`composed`), so a chain of views costs what one view costs.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph.runtime.jaxapi.traces import concrete


class ViewIndex:
    """Part of an array.  `of_shadow` is the same of an array of NumPy's, whose memory tells whether it is a view."""

    def get(self, whole: Any) -> Any:
        raise NotImplementedError

    def put(self, whole: Any, new: Any) -> Any:
        raise NotImplementedError

    def of_shadow(self, shadow: Any) -> Any:
        return self.get(shadow)

    @property
    def traced(self) -> bool:
        """Whether only traced values tell which part: of an array that is known, it is taken of a constant, which later stores leave as it is."""
        return False

    @property
    def place(self) -> Any:
        """What tells the part from others of the same array, hashable; None where only traced values do."""
        return None


@dataclass(frozen=True, eq=False)
class Index(ViewIndex):
    """`whole[index]`, of an index without arrays: integers, which may be traced, slices, `None` and `...`."""

    index: tuple[Any, ...]

    @property
    def traced(self) -> bool:
        return any(isinstance(i, jax.Array) for i in self.index)

    def get(self, whole: Any) -> Any:
        return (jnp.asarray(whole) if self.traced else whole)[self.index]

    def put(self, whole: Any, new: Any) -> Any:
        whole = jnp.asarray(whole)
        index = whole_index(whole.shape, self.index)
        if index is not None and len(index) == whole.ndim and all(isinstance(i, slice) and is_known_slice(i) for i in index):
            ranges = [range(*i.indices(n)) for i, n in zip(index, whole.shape, strict=True)]
            new = jnp.broadcast_to(new, tuple(map(len, ranges)))
            new = jnp.flip(new, [k for k, r in enumerate(ranges) if r.step < 0])  # in its own order: XLA fails on scatters in reverse
            ranges = [r[::-1] if r.step < 0 else r for r in ranges]
            if new.shape == whole.shape:
                return new.astype(whole.dtype)
            return whole.at[tuple(slice(r.start, r.stop, r.step) for r in ranges)].set(new)
        return whole.at[self.index].set(new)

    @property
    def place(self) -> Any:
        parts = tuple((i.start, i.stop, i.step) if isinstance(i, slice) else i for i in self.index)
        flat = [x for i in parts for x in (i if isinstance(i, tuple) else (i,))]
        return parts if all(x is None or x is Ellipsis or isinstance(x, (int, np.integer)) for x in flat) else None

    def of_shadow(self, shadow: Any) -> Any:
        return shadow[tuple(0 if isinstance(i, jax.Array) and not concrete(i) else i for i in self.index)]


@dataclass(frozen=True, eq=False)
class Window(ViewIndex):
    """`whole[index]` of an index with slices whose length is known and whose start is traced; `load` and `store` take and give such parts."""

    index: Any
    known: tuple[Any, ...]  # the same with known slices of these lengths
    load: Callable[[Any, Any], Any]
    store: Callable[[Any, Any, Any], Any]

    @property
    def traced(self) -> bool:
        return True

    def get(self, whole: Any) -> Any:
        return self.load(whole, self.index)

    def put(self, whole: Any, new: Any) -> Any:
        return self.store(jnp.asarray(whole), self.index, new)

    def of_shadow(self, shadow: Any) -> Any:
        return Index(self.known).of_shadow(shadow)


@dataclass(frozen=True, eq=False)
class Arranged(ViewIndex):
    """All elements in another order or shape: `there` and `back` are inverse, and `permuted` or `shapes` say how, if they can."""

    there: Callable[[Any], Any]
    back: Callable[[Any], Any]
    permuted: tuple[int, ...] | None = None
    shapes: tuple[tuple[int, ...], ...] | None = None

    @property
    def place(self) -> Any:
        return ("permuted", self.permuted) if self.permuted is not None else self.shapes and ("reshaped", *self.shapes)

    def get(self, whole: Any) -> Any:
        return self.there(whole)

    def put(self, whole: Any, new: Any) -> Any:
        return self.back(new)


@dataclass(frozen=True, eq=False)
class Chosen(ViewIndex):
    """The elements at some places of the flat array."""

    places: np.ndarray[Any, Any]

    def get(self, whole: Any) -> Any:
        return whole.reshape(-1)[self.places]

    def put(self, whole: Any, new: Any) -> Any:
        return jnp.asarray(whole).reshape(-1).at[self.places].set(new).reshape(whole.shape)


@dataclass(frozen=True, eq=False)
class Component(ViewIndex):
    """The real or imaginary part of complex numbers."""

    imaginary: bool

    @property
    def place(self) -> Any:
        return "imag" if self.imaginary else "real"

    def get(self, whole: Any) -> Any:
        return whole.imag if self.imaginary else whole.real

    def put(self, whole: Any, new: Any) -> Any:
        if not jnp.iscomplexobj(whole):
            return new
        new = jnp.broadcast_to(new, whole.shape)
        return jax.lax.complex(jnp.real(whole), new) if self.imaginary else jax.lax.complex(new, jnp.imag(whole))


@dataclass(frozen=True, eq=False)
class Bits(ViewIndex):
    """The same bits as another type."""

    dtype: Any
    before: Any

    def of_shadow(self, shadow: Any) -> Any:
        if self.dtype.itemsize == self.before.itemsize:
            return shadow[...]
        last = shadow.shape[-1] * self.before.itemsize // self.dtype.itemsize
        return np.empty((*shadow.shape[:-1], last), np.int8)

    def get(self, whole: Any) -> Any:
        return whole.view(self.dtype)

    def put(self, whole: Any, new: Any) -> Any:
        return jnp.asarray(new).view(whole.dtype)


def transposed(axes: tuple[int, ...]) -> Arranged:
    back = tuple(builtins.sorted(range(len(axes)), key=axes.__getitem__))
    return Arranged(lambda x: x.transpose(axes), lambda x: x.transpose(back), axes)


def reshaped(before: tuple[int, ...], after: tuple[int, ...]) -> Arranged:
    return Arranged(lambda x: x.reshape(after), lambda x: x.reshape(before), shapes=(before, after))


def is_all(shape: tuple[int, ...], index: Any) -> bool:
    """Whether an index takes all of an array, as it stands."""
    parts = as_tuple(index)
    if not shape or not all(i is Ellipsis or isinstance(i, slice) and is_known_slice(i) for i in parts):
        return False
    found = whole_index(shape, parts)
    return found is not None and len(found) == len(shape) and all(range(*i.indices(n)) == range(n) for i, n in zip(found, shape, strict=True))


def is_known_slice(i: slice) -> bool:
    return all(x is None or isinstance(x, (int, np.integer)) for x in (i.start, i.stop, i.step))


def is_basic(index: Any) -> bool:
    """Whether an index takes a view in NumPy."""
    return all(i is None or i is Ellipsis or isinstance(i, slice) or is_integer(i) for i in as_tuple(index))


def as_tuple(index: Any) -> tuple[Any, ...]:
    return index if type(index) is tuple else (index,)


def is_integer(i: Any) -> bool:
    """Whether it is one integer, which may be traced."""
    if isinstance(i, (bool, np.bool_)):
        return False
    if isinstance(i, (int, np.integer)):
        return True
    return isinstance(i, (np.ndarray, jax.Array)) and i.ndim == 0 and bool(jnp.issubdtype(i.dtype, jnp.integer))


def count_axes(index: tuple[Any, ...], ndim: int) -> int:
    """How many axes what an index takes has."""
    return ndim - sum(is_integer(i) for i in index) + sum(i is None for i in index)


def whole_index(shape: tuple[int, ...], index: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The index with one entry for each axis; None if it makes new axes."""
    if any(i is None for i in index):
        return None
    at = next((k for k, i in enumerate(index) if i is Ellipsis), len(index))
    before, after = index[:at], index[at + 1 :]
    return (*before, *(slice(None),) * (len(shape) - len(before) - len(after)), *after)


def composed(shape: tuple[int, ...], first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """One index for `x[first][second]`, of an `x` with a shape; None if there is none."""
    outer = whole_index(shape, first)
    if outer is None or len(outer) != len(shape):
        return None
    kept = [k for k, i in enumerate(outer) if isinstance(i, slice)]
    ranges = [range(*outer[k].indices(shape[k])) for k in kept]
    inner = whole_index(tuple(map(len, ranges)), second)
    if inner is None or len(inner) != len(kept):
        return None
    out = list(outer)
    for k, places, i in zip(kept, ranges, inner, strict=True):
        if isinstance(i, slice):
            if not is_known_slice(i):
                return None
            part = places[i]
            out[k] = slice(part.start, None if part.stop < 0 else part.stop, part.step)
        elif isinstance(i, (int, np.integer)):
            out[k] = places[operator.index(i)]
        else:
            out[k] = places.start + places.step * jnp.where(i < 0, i + len(places), i)
    return tuple(out)


def moved(perm: tuple[int, ...], shape: tuple[int, ...], index: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[int, ...]] | None:
    """An index of an array whose axes are exchanged, as an index of the array and the exchange of what that takes."""
    inner = whole_index(shape, index)
    if inner is None or len(inner) != len(perm):
        return None
    own: list[Any] = [None] * len(perm)
    for axis, i in zip(perm, inner, strict=True):
        own[axis] = i
    left = [axis for axis, i in zip(perm, inner, strict=True) if isinstance(i, slice)]
    order = builtins.sorted(left)
    return tuple(own), tuple(order.index(axis) for axis in left)
