"""Lists that a compiled loop has filled: their items are the rows of one array, and `jnp.array(items)` is that array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp

from autograph.runtime.frames import frames, of_block

MAKERS = frozenset({"array", "asarray", "stack"})


class Column(NamedTuple):
    """The items of a list when a loop ended, and the array of which those from `start` on are rows.

    It does not hold the list, of which it may count who does: of another one there the items are others.
    """

    held: tuple[Any, ...]
    start: int
    buffer: Any


def note_column(items: list[Any], start: int, buffer: Any) -> None:
    """The items of a list from `start` on are the first rows of a buffer behind as many others."""
    if (frame := of_block()) is not None:
        frame.columns[id(items)] = Column(tuple(items), start, buffer)


def made_of_column(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`jnp.array(items)`, `jnp.stack(items)` of such a list; NotImplemented of anything else."""
    if not args or type(args[0]) is not list or f.__name__ == "stack" and (len(args) > 1 or kwargs):
        return NotImplemented
    found = next((c for frame in frames() if (c := frame.columns.get(id(args[0]))) is not None), None)
    if found is None or len(args[0]) != len(found.held) or any(a is not b for a, b in zip(args[0], found.held, strict=True)):
        return NotImplemented
    rows, first = found.buffer[found.start : len(found.held)], found.held[: found.start]
    if any(jnp.shape(x) != rows.shape[1:] or jnp.result_type(x, rows) != rows.dtype for x in first):
        return NotImplemented
    if first:
        rows = jnp.concatenate([jnp.stack([jnp.asarray(x, rows.dtype) for x in first]), rows])
    return f(rows, *args[1:], **kwargs) if f.__name__ != "stack" else rows
