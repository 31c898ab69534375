"""Lists of numbers as one array behind the scenes, where a traced index says which number is stored.

    h[k] = v        `[h0, h1, ..., h(n-1)]` is stacked, and scattered into; the list holds the rows of what that gives

The next store finds that the items are the rows of one array, and takes the array.  So a store is one operation, whatever the length.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from autograph.runtime.jaxapi.origins import RowOrigin, runs_of_rows
from autograph.runtime.jaxapi.tracers import as_object
from autograph.runtime.jaxapi.traces import convert_type
from autograph.runtime.sequences.stacked_lists import rows_in_column
from autograph.runtime.state.variable_reads import recorders
from autograph.runtime.tracing.trace_context import in_attempt
from autograph.runtime.values.abstract_values import ArrayType, generalize, spec_of
from autograph.runtime.values.joins import Mismatch, join
from autograph.runtime.values.values import NUMBERS

FEWEST = 5  # numbers of a list, from which on they are one array


def joint_of_numbers(values: Sequence[Any]) -> ArrayType | None:
    """The type of the numbers of a list and of one that is stored, if it is a list of some length and they have a joint one; else None."""
    if len(values) <= FEWEST:
        return None
    try:
        joint = generalize(spec_of(values[0]))
        for x in values[1:]:
            if not isinstance(joint, ArrayType) or joint.shape or joint.axes:
                return None
            joint = generalize(join(joint, spec_of(x)))
    except Mismatch:
        return None
    return joint if isinstance(joint, ArrayType) and not joint.shape and not joint.axes and joint.dtype.kind in "biuf" else None


def stacked(column: Sequence[Any], joint: ArrayType) -> Any:
    """Numbers of one type as one array: that of which they are the rows, if they are."""
    if all(type(x) in NUMBERS for x in column):
        return jnp.asarray(np.array(column, joint.dtype))
    runs = runs_of_rows(column) if not recorders.active else []
    if len(runs) == 1 and isinstance(runs[0], RowOrigin) and runs[0].count == len(column) == runs[0].array.aval.shape[0] and runs[0].step == 1:
        return as_object(runs[0].array)
    rows = rows_in_column(tuple(column))
    return jnp.stack([jnp.asarray(x, joint.dtype) for x in column]) if rows is None else rows


def rows_of(array: Any, joint: ArrayType) -> list[Any]:
    """The numbers of an array, as rows of which `stacked` is the array."""
    parts = lax.split(array, [1] * array.shape[0])
    rows = [lax.squeeze(part, (0,)) for part in parts]
    return [as_object(convert_type(r, joint.dtype, True) if joint.weak else r) for r in rows]


def loaded_of_numbers(number: Any, i: Any) -> Any:
    """Marks a number that is taken out of a list of numbers: a loop in which it stays a Python scalar is not rolled (`scalar_intervals.py`)."""
    return number


def stored_into_numbers(number: Any, i: Any) -> Any:
    """Marks one that is stored into such a list."""
    return number


_loaded, _stored = jax.jit(loaded_of_numbers), jax.jit(stored_into_numbers)


def noted(x: Sequence[Any], number: Any, i: Any, stores: bool) -> Any:
    """A number of a list at a traced place, marked where a loop is tried and the list may hold Python numbers: these have weak types."""
    if not in_attempt() or not isinstance(number, jax.Array) or number.shape or not any(getattr(v, "weak_type", True) for v in x):
        return number
    return (_stored if stores else _loaded)(number, i)
