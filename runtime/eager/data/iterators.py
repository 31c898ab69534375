"""`iter(dataset)`: the items one by one, in Python and in compiled functions that it is handed to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph.runtime.arrays.variable_ref import is_variable
from autograph.runtime.eager.data import item_order as orders
from autograph.runtime.eager.data.item_order import Irregular
from autograph.runtime.eager.data.parallel_reading import ahead
from autograph.runtime.eager.variables import Variable
from autograph.runtime.effects.error_codes import fail
from autograph.runtime.errors.errors import DatasetError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi import trees
from autograph.runtime.sequences.rows import Range, Rows, Stream, unknown


class DatasetIterator(Stream, Iterator[Any]):
    """The items of a dataset, each once: `next(it)` gives the next one, and `for x in it` what is left.

    It can be handed to an `ag.function`, which takes items too where it is one of a dataset whose items have numbers and one shape: where it stands
    is state, as of a Variable.  In branches and loops of a compiled function write `it.get_next()`.  Past the end `StopIteration` is raised, of a
    compiled function when it ends.

    The semantics are those of `tf.data.Iterator` (https://www.tensorflow.org/api_docs/python/tf/data/Iterator).

    Raises:
      DatasetError: (AG707) a compiled function takes an item of a dataset that no compiled loop goes over, or whose last batch is smaller.

    >>> import autograph as ag
    >>> it = iter(ag.data.Dataset.range(6).batch(2))
    >>> @ag.function
    ... def step(it):
    ...     return next(it).sum()
    >>> print(step(it), next(it), step(it))
    1 [2 3] 9
    """

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self._why = dataset._irregular()
        self._known: tuple[Any, int] | None = None
        self._made, self._handed = 0, False
        self._seen: list[Any] = []  # the arrays of the order
        self._at = Variable(lambda: jnp.int32(0), trainable=False, name="the place of an iterator")
        if isinstance(self._why, Irregular):
            self._items = self._reading(None, 0)
        else:
            full, last = dataset._order_on_host()
            self._host, self._count, self._last = full, orders.length_of(full), last is not None
            self._order = (full, last)
            self._full = trees.map(lambda x: Variable(lambda: jnp.asarray(x), trainable=False, name="the order of an iterator"), full)
            self._items = self._reading(self._order, 0)

    def __iter__(self) -> DatasetIterator:
        return self

    def __next__(self) -> Any:
        if _jax.compiling():
            return self._next()
        if self._why is not None:
            return self._in_python()
        place = self._place() if self._handed else self._made
        restored = self._handed and self._is_restored()
        if restored or place != self._made:  # a checkpoint was restored, or a compiled function has taken some
            self.close()
            self._items, self._made = self._reading(self._order, place), place
        item = next(self._items)
        self._made = place + 1
        if self._handed:
            self._at.assign(jax.device_put(np.int32(self._made)))
            self._known = self._at.value, self._made
        return item

    def _in_python(self) -> Any:
        """The next item of a dataset that no compiled loop goes over: a place that a checkpoint has brought is come to by taking items."""
        place = self._place() if self._handed else self._made
        if place != self._made:
            self.close()
            self._items, self._made = self._reading(None, 0), 0
            while self._made < place:
                next(self._items)
                self._made += 1
        item = next(self._items)
        self._made += 1
        if self._handed:
            self._at._restore(np.int32(self._made))
        return item

    def _reading(self, order: Any, place: int) -> Any:
        """What makes the items from a place on."""
        items = self._dataset._read(order, place)
        return ahead(items, self._dataset._ahead) if self._dataset._ahead else items

    def saved_parts(self) -> list[tuple[str, Any]]:
        """The order of the items and the place in it; also for a checkpoint that is restored into it."""
        if self.why_not_saved():
            return []
        if not self._handed:
            self._hand()
        return [("at", self._at), *([] if self._why is not None else [("order", self._full)])]

    def why_not_saved(self) -> str:
        """Why a checkpoint does not save where it stands."""
        drawn = isinstance(self._why, Irregular) and self._dataset.random is not None
        return f"its order is random, and {self._why.why}" if drawn else ""

    def _is_restored(self) -> bool:
        """Whether a checkpoint has brought another order, which is taken over then."""
        now = [v.value for v in self._orders()]
        if all(a is b for a, b in zip(now, self._seen, strict=True)):
            return False
        self._seen = now
        self._order = (trees.map(lambda v: np.asarray(v.value), self._full, is_leaf=is_variable), self._order[1])
        return True

    def _hand(self) -> None:
        """From now on its place is a Variable."""
        self._at._restore(np.int32(self._made))
        self._handed = True
        self._seen = [v.value for v in self._orders()]

    def _orders(self) -> list[Any]:
        return [] if isinstance(self._why, Irregular) else trees.leaves(self._full, is_leaf=is_variable)

    def get_next(self) -> Any:
        """`next(it)`."""
        return next(self)

    @property
    def element_spec(self) -> Any:
        """What the items are, as of the dataset."""
        return self._dataset.element_spec

    def close(self) -> None:
        """Take no more items; what makes them ahead ends."""
        self._items.close()

    def rows(self) -> Range | Rows:  # type: ignore[override]
        """What is left, for a compiled loop: where it stands afterwards depends on how many iterations were made."""
        self._check()

        def item(k: Any) -> Any:
            self._at.assign(jnp.asarray(k, jnp.int32) + 1)
            return self._item(k)

        start = self._at.value
        if unknown(start):
            return Range(start, self._count, 1, item=item, most=self._count)
        first = int(start)
        return Rows(max(self._count - first, 0), lambda i: item(i + first), None, (), ())

    def _place(self) -> int:
        array = self._at.value
        if self._known is None or self._known[0] is not array:
            self._known = array, int(array)
        return self._known[1]

    def _item(self, k: Any) -> Any:
        return self._dataset._opened(self._dataset._item(trees.map(lambda v: v.value[k], self._full), 0))

    def _next(self) -> Any:
        """The next item, in a compiled function."""
        self._check()
        place = self._at.value
        if not self._count:
            raise StopIteration
        fail(place >= self._count, StopIteration, "the dataset has no more items")
        self._at.assign(jnp.minimum(place + 1, self._count))
        return self._item(jnp.minimum(place, self._count - 1))

    def _check(self) -> None:
        if isinstance(self._why, Irregular):
            raise DatasetError(f"a compiled function takes an item of a dataset, and {self._why.why}", here(), _INSTEAD)
        if self._last:
            raise DatasetError(
                "a compiled function takes an item of a dataset whose last batch is smaller", here(), "write `batch(n, drop_remainder=True)`"
            )
        if not self._handed:  # the first time: until then nobody asks the Variable
            self._hand()


_INSTEAD = "take it in Python, and give the compiled function the item: `step(next(it))`"
