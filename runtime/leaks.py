"""Traced values that were stored in an object, a global or a cell that outlives the trace: found when the trace ends, put back, refused."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from autograph.runtime.cells import stores
from autograph.runtime.errors import AttributeStateError, GlobalStateError, Place
from autograph.runtime.places import here
from autograph.runtime.values import traced

_MISSING = object()


class _Watching(threading.local):
    def __init__(self) -> None:
        self.logs: list[list[tuple[Any, str, Any, Place | None]]] = []


_watching = _Watching()


def stored(obj: Any, name: str, value: Any) -> None:
    """Called before `obj.name = value`."""
    if _watching.logs and traced(value):
        try:
            alive: Any = weakref.ref(obj)
        except TypeError:  # an object with slots: it is held, and counts as one that stays
            alive = lambda: obj  # noqa: E731
        _watching.logs[-1].append((alive, name, getattr(obj, "__dict__", {}).get(name, _MISSING), here()))


@contextmanager
def watching(*fns: Callable[..., Any]) -> Iterator[None]:
    """Run a trace; then refuse traced values that stayed behind in objects, and in the globals and cells that `fns` assign."""
    places = list(_assigned(fns))
    before = [get() for get, _, _ in places]
    _watching.logs.append([])
    try:
        yield
    finally:
        log = _watching.logs.pop()
        kept = [(get, put, what, old) for (get, put, what), old in zip(places, before, strict=True) if traced(get())]
        for _, put, _, old in kept:
            put(old)
        left = [(o, name, old, at) for alive, name, old, at in reversed(log) if (o := alive()) is not None]
        found = [(o, name, at) for o, name, _, at in left if traced(getattr(o, name, None))]
        for o, name, old, _ in left:
            if old is _MISSING:
                o.__dict__.pop(name, None)
            else:
                setattr(o, name, old)
    if found:
        o, name, at = found[-1]
        raise AttributeStateError(
            f"`{type(o).__name__}.{name}` would keep a traced value after this function has been compiled", at,
            f"return the new value and set `.{name}` outside",
        )  # fmt: skip
    if kept:
        raise GlobalStateError(
            f"the {kept[0][2]} would keep a traced value after this function has been compiled", None, "return the new value and assign it outside"
        )


def _assigned(fns: Any) -> Iterator[tuple[Callable[[], Any], Callable[[Any], None], str]]:
    for fn in fns:
        code = getattr(fn, "__code__", None)
        if code is None:
            continue
        free, glob = stores(code)
        for name in glob:
            yield _global(fn.__globals__, name)
        for name, cell in zip(code.co_freevars, fn.__closure__ or (), strict=False):
            if name in free:
                yield _cell(cell, name)


def _global(space: dict[str, Any], name: str) -> Any:
    def put(old: Any) -> None:
        if old is _MISSING:
            space.pop(name, None)
        else:
            space[name] = old

    return lambda: space.get(name, _MISSING), put, f"global `{name}`"


def _cell(cell: Any, name: str) -> Any:
    def get() -> Any:
        try:
            return cell.cell_contents
        except ValueError:
            return _MISSING

    def put(old: Any) -> None:
        if old is _MISSING:
            del cell.cell_contents
        else:
            cell.cell_contents = old

    return get, put, f"variable `{name}` of the function around"
