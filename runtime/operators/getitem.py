"""Loads from subscripts whose index is traced: of lists, tuples, ranges and NumPy arrays they are array indexing.

Out of bounds they are Python's IndexError, when the compiled program ends; a `jax.Array` clamps, as everywhere in JAX.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from autograph.runtime.arrays.array_aliasing import join_aliases, points_to
from autograph.runtime.arrays.indices import as_index
from autograph.runtime.arrays.numpy_array import MutableArray, is_known, item, view
from autograph.runtime.arrays.variable_ref import value_of
from autograph.runtime.arrays.view_index import Window, is_basic
from autograph.runtime.branches.traced_region import containers
from autograph.runtime.effects.error_codes import fail
from autograph.runtime.effects.optional_values import present, read
from autograph.runtime.errors.errors import ConcreteValueError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi.tracers import Array, as_object, content
from autograph.runtime.jaxapi.traces import Tracer, convert_type, is_reference
from autograph.runtime.sequences.derived_lists import as_section
from autograph.runtime.sequences.dynamic_slices import PaddedSlice
from autograph.runtime.sequences.number_lists import noted
from autograph.runtime.sequences.rows import unknown, weak_integers
from autograph.runtime.sequences.slicing import at_places, has_places, loaded_at_each, masked, sliced, split_index
from autograph.runtime.sequences.stacked_lists import rows_in_column
from autograph.runtime.sequences.subscripts import DynamicSlice, has_span, is_mask, load_span, settled, store_span
from autograph.runtime.state.captured_state import record_write
from autograph.runtime.state.container_aliasing import doubt_all
from autograph.runtime.state.recorded_writes import forget_told
from autograph.runtime.state.state_refs import ContentsRef, base_of, own_method
from autograph.runtime.state.type_text import describe
from autograph.runtime.tracing.trace_context import of_block, watched
from autograph.runtime.values.abstract_values import AbstractValue, Static, generalize, leaves, spec_of, types
from autograph.runtime.values.flatten import flatten, unflatten
from autograph.runtime.values.intervals import interval_of
from autograph.runtime.values.joins import Mismatch, join
from autograph.runtime.values.values import Copied, DynamicLength, Maybe, parts, traced

HAS_OPERATIONS_OF_THE_USER = True  # which may fail: see `is_fault`

AxisConcatenator = type(np.r_).__mro__[1]


def get_item(x: Any, i: Any) -> Any:
    """`x[i]`.

    Raises:
      ConcreteValueError: (AG502) a dict, a string or a list of unequal items is indexed by a traced value.
    """
    x, i = value_of(read(x)), read(i)
    i = i if isinstance(x, dict) else value_of(i)  # a Variable may be a key
    if isinstance(i, Maybe):
        i = present(i, f"{type(x).__name__} indices must be integers or slices, not NoneType")
    if isinstance(x, Maybe):
        x = present(x, "'NoneType' object is not subscriptable")
    if isinstance(x, DynamicLength):
        return x[i]
    if isinstance(i, DynamicLength) and isinstance(x, (jax.Array, np.ndarray)):
        i = as_section(i)
    if isinstance(x, MutableArray) and not has_span(i) and (is_basic(i) and split_index(i) is None or is_known(x) and not _is_traced(i)):
        if is_known(x) and _is_traced(i):
            i = _checked(x, i)
        return item(x, i)
    if isinstance(x, MutableArray) and has_span(i):
        known = tuple(
            builtins.slice(0, p.length) if type(p) is DynamicSlice else p for p in (i if type(i) is tuple and type(i) is not DynamicSlice else (i,))
        )
        return view(x, Window(settled(x, i), known, load_span, store_span))
    if is_known(x):
        x = content(x)  # a copy, as the next: what is stored into the array later is not what was read
    elif type(x) is np.ndarray and (has_span(i) or _is_traced(i)):
        x = np.array(x)
    if has_span(i):
        return load_span(x, i) if isinstance(x, (jax.Array, np.ndarray)) else _ends_needed(x)
    if isinstance(x, (jax.Array, np.ndarray)) and x.ndim and not is_reference(x):
        if (split := split_index(i)) is not None:
            return sliced(get_item(x, split[0]) if split[0] else x, split[1])
        if is_mask(i) and i.ndim:
            return masked(x, i)
        if isinstance(i, PaddedSlice) and i.ndim == 1 and jnp.issubdtype(i.dtype, jnp.integer):
            return at_places(x, i)
        if type(i) is tuple and has_places(i):
            return loaded_at_each(x, i)
    if isinstance(x, AxisConcatenator) and traced(i):
        return getattr(jnp, "r_" if isinstance(x, type(np.r_)) else "c_")[i]
    if isinstance(x, jax.Array) and 0 in x.shape:
        return _of_nothing(x, i)
    if isinstance(x, dict) and hasattr(type(x), "__missing__") and watched() and not unknown(i) and i not in x:
        record_write(ContentsRef(x))  # a `defaultdict` is about to make it
    if isinstance(x, jax.Array) or not (unknown(i) or (type(i) is tuple and any(map(unknown, i)))):
        return x[as_index(i) if isinstance(x, Tracer) else i]
    if isinstance(x, np.ndarray):
        return _from_array(x, i)
    if own_method(x, "__getitem__") is not None:
        return x[i]
    if isinstance(x, (list, tuple, builtins.range)) and unknown(i) and i.shape == () and jnp.issubdtype(i.dtype, jnp.integer):
        return _from_sequence(x, i)
    if isinstance(x, (dict, str, bytes)):
        raise ConcreteValueError(
            f"a `{type(x).__name__}` is indexed by a traced value", here(),
            "keep the number, and look the text up outside"
            if not isinstance(x, dict) or any(isinstance(v, str) for v in x.values())
            else "use a list or array of the values, indexed by an integer",
        )  # fmt: skip
    return x[i]


def load_content(x: Any, i: Any) -> Any:
    """`x[i]` of a list, tuple or dict as its builtin class has it: for `super().__getitem__(i)`."""
    i = read(i)
    if isinstance(x, (list, tuple)) and unknown(i) and i.shape == () and jnp.issubdtype(i.dtype, jnp.integer):
        return _from_sequence(x, i)
    if unknown(i) or has_span(i):
        return get_item(dict(x) if isinstance(x, dict) else list(x), i)
    return base_of(x).__getitem__(x, i)


def _ends_needed(x: Any) -> Any:
    raise ConcreteValueError(f"a `{type(x).__name__}` is sliced by traced values", here(), "use an array in its place")


def inside(i: Any, length: int, text: str) -> Any:
    """The index counted from the start; IndexError where it is out of bounds."""
    if length == 0:
        fail(True, IndexError, text)
    i = weak_integers(i)  # whatever its type can hold
    low, high = interval_of(i)
    if low is not None and high is not None and -length <= low and high < length and (low >= 0 or high < 0):
        return i if low >= 0 else i + length
    fail(lax.bitwise_or(jnp.any(i < -length), jnp.any(i >= length)), IndexError, text)
    return jnp.where(i < 0, i + length, i)


def _of_nothing(x: Any, i: Any) -> Any:
    """`x[i]` of an array without elements: an IndexError if it is reached."""
    try:
        return x[i]
    except IndexError as error:
        fail(True, IndexError, str(error).splitlines()[0])


def _is_traced(i: Any) -> bool:
    if isinstance(i, builtins.slice):
        return any(map(_is_traced, (i.start, i.stop, i.step)))
    return unknown(i) or isinstance(i, PaddedSlice) or type(i) is tuple and any(map(_is_traced, i))


def _checked(x: Any, i: Any) -> tuple[Any, ...]:
    """An index of a table that is known: what is out of bounds is Python's error."""
    parts = i if type(i) is tuple else (i,)
    axis = 0
    index: list[Any] = []
    for p in parts:
        if unknown(p) and jnp.issubdtype(p.dtype, jnp.integer) and axis < x.ndim and Ellipsis not in parts[: len(index)]:
            p = inside(p, x.shape[axis], f"index is out of bounds for axis {axis} with size {x.shape[axis]}")
        index.append(p)
        axis += p is not None
    return tuple(index)


