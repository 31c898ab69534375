"""How the items of a dataset are made of its source and its methods: by their numbers where these are known, else as they come."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph.runtime.calls.function import jit
from autograph.runtime.eager.data import item_order as orders
from autograph.runtime.eager.data.element_specs import DatasetSpec, longer, merged, padding, struct
from autograph.runtime.eager.data.functions import Filter, FlatMapped, Map, Padded, each_part
from autograph.runtime.eager.data.item_order import Base, Irregular, Shape, Step, count_after, order, order_on_host, shape_after, shuffles
from autograph.runtime.eager.data.iterators import DatasetIterator
from autograph.runtime.eager.data.parallel_reading import addressed, numbered
from autograph.runtime.eager.data.sources import Arrays, Source
from autograph.runtime.eager.variables import Variable
from autograph.runtime.errors.errors import DatasetError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi import trees
from autograph.runtime.sequences.rows import Rows, Stream

Method = Step | Map | Padded


class DatasetItems(Stream):
    """A source and the methods that were called since."""

    def __init__(self, source: Source, steps: tuple[Method, ...] = (), ahead: int = 0) -> None:
        self._source, self._steps, self._ahead = source, steps, ahead
        self.random: Variable | None = None  # what the next order is made of
        if (seed := self._seed()) is not None:
            self.random = Variable(lambda: jax.random.key(seed), trainable=False, name="the order of a Dataset")

    def _seed(self) -> int | None:
        own = next((s.seed for s in self._steps if isinstance(s, Step) and s.name == "shuffle"), None)
        base = self._source.base
        return own if own is not None or not isinstance(base, orders.Parts) else next((s.seed for s in shuffles((), base)), None)

    def cardinality(self) -> int:
        """How many items there are; -1 (`INFINITE_CARDINALITY`) if there is no end, and -2 (`UNKNOWN_CARDINALITY`) if it is not known."""
        length = self._source.cardinality()
        if length == -2 or any(isinstance(s, Map) and s.irregular is not None for s in self._steps):
            return -2
        found = count_after(self._numbers(), math.inf if length == -1 else length)
        return -2 if found is None else -1 if found == math.inf else int(found)

    def __len__(self) -> int:
        count = self.cardinality()
        if count < 0:
            raise TypeError(f"the dataset has {'no end' if count == -1 else 'an unknown number of items'}")
        return count

    def __iter__(self) -> Iterator[Any]:
        return self._traced_items() if _jax.compiling() or self._traced else DatasetIterator(self)

    def __repr__(self) -> str:
        count = self.cardinality()
        return f"<ag.data.Dataset of {count if count >= 0 else 'endless' if count == -1 else 'unknown'} items>"

    @property
    def element_spec(self) -> Any:
        """What the items are: a `TensorSpec` for each array, None for a length that is not the same in all items, as that of a last batch.

        Raises:
          DatasetError: (AG707) they come from a Python iterable, and no `output_signature` says it.

        https://www.tensorflow.org/api_docs/python/tf/data/Dataset#element_spec

        >>> import autograph as ag
        >>> ag.data.Dataset.range(8).batch(2).element_spec
        TensorSpec(shape=(None,), dtype=int32)
        """
        one = self._spec(0)
        try:
            other = self._spec(1)
        except (TypeError, ValueError):  # a function needs the lengths that there are
            other = one
        return merged(one, other)

    def rows(self) -> Rows:
        """The items as a compiled loop takes them, by their number.

        Raises:
          DatasetError: (AG707) no compiled loop can go over it.
        """
        shape = self._regular()
        full, last = order(self._numbers(), self._source.base, self._next())
        tail = None if last is None else lambda: self._opened(self._item(last, 0))
        return Rows(shape.length, lambda i: self._opened(self._item(orders.at(full, i), 0)), None, (), (), tail)

    @property
    def _traced(self) -> bool:
        return self._source.traced

    def _regular(self) -> Shape:
        shape = self._shape()
        if isinstance(shape, Irregular):
            raise DatasetError(f"a compiled loop iterates over a dataset, and {shape.why}", here(), shape.instead)
        return shape

    def _traced_items(self) -> Iterator[Any]:
        """The items one by one, in a trace that no compiled loop takes them in."""
        rows = self.rows()
        yield from map(rows.item, range(rows.length))
        if rows.tail is not None:
            yield rows.tail()

    def _numbers(self) -> tuple[Step, ...]:
        """The methods that say which items come when."""
        return tuple(s if isinstance(s, Step) else s.step for s in self._steps if isinstance(s, (Step, FlatMapped, Padded)))

    def _base(self) -> Base:
        """The orders that what is beside or behind another dataset is made of."""
        why = next((s.irregular for s in self._steps if not isinstance(s, Step) and s.irregular is not None), None)
        return why if why is not None else _WINDOWS if self._has_windows else self._source.base

    def _shape(self) -> Shape | Irregular:
        why = next((s.irregular for s in self._steps if not isinstance(s, Step) and s.irregular is not None), None)
        base = self._source.base
        return base if isinstance(base, Irregular) else why if why is not None else shape_after(self._numbers(), base)

    def _irregular(self) -> Irregular | None:
        shape = self._shape()
        return shape if isinstance(shape, Irregular) else None

    def _next(self) -> Any:
        """A random key for one time that it is gone over."""
        if self.random is None:
            return jax.random.key(0)
        own, rest = jax.random.split(self.random.value)
        self.random.assign(rest)
        return own

    def _order_on_host(self) -> tuple[Any, Any]:
        """An order for one time that it is gone over, for Python."""
        return order_on_host(self._numbers(), self._source.base, self._next() if self.random is not None else None)

    def _item(self, address: Any, axes: int) -> Any:
        """The item with some numbers; `axes`: they are arrays with so many axes more, and so is the item."""
        axes_of_all = axes + self._axes
        number, *counts = address
        return self._made(self._source.items(number, axes_of_all), counts, axes_of_all)

    def _made(self, item: Any, counts: Any, axes: int) -> Any:
        """What the methods make of an item of the source; `axes`: how many axes of batches it has."""
        left = iter(counts)
        for step in self._steps:
            if isinstance(step, FlatMapped):
                item = step.numbered(item, next(left), axes)
            elif isinstance(step, Map):
                item = step.of(item, axes)
            elif isinstance(step, Step):
                item = (next(left), item) if step.name == "enumerate" else item
                axes -= step.name in _STACKING
        return item

    @property
    def _axes(self) -> int:
        return sum(isinstance(s, Step) and s.name in _STACKING for s in self._steps)

    @functools.cached_property
    def _compiled(self) -> Callable[[Any, Any, int], Any]:
        if not any(isinstance(s, Map) for s in self._steps):
            return lambda item, counts, axes: jax.device_put(self._made(item, counts, axes))
        return jit(self._made, static_argnums=2)  # type: ignore[no-any-return]

    @functools.cached_property
    def _compiled_item(self) -> Callable[[Any, int], Any]:
        return jit(self._item, static_argnums=1)  # type: ignore[no-any-return]

    def _for_python(self, address: Any, axes: int = 0) -> Any:
        """The item with some numbers, outside of traces: the rows are taken by the host."""
        if isinstance(self._source, Arrays):
            number, *counts = address
            return self._compiled(self._source.rows_of_host(number), counts, axes + self._axes)
        return self._compiled_item(address, axes)

    def _read(self, made: tuple[Any, Any] | None, first: int) -> Iterator[Any]:
        """The items from a place on, for Python; `made` is their order, if there is one."""
        if made is None:
            yield from self._streamed()
            return
        full, last = made
        count = orders.length_of(full)
        for k in range(first, count):
            yield self._opened(self._for_python(orders.at(full, k) if len(full) > 1 or not isinstance(full[0], np.ndarray) else (full[0][k],)))
        if last is not None and first <= count:
            yield self._opened(self._for_python(last))

    def _streamed(self) -> Iterator[Any]:
        """The items as they come, where there is no array of their order: numbers of rows, as long as nothing looks at these."""
        random = np.random.default_rng(np.asarray(jax.random.key_data(self._next())))
        source = self._source
        items: Callable[[], Iterator[Any]]
        if isinstance(source, Arrays) and not any(s.name == "flat" and s.size is None or s.name == "padded" for s in self._numbers()):
            if not any(isinstance(s, Map) and s.irregular is not None for s in self._steps):
                items = lambda: ((k,) for k in range(source.length))  # noqa: E731
                for step in self._numbers():
                    items = addressed(step, items, random)
                yield from (self._opened(self._for_python(trees.map(np.asarray, x))) for x in items())
                return
        items = source
        for each in self._steps:
            items = numbered(each, items, random) if isinstance(each, Step) else functools.partial(each.over, items)
        yield from (self._opened(trees.map(lambda v: v if isinstance(v, Stream) else jnp.asarray(v), x)) for x in items())

    def _stacked(self) -> Any:
        """All items along a first axis.

        Raises:
          DatasetError: (AG707) they have no numbers, or several shapes, or come in a random order.
        """
        shape = self._regular()
        if shape.last or shuffles(self._numbers(), self._source.base) or self._has_windows:
            raise DatasetError("the items of a dataset cannot be stacked", here(), "iterate in Python")
        return self._item(order(self._numbers(), self._source.base, None)[0], 1)

    def _numbered(self, k: Any) -> Any:
        """The k-th item."""
        return self._item(orders.at(order(self._numbers(), self._source.base, None)[0], k), 0)

    def _filled(self, count: int) -> Any:
        """The first items along a first axis, computed now, some at a time."""
        full, _ = order(self._numbers(), self._source.base, self._next()) if _jax.compiling() or self._traced else self._order_on_host()
        full = orders.at(full, slice(count))
        if _jax.compiling() or self._traced:
            return jax.lax.map(lambda address: self._item(address, 0), full)
        parts = [self._for_python(orders.at(full, slice(k, k + _AT_ONCE)), 1) for k in range(0, count, _AT_ONCE)]
        return trees.map(lambda *x: np.concatenate(x), *parts)

    def _opening(self, make: Callable[[Any], Any] | None = None) -> Callable[[Any], Any] | None:
        """What makes datasets (or what `make` gives) of the windows in an item; None where there are none."""
        make = make or (lambda x: type(self)(Arrays(x)))
        opened: Callable[[Any], Any] | None = None
        for step in self._steps:
            if isinstance(step, Step) and step.name == "window":
                opened = functools.partial(trees.map, make)
            elif isinstance(step, Map) and not isinstance(step, Filter):
                opened = None
            elif isinstance(step, Step) and step.name == "enumerate" and opened is not None:
                opened = functools.partial(_of_the_second, opened)
        return opened

    @property
    def _has_windows(self) -> bool:
        return self._opening() is not None

    def _opened(self, item: Any) -> Any:
        """An item whose windows are datasets."""
        opened = self._opening()
        return item if opened is None else opened(item)

    def _spec(self, more: int) -> Any:
        """The shapes and dtypes of an item; `more` is added to lengths that are not the same in all items."""
        opened = self._opening(lambda x: DatasetSpec(jax.ShapeDtypeStruct(x.shape[1:], x.dtype)))
        spec = self._spec_of_arrays(more)
        return spec if opened is None else opened(spec)

    def _spec_of_arrays(self, more: int) -> Any:
        """The same, of windows before they are datasets."""
        spec = trees.map(struct, self._source.spec(more))
        for step in self._steps:
            if isinstance(step, FlatMapped):
                found: list[Any] = []
                jax.eval_shape(lambda x: found.append(step.dataset(x)._spec(more)), spec)
                spec = found[0]
            elif isinstance(step, Map):
                spec = spec if isinstance(step, Filter) else trees.map(struct, jax.eval_shape(step.of, spec))
            elif isinstance(step, Padded):
                size = step.step.size or 0
                spec = longer(self._padded_spec(step, spec, more), size if step.step.drop else size + more)
            elif step.name in _STACKING:
                spec = longer(spec, (step.size or 0) + (0 if step.drop else more))
            elif step.name == "enumerate":
                spec = (jax.ShapeDtypeStruct((), np.int32), spec)
        return spec

    def _padded_spec(self, step: Padded, spec: Any, more: int) -> Any:
        leaves, tree = trees.flatten(spec)
        wanted = each_part(step.shapes, tree, None, "padded_shapes")
        shapes = [x.shape if s is None else padding(x.shape, s) for x, s in zip(leaves, wanted, strict=True)]
        return tree.unflatten([jax.ShapeDtypeStruct(s, x.dtype) for s, x in zip(shapes, leaves, strict=True)])


_STACKING = ("batch", "window")
_AT_ONCE = 256  # items that `cache` computes
_WINDOWS = Irregular("it zips or concatenates windows, which are datasets", "use `flat_map` before: `flat_map(lambda w: w.batch(n))`")


def _of_the_second(opened: Callable[[Any], Any], item: Any) -> Any:
    return item[0], opened(item[1])
