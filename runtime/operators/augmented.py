"""Augmented assignments, `x += v`: a number or an array of JAX's gives a new value, and an array of NumPy's changes, for all that hold it."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from autograph.runtime.arrays.numpy_array import MutableArray, View
from autograph.runtime.effects.optional_values import read
from autograph.runtime.indexing.class_patching import is_held_elsewhere
from autograph.runtime.indexing.stores import change
from autograph.runtime.jaxapi.tracers import Array, note_change
from autograph.runtime.native.python_operators import IN_PLACE
from autograph.runtime.operators.attributes import place_of, set_attr
from autograph.runtime.operators.getitem import get_item
from autograph.runtime.operators.items import index_of, put_item, put_path, set_attr_path
from autograph.runtime.operators.owned_lists import note_home
from autograph.runtime.sequences.bounded_list import refuse_hidden
from autograph.runtime.sequences.dynamic_slices import PaddedSlice
from autograph.runtime.sequences.subscripts import is_mask, where_masked
from autograph.runtime.state.captured_state import record_write
from autograph.runtime.state.length_bounds import ListOwner
from autograph.runtime.state.state_refs import ContentsRef
from autograph.runtime.tracing.trace_context import watched
from autograph.runtime.values.abstract_values import is_container


def in_place(x: Any, symbol: str, value: Any) -> Any:
    """`x += value` (or another operator): what `x` is bound to."""
    if isinstance(x, Array):
        note_change(x)
        return IN_PLACE[symbol](x, value)
    return changed(x, symbol, value)


def update_attr(obj: Any, name: str, symbol: str, value: Any, *old: Any) -> None:
    """`obj.name += value` (or another operator), given perhaps what the attribute held before the value was evaluated."""
    (x,) = old or (getattr(obj, name),)
    if isinstance(x, Array):
        new = IN_PLACE[symbol](x, value)
        if new is not x:
            set_attr(obj, name, new)
    else:
        set_attr(obj, name, changed(x, symbol, value, ListOwner(place_of(obj, name))))


def changed(x: Any, symbol: str, value: Any, home: ListOwner | None = None) -> Any:
    """What `x += value` (or another operator) gives, which no array of NumPy's takes in place; the blocks around remember what a list held."""
    if watched() and is_container(x):
        refuse_hidden(x)
        if home is not None:
            note_home(x, home)
        record_write(ContentsRef(x))
    return IN_PLACE[symbol](x, value)


def update_item(x: Any, i: Any, symbol: str, value: Any, *old: Any) -> Any:
    """`x[i] += value` (or another operator): read, operate, store; a repeated index counts once, as in NumPy."""
    x, i = read(x), index_of(i)
    if is_mask(i) and isinstance(x, Array) and np.ndim(value) == 0:
        change(x, lambda now, p: where_masked(now, _both(i, p), IN_PLACE[symbol](now, value)))
        return x
    shared = is_held_elsewhere(x)
    new = _item(x, (i,), symbol, value, *old)
    view = isinstance(new, View) and isinstance(x, MutableArray) or isinstance(new, PaddedSlice) and new.part is not None
    return x if view else put_item(x, i, new, shared)  # a view has changed already


def _both(mask: Any, p: Any) -> Any:
    return mask if p is None else jnp.logical_and(mask, p)


def update_path(x: Any, path: tuple[Any, ...], symbol: str, value: Any, *old: Any) -> Any:
    """`x[i][j] += value`."""
    x = read(x)
    shared = is_held_elsewhere(x)
    return put_path(x, path, _item(x, path, symbol, value, *old), shared)


def update_attr_item(obj: Any, name: str, i: Any, symbol: str, value: Any, *old: Any) -> Any:
    """`obj.name[i] += value`."""
    return update_attr_path(obj, name, (i,), symbol, value, *old)


def update_attr_path(obj: Any, name: str, path: tuple[Any, ...], symbol: str, value: Any, *old: Any) -> Any:
    """`obj.name[i][j] += value`."""
    return set_attr_path(obj, name, path, _item(getattr(obj, name), path, symbol, value, *old))


def _item(x: Any, path: tuple[Any, ...], symbol: str, value: Any, *before: Any) -> Any:
    """What `x[i][j] += value` stores, given perhaps what was there before the value was evaluated."""
    for i in path[:-1]:
        x = get_item(x, i)
    (old,) = before or (get_item(x, path[-1]),)
    view = isinstance(old, np.ndarray) and isinstance(x, np.ndarray) and watched()  # the store itself decides whether the array changes
    return changed(old.copy() if view else old, symbol, value, ListOwner(ContentsRef(x), path[-1]) if type(x) in (list, dict) else None)
