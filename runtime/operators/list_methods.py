"""Methods of lists that change their length: of a `BoundedList` they give a new one, which takes its variable's place."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import jax.numpy as jnp

from autograph.runtime.effects.error_codes import fail
from autograph.runtime.errors.errors import EffectError
from autograph.runtime.errors.source_spans import caller, here
from autograph.runtime.indexing import slice_functions as section_functions
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.operators.items import del_item
from autograph.runtime.operators.moved_items import NO_ITEM, NO_PLACE, index, last_to, place_of_first, turned, without, without_slice
from autograph.runtime.sequences.bounded_list import CHANGES, BoundedList, Grow, in_place_of, joint_of
from autograph.runtime.sequences.derived_lists import joined
from autograph.runtime.sequences.dynamic_slices import PaddedSlice
from autograph.runtime.state.copies import note_copies
from autograph.runtime.state.length_bounds import held
from autograph.runtime.state.recorded_writes import forget_told, is_told
from autograph.runtime.state.reference_counts import ARGUMENT
from autograph.runtime.tracing import hooks
from autograph.runtime.tracing.hooks import call
from autograph.runtime.tracing.trace_context import frames
from autograph.runtime.values.abstract_values import AbstractValue, generalize, is_container, spec_of, type_of
from autograph.runtime.values.value_objects import opened
from autograph.runtime.values.values import ATOMS, ours


def append(x: Any, value: Any, count: int = 0) -> Any:
    """`x.append(value)`; gives what the name `x` is bound to afterwards.

    `count`: how many references to the value there are, but for callers' own.
    """
    if type(x) is list and type(value) in ATOMS and is_told(x):
        x.append(value)
        return x
    if isinstance(x, BoundedList) or (type(x) is list and held(x)):
        _copied(value, count or sys.getrefcount(value))
        if not isinstance(x, BoundedList):
            raise Grow(x, _joint([*x, value]))
        return x.appended(value)
    _note(x)
    call(x.append)(value)
    return x


def _note(x: Any) -> None:
    """The variable of this list is bound anew where its length changes: a branch around may take a `BoundedList` for it."""
    for f in frames():
        f.grows.setdefault(id(x), None)


def extend(x: Any, values: Iterable[Any]) -> Any:
    """`x.extend(values)` and `x += values`, likewise."""
    if isinstance(values, BoundedList) and not _jax.concrete(values.length):
        if type(x) is list and held(x):
            raise Grow(x, values.kind.spec, len(x) + values.most())
        if isinstance(x, BoundedList):
            return in_place_of(x, joined([x, values]))
        return joined([x, values]) if type(x) is list else call(x.extend)(values)
    if not isinstance(x, BoundedList) and not (type(x) is list and held(x)):
        _note(x)
        call(x.extend)(values)
        return x
    for value in values:
        x = append(x, value)
    return x


def pop(x: Any, *at: Any) -> tuple[Any, Any]:
    """`x.pop()` and `x.pop(i)`, and what the name `x` is bound to afterwards."""
    if isinstance(x, BoundedList):
        fail(x.length <= 0, IndexError, "pop from empty list")
        if at:
            k = x.inside(index(at[0]), "pop index out of range")
            return x.row(k), without(x, k)
        x.kind.bound.change(-1)
        x.kind.bound.shrunk = True
        last = jnp.maximum(x.length - 1, 0)
        return x.row(last), BoundedList(x.kind, last, x.buffers)
    _room(x, IndexError, "pop from empty list")
    _note(x)
    return call(x.pop)(*at), x


def delete(x: Any, i: Any) -> Any:
    """`del x[i]`; gives what the name `x` is bound to afterwards."""
    if isinstance(x, BoundedList):
        return without_slice(x, i) if isinstance(i, slice) else without(x, x.inside(i, NO_PLACE))
    _room(x, IndexError, NO_PLACE)
    _note(x)
    del_item(x, i)
    return x


def remove(x: Any, value: Any) -> Any:
    """`x.remove(value)`, likewise."""
    if isinstance(x, BoundedList):
        return without(x, place_of_first(x, value))
    _room(x, ValueError, NO_ITEM)
    _note(x)
    call(x.remove)(value)
    return x


def insert(x: Any, i: Any, value: Any, count: int = 0) -> Any:
    """`x.insert(i, value)`, likewise."""
    if isinstance(x, BoundedList) or (type(x) is list and held(x)):
        i = index(i)
        return last_to(append(x, value, count or sys.getrefcount(value)), i)
    _note(x)
    call(x.insert)(i, value)
    return x


def reverse_list(x: Any) -> Any:
    """`x.reverse()`, likewise."""
    if isinstance(x, BoundedList):
        return turned(x)
    call(x.reverse)()
    return x


def _room(x: Any, error: type[Exception], text: str) -> None:
    """A list becomes shorter, and a loop around may need another in its place."""
    if type(x) is list and held(x):
        if not x:  # of what type the items of other iterations are is not known yet: what follows may tell
            fail(True, error, text)
        raise Grow(x, _joint(x))


def _joint(items: list[Any]) -> AbstractValue:
    """The spec of an item; also of those that an iteration has appended which is thrown away."""
    return joint_of([generalize(spec_of(opened(item))) for item in items], here())


def clear(x: Any) -> Any:
    """`x.clear()`; gives what the name `x` is bound to afterwards."""
    if isinstance(x, BoundedList):
        bound = x.kind.bound
        bound.top, bound.exact, bound.shrunk = 0, None, True
        return BoundedList(x.kind, jnp.zeros_like(jnp.asarray(x.length)), x.buffers)
    if type(x) is list and held(x) and x:
        raise Grow(x, _joint(x))
    _note(x)
    call(x.clear)()
    return x


def renewed(x: Any, items: Any) -> Any:
    """`x = items`, a new list, on one side of a branch, or one made of `x`; gives what the name `x` is bound to afterwards."""
    if isinstance(items, BoundedList) and items is not x:
        if isinstance(x, BoundedList):
            return in_place_of(x, items) if x.is_held() else items
        if type(x) is list and held(x):
            raise Grow(x, items.kind.spec, items.kind.capacity)
    if type(items) is not list:
        return items
    if isinstance(x, BoundedList):
        x = clear(x)
        while items:
            x = append(x, items.pop(0))
        return x
    if type(x) is not list or not (held(x) or len(x) != len(items) and held(x, branches=True)):
        return items
    if not x and not items:
        return x
    raise Grow(x, _joint([*x, *items]), max(len(x), len(items)))


def _copied(value: Any, count: int) -> None:
    """An item that is a list of its own is copied into the buffer: nobody else may hold it, but the block that has made it and leaves it alone."""
    note_copies(value, "it was appended to a list in compiled code, which keeps a copy", "append it when it is complete, or a copy of it")
    if not is_container(value):
        return
    if count > ARGUMENT + 1 and not _is_local(value, count):
        raise EffectError(
            f"a `{type(value).__name__}` that other code holds is appended to a list in a compiled loop, which keeps a copy", here(),
            "append a tuple, or a new list: `items.append(list(row))`",
        )  # fmt: skip
    forget_told()


def _is_local(value: Any, count: int) -> bool:
    """Whether only a variable of the running block holds a container, which is none that the block was given."""
    frame = caller()
    if frame is None or any(id(value) in f.passed for f in frames()):
        return False
    names = [n for n, v in frame.f_locals.items() if v is value and n not in frame.f_code.co_freevars]
    return len(names) == 1 and count <= ours(value) + ARGUMENT + 2


def padded(items: Any, size: int, fill: Any = 0) -> Any:
    """The items of a list as an array of `size` rows, filled up: for a list of data-dependent length.

    Args:
      items: a list of numbers or of arrays of one shape; also one that a compiled loop has made longer, or a slice of unknown length (`x[:n]`).
      size: how many rows the array has.
      fill: the value of the rows behind the last item.

    Raises:
      IndexError: there are more items; where that is data-dependent, when the compiled program ends.

    >>> import autograph as ag
    >>> @ag.function
    ... def digits(n):
    ...     found = []
    ...     with ag.loop(max_steps=10):
    ...         while n > 0:
    ...             found.append(n % 10)
    ...             n //= 10
    ...     return ag.padded(found, 6, fill=-1), len(found)
    >>> digits(123)
    (Array([ 3,  2,  1, -1, -1, -1], dtype=int32), Array(3, dtype=int32, weak_type=True))
    """
    if isinstance(items, PaddedSlice):
        return section_functions.padded(items, size, fill)
    if not isinstance(items, BoundedList):
        if len(items) > size:
            raise IndexError(f"{len(items)} items do not fit {size} rows")
        rows = jnp.stack([jnp.asarray(x) for x in items]) if items else jnp.zeros((0,), jnp.asarray(fill).dtype)
        return jnp.full((size, *rows.shape[1:]), fill, rows.dtype).at[: len(items)].set(rows)
    if type_of(items.kind.spec) is None or len(items.buffers) != 1:
        raise TypeError("only numbers and arrays can be the rows of an array")
    fail(items.length > size, IndexError, f"the items do not fit {size} rows")
    rows = items.buffers[0]
    rows = rows[:size] if rows.shape[0] >= size else jnp.pad(rows, [(0, size - rows.shape[0]), *[(0, 0)] * (rows.ndim - 1)])
    inside = (jnp.arange(size) < items.length).reshape((size,) + (1,) * (rows.ndim - 1))
    return jnp.where(inside, rows, jnp.asarray(fill, rows.dtype))


def _sort(x: Any, **options: Any) -> tuple[None, Any]:
    return None, hooks.face.sort(x, **options)


CHANGES |= {
    "append": lambda x, value: (None, append(x, value)), "extend": lambda x, values: (None, extend(x, values)), "pop": lambda x, *i: pop(x, *i),
    "insert": lambda x, i, value: (None, insert(x, i, value)), "remove": lambda x, value: (None, remove(x, value)),
    "reverse": lambda x: (None, reverse_list(x)), "clear": lambda x: (None, clear(x)), "sort": _sort,
}  # fmt: skip
