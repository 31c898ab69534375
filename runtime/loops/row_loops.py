"""Lists whose items are rows of arrays, as a loop has filled them: a loop over one, or over some side by side, is one over numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from autograph.runtime.indexing.stores import Value
from autograph.runtime.jaxapi.tracers import ArrayTracer, as_object
from autograph.runtime.loops.scalar_intervals import NotRollable
from autograph.runtime.sequences.stacked_lists import rows_in_column
from autograph.runtime.state.state_refs import ContentsRef

HAS_OPERATIONS_OF_THE_USER = True  # which may fail: see `is_fault`

_FEWEST = 16  # items
_ITERATORS: tuple[type, ...] = (type(iter([])), type(iter(())), type(iter(range(0))))
_IN_REVERSE: type = type(reversed([]))


class Series:
    """What such a loop goes over: `count` items; `item(k)` gives one, of a traced number a row of an array.

    `has(k)`: whether there is such an item now, as the lists may change.
    """

    def __init__(self, count: int, item: Callable[[Any], Any], has: Callable[[int], bool], lists: list[Any]) -> None:
        self.count, self.item, self.has, self.lists = count, item, has, lists
        self._items = {id(x) for held in lists for x in held}

    def is_changed(self, places: Iterable[Any]) -> bool:
        """Whether places are among those that an iteration has changed in which these lists or their items are."""
        mine = {id(held) for held in self.lists}
        return any(isinstance(p, ContentsRef) and id(p.obj) in mine or isinstance(p, Value) and id(p.obj) in self._items for p in places)


def series_of(items: Any) -> Series | None:
    """A list or tuple, or what `reversed`, `enumerate` and `zip` make of some; None of anything else, and of few items."""
    found = _part(items)
    return found if found is not None and found.lists and found.count >= _FEWEST else None


def _part(x: Any) -> Series | None:
    kind = type(x)
    if kind in (list, tuple):
        return _of_list(x)
    if kind in _ITERATORS:
        _, (held, *_), *start = x.__reduce__()
        return _part(held) if start == [0] else None
    if kind is _IN_REVERSE:
        _, (held, *_), *start = x.__reduce__()
        of = _of_list(held)
        if of is None or start != [of.count - 1]:
            return None
        last, item, has = of.count - 1, of.item, of.has
        return Series(of.count, lambda k: item(last - k), lambda k: k <= last and has(last - k), of.lists)
    if kind is range:
        return Series(len(x), lambda k: x.start + x.step * k, lambda k: k < len(x), [])
    if kind is enumerate:
        (inner, start) = x.__reduce__()[1]
        if (of := _part(inner)) is None:
            return None
        numbered = of.item
        return Series(of.count, lambda k: (start + k, numbered(k)), of.has, of.lists)
    if kind is zip:
        parts = [_part(inner) for inner in x.__reduce__()[1]]
        if not parts or any(p is None for p in parts) or len(x.__reduce__()) > 2:  # of one length, strictly
            return None
        known = [p for p in parts if p is not None]
        lists = [held for p in known for held in p.lists]
        return Series(min(p.count for p in known), lambda k: tuple([p.item(k) for p in known]), lambda k: all(p.has(k) for p in known), lists)
    return None


def _of_list(held: Any) -> Series | None:
    if len(held) < _FEWEST or any(type(x) is not ArrayTracer for x in held):
        return None
    rows = rows_in_column(held)
    if rows is None:
        return None
    return Series(len(held), lambda k: held[k] if type(k) is int else as_object(rows[k]), lambda k: k < len(held), [held])


class OfSeries:
    """The body of a loop over a series as one over the numbers of its items.  It stands for the user's in errors."""

    def __init__(self, series: Series, body: Callable[..., Any]) -> None:
        self.series, self.body = series, body
        for name in ("__code__", "__closure__", "__globals__", "__module__", "__defaults__", "__kwdefaults__"):
            setattr(self, name, getattr(body, name, None))

    def __call__(self, k: Any, *state: Any) -> Any:
        item = self.series.item(k)
        arrays = [] if type(k) is int else [(x, x.now) for x in (item if type(item) is tuple else (item,)) if isinstance(x, ArrayTracer)]
        out = self.body(item, *state)
        if any(x.now is not before for x, before in arrays):
            raise NotRollable("an iteration stores into an item of the list that the loop goes over")
        return out
