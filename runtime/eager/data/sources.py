"""Where the items of a dataset come from: the rows of arrays, datasets beside or behind each other, what Python iterates."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from autograph.runtime.arrays.variable_ref import value_of
from autograph.runtime.eager.data.distribution import rows, sharding_of
from autograph.runtime.eager.data.element_specs import conformed, is_spec, of_some_lengths
from autograph.runtime.eager.data.item_order import NO_ORDER_OF_PAIRS, Base, Irregular, Parts
from autograph.runtime.eager.variables import Variable
from autograph.runtime.errors.errors import DatasetError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import trees
from autograph.runtime.jaxapi.traces import Tracer


class Arrays:
    """Arrays with a common first axis, whose rows are the items.  They are state: a compiled function takes them as inputs."""

    def __init__(self, tensors: Any) -> None:
        tensors = of_lists(tensors)
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
        self.length: int = lengths[0]
        self._held = [x if isinstance(x, Tracer) else _kept(x) for x in arrays]
        self.traced = any(isinstance(x, Tracer) for x in arrays)
        self._spread = [sharding_of(x) for x in arrays]
        self._tree = trees.structure(tensors)
        self._host: list[np.ndarray] | None = None

    def rows(self, index: Any) -> Any:
        """The rows with some numbers, of the arrays that JAX has."""
        index = jnp.asarray(index)
        return self._tree.unflatten([rows(jnp.asarray(value_of(x)), index, how) for x, how in zip(self._held, self._spread, strict=True)])

    @property
    def base(self) -> int:
        return self.length

    def cardinality(self) -> int:
        return self.length

    def items(self, address: Any, axes: int) -> Any:
        return self.rows(address)

    def spec(self, more: int) -> Any:
        """What a row is."""
        return self._tree.unflatten([jax.ShapeDtypeStruct(value_of(x).shape[1:], value_of(x).dtype) for x in self._held])

    def __call__(self) -> Iterator[Any]:
        return map(self.rows_of_host, range(self.length))

    def first(self, count: int) -> Any:
        """The first rows."""
        return self._tree.unflatten([jnp.asarray(value_of(x))[:count] for x in self._held])

    def rows_of_host(self, index: Any) -> Any:
        """The same, of the host's memory."""
        if self._host is None:
            self._host = [np.asarray(value_of(x)) for x in self._held]
        return self._tree.unflatten([x[index] for x in self._host])


class _Several:
    """Datasets of which another one is made: a compiled loop takes their items by their numbers, Python iterates them."""

    behind = False

    def __init__(self, datasets: tuple[Any, ...]) -> None:
        self.datasets = datasets

    @functools.cached_property
    def base(self) -> Base:
        """The orders that it is made of, or why there are none."""
        return self._parts()

    def _parts(self) -> Base:
        bases = [d._base() for d in self.datasets]
        why = next((b for b in bases if isinstance(b, Irregular)), None)
        if why is not None:
            return why if self.behind else NO_ORDER_OF_PAIRS
        return Parts(tuple((d._numbers(), b) for d, b in zip(self.datasets, bases, strict=True)), self.behind)

    @property
    def traced(self) -> bool:
        return any(d._traced for d in self.datasets)

    def __call__(self) -> Iterator[Any]:
        raise NotImplementedError


class Zipped(_Several):
    """The items of datasets beside each other."""

    def __call__(self) -> Iterator[Any]:
        return zip(*self.datasets, strict=False)

    def cardinality(self) -> int:
        counts = [d.cardinality() for d in self.datasets]
        return -2 if -2 in counts else min((n for n in counts if n >= 0), default=-1)

    def items(self, address: Any, axes: int) -> Any:
        return tuple(d._item(each, axes) for d, each in zip(self.datasets, address, strict=True))

    def spec(self, more: int) -> Any:
        return tuple(d._spec(more) for d in self.datasets)


