"""Items put into a list, or taken out of it, at data-dependent places: those behind them move."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from autograph.runtime.effects.error_codes import fail
from autograph.runtime.operators.getitem import joint_of_items
from autograph.runtime.sequences.bounded_list import BoundedList, Grow, grown
from autograph.runtime.sequences.rows import unknown

NO_PLACE, NO_ITEM = "list assignment index out of range", "list.remove(x): x not in list"


def without(x: BoundedList, k: Any) -> BoundedList:
    """All items but the one at a place that is inside, if there are any."""
    x.kind.bound.change(-1)
    places = _places(x)
    return _rearranged(x, jnp.where(places >= k, jnp.minimum(places + 1, x.kind.capacity - 1), places), jnp.maximum(x.length - 1, 0))


def without_slice(x: BoundedList, s: slice) -> BoundedList:
    """All items but those of a slice."""
    if s.step not in (None, 1):
        raise x.refusal("every so many of its items are deleted", "delete each (`del items[k]`)")
    start, stop = (
        x.length if v is None else jnp.clip(jnp.where(jnp.asarray(v) < 0, v + x.length, v), 0, x.length) for v in map(index, (s.start or 0, s.stop))
    )
    width, places = jnp.maximum(stop - start, 0), _places(x)
    x.kind.bound.exact = None
    return _rearranged(x, jnp.minimum(jnp.where(places >= start, places + width, places), x.kind.capacity - 1), x.length - width)


def last_to(x: BoundedList, i: Any) -> BoundedList:
    """The last item, moved before the one at a place: `insert`, behind an `append`."""
    last = x.length - 1
    k = jnp.clip(jnp.where(jnp.asarray(i) < 0, i + last, i), 0, last)
    places = _places(x)
    return _rearranged(x, jnp.where(places == k, last, jnp.where((places > k) & (places <= last), places - 1, places)), x.length)


def turned(x: BoundedList) -> BoundedList:
    """All items in the opposite order."""
    places = _places(x)
    return _rearranged(x, jnp.where(places < x.length, x.length - 1 - places, places), x.length)


def place_of_first(x: BoundedList, value: Any) -> Any:
    """Where the first item is that is equal to a value: a number, or a tuple of numbers."""
    found = x.where(value)
    fail(~found.any(), ValueError, NO_ITEM)
    return jnp.argmax(found)


def index(i: Any) -> Any:
    """An index as Python takes it: a whole number, or None."""
    if i is None or not unknown(i):
        return None if i is None else operator.index(i)
    if i.shape != () or i.dtype.kind not in "iu":
        raise TypeError(f"'{i.dtype}' object cannot be interpreted as an integer")
    return i


def _places(x: BoundedList) -> Any:
    return jnp.arange(x.kind.capacity)


def _rearranged(x: BoundedList, places: Any, count: Any) -> BoundedList:
    """A list whose items stand at these places in another."""
    x.kind.bound.shrunk = True
    return BoundedList(x.kind, count, [b[places] for b in x.buffers])


def pop_from(items: list[Any], i: Any, error: str = "pop index out of range") -> Any:
    """`items.pop(i)` of a list whose length is known."""
    if not items:
        raise IndexError("pop from empty list")
    rows = _growing(items)
    k = rows.inside(i, error)
    value = rows.row(k)
    _become(items, without(rows, k), len(items) - 1)
    return value


def insert_into(items: list[Any], i: Any, value: Any) -> None:
    """`items.insert(i, value)`, likewise."""
    _become(items, last_to(_growing([*items, value]), index(i)), len(items) + 1)


def remove_from(items: list[Any], value: Any) -> None:
    """`items.remove(value)`, likewise."""
    if not items:
        raise ValueError(NO_ITEM)
    rows = _growing(items)
    _become(items, without(rows, place_of_first(rows, value)), len(items) - 1)


def _growing(items: list[Any]) -> BoundedList:
    joint_of_items(items, "a traced value says which item of a list goes, or where one is put")
    return grown(list(items), Grow(items, None), len(items))


def _become(items: list[Any], rows: BoundedList, length: int) -> None:
    items[:] = [rows.row(k) for k in range(length)]


OF_LISTS: dict[str, Callable[..., Any]] = {"pop": pop_from, "insert": insert_into, "remove": remove_from}
