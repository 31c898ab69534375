"""The variables of the user's functions that are running."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any

from autograph.runtime.errors.source_spans import caller, is_block, mark_of, visible


def users_frames() -> Iterator[FrameType]:
    """The frames of the user's converted functions and of blocks in them, innermost first."""
    frame = caller()
    while frame is not None and (mark_of(frame.f_code) in ("Form", "Staged") or is_block(frame.f_code)):
        yield frame
        frame = visible(frame.f_back)


def users_variables() -> Iterator[tuple[FrameType, str, Any]]:
    """The frame, name and value of each."""
    for frame in users_frames():
        yield from ((frame, name, value) for name, value in frame.f_locals.items())


def named_values(frame: FrameType) -> list[tuple[str, Any]]:
    """The names and values of a function's variables, and of the global ones that its code names, blocks in it included."""
    space, own = frame.f_globals, frame.f_locals
    return [*own.items(), *((name, space[name]) for name in _names(frame.f_code) if name in space and name not in own)]


_known: weakref.WeakKeyDictionary[CodeType, frozenset[str]] = weakref.WeakKeyDictionary()


def _names(code: CodeType) -> frozenset[str]:
    if (found := _known.get(code)) is None:
        found = _known[code] = frozenset(code.co_names).union(*(_names(c) for c in code.co_consts if isinstance(c, CodeType)))
    return found
