"""Variables that a block shares with closures: it assigns them in their cell, and the cell gets the outer value back.

A block that assigns a captured variable `x` takes it as `x_` and begins with `nonlocal x; x = x_` (or `global x`).  While the block is
traced the cell holds tracers; after any exit it must hold what it held before, because the traced values belong to the block.
"""

from __future__ import annotations

import dis
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CellType, CodeType
from typing import Any
from weakref import WeakKeyDictionary

from autograph.runtime.errors import GlobalStateError
from autograph.runtime.frames import in_block
from autograph.runtime.places import here

_EMPTY = object()
_lock = threading.RLock()
_stored: WeakKeyDictionary[CodeType, tuple[frozenset[str], frozenset[str]]] = WeakKeyDictionary()


def stores(code: CodeType) -> tuple[frozenset[str], frozenset[str]]:
    """The free and the global names that a code object assigns, blocks inside it included."""
    found = _stored.get(code)
    if found is None:
        free: set[str] = set()
        glob: set[str] = set()
        for instruction in dis.get_instructions(code):
            if instruction.opname in ("STORE_DEREF", "DELETE_DEREF"):
                free.add(instruction.argval)
            elif instruction.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
                glob.add(instruction.argval)
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                inner = stores(constant)
                free |= inner[0]
                glob |= inner[1]
        found = _stored[code] = (frozenset(free) & frozenset(code.co_freevars), frozenset(glob))
    return found


class _Protected(threading.local):
    """For each staged block of this thread, the cells and globals that it carries."""

    def __init__(self) -> None:
        self.sets: list[Any] = []


_protected = _Protected()


def rebinds(variable: Callable[[], Any]) -> None:
    """Called before a function binds a global or nonlocal variable, with a function that reads it.

    Raises:
      GlobalStateError: (AG402) a staged block is being traced that does not carry the variable.
    """
    if not _protected.sets or not in_block():
        return
    cells = variable.__closure__
    key: Any = id(cells[0]) if cells else (id(variable.__globals__), variable.__code__.co_names[0])  # type: ignore[attr-defined]
    if key not in _protected.sets[-1]:
        name = variable.__code__.co_freevars[0] if cells else key[1]
        raise GlobalStateError(
            f"`{name}` is assigned by a function that is called in a staged loop or branch", here(),
            f"return the new value of `{name}` and assign it in the block",
        )  # fmt: skip


@contextmanager
def restored(*fns: Callable[..., Any]) -> Iterator[None]:
    """Run blocks; afterwards the cells and globals that they assign hold what they held before."""
    cells: dict[int, tuple[CellType, Any]] = {}
    names: dict[tuple[int, str], tuple[dict[str, Any], str, Any]] = {}
    for fn in fns:
        code = getattr(fn, "__code__", None)
        if code is None or not (code.co_freevars or code.co_names):
            continue
        free, glob = stores(code)
        for name, cell in zip(code.co_freevars, fn.__closure__ or (), strict=False):
            if name in free:
                cells[id(cell)] = cell, _contents(cell)
        for name in glob:
            space = fn.__globals__
            names[id(space), name] = space, name, space.get(name, _EMPTY)
    _protected.sets.append(cells.keys() | names.keys())
    if not cells and not names:
        try:
            yield
        finally:
            _protected.sets.pop()
        return
    with _lock:  # two threads must not trace through the same cells at once
        try:
            yield
        finally:
            _protected.sets.pop()
            for cell, value in cells.values():
                if value is not _EMPTY:
                    cell.cell_contents = value
                elif _contents(cell) is not _EMPTY:
                    del cell.cell_contents
            for space, name, value in names.values():
                if value is not _EMPTY:
                    space[name] = value
                else:
                    space.pop(name, None)


def _contents(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _EMPTY
