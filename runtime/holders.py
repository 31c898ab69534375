"""Objects, lists and dicts into which code has put arrays while a function is traced: a store into such an array by its name is seen in them.

    box = Box(buffer)          # `self.cells = cells`
    buffer[0] = x              # box.cells[0] is x

The text of a function tells of what it puts somewhere itself; what its callees put, and keep, is known here.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autograph.runtime.frames import frames
from autograph.runtime.heap import Attribute, Contents, HeapLocation
from autograph.runtime.shared import aliasable, origin
from autograph.runtime.specs import is_container
from autograph.runtime.values import Maybe, ours

_MOST = 100  # items of a list that are looked at


def note_held(place: HeapLocation, value: Any) -> None:
    """A place of the user's is given a value: an array, or a list or dict of arrays."""
    inside = _items(value) if is_container(value) else ()
    if not (aliasable(value) or inside):
        return
    for frame in reversed(frames()):
        if frame.root:
            frame.holders.setdefault(place)
            for v in (value, *inside):
                if isinstance(v, np.ndarray) and isinstance(v.base, np.ndarray):
                    frame.views[id(v)] = v, v.base
            if any(map(aliasable, inside)):
                frame.holders.setdefault(Contents(value))
            return


def noting_fields(cls: Any) -> Callable[..., Any]:
    """A class whose own `__init__` nobody wrote: what its objects hold is noted when they are made."""

    @functools.wraps(cls, updated=())
    def make(*args: Any, **kwargs: Any) -> Any:
        made = cls(*args, **kwargs)
        for name, value in list(getattr(made, "__dict__", {}).items()):
            note_held(Attribute(made, name), value)
        return made

    return make


def held_as(x: Any) -> Iterator[tuple[HeapLocation, Any]]:
    """The places that hold an array: a place, and the key or index of a list or dict."""
    known = list(dict.fromkeys(place for frame in frames() if frame.root for place in frame.holders))
    for place in known:
        if isinstance(place, Contents):
            obj = place.obj
            if not isinstance(obj, (list, dict)):
                continue
            for key in range(len(obj)) if isinstance(obj, list) else list(obj):
                if _is(obj[key], x):
                    yield place, key
        elif _is(place.get(), x):
            yield place, None


def forget_dead() -> None:
    """Forget what nothing holds any more but we."""
    for frame in frames():
        while dead := [place for place in frame.holders if sys.getrefcount(place.obj) <= ours(place.obj) + 1]:
            for place in dead:
                del frame.holders[place]
            dead.clear()


def _is(held: Any, x: Any) -> bool:
    held = held.value if isinstance(held, Maybe) else held
    return aliasable(held) and origin(held) is origin(x)


def _items(container: Any) -> list[Any]:
    values = container.values() if isinstance(container, dict) else container
    return list(values)[:_MOST]
