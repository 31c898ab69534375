"""`ag.data`: arrays, or anything that Python iterates, gone over in batches: eagerly, and in a compiled function as one compiled loop."""

from __future__ import annotations

import builtins
import functools
import operator
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from autograph.runtime.arrays.variable_ref import value_of
from autograph.runtime.calls.callees import call
from autograph.runtime.calls.function import jit
from autograph.runtime.calls.input_signature import TensorSpec
from autograph.runtime.eager.data.element_specs import DatasetSpec as DatasetSpec
from autograph.runtime.eager.data.element_specs import agree, shown, signature
from autograph.runtime.eager.data.functions import Filter, FlatMapped, Interleave, Map, Padded, Unbatch, pad_each
from autograph.runtime.eager.data.item_order import Irregular, Step
from autograph.runtime.eager.data.items import DatasetItems
from autograph.runtime.eager.data.iterators import DatasetIterator as DatasetIterator
from autograph.runtime.eager.data.sources import Arrays, Iterated, Joined, KeptItems, Zipped, of_lists
from autograph.runtime.errors.errors import DatasetError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi import trees

__all__ = [
    "AUTOTUNE", "Dataset", "DatasetIterator", "DatasetSpec", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)


AUTOTUNE = -1  # for `prefetch`, as in TensorFlow
INFINITE_CARDINALITY, UNKNOWN_CARDINALITY = -1, -2  # what `cardinality` gives


