"""Augmented assignments, `x += v`: a number or a `jax.Array` gives a new value, and an array of NumPy's changes, for all that hold it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np

from autograph.runtime.aliasing import Fixed, Place, same
from autograph.runtime.arrays.numpys import Numpys, View
from autograph.runtime.arrays.objects import Array
from autograph.runtime.arrays.objects import note_change as note_in_place
from autograph.runtime.arrays.stores import change
from autograph.runtime.attributes import place_of, set_attr
from autograph.runtime.contents import is_array
from autograph.runtime.errors import AliasError
from autograph.runtime.frames import frames, in_block, watched
from autograph.runtime.growing import refuse_hidden
from autograph.runtime.heap import Contents
from autograph.runtime.homes import note_home
from autograph.runtime.items import becomes, index_of, refuse_view, renew_items, set_attr_path, set_item, set_path
from autograph.runtime.lengths import Home
from autograph.runtime.lifted import touch
from autograph.runtime.loads import load_item
from autograph.runtime.optional import read
from autograph.runtime.places import assigned_names, caller, here, variable_of
from autograph.runtime.points_to import is_numpys
from autograph.runtime.specs import is_container
from autograph.runtime.stale import refuse_other_names
from autograph.runtime.subscripts import is_mask, where_masked
from autograph.runtime.untraced.operators import IN_PLACE
from autograph.runtime.values import traced
from autograph.runtime.views import note_change


def in_place(x: Any, symbol: str, value: Any, *others: Any) -> Any:
    """`x += value` (or another operator): what `x` is bound to.  The others are names, places and containers that may hold the array.

    Raises:
      AliasError: (AG407) it is one of NumPy's, which changes in place, and another name holds it.
    """
    if isinstance(x, Array):
        note_in_place(x)
        return IN_PLACE[symbol](x, value)
    note_change(x)
    if not _changes(x, value):
        return changed(x, symbol, value)
    name = next(iter(assigned_names(caller())), "") or variable_of(x) or "x"
    for other in others:
        for held, holder in _held(other, name):
            if held is x or same(held, x):
                raise AliasError(
                    f"`{name} {symbol} ...` changes a NumPy array in place, and {f'`{holder}`' if holder else 'another name'} holds it", here(),
                    f"write `{name}[...] {symbol} ...`, which both see, or bind a new array: `{name} = {name} {symbol[:-1]} ...`",
                )  # fmt: skip
    refuse_view(x)
    refuse_other_names(x, name)
    return becomes(x, _operated(x, symbol, value))


def update_attr(obj: Any, name: str, symbol: str, value: Any, *old: Any) -> None:
    """`obj.name += value` (or another operator), given perhaps what the attribute held before the value was evaluated.

    Raises:
      AliasError: (AG407) it is one of NumPy's, which changes in place, and another name holds it.
    """
    (x,) = old or (getattr(obj, name),)
    if isinstance(x, Array):
        new = IN_PLACE[symbol](x, value)
        if new is not x:
            set_attr(obj, name, new)
    elif _changes(x, value):
        refuse_other_names(x, f"`{type(obj).__name__}.{name}`", (obj, name))
        set_attr(obj, name, becomes(x, _operated(x, symbol, value)))
    else:
        set_attr(obj, name, changed(x, symbol, value, Home(place_of(obj, name))))


def changed(x: Any, symbol: str, value: Any, home: Home | None = None) -> Any:
    """What `x += value` (or another operator) gives, which no array of NumPy's takes in place; the blocks around remember what a list held."""
    if watched() and is_container(x):
        refuse_hidden(x)
        if home is not None:
            note_home(x, home)
        touch(Contents(x))
    return IN_PLACE[symbol](x, value)


def update_item(x: Any, i: Any, symbol: str, value: Any, *old: Any) -> Any:
    """`x[i] += value` (or another operator): read, operate, store; a repeated index counts once, as in NumPy."""
    x, i = read(x), index_of(i)
    if is_mask(i) and isinstance(x, Array) and np.ndim(value) == 0:
        change(x, lambda now, p: where_masked(now, _both(i, p), IN_PLACE[symbol](now, value)))
        return x
    if is_mask(i) and is_array(x) and np.ndim(value) == 0:
        return becomes(x, where_masked(x, i, IN_PLACE[symbol](x, value)))
    new = _item(x, (i,), symbol, value, *old)
    return x if isinstance(new, View) and isinstance(x, Numpys) else set_item(x, i, new)  # a view has changed already


def _both(mask: Any, p: Any) -> Any:
    return mask if p is None else jnp.logical_and(mask, p)


def update_path(x: Any, path: tuple[Any, ...], symbol: str, value: Any, *old: Any) -> Any:
    """`x[i][j] += value`."""
    return set_path(x, path, _item(x, path, symbol, value, *old))


def update_attr_item(obj: Any, name: str, i: Any, symbol: str, value: Any, *old: Any) -> Any:
    """`obj.name[i] += value`."""
    return update_attr_path(obj, name, (i,), symbol, value, *old)


def update_attr_path(obj: Any, name: str, path: tuple[Any, ...], symbol: str, value: Any, *old: Any) -> Any:
    """`obj.name[i][j] += value`."""
    return set_attr_path(obj, name, path, _item(getattr(obj, name), path, symbol, value, *old))


def _item(x: Any, path: tuple[Any, ...], symbol: str, value: Any, *before: Any) -> Any:
    """What `x[i][j] += value` stores, given perhaps what was there before the value was evaluated."""
    for i in path[:-1]:
        x = load_item(x, i)
    (old,) = before or (load_item(x, path[-1]),)
    if is_container(x) and _changes(old, value):
        new = becomes(old, _operated(old, symbol, value))
        renew_items(x, old, new)
        return new
    view = isinstance(old, np.ndarray) and isinstance(x, np.ndarray) and watched()  # the store itself decides whether the array changes
    return changed(old.copy() if view else old, symbol, value, Home(Contents(x), path[-1]) if type(x) in (list, dict) else None)


def _changes(x: Any, value: Any) -> bool:
    """Whether an operator changes an array in place in Python, and gives a new one here."""
    return watched() and is_numpys(x) and (not isinstance(x, np.ndarray) or x.dtype.kind in "biufc" and (traced(value) or in_block() or _given(x)))


def _given(x: Any) -> bool:
    """Whether a NumPy array comes from outside of the function that is traced."""
    return any(place.get() is x for frame in frames() if frame.root for place in frame.reached)


def _operated(x: Any, symbol: str, value: Any) -> Any:
    """The array that NumPy would have in the place of `x`."""
    new = IN_PLACE[symbol](jnp.asarray(x), value)
    if new.shape != x.shape:
        raise ValueError(f"non-broadcastable output operand with shape {x.shape} doesn't match the broadcast shape {new.shape}")
    if not np.can_cast(new.dtype, x.dtype, "same_kind"):
        raise TypeError(f"Cannot cast output of `{symbol}` from dtype('{new.dtype}') to dtype('{x.dtype}') with casting rule 'same_kind'")
    return new.astype(jnp.asarray(x).dtype)


def _held(other: Any, name: str) -> Iterator[tuple[Any, str]]:
    """What another name or place holds that may be an array, and what is in it; and what the user calls it."""
    value: Any = other
    if type(other) is Fixed:
        holder, value = other
    elif type(other) is Place:
        holder, value = f"{variable_of(other.obj)}.{other.name}", getattr(other.obj, other.name, None)
    else:
        holder = variable_of(other, name)
    for held in (value, *(value if type(value) in (list, tuple) else value.values() if type(value) is dict else ())):
        yield held, holder
