"""Items of lists and dicts, stored and deleted as the builtin class does it: methods of a class derived from it are the caller's to call."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from autograph.runtime.branches.object_phi import given_before, note_choice
from autograph.runtime.branches.state_writes import is_selectable, unless_failed_now
from autograph.runtime.errors.errors import ConcreteValueError, EffectError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi.scattering import put_at
from autograph.runtime.jaxapi.traces import is_reference
from autograph.runtime.loops.scalar_intervals import NotRollable
from autograph.runtime.operators.getitem import inside, load_content
from autograph.runtime.operators.moved_items import NO_PLACE, pop_from
from autograph.runtime.sequences.bounded_list import refuse_hidden
from autograph.runtime.sequences.number_lists import joint_of_numbers, noted, rows_of, stacked
from autograph.runtime.sequences.rows import unknown
from autograph.runtime.state.captured_state import record_write
from autograph.runtime.state.container_aliasing import containers_of
from autograph.runtime.state.escape_analysis import fewer
from autograph.runtime.state.recorded_writes import is_told, note_told
from autograph.runtime.state.state_refs import ContentsRef, base_of
from autograph.runtime.tracing.trace_context import in_attempt
from autograph.runtime.values.abstract_values import ArrayType, generalize, spec_of
from autograph.runtime.values.flatten import flatten, unflatten
from autograph.runtime.values.joins import join
from autograph.runtime.values.values import ATOMS


def store_content(x: Any, i: Any, value: Any) -> None:
    """`x[i] = value` of a list or dict.

    Raises:
      ConcreteValueError: (AG502) a traced key of a dict.
      EffectError: (AG405) a traced index of a list of lists or dicts.
    """
    refuse_hidden(x)
    if unknown(i):
        _store_traced(x, i, value)
        return
    there = _has(x, i)
    record_write(ContentsRef(x), late=not (there and is_selectable(value) and is_selectable(base_of(x).__getitem__(x, i))))
    if there:
        base_of(x).__setitem__(x, i, unless_failed_now(value, lambda: base_of(x).__getitem__(x, i)))
    else:
        base_of(x).__setitem__(x, i, value)
    note_told(ContentsRef(x))


def store_known(x: Any, i: Any, value: Any) -> bool:
    """`x[i] = value` of a list or dict whose changes have been told of, if what is stored, and what was there, is neither an array nor an object."""
    if type(value) not in ATOMS or not is_told(x):
        return False
    there = x.get(i) if type(x) is dict and type(i) in ATOMS else x[i] if type(x) is list and type(i) is int and -len(x) <= i < len(x) else x
    if type(there) not in ATOMS:
        return False
    x[i] = value
    return True


def delete_content(x: Any, i: Any) -> None:
    """`del x[i]` of a list or dict.

    Raises:
      ConcreteValueError: (AG502) a traced value says which, but for an index of a list.
    """
    if unknown(i) and not (type(x) is list and not isinstance(i, slice)):
        raise ConcreteValueError(f"a traced value says which item of this `{type(x).__name__}` is deleted", here(), "use a `jnp` array and a mask")
    refuse_hidden(x)
    record_write(ContentsRef(x))
    fewer(x)
    if unknown(i):
        pop_from(x, i, NO_PLACE)
    else:
        base_of(x).__delitem__(x, i)


def is_array(x: Any) -> bool:
    """Whether a store into `x` gives a new array."""
    return isinstance(x, jax.Array) and not is_reference(x)


def _has(x: Any, i: Any) -> bool:
    return i in x if isinstance(x, dict) else type(i) is int and -len(x) <= i < len(x)


def _store_traced(x: Any, i: Any, value: Any) -> None:
    """`x[i] = value` of a list and a traced index: each item is the value or what it was."""
    if not isinstance(x, list):
        raise ConcreteValueError(
            f"a traced value is the key of a store into a `{type(x).__name__}`", here(), "use a list or a `jnp` array, and integers as keys"
        )  # fmt: skip
    if i.shape != () or not jnp.issubdtype(i.dtype, jnp.integer):
        raise TypeError(f"list indices must be integers or slices, not {type(i).__name__}")
    if any(True for v in [*x, value] for _ in containers_of(v)):
        raise EffectError(
            "a traced index selects which inner list or dict is replaced, and other names may refer to it", here(),
            "store what is in it, `items[i][j] = v`, or use a `jnp` array",
        )  # fmt: skip
    if in_attempt() and any(v is None for v in x):  # what `rolling` would refuse in the end, after a choice for each item
        raise NotRollable("a list holds None before, and it is data-dependent where iterations store into it")
    i = inside(i, len(x), "list assignment index out of range")
    record_write(ContentsRef(x), late=False)
    if (numbers := joint_of_numbers([*x, value])) is not None:
        _store_number(x, i, value, numbers)
        return
    for k, old in enumerate(list(x)):
        joint = generalize(join(spec_of(old), spec_of(value)))
        flat = zip(flatten(value, joint), flatten(old, joint), strict=True)
        new = unflatten(joint, iter([jnp.where(i == k, new, before) for new, before in flat]))
        note_choice(new, [given_before(v, None, [v]) for v in (old, value)])
        base_of(x).__setitem__(x, k, unless_failed_now(new, functools.partial(_same, old)))


def _store_number(x: list[Any], i: Any, value: Any, joint: ArrayType) -> None:
    """The same of a list of numbers: they are rows of one array from then on, so that the next store, or a loop around, has that array."""
    (new,) = flatten(value, joint)
    before = stacked([flatten(old, joint)[0] for old in x], joint)
    new = noted(x, jnp.asarray(new, joint.dtype), i, stores=True)
    after = unless_failed_now(put_at(before, i, new), functools.partial(_same, before))
    for k, row in enumerate(rows_of(after, joint)):
        base_of(x).__setitem__(x, k, row)


def _same(x: Any) -> Any:
    return x


OF_ITEMS: dict[str, Callable[..., Any]] = {"__setitem__": store_content, "__delitem__": delete_content, "__getitem__": load_content}
