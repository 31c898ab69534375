"""What a staged `for` runs over: a range with traced ends, or the rows of traced arrays.

`range`, `enumerate`, `zip` and `reversed` are Python's own unless a traced value is among their arguments.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from autograph.runtime import _jax
from autograph.runtime.errors import ConcreteValueError, NotStagedError
from autograph.runtime.optional import read
from autograph.runtime.places import here
from autograph.runtime.values import Maybe, Spec, Type, of_aval, type_of


class Range:
    """`range(start, stop, step)` with traced ends; the step is a Python integer."""

    def __init__(self, start: Any, stop: Any, step: int) -> None:
        self.start, self.stop, self.step = start, stop, step

    def __iter__(self) -> Any:
        raise ConcreteValueError(
            "a `range` with traced ends is iterated where that is not staged", here(), "iterate it by a `for` statement of a converted function"
        )


class Rows:
    """Items taken row by row from traced arrays: `item(i)` is the i-th, `spec` its type, `arrays` the arrays to scan over."""

    def __init__(self, length: int, item: Callable[[Any], Any], spec: Spec, arrays: Sequence[Any]) -> None:
        self.length, self.item, self.spec, self.arrays = length, item, spec, arrays

    def __iter__(self) -> Any:
        return (self.item(i) for i in builtins.range(self.length))

    def __len__(self) -> int:
        return self.length


def unknown(x: Any) -> bool:
    """Whether x is an array whose value is not known now."""
    return not _jax.concrete(x)


def rows_of(items: Any) -> Range | Rows | None:
    """What a staged loop runs over; None where Python iterates."""
    if isinstance(items, (Range, Rows)):
        return items
    if isinstance(items, Maybe):
        items = read(items)
    if not unknown(items):
        return None
    if items.ndim == 0:
        raise NotStagedError("iteration over a 0-d array", here(), "iterate over `range(n)`, or over an array with at least one axis")
    row = of_aval(items.aval)
    return Rows(items.shape[0], lambda i: _row(items, i), Type(row.shape[1:], row.dtype, row.weak), [items])


def _row(x: Any, i: Any) -> Any:
    return jax.lax.dynamic_index_in_dim(x, i, keepdims=False) if isinstance(i, jax.core.Tracer) else x[i]


def range(*args: Any) -> Any:
    """`range`, whose ends may be traced 0-d integers.

    Raises:
      ConcreteValueError: (AG502) the step is traced, or an end is not a 0-d integer.
    """
    args = tuple(read(a) for a in args)
    if not any(unknown(a) for a in args):
        return builtins.range(*args)
    start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
    if unknown(step):
        raise ConcreteValueError("the step of this `range` is traced", here(), "use a Python integer as step, or a `while` loop")
    for end in (start, stop):
        t = type_of(end)
        if t is None or t.shape != () or t.dtype.kind not in "iu":
            raise ConcreteValueError(f"`range` needs a 0-d integer, and this is {t}", here(), "round it: `x.astype(int)`")
    if step == 0:
        raise ValueError("range() arg 3 must not be zero")
    return Range(start, stop, int(step))


def enumerate(items: Any, start: Any = 0) -> Any:
    """`enumerate`, also of the rows of a traced array."""
    rows = rows_of(items)
    if rows is None:
        return builtins.enumerate(items, start)
    if isinstance(rows, Range):
        raise NotStagedError("`enumerate` of a range with traced ends", here(), "count in a variable of your own")
    counts = jnp.arange(rows.length, dtype=jnp.int32) + start
    count = type_of(counts)
    assert count is not None
    return Rows(
        rows.length, lambda i: (i + start, rows.item(i)), (Type((), count.dtype, count.weak), rows.spec), [counts, *rows.arrays]
    )  # fmt: skip


def zip(*parts: Any, strict: bool = False) -> Any:
    """`zip`, also of the rows of traced arrays."""
    rows = [rows_of(p) for p in parts]
    if all(r is None for r in rows):
        return builtins.zip(*parts, strict=strict)
    every = [r if r is not None else rows_of_static(p) for r, p in builtins.zip(rows, parts, strict=True)]
    if any(not isinstance(r, Rows) for r in every):
        return builtins.zip(*(r if isinstance(r, Rows) else p for r, p in builtins.zip(every, parts, strict=True)), strict=strict)
    both: list[Rows] = [r for r in every if isinstance(r, Rows)]
    lengths = [r.length for r in both]
    if strict and len(set(lengths)) > 1:
        raise ValueError(f"zip() arguments have different lengths: {lengths}")
    n = min(lengths)
    return Rows(
        n, lambda i: tuple(r.item(i) for r in both), tuple(r.spec for r in both),
        [a[:n] if a.shape[0] != n else a for r in both for a in r.arrays],
    )  # fmt: skip


def rows_of_static(items: Any) -> Rows | None:
    """The rows of a concrete array beside a traced one."""
    if not isinstance(items, jax.Array) or items.ndim == 0:
        return None
    row = type_of(items)
    assert row is not None
    return Rows(items.shape[0], lambda i: _row(items, i), Type(row.shape[1:], row.dtype, row.weak), [items])


def reversed(items: Any) -> Any:
    """`reversed`, also of a range with traced ends and of the rows of a traced array."""
    rows = rows_of(items)
    if rows is None:
        return builtins.reversed(items)
    if isinstance(rows, Range):
        turns = (rows.stop - rows.start + rows.step - (1 if rows.step > 0 else -1)) // rows.step
        return Range(rows.start + (turns - 1) * rows.step, rows.start - rows.step, -rows.step)
    return Rows(rows.length, lambda i: rows.item(rows.length - 1 - i), rows.spec, [a[::-1] for a in rows.arrays])