class Joined(_Several):
    """The items of datasets one after the other."""

    behind = True

    @functools.cached_property
    def base(self) -> Base:
        found = self._parts()
        if isinstance(found, Irregular):
            return found
        specs = [d._spec(0) for d in self.datasets]
        if any([x.shape for x in trees.leaves(s)] != [x.shape for x in trees.leaves(specs[0])] for s in specs):
            return Irregular("it concatenates items of several shapes", "let `map` make them of one shape, or loop over one after the other")
        return found

    def __call__(self) -> Iterator[Any]:
        return itertools.chain(*self.datasets)

    def cardinality(self) -> int:
        counts = [d.cardinality() for d in self.datasets]
        return -1 if -1 in counts else -2 if -2 in counts else sum(counts)

    def items(self, address: Any, axes: int) -> Any:
        if isinstance(address, dict):
            return self.datasets[-1]._item(address["last"], axes)
        which, *each = address
        if not axes:
            makes = [lambda each, d=d, k=k: d._item(each[k], 0) for k, d in enumerate(self.datasets)]
            return lax.switch(jnp.asarray(which), makes, each)
        found, *others = (d._item(x, axes) for d, x in zip(self.datasets, each, strict=True))
        for k, other in enumerate(others, 1):
            found = trees.map(lambda a, b: jnp.where(jnp.reshape(which == k, (*which.shape, *[1] * (jnp.ndim(a) - axes))), b, a), found, other)
        return found

    def spec(self, more: int) -> Any:
        return self.datasets[more]._spec(more)


class Iterated:
    """What Python iterates, anew each time; `specs` of its items, if they are known."""

    traced = False

    def __init__(self, make: Callable[[], Iterator[Any]], specs: Any = None, count: int = -2) -> None:
        self.make, self.specs, self.count = make, specs, count

    base = Irregular("its items come from a Python iterable", "iterate in Python, and call the compiled function for each item")

    def __call__(self) -> Iterator[Any]:
        if self.specs is not None:
            return (conformed(x, self.specs) for x in self.make())
        return map(as_arrays, self.make())

    def cardinality(self) -> int:
        return self.count

    def items(self, address: Any, axes: int) -> Any:
        raise NotImplementedError

    def spec(self, more: int) -> Any:
        if self.specs is None:
            raise DatasetError(
                "what the items of a Python iterable are is not known before they come", here(),
                "give `from_generator` an `output_signature`: `ag.TensorSpec(shape, dtype)`",
            )  # fmt: skip
        return trees.map(lambda s: of_some_lengths(s, more), self.specs, is_leaf=is_spec)


class KeptItems:
    """The items of a dataset, which are kept once all of them have come."""

    traced = False

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset
        self.kept: list[Any] | None = None

    @property
    def base(self) -> Irregular:
        why = self.dataset._irregular()
        return (
            why
            if why is not None
            else Irregular("what `cache` keeps has a last batch that is smaller", "write `cache` before `batch`, or `batch(n, drop_remainder=True)`")
        )

    def __call__(self) -> Iterator[Any]:
        return self._keeping() if self.kept is None else iter(self.kept)

    def _keeping(self) -> Iterator[Any]:
        kept = []
        for x in self.dataset:
            kept.append(x)
            yield x
        self.kept = kept

    def cardinality(self) -> int:
        return self.dataset.cardinality()  # type: ignore[no-any-return]

    def items(self, address: Any, axes: int) -> Any:
        raise NotImplementedError

    def spec(self, more: int) -> Any:
        return self.dataset._spec(more)


Source = Arrays | Zipped | Joined | Iterated | KeptItems


def _kept(x: Any) -> Any:
    return Variable(lambda: x, trainable=False, name="the arrays of a Dataset")


def as_arrays(item: Any) -> Any:
    """An item of a Python iterable: tuples and dicts are structure, a list is an array."""
    arrays = trees.map(np.asarray, item, is_leaf=lambda x: isinstance(x, list))
    if other := [x for x in trees.leaves(arrays) if x.dtype.kind in "USO"]:
        what = f"the text {str(other[0])[:20]!r}" if other[0].dtype.kind in "US" else "an object"
        raise DatasetError(f"an item of a Python iterable is no array: {what}", here(), "give numbers: texts as their codes (`np.frombuffer`)")
    return arrays


def of_lists(tensors: Any) -> Any:
    """Arrays, of which a list is one, as in TensorFlow; tuples and dicts are structure.

    Raises:
      DatasetError: (AG707) a list is no array.
    """
    return trees.map(_of_list, tensors, is_leaf=lambda x: isinstance(x, list))


def _of_list(x: Any) -> Any:
    if not isinstance(x, list):
        return x
    try:
        return jnp.asarray(trees.map(value_of, x, is_leaf=lambda v: v is None))
    except (TypeError, ValueError) as error:
        raise DatasetError(
            f"a list is given that is no array: {str(error).splitlines()[0]}", here(),
            "give numbers, in lists of one length; a tuple or a dict holds arrays beside each other",
        ) from None  # fmt: skip