def _from_array(x: Any, i: Any) -> Any:
    return jnp.asarray(x)[_checked(x, i)]


def _from_sequence(x: Sequence[Any], i: Any) -> Any:
    kind = "range object" if isinstance(x, builtins.range) else type(x).__name__ if type(x) in (list, tuple) else "list"
    i = inside(i, len(x), f"{kind} index out of range")
    if isinstance(x, builtins.range):
        return x.start + i * x.step
    x = [*base_of(x).__iter__(x)]  # methods of a class of the user's are asked for items only
    item = row_of(x, i, kind)
    if kind == "list":
        item = noted(x, item, i, stores=False)
    tie_to_items(item, x, i)
    if (frame := of_block()) is not None:
        for other in x:
            doubt_all(item, other)
        forget_told()
        for key in containers([item]):
            frame.copied[key] = Copied(
                item, f"it is an item of a {kind} at a traced index, and that is a copy", f"store through the {kind}: `items[i][j] = v`"
            )
    return item


def tie_to_items(item: Any, x: Sequence[Any], i: Any) -> None:
    """The arrays in an item at a traced place are those of the item that it is."""
    mine = arrays_of(item)
    columns = [arrays_of(other) for other in x]
    if mine and all(len(c) == len(mine) for c in columns):
        for k, array in enumerate(mine):
            join_aliases(array, [points_to(c[k]) for c in columns], functools.partial(_of_place, i))


