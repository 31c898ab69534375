"""Stores into subscripts: an array of a trace is changed, anything else by its own `__setitem__`."""

from __future__ import annotations

import builtins
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from autograph.runtime.arrays.numpy_array import KINDS
from autograph.runtime.branches.conditional import staged_cond
from autograph.runtime.effects.optional_values import present, read
from autograph.runtime.errors.errors import AliasError, ArrayStoreError, EffectError, NumpyError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.host.host_effects import check_stored
from autograph.runtime.indexing.class_patching import is_held_elsewhere, stored_outside
from autograph.runtime.indexing.slice_stores import store_section
from autograph.runtime.indexing.stores import store
from autograph.runtime.jaxapi.tracers import Array, as_object
from autograph.runtime.jaxapi.traces import is_reference, recording
from autograph.runtime.operators.attributes import class_that_holds, holding, is_property, put_attr
from autograph.runtime.operators.container_items import delete_content, is_array, store_content, store_known
from autograph.runtime.operators.getitem import get_item, inside
from autograph.runtime.sequences.bounded_list import BoundedList
from autograph.runtime.sequences.derived_lists import as_section
from autograph.runtime.sequences.dynamic_slices import PaddedSlice
from autograph.runtime.sequences.rows import unknown
from autograph.runtime.state.captured_state import record_write
from autograph.runtime.state.container_aliasing import invalidate
from autograph.runtime.state.copies import rows_of
from autograph.runtime.state.state_refs import ContainerItems, ContentsRef, own_method
from autograph.runtime.tracing.hooks import call
from autograph.runtime.tracing.trace_context import in_block, watched
from autograph.runtime.values.abstract_values import is_container
from autograph.runtime.values.values import Maybe, Poison, traced

slice = builtins.slice


def set_item(x: Any, i: Any, value: Any) -> Any:
    """`x[i] = value`; returns what the name `x` is bound to afterwards: an array of a trace is the same object.

    Raises:
      ArrayStoreError: (AG403) an array from outside of the trace, which others hold as well.
    """
    if (type(x) is list or type(x) is dict) and store_known(x, i, value):
        return x
    x = read(x)
    if isinstance(x, Array):
        store_into(x, index_of(i), value)
        return x
    shared = is_held_elsewhere(x)
    return put_item(x, i, value, shared)


def put_item(x: Any, i: Any, value: Any, shared: bool) -> Any:
    """The same; `shared`: something else holds x."""
    i = index_of(i)
    if isinstance(x, (Array, np.ndarray, PaddedSlice)):
        i, value = as_section(i), as_section(value)
    if isinstance(x, Array):
        store_into(x, i, value)
        return x
    if isinstance(x, np.ndarray) and x.dtype.kind not in KINDS and (traced(value) or traced(i) or in_block()):
        fields = " of fields" if x.dtype.names else f" of {x.dtype}"
        raise NumpyError(
            f"a NumPy array{fields} holds concrete values only, and a traced one is stored into it", here(),
            "use an array of numbers for each field" if x.dtype.names else "use a list, or an array of numbers",
        )  # fmt: skip
    if isinstance(x, np.ndarray) and x.dtype.kind not in KINDS:
        x[i] = value
        return x
    if isinstance(x, (jax.Array, np.ndarray)) and not is_reference(x):
        return stored_outside(x, i, _present(value), shared)
    if isinstance(x, BoundedList):
        x.kind.bound.shrunk = True
        return x.with_row(x.inside(i, "list assignment index out of range"), value, x.length)
    if isinstance(x, PaddedSlice):
        store_section(x, i, _present(value))
        return x
    store_item(x, i, value)
    return x


def store_into(x: Array, i: Any, value: Any) -> None:
    """`x[i] = value` of an array of the trace."""
    store(x, as_section(i), _present(as_section(value)))


def _present(value: Any) -> Any:
    return present(value, "a value is needed, and None is stored") if isinstance(value, Maybe) else value


def index_of(i: Any) -> Any:
    """An index, of which None is Python's error."""
    if isinstance(i, Maybe):
        return present(i, "only integers, slices and arrays are valid indices, and this is None")
    return tuple(map(index_of, i)) if type(i) is tuple else i


def store_item(x: Any, i: Any, value: Any) -> None:
    """`x[i] = value`, by the object's own `__setitem__`.

    Raises:
      ArrayStoreError: (AG403) a traced value into a NumPy array that has no name to bind a new array to.
      ConcreteValueError: (AG502) a traced key of a dict.
    """
    if isinstance(x, Array):
        store_into(x, index_of(i), value)
        return
    if isinstance(x, np.ndarray) and (traced(value) or traced(i) or in_block()):
        raise ArrayStoreError(
            "a NumPy array that has no name here is stored into in compiled code", here(), "make it a `jnp` array before: `x = jnp.asarray(x)`"
        )
    if is_array(x) and watched():
        raise ArrayStoreError(
            "an array that has no name here is stored into", here(), "give it one: `x = ...`, then `x[i] = v`; or store through what holds it"
        )
    if not watched() or isinstance(x, jax.Array) and is_reference(x):
        x[i] = value
    elif (own := own_method(x, "__setitem__")) is not None:
        if is_container(x):
            record_write(ContentsRef(x))  # the method may be one that stays Python
        else:
            check_stored(x, value)
        call(own)(x, i, value)
    elif not is_container(x):
        check_stored(x, value)
        x[i] = value
    else:
        store_content(x, i, value)


