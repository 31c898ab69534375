"""Where the items of a dataset come from: the rows of arrays, or datasets beside each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np

from autograph.runtime.arrays.handles import value_of
from autograph.runtime.datasets.spread import rows, sharding_of
from autograph.runtime.eager.variables import Variable
from autograph.runtime.jaxapi import trees
from autograph.runtime.jaxapi._jax import Tracer
from autograph.runtime.messages.errors import DatasetError
from autograph.runtime.messages.places import here


class Arrays:
    """Arrays with a common first axis, whose rows are the items.  They are state: a compiled function takes them as inputs."""

    def __init__(self, tensors: Any) -> None:
        leaves = trees.leaves(tensors)
        if not leaves:
            raise DatasetError("`from_tensor_slices` is given no array", here(), "give it an array, or a tuple or dict of arrays")
        try:
            arrays = [x if isinstance(x, Tracer) else jnp.asarray(value_of(x)) for x in leaves]
        except (TypeError, ValueError) as error:
            raise DatasetError(f"`from_tensor_slices` is given what is no array: {str(error).splitlines()[0]}", here(), "give it numbers") from None
        if bare := [x for x in arrays if not x.ndim]:
            raise DatasetError(f"`from_tensor_slices` is given {bare[0].dtype}[], which has no rows", here(), "give it arrays with at least one axis")
        lengths = [x.shape[0] for x in arrays]
        if len(set(lengths)) > 1:
            raise DatasetError(f"the arrays have {' and '.join(map(str, dict.fromkeys(lengths)))} rows", here(), "give arrays with as many rows each")
        self.length = lengths[0]
        self._held = [x if isinstance(x, Tracer) else _kept(x) for x in arrays]
        self.traced = any(isinstance(x, Tracer) for x in arrays)
        self._spread = [sharding_of(x) for x in arrays]
        self._tree = trees.structure(tensors)
        self._host: list[np.ndarray] | None = None

    def rows(self, index: Any) -> Any:
        """The rows with some numbers, of the arrays that JAX has."""
        index = jnp.asarray(index)
        return self._tree.unflatten([rows(jnp.asarray(value_of(x)), index, how) for x, how in zip(self._held, self._spread, strict=True)])

    def first(self, count: int) -> Any:
        """The first rows."""
        return self._tree.unflatten([jnp.asarray(value_of(x))[:count] for x in self._held])

    def rows_of_host(self, index: Any) -> Any:
        """The same, of the host's memory."""
        if self._host is None:
            self._host = [np.asarray(value_of(x)) for x in self._held]
        return self._tree.unflatten([x[index] for x in self._host])


class Zipped:
    """The items of datasets that have orders of their own, as Python iterates them beside each other."""

    def __init__(self, datasets: tuple[Any, ...]) -> None:
        self.datasets = datasets

    def __call__(self) -> Iterator[Any]:
        return zip(*self.datasets, strict=False)

    def cardinality(self) -> int:
        counts = [d.cardinality() for d in self.datasets]
        return -2 if -2 in counts else min((n for n in counts if n >= 0), default=-1)


def _kept(x: Any) -> Any:
    return Variable(lambda: x, trainable=False, name="the arrays of a Dataset")


def as_arrays(item: Any) -> Any:
    """An item of a Python iterable: tuples and dicts are structure, a list is an array."""
    return trees.map(np.asarray, item, is_leaf=lambda x: isinstance(x, list))
