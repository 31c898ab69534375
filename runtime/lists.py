"""Methods of lists that change their length: of a `Growing` they give a new one, which takes its variable's place."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import jax.numpy as jnp

from autograph.runtime import sections
from autograph.runtime.calls import call
from autograph.runtime.deferred import fail
from autograph.runtime.errors import EffectError
from autograph.runtime.frames import frames
from autograph.runtime.growing import Grow, Growing, held
from autograph.runtime.places import caller, here
from autograph.runtime.sections import Section
from autograph.runtime.specs import is_container, spec_of, type_of, widen
from autograph.runtime.values import Copied, ours

_HELD = 3  # references to an argument that nobody else holds: the caller's stack, the parameter, and the question


def append(x: Any, value: Any, count: int = 0) -> Any:
    """`x.append(value)`; gives what the name `x` is bound to afterwards.

    `count`: how many references to the value there are, but for callers' own.
    """
    if isinstance(x, Growing):
        _copied(value, count or sys.getrefcount(value))
        return x.appended(value)
    if type(x) is list and held(x):
        _copied(value, sys.getrefcount(value))
        raise Grow(x, widen(spec_of(value)))
    _note(x)
    call(x.append)(value)
    return x


def _note(x: Any) -> None:
    """The variable of this list is bound anew where its length changes: a branch around may take a `Growing` for it."""
    for f in frames():
        f.grows.setdefault(id(x), None)


def extend(x: Any, values: Iterable[Any]) -> Any:
    """`x.extend(values)` and `x += values`, likewise."""
    if not isinstance(x, Growing) and not (type(x) is list and held(x)):
        _note(x)
        call(x.extend)(values)
        return x
    for value in values:
        x = append(x, value)
    return x


def pop(x: Any) -> tuple[Any, Any]:
    """`x.pop()`, and what the name `x` is bound to afterwards."""
    if isinstance(x, Growing):
        fail(x.count <= 0, IndexError, "pop from empty list")
        x.kind.bound.change(-1)
        x.kind.bound.shrunk = True
        last = jnp.maximum(x.count - 1, 0)
        return x.row(last), Growing(x.kind, last, x.buffers)
    if type(x) is list and held(x):
        if not x:  # of what type the items of other turns are is not known yet: what follows may tell
            fail(True, IndexError, "pop from empty list")
        raise Grow(x, None)
    _note(x)
    return call(x.pop)(), x


def clear(x: Any) -> Any:
    """`x.clear()`; gives what the name `x` is bound to afterwards."""
    if isinstance(x, Growing):
        bound = x.kind.bound
        bound.top, bound.exact, bound.shrunk = 0, None, True
        return Growing(x.kind, jnp.zeros_like(jnp.asarray(x.count)), x.buffers)
    if type(x) is list and held(x) and x:
        raise Grow(x, None)
    _note(x)
    call(x.clear)()
    return x


def _copied(value: Any, count: int) -> None:
    """An item that is a list of its own is copied into the buffer: nobody else may hold it, but the block that has made it and leaves it alone."""
    if not is_container(value):
        return
    if count > _HELD + 1 and not _is_local(value, count):
        raise EffectError(
            f"a `{type(value).__name__}` that other code holds is appended to a list in a compiled loop, which keeps a copy", here(),
            "append a tuple, or a new list: `items.append(list(row))`",
        )  # fmt: skip
    for f in frames():
        f.copied[id(value)] = Copied(value, "it was appended to a list in compiled code, which keeps a copy", "append it when it is complete")


def _is_local(value: Any, count: int) -> bool:
    """Whether only a variable of the running block holds a container, which is none that the block was given."""
    frame = caller()
    if frame is None or any(id(value) in f.passed for f in frames()):
        return False
    names = [n for n, v in frame.f_locals.items() if v is value and n not in frame.f_code.co_freevars]
    return len(names) == 1 and count <= ours(value) + _HELD + 2


def padded(items: Any, size: int, fill: Any = 0) -> Any:
    """The items of a list as an array of `size` rows, filled up: for a list whose length only traced values know.

    Args:
      items: a list of numbers or of arrays of one shape; also one that a compiled loop has made longer, or a slice of unknown length (`x[:n]`).
      size: how many rows the array has.
      fill: the value of the rows behind the last item.

    Raises:
      IndexError: there are more items; where traced values decide, when the compiled program ends.

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
    if isinstance(items, Section):
        return sections.padded(items, size, fill)
    if not isinstance(items, Growing):
        if len(items) > size:
            raise IndexError(f"{len(items)} items do not fit {size} rows")
        rows = jnp.stack([jnp.asarray(x) for x in items]) if items else jnp.zeros((0,), jnp.asarray(fill).dtype)
        return jnp.full((size, *rows.shape[1:]), fill, rows.dtype).at[: len(items)].set(rows)
    if type_of(items.kind.spec) is None or len(items.buffers) != 1:
        raise TypeError("only numbers and arrays can be the rows of an array")
    fail(items.count > size, IndexError, f"the items do not fit {size} rows")
    rows = items.buffers[0]
    rows = rows[:size] if rows.shape[0] >= size else jnp.pad(rows, [(0, size - rows.shape[0]), *[(0, 0)] * (rows.ndim - 1)])
    inside = (jnp.arange(size) < items.count).reshape((size,) + (1,) * (rows.ndim - 1))
    return jnp.where(inside, rows, jnp.asarray(fill, rows.dtype))
