"""Lists, dicts and arrays of which compiled code has a copy: what one shows after a change, the other does not.

An item of a list of data-dependent length stands in a buffer.  What is appended is copied into it, and what is read of it is a copy.  In
Python both are the object itself, so a change of either from then on is an error (`captured_state.touch`), in this iteration and in later ones: the
loop carries that a variable holds a copy, and so does a branch.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping
from typing import Any

from autograph.runtime.arrays.numpy_array import View
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi.tracers import Array
from autograph.runtime.state.container_aliasing import containers_of
from autograph.runtime.tracing.trace_context import frames, of_block
from autograph.runtime.values.values import Copied

Path = tuple[Any, ...]


def _array_of(value: Any) -> Any:
    """The array that a value is, or is a view of."""
    if not isinstance(value, Array) or not value.ndim:
        return None
    return value.root if isinstance(value, View) else value


def _objects(value: Any) -> Iterator[tuple[Path, Any]]:
    """The containers and arrays in a value, each with the numbers of the parts that lead to it."""
    return containers_of(value, also=_array_of)


def note_copies(value: Any, why: str, advice: str, of: Any = None) -> None:
    """A value is copied now, or is a copy of an item of the list `of`."""
    place, frame = here(), of_block()
    home = weakref.ref(frame.trace) if frame is not None and frame.trace is not None else None
    for _, x in _objects(value):
        note_copy(x, Copied(x, why, advice, place, of, home))
        if of is not None and frame is not None:
            frame.fresh.add(id(x))  # the block has made it


def note_copy(x: Any, copy: Copied) -> None:
    for frame in frames():
        frame.copied.setdefault(id(x), copy)


def copy_of(x: Any) -> Copied | None:
    """What is known of an object of which there is a copy."""
    return next((f.copied[id(x)] for f in frames() if id(x) in f.copied), None)


def copies_in(values: Any) -> dict[Path, Copied]:
    """The places in some values of what is a copy, or has one."""
    if not any(f.copied for f in frames()):
        return {}
    return {path: copy for path, x in _objects(values) if (copy := copy_of(x)) is not None}


def note_copies_at(values: Any, copies: Mapping[Path, Copied]) -> None:
    """What stands at these places of some values is a copy, or has one."""
    for path, x in _objects(values) if copies else ():
        if path in copies:
            copy = copies[path]
            note_copy(x, Copied(x, copy.why, copy.advice, copy.place))


def rows_of(bound: Any) -> list[Any]:
    """The copies of items of a list that have been read of it, by blocks that still run."""
    running = {id(frame.trace) for frame in frames() if frame.trace is not None}
    found = {id(copy.value): copy for frame in frames() for copy in frame.copied.values() if copy.of is bound}
    return [copy.value for copy in found.values() if copy.home is not None and id(copy.home()) in running]
