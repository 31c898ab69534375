"""Variables of callers that would keep an array that a function they call has replaced by storing into it."""

from __future__ import annotations

from collections.abc import Callable
from types import FrameType
from typing import Any

import jax
import numpy as np

from autograph.runtime._jax import recording
from autograph.runtime.errors import AliasError
from autograph.runtime.frames import frames
from autograph.runtime.heap import Attribute
from autograph.runtime.objects import attributes, is_state
from autograph.runtime.places import assigned_names, caller, function_around, here, is_block, is_handed_on, read_after, shown_name, visible
from autograph.runtime.raw_errors import is_generated, mark_of
from autograph.runtime.shared import doubtful, origin
from autograph.runtime.values import ARRAYS, NUMBERS


def refuse_other_names(x: Any, stored: str, here_too: bool = False, place: tuple[Any, str] | None = None) -> None:
    """Called where an array that callers may hold is stored into as `stored`; `here_too`: other variables of the function itself are looked at.

    `place` is the object and its attribute that the store is made through.

    Raises:
      AliasError: (AG407) another variable of a function around, or a list, dict or object in one, holds it and is read later.
    """
    if not (isinstance(x, jax.Array) or (isinstance(x, np.ndarray) and recording())):  # others are changed in place
        return
    own = caller()
    gone = assigned_names(own) if here_too else []
    frame = own if here_too or own is None else visible(own.f_back)
    seen = {id(p.obj) for f in frames() for places in f.sharing for p in places if not isinstance(p, Attribute)}  # they are told of the new array
    if place is not None and own is not None:
        renewed = assigned_names(own)
        for variable, held in own.f_globals.items():
            if isinstance(held, ARRAYS) and may_be(held, x) and variable not in renewed:
                raise _stale(stored, variable, "", own, doubtful(held, x))
    kinds = ("Staged",) if recording() else ("Form", "Staged")  # in a trace the plain form only calls the staged one
    while frame is not None and (frame is own or mark_of(frame.f_code) in ("Form", "Staged") or is_block(frame.f_code)):
        reads = frame is own or mark_of(frame.f_code) in kinds or is_block(frame.f_code)
        for variable, held in frame.f_locals.items() if reads else ():
            if variable in (stored, f"{stored}_", *gone) or not variable.isidentifier():
                continue
            # what a `return` in a loop keeps is read only where the loop has ended with it: that it may be the array is no matter
            generated = is_generated(frame.f_code, shown_name(frame.f_code, variable))
            alike = is_one if generated else may_be
            path = "" if alike(held, x) else _path_to(x, held, place, set(seen) if generated else seen, alike)
            if path is not None and (path and not generated or read_after(frame, variable) or is_handed_on(frame.f_code, variable)):
                raise _stale(stored, variable, path, frame, isinstance(held, ARRAYS) and doubtful(held, x))
        frame, gone = visible(frame.f_back), []


def is_one(held: Any, x: Any) -> bool:
    """Whether a value is an array of a block."""
    return origin(held) is origin(x)


def may_be(held: Any, x: Any) -> bool:
    """Whether a value is an array of a block, or may be it: only traced values decide."""
    return is_one(held, x) or isinstance(held, ARRAYS) and doubtful(held, x)


def _stale(stored: str, variable: str, path: str, frame: FrameType, unknown: bool) -> AliasError:
    variable = shown_name(frame.f_code, variable)
    if unknown:
        return AliasError(
            f"{stored} is stored into, and only traced values decide whether `{variable}` in `{function_around(frame.f_code)}` is the same array",
            here(), "give one of them a copy where they may become one (`.copy()`)",
        )  # fmt: skip
    return AliasError(
        f"{stored} is stored into, and `{variable}{path}` in `{function_around(frame.f_code)}` would keep the old array", here(),
        f"read `{variable}{path}` again after the call, or give it a copy before (`{variable}{path}.copy()`)"
        if not path else "store a copy there (`.copy()`)",
    )  # fmt: skip


_MOST = 500  # objects that are looked into


def _path_to(x: Any, held: Any, place: tuple[Any, str] | None, seen: set[int], alike: Callable[[Any, Any], bool]) -> str | None:
    """Where in a list, dict or object of the user's an array is held, but for the place stored into; `seen` are objects that do not hold it."""
    todo: list[tuple[Any, str]] = [(held, "")]
    while todo and len(seen) < _MOST:
        inside, path = todo.pop()
        if id(inside) in seen or isinstance(inside, (*ARRAYS, *NUMBERS, str, type)):
            continue
        seen.add(id(inside))
        if isinstance(inside, dict):
            parts = [(v, f"[{k!r}]") for k, v in inside.items()]
        elif isinstance(inside, (list, tuple)):
            parts = [(v, f"[{k}]") for k, v in enumerate(inside)]
        elif is_state(inside):
            own = [n for n in attributes(inside) if place is None or not (inside is place[0] and n == place[1])]
            told = {p for f in frames() for places in f.sharing for p in places}
            parts = [(a.get(), f".{n}") for n in own if (a := Attribute(inside, n)) not in told]
        else:
            continue
        for v, step in parts:
            if alike(v, x):
                return path + step
            todo.append((v, path + step))
    return None
