"""`sorted` of traced values: a list, stable by `<`; with nan in it the order is that of `jnp.sort`.  `items.sort()`, and `list` of such a list."""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from autograph.runtime.branches.object_phi import given_before, note_choice
from autograph.runtime.errors.errors import NotStagedError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.operators.folds import Each, collected, each
from autograph.runtime.operators.getitem import row_of
from autograph.runtime.sequences.bounded_list import BoundedList, of_rows
from autograph.runtime.sequences.derived_lists import in_order
from autograph.runtime.sequences.dynamic_slices import PaddedSlice
from autograph.runtime.sequences.rows import Range, unknown
from autograph.runtime.tracing.hooks import call
from autograph.runtime.values.abstract_values import generalize, spec_of, types
from autograph.runtime.values.flatten import flatten
from autograph.runtime.values.joins import Mismatch, join
from autograph.runtime.values.values import traced


def sorted(items: Any, /, *, key: Any = None, reverse: Any = False) -> Any:
    """`sorted`, by keys that may be traced numbers or tuples of them.

    Raises:
      NotStagedError: (AG501) the keys are traced and no numbers.
    """
    if not (unknown(items) or isinstance(items, Each) or _jax.recording()):
        return builtins.sorted(items, key=key, reverse=reverse)
    if isinstance(items, BoundedList) and unknown(items.length):
        keys: Any = items if key is None else collected(each(items, call(key)))
        return in_order(items, keys, bool(reverse))
    values = builtins.list(items)
    keys = values if key is None else [call(key)(x) for x in values]
    if not traced(keys):
        return [values[k] for k in builtins.sorted(range(len(values)), key=keys.__getitem__, reverse=reverse)]
    if (order := _told_apart(keys, bool(reverse))) is not None:
        return [values[k] for k in order]
    columns = [_column(c) for c in zip(*keys, strict=True)] if all(isinstance(k, tuple) for k in keys) else [_column(keys)]
    if reverse:  # stable all the same
        columns = [c[::-1] for c in columns]
    places = jnp.lexsort(tuple(columns[::-1]))
    if reverse:
        places = (len(values) - 1 - places)[::-1]
    out = [row_of(values, places[k], "list", "traced values say in which order the items come") for k in range(len(values))]
    for x in out:
        note_choice(x, [given_before(value, None, values) for value in values])
    return out


def sort(x: Any, *, key: Any = None, reverse: Any = False) -> Any:
    """`x.sort()`; gives what the name `x` is bound to afterwards."""
    if isinstance(x, BoundedList) and unknown(x.length):
        ordered = sorted(x, key=key, reverse=reverse)
        x.kind.bound.shrunk = True
        return BoundedList(x.kind, x.length, ordered.buffers)
    call(x.sort)(**({} if key is None else {"key": key}), **({} if reverse is False else {"reverse": reverse}))
    return x


def list(items: Any = (), /) -> Any:  # noqa: A001
    """`list(items)`: of what is data-dependent the length of (a list, an array, `enumerate(kept)`, `reversed(kept)`) a new list."""
    if isinstance(items, PaddedSlice) and unknown(items.length):
        return of_rows(items.rows, items.length)
    if isinstance(items, Range) and items.static is None:
        return collected(each(items, lambda x: x))
    return items.copy() if isinstance(items, BoundedList) and unknown(items.length) else builtins.list(items)


def _told_apart(keys: Sequence[Any], reverse: bool) -> builtins.list[int] | None:
    """The order of tuples of which the parts before the traced ones are all different, as Python finds it."""
    if not all(isinstance(k, tuple) for k in keys):
        return None
    known = [tuple(itertools.takewhile(lambda part: not traced(part), k)) for k in keys]
    try:
        order = builtins.sorted(range(len(keys)), key=known.__getitem__, reverse=reverse)
    except TypeError:  # Python's comparison would come to the traced parts, or fail
        return None
    different = all(
        any(a != b for a, b in zip(known[i], known[j], strict=False)) for i, j in itertools.pairwise(order)
    )  # fmt: skip
    return order if different else None


def _column(keys: Sequence[Any]) -> Any:
    joint = spec_of(keys[0])
    try:
        for key in keys[1:]:
            joint = join(joint, spec_of(key))
        (t,) = types([generalize(joint)])
    except (Mismatch, ValueError):
        t = None
    if t is None or t.shape != ():
        raise NotStagedError("`sorted` by traced values that are no numbers", here(), "sort by a number, or by a tuple of numbers")
    return jnp.stack([jnp.asarray(x) for key in keys for x in flatten(key, generalize(joint))])
