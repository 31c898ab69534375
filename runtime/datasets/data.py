"""`ag.data`: arrays, or anything that Python iterates, gone over in batches: eagerly, and in a compiled function as one compiled loop."""

from __future__ import annotations

import builtins
import functools
import operator
import secrets
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph.runtime.arrays.handles import value_of
from autograph.runtime.calls.calls import call
from autograph.runtime.calls.function import jit
from autograph.runtime.datasets.orders import Irregular, Shape, Step, count_after, order, shape_after
from autograph.runtime.datasets.reading import ahead, numbered
from autograph.runtime.datasets.sources import Arrays, Zipped, as_arrays
from autograph.runtime.eager.variables import Variable
from autograph.runtime.jaxapi import _jax, trees
from autograph.runtime.messages.errors import DatasetError
from autograph.runtime.messages.places import here
from autograph.runtime.sequences.rows import Rows, Stream

AUTOTUNE = -1  # for `prefetch`, as in TensorFlow


class Dataset(Stream):
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

    def __init__(self, source: Arrays | Callable[[], Iterator[Any]], steps: tuple[_Any, ...] = (), ahead: int = 0) -> None:
        self._source, self._steps, self._ahead = source, steps, ahead
        seed = next((s.seed for s in steps if isinstance(s, Step) and s.name == "shuffle"), None)
        self.random: Variable | None = None  # what the next order is made of
        if seed is not None:
            self.random = Variable(lambda: jax.random.key(seed), trainable=False, name="the order of a Dataset")

    @classmethod
    def from_tensor_slices(cls, tensors: Any) -> Dataset:
        """The rows of arrays.

        Args:
          tensors: an array of shape (n, ...), or a tuple, dict or other pytree of such, with the same n; an item has the same structure.

        Raises:
          DatasetError: (AG707) there is no array, or they have different numbers of rows.
        """
        return cls(Arrays(tensors))

    @classmethod
    def from_tensors(cls, tensors: Any) -> Dataset:
        """One item: the arrays as they are."""
        return cls(Arrays(trees.map(lambda x: jnp.asarray(value_of(x))[None], tensors)))

    @classmethod
    def range(cls, *args: int) -> Dataset:
        """The integers of Python's `range`."""
        return cls(Arrays(np.arange(*args, dtype=np.int32)))

    @classmethod
    def from_generator(cls, generator: Callable[[], Iterable[Any]] | Iterable[Any]) -> Dataset:
        """What Python iterates: a list, a loader of another library, or a function that gives an iterator anew each time.

        A compiled loop cannot go over it: iterate in Python, and call a compiled function for each item.
        """
        if callable(generator):
            return cls(lambda: iter(generator()))
        if iter(generator) is generator:
            raise DatasetError(
                f"a `{type(generator).__name__}` can be gone over once", here(), "give a function that makes it: `from_generator(lambda: ...)`"
            )
        return cls(lambda: iter(generator))

    @classmethod
    def zip(cls, *datasets: Any) -> Dataset:
        """The items of several datasets beside each other, as tuples, as many as the shortest has; they are given one by one, or in one tuple.

        A compiled loop goes over it if they are arrays, or what `map` makes of each: zip first, and shuffle and batch the pairs.

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
        for x in given or (None,):
            if not isinstance(x, Dataset):
                raise DatasetError(f"`zip` is given a `{type(x).__name__}`", here(), "give it datasets: `Dataset.zip(a, b)`")
        sources = [d._source for d in given]
        if not all(isinstance(s, Arrays) for s in sources) or any(type(s) is not _Map for d in given for s in d._steps):
            return cls(Zipped(given))
        length = min(s.length for s in sources)
        beside = cls(Arrays(tuple(s.first(length) for s in sources)))
        return (
            beside.map(lambda *parts: tuple(d._made(x, 0) for d, x in builtins.zip(given, parts, strict=True)))
            if any(d._steps for d in given)
            else beside
        )

    def shuffle(self, buffer_size: int, seed: int | None = None, reshuffle_each_iteration: bool = True) -> Dataset:
        """The items in a random order.

        Args:
          buffer_size: the item that comes next is drawn from as many; with at least as many as there are items all orders are as likely.
          seed: two datasets with one seed have the same orders; by default it is a random one.
          reshuffle_each_iteration: whether the order is another one each time.
        """
        buffer_size = _check_size("shuffle", buffer_size, 1)
        number = secrets.randbits(31) if seed is None else int(seed)
        return self._and(Step("shuffle", buffer_size, again=reshuffle_each_iteration, seed=number))

    def repeat(self, count: int | None = None) -> Dataset:
        """The items several times; without end for None or -1."""
        return self._and(Step("repeat", None if count is None or count == -1 else _check_size("repeat", count, 0)))

    def batch(self, batch_size: int, drop_remainder: bool = False) -> Dataset:
        """As many items at once, stacked along a new first axis.

        Args:
          drop_remainder: whether a last batch that would be smaller is left out.
        """
        return self._and(Step("batch", _check_size("batch", batch_size, 1), drop=drop_remainder))

    def take(self, count: int) -> Dataset:
        """The first items; all for -1."""
        return self if count == -1 else self._and(Step("take", _check_size("take", count, 0)))

    def skip(self, count: int) -> Dataset:
        """All but the first items."""
        return self._and(Step("skip", _check_size("skip", count, 0)))

    def map(self, function: Callable[..., Any], num_parallel_calls: int | None = None) -> Dataset:
        """What a function makes of each item: it is converted and compiled, and may have `if` and `while` on the values.

        Args:
          function: of an item; of its parts if the items are tuples.
          num_parallel_calls: without meaning here: XLA computes the items of a batch at once.
        """
        return self._and(_Map(function))

    def filter(self, predicate: Callable[..., Any]) -> Dataset:
        """The items of which a function is true.  Their number is not known before, so that no compiled loop can go over it."""
        return self._and(_Filter(predicate))

    def prefetch(self, buffer_size: int = AUTOTUNE) -> Dataset:
        """The same items, of which Python makes some ahead in a thread; a compiled loop needs no such thing."""
        return Dataset(self._source, self._steps, 2 if buffer_size == AUTOTUNE else _check_size("prefetch", buffer_size, 0))

    def cardinality(self) -> int:
        """How many items there are; -1 if there is no end, and -2 if it is not known."""
        source = self._source
        length = source.length if isinstance(source, Arrays) else source.cardinality() if isinstance(source, Zipped) else -2
        if length < 0 or any(isinstance(s, _Filter) for s in self._steps):
            return length if length == -1 and not self._steps else -2
        found = count_after(self._numbers(), length)
        return -1 if found is None else found

    def __len__(self) -> int:
        count = self.cardinality()
        if count < 0:
            raise TypeError(f"the dataset has {'no end' if count == -1 else 'an unknown number of items'}")
        return count

    def __iter__(self) -> Iterator[Any]:
        if _jax.compiling() or isinstance(self._source, Arrays) and self._source.traced:
            return self._traced()
        return ahead(self._read(), self._ahead) if self._ahead else self._read()

    def __repr__(self) -> str:
        count = self.cardinality()
        return f"<ag.data.Dataset of {count if count >= 0 else 'endless' if count == -1 else 'unknown'} items>"

    def rows(self) -> Rows:
        """The items as a compiled loop takes them, by their number.

        Raises:
          DatasetError: (AG707) no compiled loop can go over it.
        """
        shape = self._shape()
        if isinstance(shape, Irregular):
            raise DatasetError(f"a compiled loop goes over a dataset, and {shape.why}", here(), shape.instead)
        assert isinstance(self._source, Arrays)
        full, last = order(self._numbers(), self._source.length, self._next())
        arrays, depth = self._source, len(shape.batches)
        tail = None if last is None else lambda: self._made(arrays.rows(last), depth)
        return Rows(shape.length, lambda i: self._made(arrays.rows(full[i]), depth), None, (), (), tail)

    def _traced(self) -> Iterator[Any]:
        """The items one by one, in a trace that no compiled loop takes them in."""
        rows = self.rows()
        yield from map(rows.item, range(rows.length))
        if rows.tail is not None:
            yield rows.tail()

    def _read(self) -> Iterator[Any]:
        """The items, for Python."""
        shape, arrays = self._shape(), self._source
        if isinstance(shape, Irregular) or not isinstance(arrays, Arrays):
            yield from self._streamed()
            return
        full, last = map(np.asarray, self._order(self._next()))
        for index in full:
            yield self._compiled(arrays.rows_of_host(index), len(shape.batches))
        if shape.last:
            yield self._compiled(arrays.rows_of_host(last), len(shape.batches))

    def _streamed(self) -> Iterator[Any]:
        """The items as they come, where there is no array of their order: numbers of rows, as long as nothing looks at these."""
        random = np.random.default_rng(np.asarray(jax.random.key_data(self._next())))
        arrays, filters = self._source, any(isinstance(s, _Filter) for s in self._steps)
        if isinstance(arrays, Arrays) and not filters:
            numbers: Callable[[], Iterator[Any]] = functools.partial(iter, builtins.range(arrays.length))
            for step in self._numbers():
                numbers = numbered(step, numbers, random)
            depth = sum(s.name == "batch" for s in self._numbers())
            yield from (self._compiled(arrays.rows_of_host(np.asarray(index)), depth) for index in numbers())
            return
        items: Callable[[], Iterator[Any]]
        if isinstance(arrays, Arrays):
            items = functools.partial(map, arrays.rows_of_host, builtins.range(arrays.length))
        else:
            items = lambda: map(as_arrays, arrays())  # noqa: E731
        for each in self._steps:
            items = numbered(each, items, random) if isinstance(each, Step) else functools.partial(each.over, items)
        yield from (trees.map(jnp.asarray, x) for x in items())

    def _and(self, *steps: _Any) -> Dataset:
        return Dataset(self._source, (*self._steps, *steps), self._ahead)

    def _numbers(self) -> tuple[Step, ...]:
        """The methods that say which items come when."""
        return tuple(s for s in self._steps if isinstance(s, Step))

    def _shape(self) -> Shape | Irregular:
        if isinstance(self._source, Zipped):
            return Irregular("what it zips is shuffled, batched or filtered before", "zip the datasets first, or the loop: `for x, y in zip(a, b):`")
        if not isinstance(self._source, Arrays):
            return Irregular("its items come from a Python iterable", "iterate in Python, and call the compiled function for each item")
        if any(isinstance(s, _Filter) for s in self._steps):
            return Irregular(
                "it is filtered, so that the number of its items is not known", "use a weight of 0 or 1 (`jnp.where`), or iterate in Python"
            )
        return shape_after(self._numbers(), self._source.length)

    @functools.cached_property
    def _order(self) -> Callable[[Any], Any]:
        assert isinstance(self._source, Arrays)
        length = self._source.length
        return jax.jit(lambda key: order(self._numbers(), length, key))  # type: ignore[no-any-return]

    def _next(self) -> Any:
        """A random key for one time that it is gone over."""
        if self.random is None:
            return jax.random.key(0)
        own, rest = jax.random.split(self.random.value)
        self.random.assign(rest)
        return own

    def _made(self, item: Any, depth: int) -> Any:
        """What the functions make of an item; `depth`: how many axes of batches it has."""
        level = 0
        for step in self._steps:
            if isinstance(step, _Map):
                item = step.of(item, depth - level)
            level += isinstance(step, Step) and step.name == "batch"
        return item

    @functools.cached_property
    def _compiled(self) -> Callable[[Any, int], Any]:
        if not any(isinstance(s, _Map) for s in self._steps):
            return lambda item, depth: jax.device_put(item)
        return jit(self._made, static_argnums=1)  # type: ignore[no-any-return]


class _Map:
    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def of(self, item: Any, axes: int = 0) -> Any:
        function: Callable[..., Any] = lambda x: _given(self.function, x)  # noqa: E731
        for _ in range(axes):
            function = jax.vmap(function)
        return function(item)

    @functools.cached_property
    def compiled(self) -> Callable[[Any], Any]:
        return jit(self.of)  # type: ignore[no-any-return]

    def over(self, items: Callable[[], Iterator[Any]]) -> Iterator[Any]:
        return map(self.compiled, items())


class _Filter(_Map):
    def over(self, items: Callable[[], Iterator[Any]]) -> Iterator[Any]:
        return (x for x in items() if self.compiled(x))


_Any = Step | _Map | _Filter


def _given(function: Callable[..., Any], item: Any) -> Any:
    made = call(function)
    return made(*item) if isinstance(item, tuple) and not hasattr(item, "_fields") else made(item)


def _check_size(name: str, size: Any, least: int) -> int:
    try:
        number = operator.index(size)
    except TypeError:
        number = least - 1
    if number < least:
        raise DatasetError(f"`{name}` is given {size!r}", here(), f"give it an integer of at least {least}")
    return number
