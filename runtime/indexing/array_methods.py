"""Methods of NumPy's arrays in a trace: those that give views, those that change the array, and all others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph.runtime.arrays.numpy_array import MutableArray, is_known, numpys, plain, view
from autograph.runtime.arrays.view_index import Bits, Chosen, Component, Index, ViewIndex, reshaped, transposed
from autograph.runtime.errors.errors import NumpyError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.indexing.stores import replace_whole, store
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi.tracers import Array, content
from autograph.runtime.values.values import traced

METHODS_IN_PLACE = frozenset("fill put sort partition itemset".split())


def part_of(x: MutableArray, f: Callable[[Any], Any]) -> MutableArray | None:
    """What a function of NumPy's that may give a view makes of an array: the view, or None where it gives a copy."""
    found = f(x.shadow)
    if isinstance(found, np.ndarray) and found.size == 0:  # it shares no memory, as it has none
        return numpys(jnp.zeros(found.shape, found.dtype))  # type: ignore[no-any-return]
    if not isinstance(found, np.ndarray) or not np.may_share_memory(found, x.shadow):
        return None
    return view(x, part(x, f, found))


def part(x: MutableArray, f: Callable[[Any], Any], found: Any) -> ViewIndex:
    """The part of an array that a function takes as a view, which it has made of the array's shadow."""
    shadow = x.shadow
    if found.size == shadow.size and found.flags.c_contiguous and shadow.flags.c_contiguous and _begin(found) == _begin(shadow):
        return reshaped(shadow.shape, found.shape)
    if found.ndim == shadow.ndim and found.size == shadow.size and _begin(found) == _begin(shadow):
        order = _permutation(shadow, found)
        if order is not None:
            return transposed(order)
    if (index := _index(shadow, found)) is not None:
        return Index(index)
    places = f(np.arange(shadow.size).reshape(shadow.shape, order="C") if shadow.flags.c_contiguous else _numbered(shadow))
    return Chosen(np.asarray(places))


def _begin(x: Any) -> int:
    return int(x.__array_interface__["data"][0])


def _numbered(shadow: Any) -> Any:
    """The numbers of the elements, in memory of the same layout."""
    numbers = np.empty_like(shadow, dtype=np.int64)
    numbers[...] = np.arange(shadow.size).reshape(shadow.shape)
    return numbers


def _permutation(shadow: Any, found: Any) -> tuple[int, ...] | None:
    """How the axes are exchanged, if that is all."""
    axes = list(range(shadow.ndim))
    order = []
    for n, s in zip(found.shape, found.strides, strict=True):
        axis = next((a for a in axes if (shadow.shape[a], shadow.strides[a]) == (n, s)), None)
        if axis is None:
            return None
        axes.remove(axis)
        order.append(axis)
    return tuple(order)


def _index(shadow: Any, found: Any) -> tuple[Any, ...] | None:
    """The slices that take a view, if it has the axes of the array in their order."""
    if found.ndim != shadow.ndim or 0 in found.shape:
        return None
    offset = _begin(found) - _begin(shadow)
    index = []
    for n, stride, m, step in zip(shadow.shape, shadow.strides, found.shape, found.strides, strict=True):
        if stride <= 0 or step % stride:
            return None
        start = offset // stride % n if n else 0
        by = step // stride or 1
        stop = start + by * m
        if m > 1 and not (0 <= start + by * (m - 1) < n):
            return None
        index.append(slice(start, None if stop < 0 else stop, by))
    taken = shadow[tuple(index)]
    same = taken.shape == found.shape and _begin(taken) == _begin(found)
    return tuple(index) if same and all(a == b or n == 1 for a, b, n in zip(taken.strides, found.strides, found.shape, strict=True)) else None


_VIEWS = frozenset("reshape ravel transpose swapaxes squeeze diagonal".split())


def method(name: str) -> Callable[..., Any]:
    def called(self: MutableArray, *args: Any, **kwargs: Any) -> Any:
        if name in METHODS_IN_PLACE:
            return _in_place(self, name, args, kwargs)
        if name in _VIEWS and (found := part_of(self, lambda s: getattr(s, name)(*args, **kwargs))) is not None:
            return found
        if self.known and not any(_is_traced(v) for v in (*args, *kwargs.values())):
            return numpys(getattr(self.now, name)(*map(plain, args), **{k: plain(v) for k, v in kwargs.items()}))
        out = kwargs.pop("out", None)
        args, kwargs = tuple(map(_array, args)), {k: _array(v) for k, v in kwargs.items()}
        made = numpys(getattr(jnp.asarray(content(self)), name)(*args, **kwargs))
        if out is None:
            return made
        replace_whole(out, made)
        return out

    called.__name__ = called.__qualname__ = name
    return called


def _array(x: Any) -> Any:
    """An argument of a method: NumPy's take lists for arrays, and JAX's do not."""
    return x if type(x) is not list else jnp.asarray(x) if traced(x) else np.asarray(x)


def _is_traced(x: Any) -> bool:
    return isinstance(x, Array) and not is_known(x)


def _in_place(x: MutableArray, name: str, args: Any, kwargs: Any) -> None:
    if name == "fill":
        store(x, (Ellipsis,), *args, **kwargs)
    elif name == "put":
        put_items(x, *args)
    elif x.known and name in ("sort", "partition"):
        new = x.now.copy()
        getattr(new, name)(*map(plain, args), **kwargs)
        replace_whole(x, new)
    else:
        axis = kwargs.get("axis", args[-1] if len(args) == (name == "partition") + 1 else -1)
        replace_whole(x, jnp.sort(jnp.asarray(content(x)), axis=axis))


