"""Containers that code changes without telling."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from autograph.runtime.errors.raise_sites import is_users
from autograph.runtime.jaxapi import trees
from autograph.runtime.state.captured_state import record_write
from autograph.runtime.state.container_aliasing import is_spoiled, is_told
from autograph.runtime.state.object_graph import places_in
from autograph.runtime.state.state_refs import ContentsRef
from autograph.runtime.tracing.trace_context import frames, lifting
from autograph.runtime.values.abstract_values import is_container
from autograph.runtime.values.values import traced


def makes_keys(cls: type) -> bool:
    """Whether dicts of a class make a key when it is read: `defaultdict`, and classes with a `__missing__` of their own."""
    return issubclass(cls, dict) and hasattr(cls, "__missing__") and cls is not Counter


def making_keys(cls: Any) -> Callable[..., Any]:
    """A class of such dicts, the objects of which are watched."""

    def make(*args: Any, **kwargs: Any) -> Any:
        made = cls(*args, **kwargs)
        if (frame := next((f for f in frames() if f.root), None)) is not None:
            frame.defaults.append(ContentsRef(made))
        return made

    return make


class Watch:
    """Containers that are given to code which may change them without telling; and objects, also `captured`, which a library marks as used."""

    def __init__(self, values: Iterable[Any], captured: Iterable[Any] = ()) -> None:
        given = [x for v in values for x in (v if type(v) is tuple else (v,))]
        found = {id(x): x for x in given if is_container(x)}
        self.before = [(location := ContentsRef(x), location.get()) for x in found.values()]
        self.nodes = [place for x in [*given, *captured] if trees.is_own_node(x) and is_librarys(type(x)) for place in places_in(x)]
        self.held = [place.get() for place in self.nodes]

    def notice(self) -> None:
        """Remember the changes."""
        for location, before in self.before:
            now = location.get()
            if not now.same(before) and not is_spoiled(now) and not (id(location.obj) in lifting()[-1].twins and is_told(location.obj, now)):
                frame = lifting()[-1]
                if (
                    makes_keys(type(location.obj))
                    and location in frame.saved
                    and location not in frame.preset
                    and not before.alike(frame.saved[location])
                ):
                    frame.saved[location] = before  # a key had been made when code told of a change
                location.put(before)
                record_write(location, late=False)
                location.put(now)
        for place, before in zip(self.nodes, self.held, strict=True):
            if place.get() is not before and place not in lifting()[-1].written and not traced(place.get()):
                place.put(before)  # a mark of the library's: the object is a value, which has been used here


def is_librarys(cls: type) -> bool:
    """Whether a class belongs to an installed library."""
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return file is not None and not is_users(file)
