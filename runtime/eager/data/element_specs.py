"""What the items of a dataset are, before there is any: shapes and dtypes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph.runtime.calls.input_signature import TensorSpec
from autograph.runtime.errors.errors import DatasetError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import trees


@dataclass(frozen=True)
class DatasetSpec:
    """What the items of the datasets are that `window` gives."""

    element_spec: Any


def _taken(spec: TensorSpec, x: Any) -> np.ndarray:
    """An array of an item, as its spec says."""
    try:
        array = np.asarray(x, spec.dtype)
    except (TypeError, ValueError) as error:
        raise DatasetError(f"an item is no {spec.dtype}: {str(error).splitlines()[0]}", here(), _ADVICE) from None
    wanted = spec.shape
    if wanted is not None and (array.ndim != len(wanted) or any(m is not None and m != n for m, n in zip(wanted, array.shape, strict=True))):
        raise DatasetError(f"an item has shape {array.shape}, and `output_signature` says {wanted}", here(), _ADVICE)
    return array


_ADVICE = "let the generator give what the signature says; None stands for a length that changes"


def of_some_lengths(spec: TensorSpec, more: int) -> jax.ShapeDtypeStruct:
    """A spec with some number in the place of None."""
    if spec.shape is None:
        raise DatasetError("how many axes the items of a generator have is not known before they come", here(), "say it in `output_signature`")
    return jax.ShapeDtypeStruct(tuple(3 + more if n is None else n for n in spec.shape), spec.dtype)


def signature(specs: Any) -> Any:
    """What `output_signature` says, as `TensorSpec`s; anything with a shape and a dtype is one."""
    return trees.map(_spec, specs, is_leaf=is_spec)


def _spec(x: Any) -> TensorSpec:
    if not is_spec(x):
        raise DatasetError(f"`output_signature` has a `{type(x).__name__}`", here(), "give it `ag.TensorSpec(shape, dtype)`")
    return TensorSpec(x.shape, x.dtype)


def is_spec(x: Any) -> bool:
    return hasattr(x, "shape") and hasattr(x, "dtype")


def conformed(item: Any, specs: Any) -> Any:
    """An item of a generator as its signature says.

    Raises:
      DatasetError: (AG707) it has another structure, or an array another shape.
    """
    leaves, tree = trees.flatten(specs, is_leaf=is_spec)
    try:
        parts = tree.flatten_up_to(item)
    except (TypeError, ValueError):
        raise DatasetError(f"an item is a `{type(item).__name__}`, and `output_signature` has another structure", here(), _ADVICE) from None
    return tree.unflatten([_taken(spec, x) for spec, x in zip(leaves, parts, strict=True)])


def merged(one: Any, other: Any) -> Any:
    """The specs of items of which two have been looked at: a length that differs is None."""

    def both(a: Any, b: Any) -> Any:
        if isinstance(a, DatasetSpec):
            return DatasetSpec(merged(a.element_spec, b.element_spec))
        return TensorSpec(tuple(m if m == n else None for m, n in zip(a.shape, b.shape, strict=True)), a.dtype)

    return trees.map(both, one, other)


def struct(x: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


def longer(spec: Any, count: int) -> Any:
    """Of items that are stacked."""
    return trees.map(lambda x: jax.ShapeDtypeStruct((count, *x.shape), x.dtype), spec)


def agree(one: Any, other: Any) -> bool:
    """Whether items have one structure and the same dtypes, and numbers of axes."""
    a, b = trees.leaves(one), trees.leaves(other)
    return trees.structure(one) == trees.structure(other) and all(
        x.dtype == y.dtype and len(x.shape) == len(y.shape) for x, y in zip(a, b, strict=True)
    )


def shown(spec: Any) -> str:
    """As a message says it."""
    return str(trees.map(lambda x: Shown(f"{x.dtype}[{','.join(map(str, x.shape))}]"), spec))


class Shown(str):
    def __repr__(self) -> str:
        return str(self)


def padding(item_shape: tuple[int, ...], wanted: Any, named: str = "padded_shapes") -> tuple[int, ...]:
    """The shape that an item is padded to.

    Raises:
      DatasetError: (AG707) it has other axes, or is longer.
    """
    shape = tuple(wanted.shape) if is_spec(wanted) else tuple(wanted)
    found = tuple(n if m is None or m == -1 else int(m) for m, n in zip(shape, item_shape, strict=False))
    if len(shape) != len(item_shape) or any(m < n for m, n in zip(found, item_shape, strict=True)):
        raise DatasetError(f"`{named}` is {shape}, and an item has shape {item_shape}", here(), "give each axis its greatest length, or None")
    return found


def padded(x: Any, shape: tuple[int, ...], value: Any) -> Any:
    """An array with a value behind its ends."""
    if not shape:
        return x
    xp: Any = np if isinstance(x, np.ndarray) else jnp
    value = np.asarray(0 if value is None else value).astype(x.dtype) if not isinstance(value, jax.Array) else value
    return xp.pad(x, [(0, m - n) for m, n in zip(shape, x.shape, strict=True)], constant_values=value)
