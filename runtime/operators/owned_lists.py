"""Methods that change the length of a list which an object, a dict or the code around holds: its *home*, which holds what it becomes.

    self.items.append(x)     =>   ag.call_in(self, 'items', 'append')(x)
    d['loss'].append(x)      =>   ag.call_at(d, 'loss', 'append')(x)
    LOG.append(x)            =>   ag.call_of(lambda: LOG, 'append')(x)       (a variable of the code around)
    del self.items[i]        =>   ag.del_attr_item(self, 'items', i)

As long as it is a list it changes in place, as in Python.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable
from typing import Any

import jax.numpy as jnp
from jax import lax

from autograph.runtime.branches.conditional import staged_cond
from autograph.runtime.branches.state_writes import is_selectable, noticed, unless_failed_now
from autograph.runtime.operators.attributes import place_of
from autograph.runtime.operators.getitem import get_item, inside
from autograph.runtime.operators.items import del_item
from autograph.runtime.operators.list_methods import append, clear, delete, insert, pop, remove, reverse_list
from autograph.runtime.sequences.bounded_list import CHANGES, BoundedList, enlarged
from autograph.runtime.sequences.rows import unknown
from autograph.runtime.state.attribute_reads import plain
from autograph.runtime.state.captured_state import note_late, record_write
from autograph.runtime.state.cells import location_of
from autograph.runtime.state.length_bounds import ListOwner
from autograph.runtime.state.reference_counts import ARGUMENT
from autograph.runtime.state.state_refs import ContentsRef, StateRef
from autograph.runtime.tracing.hooks import call
from autograph.runtime.tracing.trace_context import frames, watched


def call_in(obj: Any, name: str, method: str) -> Callable[..., Any]:
    """What to call in the place of `obj.name.method`."""
    x = getattr(obj, name)
    return _method(x, method, lambda: ListOwner(_holder(obj, name, x)))


def _holder(obj: Any, name: str, x: Any) -> StateRef:
    """The attribute that holds what `obj.name` gives: another one where that is a property."""
    place = place_of(obj, name)
    if place.get() is x:
        return place
    return next((place_of(obj, other) for other in plain(n for n, held in getattr(obj, "__dict__", {}).items() if held is x)), place)


def call_at(holder: Any, key: Any, method: str) -> Callable[..., Any]:
    """What to call in the place of `holder[key].method`."""
    if type(holder) is list and unknown(key) and method in _EVERY and all(type(x) is list or isinstance(x, BoundedList) for x in holder):
        return functools.partial(_at_some, holder, key, method)
    if isinstance(holder, dict) and key not in holder and watched():  # a `defaultdict` is about to make it
        record_write(ContentsRef(holder))
    return _method(get_item(holder, key), method, lambda: ListOwner(ContentsRef(holder), key) if isinstance(holder, (list, dict)) else None)


_EVERY = frozenset({"append", "extend", "insert", "remove", "reverse", "clear"})  # methods that give nothing


def _at_some(holder: list[Any], key: Any, method: str, /, *args: Any) -> None:
    """`holder[key].append(x)` of a traced index: each of the lists becomes longer, if it is the one."""
    i = inside(key, len(holder), "list index out of range")

    def change_one(k: int) -> None:
        call_at(holder, k, method)(*args)

    for k in range(len(holder)):
        staged_cond(lax.eq(i, jnp.asarray(k, i.dtype)), functools.partial(change_one, k), lambda: None, ())


def call_of(variable: Callable[[], Any], method: str) -> Callable[..., Any]:
    """What to call in the place of `variable.method`, given a function that reads a variable of the code around."""
    return _method(variable(), method, lambda: ListOwner(location_of(variable)))


def _method(x: Any, method: str, home: Callable[[], ListOwner | None]) -> Callable[..., Any]:
    if type(x) is list and watched():
        place = home()
        return call(getattr(x, method)) if place is None or place.get() is not x else _ListMethod(x, method, place)
    if isinstance(x, BoundedList) and method in _METHODS and (place := x.kind.bound.home or home()) is not None and place.get() is x:
        return _ListMethod(x.kind.bound.base, method, place)
    return call(getattr(x, method))  # type: ignore[no-any-return]


class _ListMethod:
    """A method of a list at home, which may become a `BoundedList` there before it is called."""

    def __init__(self, items: list[Any], name: str, home: ListOwner) -> None:
        self.items, self.name, self.home = items, name, home

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        count = sys.getrefcount(args[-1]) if args else 0  # asked here: the frames behind hold it, too
        now = self.home.get()
        if (
            isinstance(now, BoundedList)
            and now.kind.bound.base is self.items
            and len(args) in _METHODS.get(self.name, ())
            and (not kwargs or self.name == "sort")
        ):
            return self._changed(now, count - _GIVEN + ARGUMENT + 1, *args, **kwargs)
        note_home(self.items, self.home)
        return call(getattr(now if isinstance(now, BoundedList) else self.items, self.name))(*args, **kwargs)

    def _changed(self, now: BoundedList, count: int, *args: Any, **kwargs: Any) -> Any:
        """The list has become longer or shorter: its home holds the new one.  `count` says how often the item is held, as `append` counts it."""
        out: Any = None
        match self.name:
            case "append":
                new = append(now, args[0], count)
            case "extend":
                new = extended(now, args[0])
            case "pop":
                out, new = pop(now, *args)
            case "insert":
                new = insert(now, args[0], args[1], count)
            case "remove":
                new = remove(now, *args)
            case "reverse":
                new = reverse_list(now)
            case "sort":
                new = CHANGES["sort"](now, **kwargs)[1]
            case _:
                new = clear(now)
        put(self.home, new)
        return out


class _Probe:
    """A call like one of a method of a list: how often it finds an argument held that nothing else holds."""

    def __call__(self, *args: Any, **kwargs: Any) -> int:
        return sys.getrefcount(args[-1])


_GIVEN = _Probe()([])
_METHODS = {
    "append": [1],
    "extend": [1],
    "pop": [0, 1],
    "insert": [2],
    "remove": [1],
    "reverse": [0],
    "clear": [0],
    "sort": [0],
}  # how many arguments


def del_attr_item(obj: Any, name: str, i: Any) -> None:
    """`del obj.name[i]`."""
    x = getattr(obj, name)
    if isinstance(x, BoundedList) and (place := x.kind.bound.home) is not None and place.get() is x:
        put(place, delete(x, i))
        return
    if type(x) is list and watched() and (place := ListOwner(_holder(obj, name, x))).get() is x:
        note_home(x, place)
    del_item(x, i)


def extended(x: BoundedList, values: Iterable[Any]) -> BoundedList:
    """The list with more items, which are taken one by one."""
    for value in values:
        x = append(x, value)
    return x


def put(home: ListOwner, new: Any) -> None:
    """Let a home hold what its list has become."""
    location, old = home.location, home.get()
    if isinstance(new, BoundedList) and isinstance(old, BoundedList) and old.kind.bound is new.kind.bound and old.kind != new.kind:
        old = enlarged(old, new.kind.spec, new.kind.capacity)  # an error that has occurred before chooses between them
        home.put(old)
    if not isinstance(location, ContentsRef):
        location.put(noticed(location, new))
    elif is_selectable(old):
        home.put(unless_failed_now(new, lambda: old))
    else:
        note_late(location)
        home.put(new)


def note_home(items: list[Any], home: ListOwner) -> None:
    """A list is about to become longer or shorter: a branch or loop around may give its home a `BoundedList` for it."""
    for f in frames():
        f.grows[id(items)] = home
