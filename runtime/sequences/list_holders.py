"""Which variables of the functions around hold a list, or what holds it: where it is given another in its place, they would not change."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Collection, Iterator
from types import CodeType, FrameType
from typing import Any

from autograph.runtime.errors.source_spans import caller, is_block, is_generated, is_handed_on, mark_of, read_after, shown_name, visible
from autograph.runtime.state.length_bounds import ListOwner
from autograph.runtime.state.object_graph import attributes, is_state
from autograph.runtime.state.state_refs import AttributeRef, CellRef, NameRef, StateRef
from autograph.runtime.values.abstract_values import is_container
from autograph.runtime.values.values import ARRAYS, NUMBERS, DynamicLength, Poison, ours


def _frames() -> Iterator[FrameType]:
    """The frames of converted code around, the innermost first."""
    frame = caller()
    while frame is not None and (mark_of(frame.f_code) in ("Form", "Staged") or is_block(frame.f_code)):
        yield frame
        frame = visible(frame.f_back)


def held_in(items: list[Any]) -> Iterator[str]:
    """The paths in containers and objects, which variables hold that are read afterwards, to a list."""
    seen = {id(items)}
    for frame in _frames():
        for variable, held in frame.f_locals.items():
            if variable in _shared(frame) or read_after(frame, variable) or is_handed_on(frame.f_code, variable):
                yield from (f"{shown_name(frame.f_code, variable)}{path}" for path in _holders(items, held, None, seen))


def _variables(box: list[Any]) -> Iterator[tuple[FrameType, list[str], int]]:
    """The frames around, with the names of the variables that hold what is in the box, and how many references to it the frame itself has."""
    for frame in _frames():
        own, seen = frame.f_code.co_varnames + frame.f_code.co_cellvars, frame.f_locals
        names = [name for name, value in seen.items() if value is box[0]]
        shown = len(names) if type(seen) is dict else 0  # before Python 3.13 a frame keeps the dict in which it has shown its variables
        yield frame, names, shown + sum(name in own for name in names)


def _is_counted(box: list[Any], held: int) -> bool:
    """Whether nothing holds what is in the box but the box, our records, and `held` other references."""
    return sys.getrefcount(box[0]) - 2 <= ours(box[0]) + held


def is_held_beside(box: list[Any], names: Collection[str], held: int) -> bool:
    """Whether anything but variables of these names holds the list in the box; the operator itself has `held` references.

    A global variable, an attribute or an item that holds it is one more reference than those variables are.
    """
    for frame, variables, count in _variables(box):
        if any(shown_name(frame.f_code, name) not in names for name in variables):
            return True
        held += count
    return not _is_counted(box, held)


def is_unread(place: StateRef, held: int, blocks: Collection[CodeType]) -> bool:
    """Whether nothing will read a container or object any more after the branch whose sides are `blocks`: it holds what it likes then.

    It is unread if only variables hold it that the functions around do not read afterwards, up to the function or the body of a loop in which
    the branch stands, or attributes of objects of which the same is true; and if no function of the user's shares these.  (`c.append(x)` after
    `if p: return 0`, and nothing behind: the other side knows nothing of it.)  A second holder is one more reference than these are; the operator
    itself has `held`.
    """
    return _is_unread([place.obj], held, blocks) if is_state(place.obj) or is_container(place.obj) else False


def _is_unread(box: list[Any], held: int, blocks: Collection[CodeType]) -> bool:
    """The same of what the box holds, which is counted as one of the references."""
    if weakref.getweakrefcount(box[0]):  # whoever has one reads it without holding it
        return False
    alone, around = held, []
    for frame, names, count in _variables(box):
        code = frame.f_code
        own = code.co_varnames + code.co_cellvars
        if any(name in own and (read_after(frame, name) or _is_shared(code, name, blocks)) for name in names):
            return False
        held += count
        around += [[value] for name, value in frame.f_locals.items() if name in own and is_state(value) and _count(value, box)]
        if not code.co_name.startswith(("then", "orelse")) or not is_block(code):
            break
    if len(around) == 1 and _is_unread(around[0], 0, blocks):  # of several objects that hold it none is counted
        held += _count(around[0][0], box)
    return held > alone and _is_counted(box, held)


def _count(obj: Any, box: list[Any]) -> int:
    """How many attributes of an object hold something."""
    return sum(AttributeRef(obj, name).get() is box[0] for name in attributes(obj))


def _is_shared(code: CodeType, name: str, blocks: Collection[CodeType]) -> bool:
    """Whether a function that is no block shares a variable of code."""
    for inner in code.co_consts:
        if isinstance(inner, CodeType) and name in inner.co_freevars:
            if not (inner in blocks or is_block(inner) and inner.co_name != "<lambda>") or _is_shared(inner, name, blocks):
                return True
    return False


def other_names(items: list[Any], home: ListOwner) -> Iterator[str]:
    """Where variables of the functions around hold a list, or objects in them; but for its home."""
    seen = {id(items)}
    for frame in _frames():
        for variable, held in frame.f_locals.items():
            own = isinstance(home.location, (CellRef, NameRef)) and home.location.variable == variable and variable in _shared(frame)
            shown = shown_name(frame.f_code, variable)
            read = variable in _shared(frame) or read_after(frame, variable) or is_handed_on(frame.f_code, variable)
            if held is items and not own and read:
                yield shown
            if read or not is_generated(frame.f_code, shown):
                yield from (f"{shown}{path}" for path in _holders(items, held, home, seen))


def _shared(frame: FrameType) -> tuple[str, ...]:
    """The variables of a frame that functions share."""
    return frame.f_code.co_cellvars + frame.f_code.co_freevars


def _holders(items: list[Any], held: Any, home: ListOwner | None, seen: set[int]) -> Iterator[str]:
    """The paths in a value that lead to a list, but for its home."""
    todo: list[tuple[Any, str]] = [(held, "")]
    while todo:
        inside, path = todo.pop()
        if id(inside) in seen or isinstance(inside, (*ARRAYS, *NUMBERS, str, type, Poison, DynamicLength)):
            continue
        seen.add(id(inside))
        mine = home is not None and inside is home.location.obj
        if isinstance(inside, dict):
            parts: list[tuple[Any, str, bool]] = [(v, f"[{k!r}]", mine and k == home.key) for k, v in inside.items()]  # type: ignore[union-attr]
        elif isinstance(inside, (list, tuple)):
            parts = [(v, f"[{k}]", mine and k == home.key) for k, v in enumerate(inside)]  # type: ignore[union-attr]
        elif is_state(inside):
            places = [AttributeRef(inside, name) for name in attributes(inside)]
            parts = [(place.get(), f".{place.attribute}", home is not None and place == home.location) for place in places]
        else:
            continue
        yield from (path + step for v, step, own in parts if v is items and not own)
        todo += [(v, path + step) for v, step, _ in parts]
