"""The methods of a dataset that functions of the user's are given to: what these make of its items."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np
from jax import lax

from autograph.runtime.calls.callees import call
from autograph.runtime.calls.function import jit
from autograph.runtime.eager.data.element_specs import padded, padding
from autograph.runtime.eager.data.item_order import Irregular, Step
from autograph.runtime.eager.data.parallel_reading import stacked
from autograph.runtime.errors.errors import DatasetError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import trees
from autograph.runtime.sequences.rows import Stream

_Items = Callable[[], Iterator[Any]]
_Opened = Callable[[Any], Any] | None  # what makes datasets of the windows among an item


class Map:
    """`map`: the function is converted, and compiled for an item or all of a batch at once."""

    irregular: Irregular | None = None  # why no compiled loop goes over what it makes

    def __init__(self, function: Callable[..., Any], opened: _Opened = None, whole: bool = False) -> None:
        """`whole`: the function takes an item as it is, also a tuple."""
        self.function, self.opened, self.whole = function, opened, whole

    def given(self, item: Any, function: Callable[..., Any] | None = None) -> Any:
        """What the function makes of an item, or of its parts if it is a tuple."""
        made = call(self.function) if function is None else function
        item = item if self.opened is None else self.opened(item)
        return made(*item) if isinstance(item, tuple) and not hasattr(item, "_fields") and not self.whole else made(item)

    def one(self, item: Any) -> Any:
        made = self.given(item)
        if any(isinstance(x, Stream) for x in trees.leaves(made)):
            raise DatasetError("the function of `map` gives a dataset", here(), "use `flat_map`, whose items are those of the datasets")
        return made

    def of(self, item: Any, axes: int = 0) -> Any:
        return mapped(self.one, axes)(item)

    @functools.cached_property
    def compiled(self) -> Callable[[Any], Any]:
        return jit(self.of)  # type: ignore[no-any-return]

    def over(self, items: _Items) -> Iterator[Any]:
        return map(self.compiled, items())


class Filter(Map):
    """`filter`."""

    irregular = Irregular(
        "it is filtered, so that the number of its items is not known", "use a weight of 0 or 1 (`jnp.where`), or iterate in Python"
    )

    def over(self, items: _Items) -> Iterator[Any]:
        return (x for x in items() if self.compiled(x))


class FlatMapped(Map):
    """`flat_map`: where all datasets have one known number of items, `count`, these have numbers; else Python goes over one after the other."""

    name = "flat_map"

    def __init__(self, function: Callable[..., Any], opened: _Opened = None, spec: Any = None) -> None:
        super().__init__(function, opened)
        self.count: int | None = None
        if spec is not None:
            try:
                self.count = trees.leaves(jax.eval_shape(self.every, spec))[0].shape[0]
            except Exception:  # whatever it does with values: only Python can tell
                self.count = None
        self._at_once = True

    @property
    def step(self) -> Step:
        return Step("flat", self.count)

    def dataset(self, item: Any, function: Callable[..., Any] | None = None) -> Any:
        """The dataset of an item."""
        made = self.given(item, function)
        if not isinstance(made, Stream):
            raise DatasetError(
                f"the function of `{self.name}` gives a `{type(made).__name__}`", here(), "let it give a dataset: `Dataset.from_tensor_slices(x)`"
            )
        return made

    def every(self, item: Any) -> Any:
        """All items of the dataset of an item, along a first axis."""
        return self.dataset(item)._stacked()

    def numbered(self, item: Any, k: Any, axes: int) -> Any:
        """The k-th item of the dataset of an item."""
        return mapped(lambda x, k: self.dataset(x)._numbered(k), axes)(item, k)

    @functools.cached_property
    def _every(self) -> Callable[[Any], Any]:
        return jit(self.every)  # type: ignore[no-any-return]

    def items_of(self, item: Any) -> Iterator[Any]:
        """The items of the dataset of an item, for Python."""
        if self._at_once:
            try:
                found = trees.map(np.asarray, self._every(item))
            except Exception:  # what it does needs values
                self._at_once = False
            else:
                return (trees.map(lambda x: x[k], found) for k in range(len(trees.leaves(found)[0])))
        return iter(self.dataset(item, self.function))

    def over(self, items: _Items) -> Iterator[Any]:
        return itertools.chain.from_iterable(map(self.items_of, items()))


class Unbatch(FlatMapped):
    """`unbatch`."""

    name = "unbatch"

    def given(self, item: Any, function: Callable[..., Any] | None = None) -> Any:
        return self.function(item)


class Interleave(FlatMapped):
    """`interleave`: some datasets are open at a time, of each of which a few items come in turn."""

    name = "interleave"
    irregular = Irregular(
        "it interleaves the items of datasets", "use `flat_map`, or iterate in Python, and call the compiled function for each item"
    )

    def __init__(self, function: Callable[..., Any], opened: _Opened, cycle: int, block: int) -> None:
        super().__init__(function, opened)
        self.cycle, self.block = cycle, block

    def over(self, items: _Items) -> Iterator[Any]:
        rest = items()
        open_: list[Iterator[Any] | None] = [None] * self.cycle
        more, k, given = True, 0, 0
        while more or any(x is not None for x in open_):
            now = open_[k]
            if now is None and more:
                try:
                    open_[k] = self.items_of(next(rest))
                except StopIteration:
                    more = False
                continue
            try:
                if now is not None:
                    yield next(now)
                    given += 1
                    if given < self.block:
                        continue
            except StopIteration:
                open_[k] = None
            k, given = (k + 1) % self.cycle, 0


class Padded:
    """`padded_batch` of items of several shapes."""

    irregular: Irregular | None = None

    def __init__(self, size: int, shapes: Any, values: Any, drop: bool) -> None:
        self.step, self.shapes, self.values = Step("padded", size, drop), shapes, values

    def padded(self, items: list[Any]) -> Any:
        """Some items, each part padded to the greatest length among them, or to what is wanted."""
        flat = [trees.flatten(x) for x in items]
        parts = [list(part) for part in zip(*(leaves for leaves, _ in flat), strict=True)]
        shapes = each_part(self.shapes, flat[0][1], None, "padded_shapes")
        values = each_part(self.values, flat[0][1], 0, "padding_values")
        out = []
        for arrays, wanted, value in zip(parts, shapes, values, strict=True):
            arrays = [np.asarray(x) for x in arrays]
            greatest = tuple(map(max, zip(*(x.shape for x in arrays), strict=True)))
            shape = greatest if wanted is None else padding(greatest, wanted)
            out.append(np.stack([padded(x, shape, value) for x in arrays]))
        return flat[0][1].unflatten(out)

    def over(self, items: _Items) -> Iterator[Any]:
        return stacked(self.step, items(), self.padded)


def pad_each(shapes: Any, values: Any) -> Callable[[Any], Any]:
    """What pads items that all have one shape."""

    def pad(item: Any) -> Any:
        leaves, tree = trees.flatten(item)
        wanted, value = each_part(shapes, tree, None, "padded_shapes"), each_part(values, tree, 0, "padding_values")
        return tree.unflatten([x if s is None else padded(x, padding(x.shape, s), v) for x, s, v in zip(leaves, wanted, value, strict=True)])

    return pad


def each_part(given: Any, tree: Any, default: Any, name: str) -> list[Any]:
    """What `padded_shapes` or `padding_values` says of each part of an item."""
    if given is None:
        return [default] * tree.num_leaves
    if name == "padding_values" and np.ndim(given) == 0 and not isinstance(given, (dict, tuple)):
        return [given] * tree.num_leaves
    if tree.num_leaves == 1 and trees.structure(tree.unflatten([0])) == trees.structure(0):
        return [given]
    try:
        return list(tree.flatten_up_to(given))
    except (TypeError, ValueError):
        raise DatasetError(f"`{name}` is {given!r}, which is not as the items are", here(), "give it one for each part of an item") from None


def mapped(function: Callable[..., Any], axes: int) -> Callable[..., Any]:
    """A function of items as one of arrays of items."""
    for _ in range(axes):
        function = _over_items(function)
    return function


def _over_items(function: Callable[..., Any]) -> Callable[..., Any]:
    """At once, if the function allows it; what runs on the host in an order is called for one item after the other."""

    def over(*items: Any) -> Any:
        try:
            return jax.vmap(function)(*items)
        except ValueError as error:
            if "ordered IO callback" not in str(error):
                raise
        return lax.map(lambda item: function(*item), items)

    return over
