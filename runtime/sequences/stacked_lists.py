"""Lists that a compiled loop has filled: their items are the rows of one array, and `jnp.stack(items)` is that array."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import jax
import jax.numpy as jnp

from autograph.runtime.jaxapi.origins import RowOrigin, runs_of_rows
from autograph.runtime.jaxapi.tracers import content
from autograph.runtime.jaxapi.traces import Tracer
from autograph.runtime.state.variable_reads import recorders
from autograph.runtime.tracing.trace_context import frames, of_block


class Column(NamedTuple):
    """The items of a list when a loop ended, what they were then, and the array of which those from `start` on are rows.

    It does not hold the list, of which it may count who does: of another one there the items are others.
    """

    held: tuple[Any, ...]
    values: tuple[Any, ...]
    start: int
    buffer: Any


def note_column(items: list[Any], start: int, buffer: Any) -> None:
    """The items of a list from `start` on are the first rows of a buffer behind as many others."""
    if (frame := of_block()) is not None:
        frame.columns[id(items)] = Column(tuple(items), tuple(map(content, items)), start, buffer)


def rows_in_column(items: Any) -> Any:
    """The array whose rows are the items of a list or tuple, if they are rows of one; else None."""
    if type(items) not in (list, tuple) or not items:
        return None
    noted = _noted(items)
    return noted if noted is not None or len(items) < _MANY else _found(items)


def _found(items: Sequence[Any]) -> Any:
    """The same by what the trace has recorded."""
    if not all(isinstance(x, Tracer) and not jnp.issubdtype(x.dtype, jax.dtypes.extended) for x in items):
        return None
    runs = runs_of_rows(items)
    if len(runs) > _FEW_RUNS or any(tape.sees(r.row) != tape.sees(r.array) for tape in recorders.active for r in runs if isinstance(r, RowOrigin)):
        return None
    shape, dtype = jnp.shape(items[-1]), jnp.result_type(items[-1])
    if any(jnp.shape(x) != shape or jnp.result_type(x) != dtype for x in items):
        return None
    parts = [r.value() if isinstance(r, RowOrigin) else jnp.asarray(r)[None] for r in runs]
    return parts[0] if len(parts) == 1 else jnp.concatenate(parts)


_MANY, _FEW_RUNS = 16, 4


def _noted(items: Any) -> Any:
    """The same of a list that has been noted."""
    found = next((c for frame in frames() if (c := frame.columns.get(id(items))) is not None), None)
    if found is None or len(items) != len(found.held) or not all(map(_stays, items, found.held, found.values)):
        return None
    rows, first = found.buffer[found.start : len(found.held)], found.held[: found.start]
    if any(jnp.shape(x) != rows.shape[1:] or jnp.result_type(x, rows) != rows.dtype for x in first):
        return None
    return jnp.concatenate([jnp.stack([jnp.asarray(x, rows.dtype) for x in first]), rows]) if first else rows


def _stays(now: Any, item: Any, value: Any) -> bool:
    """Whether an item is there as it was."""
    return now is item and content(item) is value


def made_of_column(name: str, make: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`jnp.array(items)`, `jnp.stack(items)` and the like of such a list, by name; NotImplemented of anything else."""
    rows = rows_in_column(args[0]) if args else None
    if rows is None:
        return NotImplemented
    if name in ("array", "asarray"):
        return make(rows, *args[1:], **kwargs)
    axis = _AXIS[name](rows.ndim - 1) if name in _AXIS else kwargs.get("axis", args[1] if len(args) > 1 else 0)
    joined = name.startswith("concat") or name in _AXIS and rows.ndim > (1 if name == "hstack" else 2)
    known = type(axis) is int and -rows.ndim + joined <= axis < rows.ndim - joined
    if not known or len(args) + len(kwargs) > 1 + (name not in _AXIS) or kwargs.keys() - {"axis"}:
        return NotImplemented  # JAX tells what is wrong
    if not joined:
        return jnp.moveaxis(rows, 0, axis) if rows.ndim > 1 or name != "vstack" else rows[:, None]
    axis %= rows.ndim - 1
    shape = rows.shape[1:]
    return jnp.moveaxis(rows, 0, axis).reshape(*shape[:axis], len(rows) * shape[axis], *shape[axis + 1 :])


_AXIS: Final[dict[str, Callable[[int], int]]] = {"vstack": lambda ndim: 0, "hstack": lambda ndim: int(ndim > 1), "column_stack": lambda ndim: 1}
MAKERS: Final = frozenset({"array", "asarray", "stack", "concatenate", "concat", *_AXIS})
