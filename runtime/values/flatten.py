"""Values as flat arrays of the types that a spec wants, and back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any, Final

import jax.numpy as jnp
import numpy as np
from jax import lax

from autograph.runtime.arrays.numpy_array import numpys
from autograph.runtime.arrays.variable_ref import value_of
from autograph.runtime.jaxapi import trees
from autograph.runtime.jaxapi.tracers import Array
from autograph.runtime.jaxapi.traces import convert_type, varying
from autograph.runtime.values.abstract_values import SCALARS, TAG, AbstractValue, ArrayType, Option, Static, TreeNode, children, is_leaf, type_of
from autograph.runtime.values.joins import covers
from autograph.runtime.values.values import NONE, NUMBERS, SET, UNSET, Blank, Maybe, Unset, blank


class _Uses(threading.local):
    """How often a blank has been given a type, or an unset variable has been read, in this thread."""

    count = 0


blank_uses: Final = _Uses()


def to_type(x: Any, t: ArrayType) -> Any:
    """`x` widened to an array of type `t`; never narrowed."""
    return varying(_to_type(x, t), t.axes) if t.axes else _to_type(x, t)


def _to_type(x: Any, t: ArrayType) -> Any:
    traced = type(x) is Array
    if not traced and isinstance(x, Blank):
        blank_uses.count += x is blank
        if t.weak:
            return SCALARS[t.dtype.kind](0) if t.shape == () else convert_type(jnp.zeros(t.shape, t.dtype), t.dtype, True)
        return lax.full(t.shape, 0, t.dtype) if not isinstance(t.dtype, np.dtype) else np.zeros(t.shape, t.dtype)
    if not traced and isinstance(x, NUMBERS) and not isinstance(x, np.generic):
        if isinstance(x, int) and t.dtype.kind in "iu" and not np.iinfo(t.dtype).min <= x <= np.iinfo(t.dtype).max:
            raise OverflowError(f"{x} does not fit {t}")
        if t.weak and t.shape == () and t.dtype.kind in SCALARS:
            return SCALARS[t.dtype.kind](x)
        if t.weak and t.shape:
            return convert_type(jnp.full(t.shape, x, t.dtype), t.dtype, True)
        x = np.full(t.shape, x, t.dtype) if t.shape else t.dtype.type(x)
    have = type_of(x)
    assert have is not None and covers(t, have), f"{have} would be narrowed to {t}"
    if (have.dtype, have.weak) != (t.dtype, t.weak):
        x = convert_type(jnp.asarray(x), t.dtype, t.weak)
    return x if have.shape == t.shape else lax.broadcast(x, t.shape)


def flatten(v: Any, spec: AbstractValue, convert: Callable[[Any, ArrayType], Any] = to_type) -> list[Any]:
    """The arrays of a value in the form that `spec` wants, flat."""
    if isinstance(spec, ArrayType):
        return [convert(value_of(v), spec)]
    if isinstance(spec, Static):
        return []
    if isinstance(spec, Option):
        if isinstance(v, Unset):
            blank_uses.count += 1
        if isinstance(v, Maybe):
            inner, tag = v.value, v.tag
        else:
            inner, tag = (blank, UNSET) if isinstance(v, Unset) else (blank, NONE) if v is None else (v, SET)
        return flatten(inner, spec.value, convert) + [convert(np.int8(tag) if type(tag) is int else tag, TAG)]
    inner_specs = children(spec)[0]
    values = [v] * len(inner_specs) if isinstance(v, Blank) else children(v)[0]
    return [x for w, s in zip(values, inner_specs, strict=True) for x in flatten(w, s, convert)]


def unflatten(spec: AbstractValue, flat: Iterator[Any]) -> Any:
    """The value of `spec` whose arrays are the next ones of `flat`."""
    return _unpacked(spec, flat, TreeNode.made)


def unpack_variables(spec: AbstractValue, flat: Iterator[Any]) -> Any:
    """The same of variables of a jaxpr, for `flatten`: no object of the user's is made of them."""
    return _unpacked(spec, flat, lambda node, parts: TreeNode(node.tree, node.keys, parts))


def _unpacked(spec: AbstractValue, flat: Iterator[Any], make: Callable[[TreeNode, list[Any]], Any]) -> Any:
    if isinstance(spec, ArrayType):
        return numpys(next(flat)) if spec.numpys else next(flat)
    if isinstance(spec, Static):
        return spec.value
    if isinstance(spec, Option):
        value = _unpacked(spec.value, flat, make)
        return Maybe(value, next(flat), spec.bits, spec.name)
    if isinstance(spec, TreeNode):
        return make(spec, [_unpacked(part, flat, make) for part in spec.parts])
    return trees.map(lambda s: _unpacked(s, flat, make), spec, is_leaf=lambda s: is_leaf(s) or isinstance(s, (Option, TreeNode)))


def as_is(x: Any, _: ArrayType) -> Any:
    """For `flatten`: no conversion."""
    return x