class Dataset(DatasetItems):
    """Items, one after the other: rows of arrays, batches of them, or what a function makes of these.

    Python iterates it; `for x, y in dataset:` in an `ag.function` is one compiled loop, in which the arrays are inputs and no constants.  Each method
    gives another dataset.  Shuffled datasets have another order each time they are gone over, the same one in Python and compiled.

    The semantics are those of `tf.data.Dataset` (https://www.tensorflow.org/api_docs/python/tf/data/Dataset), of which it has the methods below.

    >>> import jax.numpy as jnp, autograph as ag
    >>> dataset = ag.data.Dataset.from_tensor_slices((jnp.arange(5), jnp.arange(5) ** 2)).batch(2)
    >>> for x, y in dataset:
    ...     print(x, y)
    [0 1] [0 1]
    [2 3] [4 9]
    [4] [16]
    >>> @ag.function
    ... def total():
    ...     sum_ = 0
    ...     for x, y in dataset:
    ...         sum_ += (x * y).sum()
    ...     return sum_
    >>> int(total())
    100
    """

    @classmethod
    def from_tensor_slices(cls, tensors: Any) -> Dataset:
        """The rows of arrays.

        Args:
          tensors: an array of shape (n, ...), or a tuple, dict or other pytree of such, with the same n; an item has the same structure.  A list is
            one array, as in TensorFlow.

        Raises:
          DatasetError: (AG707) there is no array, or they have different numbers of rows.

        https://www.tensorflow.org/api_docs/python/tf/data/Dataset#from_tensor_slices

        >>> import autograph as ag
        >>> [int(x) for x in ag.data.Dataset.from_tensor_slices([8, 3, 0])]
        [8, 3, 0]
        """
        return cls(Arrays(tensors))

    @classmethod
    def from_tensors(cls, tensors: Any) -> Dataset:
        """One item: the arrays as they are; a list is one array.

        https://www.tensorflow.org/api_docs/python/tf/data/Dataset#from_tensors

        >>> import autograph as ag
        >>> [x.tolist() for x in ag.data.Dataset.from_tensors([8, 3, 0])]
        [[8, 3, 0]]
        """
        return cls(Arrays(trees.map(lambda x: jnp.asarray(value_of(x))[None], of_lists(tensors))))

    @classmethod
    def range(cls, *args: int, output_type: Any = np.int32) -> Dataset:
        """The integers of Python's `range`, as int32.

        https://www.tensorflow.org/api_docs/python/tf/data/Dataset#range

        >>> import autograph as ag
        >>> [int(x) for x in ag.data.Dataset.range(5, 0, -2)]
        [5, 3, 1]
        """
        return cls(Arrays(np.arange(*args).astype(output_type)))

    @classmethod
    def from_generator(
        cls, generator: Callable[..., Iterable[Any]] | Iterable[Any], output_types: Any = None, output_shapes: Any = None, args: Any = (),
        output_signature: Any = None,
    ) -> Dataset:  # fmt: skip
        """What Python iterates, each time from its start: a list, a loader of another library, or a function that gives an iterator.

        A compiled loop cannot go over it: iterate in Python, and call a compiled function for each item.

        Args:
          generator: a function that is called with `args` each time that the dataset is gone over, or an iterable.
          output_signature: a `TensorSpec` for each array of an item, or anything with a shape and a dtype: the items are made of these dtypes, and
            their shapes are checked.  `output_types` and `output_shapes` say the same in two parts.

        Raises:
          DatasetError: (AG707) the iterable can be iterated once; when items come, that one is not as the signature says.

        https://www.tensorflow.org/api_docs/python/tf/data/Dataset#from_generator

        >>> import autograph as ag
        >>> dataset = ag.data.Dataset.from_generator(lambda: (k * k for k in range(3)), output_signature=ag.TensorSpec((), "float32"))
        >>> [float(x) for x in dataset], [float(x) for x in dataset]
        ([0.0, 1.0, 4.0], [0.0, 1.0, 4.0])
        """
        specs = None if output_signature is None else signature(output_signature)
        if output_types is not None and output_signature is None and output_shapes is not None:
            leaves, tree = trees.flatten(output_types)
            specs = tree.unflatten([TensorSpec(shape, t) for t, shape in builtins.zip(leaves, tree.flatten_up_to(output_shapes), strict=True)])
        if callable(generator):
            make: Callable[[], Iterator[Any]] = lambda: iter(generator(*args))  # noqa: E731
        elif iter(generator) is generator:
            raise DatasetError(
                f"a `{type(generator).__name__}` can be iterated once", here(), "give a function that makes it: `from_generator(lambda: ...)`"
            )
        else:
            make = lambda: iter(generator)  # noqa: E731
        if output_types is not None and specs is None:
            given = make
            make = lambda: (trees.map(lambda t, x: np.asarray(x, t), output_types, x) for x in given())  # noqa: E731
        return cls(Iterated(make, specs))

    @classmethod
    def sample_from_datasets(
        cls, datasets: Sequence[Dataset], weights: Sequence[float] | None = None, seed: int | None = None, stop_on_empty_dataset: bool = False
    ) -> Dataset:
        """The items of several datasets in a random order: each item comes from one that is chosen by the weights.

        A compiled loop cannot go over it.

        Args:
          weights: how often each is chosen; by default equally often.
          seed: of the choices; with one they are the same each time that the dataset is gone over.
          stop_on_empty_dataset: whether it ends with the first that ends; else the others go on.

        As `tf.data.Dataset.sample_from_datasets` (https://www.tensorflow.org/api_docs/python/tf/data/Dataset#sample_from_datasets).

        >>> import autograph as ag
        >>> a, b = ag.data.Dataset.range(3), ag.data.Dataset.range(10, 13)
        >>> sorted(int(x) for x in ag.data.Dataset.sample_from_datasets([a, b], [0.5, 0.5], seed=1))
        [0, 1, 2, 10, 11, 12]
        """

        def make() -> Iterator[Any]:
            rng = np.random.default_rng(seed)
            left = {k: iter(d) for k, d in builtins.enumerate(datasets)}
            shares = np.ones(len(left)) if weights is None else np.asarray(weights, float)
            while left:
                numbers = [*left]
                of_them = shares[numbers]
                k = int(rng.choice(numbers, p=of_them / of_them.sum())) if of_them.sum() > 0 else numbers[0]
                try:
                    yield next(left[k])
                except StopIteration:
                    del left[k]
                    if stop_on_empty_dataset:
                        return

        return cls(Iterated(make))

    @classmethod
    def zip(cls, *datasets: Any) -> Dataset:
        """The items of several datasets beside each other, as tuples, as many as the shortest has.

        They are arguments of their own, or one tuple or dict.

        A compiled loop goes over it if it could go over each of them.

        https://www.tensorflow.org/api_docs/python/tf/data/Dataset#zip

        >>> import numpy as np, autograph as ag
        >>> images = ag.data.Dataset.from_tensor_slices(np.arange(6.0).reshape(3, 2)).map(lambda x: x / 5)
        >>> labels = ag.data.Dataset.from_tensor_slices(np.array([0, 1, 1]))
        >>> for x, y in ag.data.Dataset.zip(images, labels).batch(2):
        ...     print(x.shape, y)
        (2, 2) [0 1]
        (1, 2) [1]

        Raises:
          DatasetError: (AG707) something else is zipped.
        """
        given = tuple(datasets[0]) if len(datasets) == 1 and isinstance(datasets[0], (tuple, list)) else datasets
        if any(isinstance(x, (tuple, dict)) for x in given):
            parts, tree = trees.flatten(given[0] if len(given) == 1 else given)
            return cls.zip(tuple(parts)).map(lambda *items: tree.unflatten(items))
        for x in given or (None,):
            if not isinstance(x, Dataset):
                raise DatasetError(f"`zip` is given a `{type(x).__name__}`", here(), "give it datasets: `Dataset.zip(a, b)`")
        sources = [d._source for d in given]
        if not all(isinstance(s, Arrays) for s in sources) or any(type(s) is not Map for d in given for s in d._steps):
            return cls(Zipped(given))
        length = min(s.length for s in sources)
        beside = cls(Arrays(tuple(s.first(length) for s in sources)))
        return (
            beside.map(lambda *parts: tuple(d._made(x, (), 0) for d, x in builtins.zip(given, parts, strict=True)))
            if any(d._steps for d in given)
            else beside
        )

    def shuffle(self, buffer_size: int, seed: int | None = None, reshuffle_each_iteration: bool = True) -> Dataset:
        """The items in a random order.

        Args:
          buffer_size: the item that comes next is drawn from as many; with at least as many as there are items all orders are as likely.
          seed: two datasets with one seed have the same orders; by default it is a random one.
          reshuffle_each_iteration: whether the order is another one each time.

        https://www.tensorflow.org/api_docs/python/tf/data/Dataset#shuffle
        """
        buffer_size = _check_size("shuffle", buffer_size, 1)
        number = secrets.randbits(31) if seed is None else int(seed)
        return self._and(Step("shuffle", buffer_size, again=reshuffle_each_iteration, seed=number))

    def repeat(self, count: int | None = None) -> Dataset:
        """The items several times; without end for None or -1."""
        return self._and(Step("repeat", None if count is None or count == -1 else _check_size("repeat", count, 0)))

    def batch(self, batch_size: int, drop_remainder: bool = False, num_parallel_calls: int | None = None, deterministic: Any = None) -> Dataset:
        """As many items at once, stacked along a new first axis.

        Args:
          drop_remainder: whether a last batch that would be smaller is left out.
          num_parallel_calls, deterministic: without meaning here.

        Raises:
          DatasetError: (AG707) the items are windows; or, when they come, have several shapes.

        https://www.tensorflow.org/api_docs/python/tf/data/Dataset#batch
        """
        self._check_no_windows("batch")
        return self._and(Step("batch", _check_size("batch", batch_size, 1), drop=drop_remainder))

    def take(self, count: int) -> Dataset:
        """The first items; all for -1."""
        return self if count == -1 else self._and(Step("take", _check_size("take", count, 0)))

    def skip(self, count: int) -> Dataset:
        """All but the first items."""
        return self._and(Step("skip", _check_size("skip", count, 0)))

    def map(self, function: Callable[..., Any], num_parallel_calls: int | None = None, deterministic: Any = None) -> Dataset:
        """What a function makes of each item: it is converted and compiled, and may have `if` and `while` on the values.

        Args:
          function: of an item; of its parts if the items are tuples.
          num_parallel_calls, deterministic: without meaning here: XLA computes the items of a batch at once.

        https://www.tensorflow.org/api_docs/python/tf/data/Dataset#map
        """
        return self._and(Map(function, self._opening()))

    def filter(self, predicate: Callable[..., Any]) -> Dataset:
        """The items of which a function is true.  Their number is not known before, so that no compiled loop can go over it."""
        return self._and(Filter(predicate, self._opening()))

    def prefetch(self, buffer_size: int = AUTOTUNE) -> Dataset:
        """The same items, of which Python makes some ahead in a thread; a compiled loop needs no such thing."""
        return Dataset(self._source, self._steps, 2 if buffer_size == AUTOTUNE else _check_size("prefetch", buffer_size, 0))

    def concatenate(self, dataset: Dataset) -> Dataset:
        """The items, and then those of another dataset.

        A compiled loop goes over it if it could go over both, their items have one shape, and no batch of the first one is smaller.

        Raises:
          DatasetError: (AG707) the items have other structures, dtypes or numbers of axes.

        https://www.tensorflow.org/api_docs/python/tf/data/Dataset#concatenate

        >>> import autograph as ag
        >>> [int(x) for x in ag.data.Dataset.range(1, 4).concatenate(ag.data.Dataset.range(4, 6))]
        [1, 2, 3, 4, 5]
        """
        if not isinstance(dataset, Dataset):
            raise DatasetError(f"`concatenate` is given a `{type(dataset).__name__}`", here(), "give it a dataset: `Dataset.from_tensor_slices(x)`")
        specs = self._known_spec(), dataset._known_spec()
        if None not in specs and not agree(*specs):
            raise DatasetError(
                f"the items of one dataset are {shown(specs[0])}, of the other {shown(specs[1])}", here(), "make them alike with `map`"
            )
        if 0 in (counts := (self.cardinality(), dataset.cardinality())):
            return self if counts[0] else dataset
        return Dataset(Joined((self, dataset)), (), self._ahead)

    def enumerate(self, start: int = 0) -> Dataset:
        """Pairs of the number of an item (int32) and the item.

        https://www.tensorflow.org/api_docs/python/tf/data/Dataset#enumerate

        >>> import autograph as ag
        >>> [(int(k), int(x)) for k, x in ag.data.Dataset.from_tensor_slices([8, 3]).enumerate(start=5)]
        [(5, 8), (6, 3)]
        """
        return self._and(Step("enumerate", operator.index(start)))

    def shard(self, num_shards: int, index: int) -> Dataset:
        """Every `num_shards`-th item, from the item `index` on.

        Raises:
          DatasetError: (AG707) there is no shard `index`.

        https://www.tensorflow.org/api_docs/python/tf/data/Dataset#shard

        >>> import autograph as ag
        >>> [int(x) for x in ag.data.Dataset.range(10).shard(num_shards=3, index=1)]
        [1, 4, 7]
        """
        number = _check_size("shard", index, 0)
        if number >= _check_size("shard", num_shards, 1):
            raise DatasetError(f"`shard` is given the index {number} of {num_shards} shards", here(), "give an index smaller than `num_shards`")
        return self._and(Step("shard", num_shards, shift=number))

    def window(self, size: int, shift: int | None = None, stride: int = 1, drop_remainder: bool = False) -> Dataset:
        """Datasets of as many items; of each array of an item, one.

        A compiled loop goes over it if no more than the last window is smaller: `drop_remainder=True` where windows overlap.

        Args:
          shift: from the first item of a window to that of the next one; by default `size`.
          stride: from an item of a window to the next.
          drop_remainder: whether windows at the end that would be smaller are left out.

        https://www.tensorflow.org/api_docs/python/tf/data/Dataset#window

        >>> import autograph as ag
        >>> windows = ag.data.Dataset.range(5).window(3, shift=1, drop_remainder=True)
        >>> [[int(x) for x in w] for w in windows]
        [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
        >>> [x.tolist() for x in windows.flat_map(lambda w: w.batch(3))]
        [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
        """
        self._check_no_windows("window")
        size = _check_size("window", size, 1)
        shift = size if shift is None else _check_size("window", shift, 1)
        return self._and(Step("window", size, drop_remainder, shift=shift, stride=_check_size("window", stride, 1)))

    def flat_map(self, map_func: Callable[..., Any]) -> Dataset:
        """The items of the datasets that a function makes of each item, one dataset after the other.

        A compiled loop goes over it if the function makes its dataset of arrays of known shapes, whatever their values, and does not shuffle: each
        iteration makes the item that it needs.

        Raises:
          DatasetError: (AG707) when items come, the function has made no dataset.

        https://www.tensorflow.org/api_docs/python/tf/data/Dataset#flat_map

        >>> import autograph as ag
        >>> dataset = ag.data.Dataset.from_tensor_slices([[1, 2], [3, 4]])
        >>> [int(x) for x in dataset.flat_map(ag.data.Dataset.from_tensor_slices)]
        [1, 2, 3, 4]
        """
        return self._and(FlatMapped(map_func, self._opening(), self._fixed_spec()))

    def interleave(
        self, map_func: Callable[..., Any], cycle_length: int | None = None, block_length: int = 1, num_parallel_calls: int | None = None,
        deterministic: Any = None,
    ) -> Dataset:  # fmt: skip
        """The items of the datasets that a function makes of each item, of several datasets in turn.  No compiled loop goes over it.

        Args:
          cycle_length: how many datasets are open at a time; by default 16.
          block_length: how many items of one come before those of the next.
          num_parallel_calls, deterministic: without meaning here: the order is always the same.

        https://www.tensorflow.org/api_docs/python/tf/data/Dataset#interleave

        >>> import autograph as ag
        >>> dataset = ag.data.Dataset.range(1, 4).interleave(lambda x: ag.data.Dataset.from_tensors(x).repeat(4), cycle_length=2, block_length=2)
        >>> [int(x) for x in dataset]
        [1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 3, 3]
        """
        cycle = 16 if cycle_length in (None, AUTOTUNE) else _check_size("interleave", cycle_length, 1)
        return self._and(Interleave(map_func, self._opening(), cycle, _check_size("interleave", block_length, 1)))

    def unbatch(self) -> Dataset:
        """The rows of each item as items.

        https://www.tensorflow.org/api_docs/python/tf/data/Dataset#unbatch

        >>> import autograph as ag
        >>> [int(x) for x in ag.data.Dataset.range(4).batch(3).unbatch()]
        [0, 1, 2, 3]
        """
        self._check_no_windows("unbatch")
        last = self._steps[-1] if self._steps else None
        if isinstance(last, Step) and last.name == "batch" and not last.drop:
            return Dataset(self._source, self._steps[:-1], self._ahead)
        return self._and(Unbatch(Dataset.from_tensor_slices, None, self._fixed_spec()))

    def padded_batch(self, batch_size: int, padded_shapes: Any = None, padding_values: Any = None, drop_remainder: bool = False) -> Dataset:
        """As many items at once, each array padded behind its end to one shape.

        A compiled loop goes over it where the items have one shape anyway.

        Args:
          padded_shapes: for each part of an item a shape, in which None or -1 stands for the greatest length in a batch; by default all do.
          padding_values: for each part of an item a number, or one for all; by default 0.
          drop_remainder: whether a last batch that would be smaller is left out.

        Raises:
          DatasetError: (AG707) the shapes or values are not as the items are, or an item is longer.

        https://www.tensorflow.org/api_docs/python/tf/data/Dataset#padded_batch

        >>> import autograph as ag
        >>> dataset = ag.data.Dataset.from_generator(lambda: ([7] * k for k in range(1, 4)))
        >>> [x.tolist() for x in dataset.padded_batch(2, padding_values=-1)]
        [[[7, -1], [7, 7]], [[7, 7, 7]]]
        """
        self._check_no_windows("padded_batch")
        size = _check_size("padded_batch", batch_size, 1)
        if self._fixed_spec() is None:
            return self._and(Padded(size, padded_shapes, padding_values, drop_remainder))
        return self._and(Map(pad_each(padded_shapes, padding_values), None, whole=True), Step("batch", size, drop=drop_remainder))

    def cache(self, filename: str = "") -> Dataset:
        """The same items, which what comes before makes once: functions of `map` are called no more, and a shuffled order stays.

        Items that have numbers are computed here and now, and a compiled loop goes over them.  Any others are kept the first time that all of them
        have come, and Python goes over them.

        Raises:
          DatasetError: (AG707) a file name is given.

        https://www.tensorflow.org/api_docs/python/tf/data/Dataset#cache

        >>> import autograph as ag
        >>> dataset = ag.data.Dataset.range(5).shuffle(5).cache()
        >>> [int(x) for x in dataset] == [int(x) for x in dataset]
        True
        """
        if filename:
            raise DatasetError(f"`cache` is given the file {filename!r}", here(), "write `cache()`, which keeps items in memory, or `jnp.save` them")
        made = [k for k, s in builtins.enumerate(self._steps, 1) if not isinstance(s, Step) or s.name == "shuffle"]
        if isinstance(self._source, Arrays) and not made:
            return self
        before, after = Dataset(self._source, self._steps[: made[-1] if made else 0]), self._steps[made[-1] if made else 0 :]
        shape = before._shape()
        if isinstance(shape, Irregular) or shape.last or before._has_windows or not shape.length:
            return Dataset(KeptItems(Dataset(self._source, self._steps)), (), self._ahead)
        return Dataset(Arrays(before._filled(shape.length)), after, self._ahead)

    def reduce(self, initial_state: Any, reduce_func: Callable[[Any, Any], Any]) -> Any:
        """One value of all items: `state = reduce_func(state, item)` for each of them.  In a compiled function it is one loop.

        Args:
          initial_state: an array, or a tuple, dict or other pytree of such, which keeps its structure and shapes.
          reduce_func: of the state and an item, which is a tuple where items are tuples.

        https://www.tensorflow.org/api_docs/python/tf/data/Dataset#reduce

        >>> import autograph as ag
        >>> int(ag.data.Dataset.range(5).reduce(0, lambda state, x: state + x))
        10
        """
        state: Any = trees.map(lambda x: jnp.asarray(value_of(x)), of_lists(initial_state))
        if not (_jax.compiling() or self._traced):
            step = jit(lambda state, item: call(reduce_func)(state, item))
            return functools.reduce(step if not self._has_windows else reduce_func, self, state)
        rows = self.rows()

        def iteration(state: Any, item: Any) -> Any:
            return call(reduce_func)(state, item)

        if rows.length:
            state = _settled(lambda s: iteration(s, rows.item(0)), state)
            state = lax.fori_loop(0, rows.length, lambda k, s: _as(iteration(s, rows.item(k)), s), state)
        return state if rows.tail is None else iteration(state, rows.tail())

    def apply(self, transformation_func: Callable[[Dataset], Dataset]) -> Dataset:
        """What a function makes of the dataset.

        https://www.tensorflow.org/api_docs/python/tf/data/Dataset#apply

        >>> import autograph as ag
        >>> [int(x) for x in ag.data.Dataset.range(9).apply(lambda d: d.skip(7))]
        [7, 8]
        """
        return transformation_func(self)

    def as_numpy_iterator(self) -> Iterator[Any]:
        """The items as NumPy's arrays, for Python.

        Raises:
          DatasetError: (AG707) it is called in a compiled function.

        https://www.tensorflow.org/api_docs/python/tf/data/Dataset#as_numpy_iterator

        >>> import autograph as ag
        >>> list(ag.data.Dataset.range(3).batch(2).as_numpy_iterator())
        [array([0, 1], dtype=int32), array([2], dtype=int32)]
        """
        if _jax.compiling() or self._traced:
            raise DatasetError("`as_numpy_iterator` is called in a compiled function", here(), "write the loop over the dataset: `for x in dataset:`")
        return map(lambda item: trees.map(lambda x: x if isinstance(x, DatasetItems) else np.asarray(x)[()], item), iter(self))

    def _and(self, *steps: Any) -> Dataset:
        return Dataset(self._source, (*self._steps, *steps), self._ahead)

    def _check_no_windows(self, name: str) -> None:
        if self._has_windows:
            raise DatasetError(f"`{name}` is given windows, which are datasets", here(), "use `flat_map` before: `flat_map(lambda w: w.batch(n))`")

    def _known_spec(self) -> Any:
        """What the items are; None where only they tell."""
        try:
            return self._spec_of_arrays(0)
        except Exception:  # a generator; a function that raises, which it will when items come
            return None

    def _fixed_spec(self) -> Any:
        """What the items are, if all have one shape; else None."""
        shape = self._shape()
        try:
            one = self._spec_of_arrays(0)
            varies = isinstance(shape, Irregular) or shape.last
            return one if not varies or [x.shape for x in trees.leaves(one)] == [x.shape for x in trees.leaves(self._spec_of_arrays(1))] else None
        except Exception:
            return None


def _check_size(name: str, size: Any, least: int) -> int:
    try:
        number = operator.index(size)
    except TypeError:
        number = least - 1
    if number < least:
        raise DatasetError(f"`{name}` is given {size!r}", here(), f"give it an integer of at least {least}")
    return number


def _settled(iteration: Callable[[Any], Any], state: Any) -> Any:
    """A state of the dtypes that it has after an iteration."""
    for _ in range(3):
        after = jax.eval_shape(iteration, state)
        found = trees.map(lambda x, y: jnp.promote_types(x.dtype, y.dtype) if x.dtype != y.dtype else x.dtype, state, after)
        state = trees.map(lambda x, dtype: x.astype(dtype), state, found)
    return state


def _as(made: Any, state: Any) -> Any:
    return trees.map(lambda x, y: jnp.asarray(x, y.dtype), made, state)