def _of_place(i: Any, tags: Sequence[Any]) -> Any:
    return jnp.stack([jnp.asarray(t, np.int32) for t in tags])[i]


def arrays_of(value: Any) -> list[Array]:
    """The arrays of a trace in a value that may change."""
    return [x for x in parts(value) if isinstance(x, Array) and x.ndim]


def row_of(x: Sequence[Any], i: Any, kind: str, what: str = "") -> Any:
    """The i-th of some values of equal types; the index is inside."""
    x = [*map(value_of, x)]
    joint = joint_of_items(x, what or f"a {kind} is indexed by a traced value")
    columns = zip(*(flatten(item, joint) for item in x), strict=True)
    rows = [lax.dynamic_index_in_dim(_stacked(column), i, keepdims=False) for column in columns]
    typed = [convert_type(r, t.dtype, True) if t.weak else r for r, t in zip(rows, types([joint]), strict=True)]
    return unflatten(joint, iter(map(as_object, typed)))


def _stacked(column: tuple[Any, ...]) -> Any:
    rows = rows_in_column(column)
    return jnp.stack([jnp.asarray(c) for c in column]) if rows is None else rows


def joint_of_items(x: Sequence[Any], what: str) -> AbstractValue:
    """The spec of any of some values; ConcreteValueError (AG502) where a traced value cannot choose between them."""
    joint = spec_of(x[0])
    try:
        for item in x[1:]:
            spec = spec_of(item)
            if [t.shape for t in types([generalize(spec)])] != [t.shape for t in types([generalize(joint)])]:
                raise Mismatch("", joint, spec)
            joint = join(joint, spec)
    except Mismatch as m:
        usual = "give all items one type and shape, or choose with `if` or `match`"
        if (name := _one_class(m.a, m.b)) is not None:
            why, advice = f"its items are objects of `{name}`, which have no common type", _PYTREE
        else:
            why = f"its items differ: {describe(m.a)}, {describe(m.b)}"
            advice = "return the number, and look the text up outside" if _is_text(m.a) and _is_text(m.b) else usual
        raise ConcreteValueError(f"{what}, and {why}", here(), advice) from None
    joint = generalize(joint)
    if any(isinstance(leaf, Static) for leaf in leaves(joint)):
        raise ConcreteValueError(f"{what}, and its items are no arrays", here(), "choose with `if` or `match`")
    return joint


_PYTREE = "make its class a pytree (`@dataclass`, and `jax.tree_util.register_dataclass`), or keep what the objects hold in arrays"


def _one_class(a: Any, b: Any) -> str | None:
    """The name of the class of two objects, if it is one and the user's."""
    if not (isinstance(a, Static) and isinstance(b, Static)) or type(a.value) is not type(b.value) or callable(a.value):
        return None
    return type(a.value).__name__ if hasattr(a.value, "__dict__") else None


def _is_text(spec: Any) -> bool:
    return isinstance(spec, Static) and isinstance(spec.value, (str, bytes))
