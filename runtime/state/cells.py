"""Variables that a block shares with closures: it assigns them in their cell, and the cell gets the outer value back.

A block that assigns a captured variable `x` takes it as `x_` and begins with `nonlocal x; x = x_` (or `global x`).  While the block is
traced the cell holds tracers; after any exit it must hold what it held before, because the traced values belong to the block.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CellType, CodeType
from typing import Any
from weakref import WeakKeyDictionary

from autograph.runtime.state.captured_state import record_write
from autograph.runtime.state.state_refs import CellRef, NameRef, StateRef
from autograph.runtime.tracing.trace_context import TRACING, TraceContext, watched

_EMPTY = object()
_stored: WeakKeyDictionary[CodeType, tuple[frozenset[str], frozenset[str]]] = WeakKeyDictionary()

_stored_itself: WeakKeyDictionary[CodeType, tuple[frozenset[str], frozenset[str]]] = WeakKeyDictionary()


def stores(code: CodeType, inside: bool = True) -> tuple[frozenset[str], frozenset[str]]:
    """The free and the global names that a code object assigns; with those that functions inside it assign."""
    known = _stored if inside else _stored_itself
    found = known.get(code)
    if found is None:
        free: set[str] = set()
        glob: set[str] = set()
        for instruction in dis.get_instructions(code):
            if instruction.opname in ("STORE_DEREF", "DELETE_DEREF"):
                free.add(instruction.argval)
            elif instruction.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
                glob.add(instruction.argval)
        for constant in code.co_consts if inside else ():
            if isinstance(constant, CodeType):
                inner = stores(constant)
                free |= inner[0]
                glob |= inner[1]
        found = known[code] = (frozenset(free) & frozenset(code.co_freevars), frozenset(glob))
    return found


def rebinds(variable: Callable[[], Any]) -> None:
    """Called before a function binds a global or nonlocal variable, with a function that reads it: a block that is traced remembers its value."""
    if not watched():
        return
    record_write(location_of(variable))


def location_of(variable: Callable[[], Any]) -> StateRef:
    cells = variable.__closure__
    space: dict[str, Any] = variable.__globals__  # type: ignore[attr-defined]
    location: StateRef = CellRef(cells[0], variable.__code__.co_freevars[0]) if cells else NameRef(space, variable.__code__.co_names[0])  # type: ignore[attr-defined]
    return location


def left_in(fn: Callable[..., Any], state: list[Any]) -> list[Any]:
    """The state of a loop after its test: what it has left in the variables that it shares with the code around, its parameters `x_`."""
    fn = getattr(fn, "__wrapped__", fn)
    code: CodeType | None = getattr(fn, "__code__", None)
    if code is None or not (code.co_freevars or code.co_names):
        return state
    free, space = stores(code)
    cells = dict(zip(code.co_freevars, fn.__closure__ or (), strict=True))
    out = list(state)
    for k, name in enumerate(code.co_varnames[: code.co_argcount], len(state) - code.co_argcount):
        if name.endswith("_") and name[:-1] in free:
            out[k] = state[k] if (held := _contents(cells[name[:-1]])) is _EMPTY else held
        elif name.endswith("_") and name[:-1] in space:
            out[k] = fn.__globals__[name[:-1]]
    return out


def held_in(*fns: Callable[..., Any]) -> dict[str, Any]:
    """What the cells and globals hold that blocks assign, by name."""
    found: dict[str, Any] = {}
    for fn in fns:
        code = getattr(fn, "__code__", None)
        if code is None or not (code.co_freevars or code.co_names):
            continue
        free, space = stores(code, inside=False)
        found |= {name: fn.__globals__[name] for name in space if name in fn.__globals__}
        cells = zip(code.co_freevars, fn.__closure__ or (), strict=False)
        found |= {name: held for name, cell in cells if name in free and (held := _contents(cell)) is not _EMPTY}
    return found


@contextmanager
def restored(frame: TraceContext, *fns: Callable[..., Any]) -> Iterator[None]:
    """Run blocks; afterwards the cells and globals that they assign hold what they held before."""
    cells: dict[int, tuple[CellType, Any]] = {}
    names: dict[tuple[int, str], tuple[dict[str, Any], str, Any]] = {}
    for fn in fns:
        code = getattr(fn, "__code__", None)
        if code is None or not (code.co_freevars or code.co_names):
            continue
        free, glob = stores(code, inside=False)  # a function inside it tells of what it assigns
        for name, cell in zip(code.co_freevars, fn.__closure__ or (), strict=False):
            if name in free:
                cells[id(cell)] = cell, _contents(cell)
        for name in glob:
            space = fn.__globals__
            names[id(space), name] = space, name, space.get(name, _EMPTY)
    if not cells and not names:
        yield
        return
    frame.protected = cells.keys() | names.keys()
    with TRACING:  # two threads must not trace through the same cells at once
        try:
            yield
        finally:
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


def held_in_cells(fn: Any) -> list[Any]:
    """What the variables of functions around hold that a function uses."""
    return [x for c in getattr(fn, "__closure__", None) or () if (x := _contents(c)) is not _EMPTY]


def _contents(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _EMPTY