def put_items(x: Array, where: Any, values: Any, *_: Any) -> None:
    """`x.put(where, values)`: items by their numbers in the flat array."""
    places = jnp.asarray(content(where)).reshape(-1)
    values = jnp.resize(jnp.asarray(content(values)), places.shape)
    if isinstance(x, MutableArray) and (flat := part_of(x, lambda s: s.reshape(-1))) is not None:
        store(flat, places, values)
    else:
        replace_whole(x, jnp.asarray(content(x)).reshape(-1).at[places].set(values.astype(jax.dtypes.canonicalize_dtype(x.dtype))).reshape(x.shape))


def _copy(self: MutableArray, order: str = "C") -> Any:
    return numpys(self.now.copy()) if self.known else numpys(jnp.array(content(self)))


def _astype(self: MutableArray, dtype: Any, *args: Any, **options: Any) -> Any:
    if options.get("copy") is False and np.dtype(dtype) == self.dtype:
        return self
    return numpys(self.now.astype(dtype, *args, **options)) if self.known else numpys(jnp.asarray(content(self)).astype(dtype, copy=True))


def _flatten(self: MutableArray, order: str = "C") -> Any:
    return numpys(self.now.flatten(order)) if self.known else numpys(jnp.array(content(self)).flatten(order))


def _view(self: MutableArray, dtype: Any = None, *args: Any) -> Any:
    if dtype is None or dtype is np.ndarray:
        return view(self, Index((Ellipsis,)))
    if isinstance(dtype, type) and issubclass(dtype, np.ndarray):
        raise NumpyError(
            f"`{dtype.__name__}` is derived from `np.ndarray`, and is to be a view of an array of a compiled function", here(),
            "let the class hold the array in an attribute, or write functions of arrays",
        )  # fmt: skip
    return view(self, Bits(np.dtype(dtype), np.dtype(self.dtype)))


def _component(imaginary: bool) -> property:
    def get(self: MutableArray) -> Any:
        if self.dtype.kind != "c":
            return numpys(np.zeros(self.shape, self.dtype)) if imaginary else self
        return view(self, Component(imaginary))

    def put(self: MutableArray, value: Any) -> None:
        store(get(self), (Ellipsis,), value)

    return property(get, put)


class Flat:
    """`x.flat`: the items of an array in the order of its axes, which are stored into it."""

    def __init__(self, x: MutableArray) -> None:
        numbers = np.arange(x.size).reshape(x.shape)
        self.x, self.items = x, view(x, Chosen(numbers.reshape(-1)))

    def __getitem__(self, i: Any) -> Any:
        found = self.items[i]
        return found.copy() if isinstance(found, MutableArray) else found

    def __setitem__(self, i: Any, value: Any) -> None:
        store(self.items, i, value)

    def __iter__(self) -> Any:
        return iter(self.items.copy())

    def __len__(self) -> int:
        return self.x.size

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return self.items.__array__(*args, **kwargs)

    def copy(self) -> Any:
        return self.items.copy()


def _put_flat(self: MutableArray, value: Any) -> None:
    value = content(value)
    Flat(self)[:] = jnp.resize(jnp.asarray(value), (self.size,)) if np.ndim(value) else value


def _item(x: Any, *place: Any) -> Any:
    """`x.item()`: a number of Python's, which is traced."""
    value = content(x)
    if place:
        value = value[place if len(place) > 1 else np.unravel_index(place[0], value.shape)]
    if value.size != 1:
        raise ValueError("can only convert an array of size 1 to a Python scalar")
    return _jax.convert_type(value.reshape(()), value.dtype, value.dtype != bool)


def _tolist(x: Any) -> Any:
    """`x.tolist()`: lists of such numbers."""
    value = content(x)
    return [_tolist(value[k]) for k in range(value.shape[0])] if value.ndim else _item(value)


def _is_integer(x: Any) -> Any:
    """`float.is_integer`, and `int.is_integer`."""
    value = content(x)
    return jnp.isfinite(value) & (jnp.floor(value) == value) if jnp.issubdtype(value.dtype, jnp.floating) else jnp.ones(value.shape, bool)


def _bit_length(x: Any) -> Any:
    """`int.bit_length`."""
    value = content(x)
    return value.dtype.itemsize * 8 - jax.lax.clz(jnp.abs(value))


Array.item, Array.tolist, Array.is_integer, Array.bit_length = _item, _tolist, _is_integer, _bit_length  # type: ignore[attr-defined, method-assign]


_ARRAYS = frozenset(n for n in dir(np.ndarray) if not n.startswith("_") and callable(getattr(np.ndarray, n)))
_OWN: dict[str, Any] = {
    "copy": _copy, "astype": _astype, "flatten": _flatten, "view": _view, "real": _component(False), "imag": _component(True),
    "T": property(lambda self: part_of(self, lambda s: s.T)), "mT": property(lambda self: part_of(self, lambda s: s.mT)),
    "flat": property(Flat, _put_flat),
    "tolist": lambda self: self.now.tolist() if self.known else _tolist(self),
    "item": lambda self, *args: self.now.item(*args) if self.known else _item(self, *args),
}  # fmt: skip
for _name in _ARRAYS - _OWN.keys():
    setattr(MutableArray, _name, method(_name))
for _name, _what in _OWN.items():
    setattr(MutableArray, _name, _what)