def _store_inside(x: list[Any], i: Any, rest: tuple[Any, ...], value: Any) -> None:
    """`x[i][j] = value` of a list of lists and a traced index: each of them is stored into, if it is the one."""
    i = inside(i, len(x), "list index out of range")

    def store_one(k: int) -> None:
        new = set_path(x[k], rest, value)
        if new is not x[k]:
            record_write(ContentsRef(x))
            x[k] = new

    for k in range(len(x)):
        staged_cond(lax.eq(i, jnp.asarray(k, i.dtype)), functools.partial(store_one, k), _nothing, ())


def _nothing() -> None:
    return None


def del_item(x: Any, i: Any) -> None:
    """`del x[i]`."""
    if watched() and (own := own_method(x, "__delitem__")) is not None:
        if is_container(x):
            record_write(ContentsRef(x))
        call(own)(x, i)
    elif watched() and is_container(x):
        delete_content(x, i)
    else:
        del x[i]


def set_path(x: Any, path: tuple[Any, ...], value: Any) -> Any:
    """`x[i][j] = value`; returns what the name `x` is bound to afterwards."""
    x = read(x)
    shared = is_held_elsewhere(x)  # first: a call holds its arguments
    return put_path(x, path, value, shared)


def put_path(x: Any, path: tuple[Any, ...], value: Any, shared: bool) -> Any:
    """The same; `shared`: something else holds x."""
    i, *rest = path
    if not rest:
        return put_item(x, i, value, shared)
    if isinstance(x, Array):
        _store_part(x, path, value)
        return x
    if type(x) is list and unknown(i) and any(map(is_container, x)):
        _store_inside(x, i, tuple(rest), value)
        return x
    if isinstance(x, BoundedList):
        return _put_inside(x, x.inside(i, "list assignment index out of range"), tuple(rest), value)
    inner = get_item(x, i)
    held = not isinstance(x, (jax.Array, np.ndarray)) and is_held_elsewhere(inner)
    new = put_path(inner, tuple(rest), value, held)
    if new is inner:
        return x
    if type(x) is tuple:
        items = list(x)
        items[i] = new
        return tuple(items)
    if not is_container(x) and not is_array(x) and not hasattr(type(x), "__setitem__"):
        raise ArrayStoreError(
            f"an array that `{type(x).__name__}.__getitem__` returns is stored into, and the object does not hold it", here(),
            "store through what holds it, or write a `__setitem__`",
        )  # fmt: skip
    return put_item(x, i, new, shared)


def _put_inside(x: BoundedList, i: Any, path: tuple[Any, ...], value: Any) -> BoundedList:
    """`x[i][j] = value` of a list of data-dependent length: the item is a copy, and is stored back.

    Copies of items that were read before do not see it: nobody may read them any more.
    """
    inner = x.row(i)
    for row in rows_of(x.base):
        if isinstance(row, Array):
            raise AliasError(
                "an item of a list of data-dependent length is stored into, and a name holds one that was read before", here(),
                "read it again after the store (`row = items[i]`)",
            )  # fmt: skip
        now = ContentsRef(row).get()
        invalidate(row, ContainerItems(now.keys, [Poison(_read_before) for _ in now.values]))
    x.kind.bound.shrunk = True
    return x.with_row(i, put_path(inner, path, value, False), x.length)


def _read_before(read: bool) -> EffectError:
    return EffectError(
        "an item of a list of data-dependent length is read through a name that it got before the list changed: that is a copy",
        here(), "read it again after the store (`row = items[i]`)",
    )  # fmt: skip


def _store_part(x: Array, path: tuple[Any, ...], value: Any) -> None:
    """`x[i][j] = value` of an array of the trace: the part has no name, and is stored back."""
    i, *rest = path
    part = as_object(get_item(x, i))
    if len(rest) == 1:
        store_into(part, index_of(rest[0]), value)
    else:
        _store_part(part, tuple(rest), value)
    store_into(x, index_of(i), part)


def set_attr_item(obj: Any, name: str, i: Any, value: Any) -> Any:
    """`obj.name[i] = value`; returns what the attribute holds afterwards."""
    return set_attr_path(obj, name, (i,), value)


def set_attr_path(obj: Any, name: str, path: tuple[Any, ...], value: Any) -> Any:
    """`obj.name[i][j] = value`."""
    x = getattr(obj, name)
    if isinstance(x, Array):
        set_path(x, path, value)
        return x
    obj = class_that_holds(obj, name)
    if is_property(obj, name) and (is_array(x) or isinstance(x, np.ndarray) and recording()):  # Python would not ask the class to store
        if isinstance(obj, tuple):
            raise ArrayStoreError(
                f"`{type(obj).__name__}.{name}` is stored into, and a named tuple keeps the array that it was made with", here(),
                f"store into a copy, and make a new tuple: `a = t.{name}.copy()`, `a[i] = v`, `t = t._replace({name}=a)`",
            )  # fmt: skip
        if not (held := holding(obj, x)):
            raise ArrayStoreError(
                f"`{type(obj).__name__}.{name}` is stored into, a property whose array no attribute of the object holds", here(),
                f"give it a name: `x = obj.{name}`, then `x[i] = v`; or store through what holds it",
            )  # fmt: skip
        name = held[0]
    shared = is_held_elsewhere(x)
    new = put_path(x, path, value, shared)
    if new is not x:
        put_attr(obj, name, new)
    return new
