"""Variables of callers that hold an array into which a function they call stores: their lists, dicts and objects get the new one.

A name or a tuple would keep the old array: that is refused.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any, NamedTuple

import jax
import numpy as np

from autograph.runtime._jax import recording
from autograph.runtime.errors import AliasError
from autograph.runtime.frames import frames, innermost
from autograph.runtime.heap import Attribute, HeapLocation, Variable, base_of
from autograph.runtime.holders import held_as
from autograph.runtime.keeping import kept_by
from autograph.runtime.objects import attributes, is_state
from autograph.runtime.places import (
    assigned_names,
    bound_in_line,
    caller,
    function_around,
    here,
    is_block,
    is_handed_on,
    is_only_read,
    read_after,
    read_in_next_turn,
    shown_name,
    targets_after,
    variable_of,
    visible,
)
from autograph.runtime.points_to import doubtful
from autograph.runtime.raw_errors import is_generated, mark_of
from autograph.runtime.replaced import has_become
from autograph.runtime.shared import origin
from autograph.runtime.values import ARRAYS, NUMBERS, Maybe, arrays_in

_KEEPS = "\0"  # in the path of an array: before and after the name by which a function keeps what follows
_MOST = 500  # objects that are looked into


class Spot(NamedTuple):
    """Where a list, dict or object holds an array."""

    holder: Any
    key: Any  # of an object the place of its attribute

    def get(self) -> Any:
        if isinstance(self.key, Attribute):
            return self.key.get()
        return self.holder[self.key] if (self.key in self.holder if isinstance(self.holder, dict) else self.key < len(self.holder)) else None

    def put(self, value: Any) -> None:
        """Hold another array; what is traced has to be told of that."""
        if isinstance(self.key, Attribute):
            self.key.put(value)
        else:
            base_of(self.holder).__setitem__(self.holder, self.key, value)


class _Waiting(threading.local):
    def __init__(self) -> None:
        self.waiting: tuple[Any, list[Spot], str] | None = None  # the array, and the name of a variable that functions share
        self.told: list[tuple[CodeType | None, Sequence[Any]]] = []


_outside = _Waiting()


def note_other_names(x: Any, stored: str, place: tuple[Any, Any] | None = None, shared: bool = False) -> None:
    """Called where an array that callers may hold is about to be stored into as `stored`: what holds it in lists, dicts and objects gets the new one.

    `place` is the object and its attribute, or the container and its key, that the store is made through; `shared`: functions inside this one may
    have put the array of its own variable into objects.

    Raises:
      AliasError: (AG407) another variable of a function around, or a tuple in one, holds it and is read later; or only traced values decide.
    """
    spots = list(_spots(x, stored, place is not None, place, None))
    if shared and isinstance(x, jax.Array if not recording() else (jax.Array, np.ndarray)) and x.ndim and (own := caller()) is not None:
        seen: set[int] = set()
        held = [found for value in own.f_locals.values() for found in _held_in(x, value, None, seen, _shared(own))]
        spots += [spot for _, spot, unknown in held if spot is not None and not unknown]
    asked = shared and isinstance(x, (jax.Array, np.ndarray))  # under the name that the store is made by; a list is not to be held here
    _waiting().waiting = (x, spots, stored) if spots or asked else None


def note_untold(x: Any) -> None:
    """Called where an array that has a name is about to be stored into: as `note_other_names`, if callers are not told of it otherwise."""
    noted = _waiting().waiting
    own = caller()
    if own is None or (noted is not None and noted[0] is x) or is_told(x, own):
        return
    name, function = variable_of(x), _whole(own)  # of the function's own variables its text tells
    is_own = name in own.f_locals and name not in own.f_code.co_freevars  # one of a caller's of the same name is another variable
    spots = list(_spots(x, "an array" if name is None else f"`{name}`" if is_own else name, False, None, own=function))
    _waiting().waiting = (x, spots, "") if spots else None


def callers_spots(x: Any, stored: str, place: tuple[Any, Any]) -> list[Spot]:
    """Where lists, dicts and objects of the functions around this one hold an array that an item is, which becomes another.

    Raises:
      AliasError: (AG407) a variable of theirs holds it and is read later.
    """
    return list(_spots(x, stored, False, place, own=_whole(caller())))


def refuse_callers_names(x: Any, stored: str, place: tuple[Any, Any]) -> None:
    """Called where one of several items is stored into, and traced values say which: as `note_untold`, and no list, dict or object may hold it."""
    for spot in callers_spots(x, stored, place):
        name = type(spot.holder).__name__
        raise AliasError(f"{stored} is stored into, and a `{name}` would keep the old array", here(), "put a copy there (`.copy()`)")


def _whole(frame: FrameType | None) -> FrameType | None:
    """The frame of the function, of one that may run a block of it."""
    while frame is not None and is_block(frame.f_code):
        frame = visible(frame.f_back)
    return frame


def note_holder(x: Any, place: HeapLocation) -> None:
    """Called where an array that a place is known to hold is about to be stored into by another name, as `note_other_names`.

    Callers that have given the array as an argument get it back.
    """
    refuse_other_variables(x, f"an array that {place.name} holds")
    frame = _whole(caller())
    if frame is None or (noted := _waiting().waiting) is not None and noted[0] is x:
        return
    given = frame.f_code.co_varnames[: frame.f_code.co_argcount + frame.f_code.co_kwonlyargcount]
    if isinstance(place, Attribute) and not any(may_be(frame.f_locals.get(name), x) for name in given):
        note_other_names(x, f"`{variable_of(place.obj) or type(place.obj).__name__}.{place.attribute}`", (place.obj, place.attribute))


def taken(x: Any) -> list[Spot]:
    """The spots that were noted for the array that is stored into."""
    around = _waiting()
    noted, around.waiting = around.waiting, None
    return [spot for spot in noted[1] if is_one(spot.get(), x)] if noted is not None and is_one(noted[0], x) else []


def _waiting() -> Any:
    return innermost() or _outside


def unforeseen(x: Any, stored: str) -> list[Spot]:
    """Where the variables of the functions around hold an array, which two places outside hold: no text tells that.

    Raises:
      AliasError: (AG407) one of them is the array, and is read later.
    """
    return list(_spots(x, stored, True, None, targets_after(caller())))


def refuse_other_names(x: Any, stored: str, place: tuple[Any, Any] | None = None) -> None:
    """Called where an array that a variable holds becomes another: as `note_other_names`, and no list, dict or object may hold it."""
    shown = f"`{stored}`" if stored.isidentifier() else stored
    for spot in _spots(x, stored, True, place):
        name = type(spot.holder).__name__
        raise AliasError(f"{shown} is stored into, and a `{name}` would keep the old array", here(), "put a copy there (`.copy()`)")
    for held, _ in held_as(x):
        if place is None or held.obj is not place[0]:
            raise AliasError(f"{shown} is stored into, and {held.name} would keep the old array", here(), "put a copy there (`.copy()`)")


def renew_others(x: Any, new: Any, stored: str) -> None:
    """The same where nothing is traced: lists, dicts and objects get the new array."""
    for spot in list(_spots(x, stored, True, None)):
        spot.put(new)


def refuse_other_variables(x: Any, stored: str) -> None:
    """Called where what holds an array is stored into by a path that text tells of: a callee may have put the array of a variable there.

    Raises:
      AliasError: (AG407) a variable of the function itself holds it that the statement does not bind, and is read later.
    """
    for _ in _own(x, stored, None, ""):
        pass


def note_own(x: Any, stored: str = "", place: tuple[Any, Any] | None = None) -> None:
    """Called where an array is about to be stored into: lists, dicts and objects of the function itself that hold it get the new one.

    `place` is the container and its key, if it is an item; then `stored` says so.

    Raises:
      AliasError: (AG407) a variable of the function holds it, or a tuple in one, that the statement does not bind, and is read later.
    """
    around = _waiting()
    _, noted, shared = around.waiting if around.waiting is not None and is_one(around.waiting[0], x) else (x, [], "")
    if spots := [spot for spot in _own(x, stored, place, shared) if spot is not None]:
        around.waiting = (x, [*noted, *spots], shared)


def _own(x: Any, stored: str, place: tuple[Any, Any] | None, shared: str) -> Iterator[Spot | None]:
    """Where variables of the function that runs hold an array which the statement does not renew, but for one that functions share.

    Where nothing is traced, also what those of its callers hold; the variables themselves, if they are not told of what is stored.
    """
    frame = caller() if (isinstance(x, jax.Array) or (isinstance(x, np.ndarray) and recording())) and x.ndim else None
    seen: set[int] = set()
    own, asked, told = True, True, len(_outside.told)
    inside: CodeType | None = None
    while frame is not None:
        shared_here = {*frame.f_code.co_cellvars, *frame.f_code.co_freevars}  # which a function inside binds that is told
        renewed = {*targets_after(frame), *bound_in_line(frame)} if own else shared_here
        for variable, held in frame.f_locals.items():
            if not variable.isidentifier():
                continue
            name = shown_name(frame.f_code, variable)
            generated = is_generated(frame.f_code, name)
            for path, spot, unknown in _held_in(x, held, place, seen, _shared(frame)):
                if spot is not None:
                    yield None if unknown else spot
                elif not asked or variable in renewed or not path and shared in (variable, name):
                    continue
                elif own and variable in assigned_names(frame) or generated or path and unknown:
                    continue
                elif own and not path and is_only_read(frame.f_code, variable):
                    raise AliasError(
                        f"`{name}` holds the array that is stored into, and belongs to the code around this function", here(),
                        f"declare `nonlocal {name}`, or store into a copy",
                    )  # fmt: skip
                elif (
                    read_after(frame, variable)
                    or is_handed_on(frame.f_code, variable)
                    or (place is not None and read_in_next_turn(frame, inside, variable))
                ):
                    raise _stale(stored or f"`{variable_of(x, but=name) or 'an array'}`", f"{name}{path}", frame, unknown)
        function, frame = frame.f_code, visible(frame.f_back)
        inside = function
        if not is_block(function):
            if recording() or frame is None or not (mark_of(frame.f_code) in ("Form", "Staged") or is_block(frame.f_code)):
                return
            own, asked = False, not (told and _outside.told[told - 1][0] is function)
            told -= not asked


def _spots(
    x: Any, stored: str, here_too: bool, place: tuple[Any, Any] | None, renewed: Sequence[str] | None = (), own: FrameType | None = None
) -> Iterator[Spot]:
    """Where lists, dicts and objects of the functions around hold an array; `here_too`: other variables of the function itself are looked at.

    `own` is the frame of the function, if it is not the block that runs.

    Its variables that are `renewed`, or None: that the statement assigns, get the new array.
    """
    if not (isinstance(x, jax.Array) or (isinstance(x, np.ndarray) and recording())) or not x.ndim:  # others are changed in place, numbers never
        return
    own = own or caller()
    gone = [*(targets_after(own) if renewed is None else renewed), *assigned_names(own)] if here_too else []
    if place is not None and own is not None:
        gone += own.f_code.co_freevars  # of a function around, which is asked
    frame = own if here_too or own is None else visible(own.f_back)
    inside = own.f_code if own is not None and frame is not own else None
    told = {p for f in frames() for places in f.sharing for p in places}  # of the new array
    seen = {id(p.obj) for p in told if not isinstance(p, Attribute)}
    if place is not None and own is not None and not isinstance(x, np.ndarray):  # a trace that knows the global variables follows
        renewed = assigned_names(own)
        for variable, held in arrays_in(own.f_globals).items():
            if may_be(held, x) and variable not in renewed and Variable(own.f_globals, variable) not in told:
                raise _stale(stored, variable, None, doubtful(held, x))
    kinds = ("Staged",) if recording() else ("Form", "Staged")  # in a trace the plain form only calls the staged one
    while frame is not None and (frame is own or mark_of(frame.f_code) in ("Form", "Staged") or is_block(frame.f_code)):
        reads = frame is own or mark_of(frame.f_code) in kinds or is_block(frame.f_code)
        for variable, held in frame.f_locals.items() if reads else ():
            if variable in (stored, f"{stored}_", *gone) or not variable.isidentifier():
                continue
            # what a `return` in a loop keeps is read only where the loop has ended with it: that it may be the array is no matter
            generated = is_generated(frame.f_code, shown_name(frame.f_code, variable))
            alone = frame is own and place is not None  # the text tells of what objects hold, but not always of which array an attribute is
            for path, spot, unknown in _held_in(x, held, place, set(seen) if generated or alone else seen, _shared(frame)):
                if alone and path:
                    continue
                if spot is not None and not unknown:
                    yield spot
                elif not (generated and unknown) and (
                    read_after(frame, variable)
                    or is_handed_on(frame.f_code, variable)
                    or (place is not None and read_in_next_turn(frame, inside, variable))
                ):
                    raise _stale(stored, f"{shown_name(frame.f_code, variable)}{path}", frame, unknown)
        inside, frame, gone = frame.f_code, visible(frame.f_back), []


@contextmanager
def telling(function: Any, given: Sequence[Any]) -> Iterator[None]:
    """While a function runs whose caller is told of what is stored into these arguments, and into their items."""
    _outside.told.append((getattr(getattr(function, "__func__", function), "__code__", None), given))
    try:
        yield
    finally:
        _outside.told.pop()


def is_told(x: Any, frame: FrameType | None) -> bool:
    """Whether the caller of the function that a frame runs is told of stores into an array or container."""
    frame = _whole(frame)
    if frame is None or not _outside.told or _outside.told[-1][0] is not frame.f_code:
        return False
    todo = list(_outside.told[-1][1])
    seen: set[int] = set()
    while todo and len(seen) < _MOST:
        v = todo.pop()
        if v is x or isinstance(v, ARRAYS) and (is_one(v, x) or has_become(origin(v), (x, origin(x)))):
            return True
        if isinstance(v, (dict, list, tuple)) and id(v) not in seen:
            seen.add(id(v))
            todo += v.values() if isinstance(v, dict) else v
    return False


def is_one(held: Any, x: Any) -> bool:
    """Whether a value is an array of a block."""
    return origin(held) is origin(x)


def may_be(held: Any, x: Any) -> bool:
    """Whether a value is an array of a block, or may be it: only traced values decide."""
    held = held.value if isinstance(held, Maybe) else held
    return is_one(held, x) or isinstance(held, ARRAYS) and doubtful(held, x)


def _stale(stored: str, what: str, frame: FrameType | None, unknown: bool) -> AliasError:
    """AG407, of a variable of the function that a frame runs, or of a global one."""
    stored = f"`{stored}`" if stored.isidentifier() else stored
    if _KEEPS in what:
        function, name, *_ = what.split(_KEEPS)
        return AliasError(
            f"{stored} is stored into, and `{function}` keeps the old array as its `{name}`", here(),
            f"make `{function}` after the store, give it a copy (`.copy()`), or an object that holds the array",
        )  # fmt: skip
    name = f"the global `{what}`" if frame is None else f"`{what}` in `{function_around(frame.f_code)}`"
    if unknown:
        return AliasError(
            f"{stored} is stored into, and only traced values decide whether {name} is the same array",
            here(), "give one of them a copy where they may become one (`.copy()`)",
        )  # fmt: skip
    return AliasError(
        f"{stored} is stored into, and {name} would keep the old array", here(),
        f"read `{what}` again after the call, or give it a copy before (`{what}.copy()`)",
    )  # fmt: skip


def _shared(frame: FrameType) -> Collection[str]:
    """The variables that a function shares with those inside it or around it."""
    return (*frame.f_code.co_cellvars, *frame.f_code.co_freevars)


def _held_in(x: Any, held: Any, place: tuple[Any, Any] | None, seen: set[int], shared: Collection[str]) -> Iterator[tuple[str, Spot | None, bool]]:
    """Where a value of the user's is or holds an array, but for the place stored into; and whether only traced values decide.

    `seen` are objects that do not hold it, or were found to; `shared` variables of functions are asked for themselves.
    """
    if may_be(held, x):
        yield "", None, not is_one(held, x)
    todo: list[tuple[Any, str]] = [(held, "")]
    while todo and len(seen) < _MOST:
        inside, path = todo.pop()
        if id(inside) in seen or isinstance(inside, (*ARRAYS, *NUMBERS, str, type)):
            continue
        seen.add(id(inside))
        if isinstance(inside, dict):
            parts: list[tuple[Any, str, Spot | None]] = [(v, f"[{k!r}]", Spot(inside, k)) for k, v in inside.items()]
        elif isinstance(inside, (list, tuple, deque)):
            parts = [(v, f"[{k}]", None if isinstance(inside, tuple) else Spot(inside, k)) for k, v in enumerate(inside)]
        elif is_state(inside):
            own = [n for n in attributes(inside) if place is None or not (inside is place[0] and n == place[1])]
            told = {p for f in frames() for places in f.sharing for p in places}
            parts = [(a.get(), f".{n}", Spot(inside, a)) for n in own if (a := Attribute(inside, n)) not in told]
        else:
            parts = [(v, f"{_KEEPS}{n}{_KEEPS}", None) for n, v in kept_by(inside, shared)]
        if place is not None and (inside is place[0] or isinstance(inside, dict) and inside is getattr(place[0], "__dict__", None)):
            parts = [p for p in parts if p[2] is None or isinstance(p[2].key, Attribute) or p[2].key != place[1]]
        for v, step, spot in parts:
            if may_be(v, x):
                yield path + step, spot, not is_one(v, x)
            todo.append((v, path + step))
