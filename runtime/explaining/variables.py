"""The variables of the user's functions that are running."""

from __future__ import annotations

from collections.abc import Iterator
from types import FrameType
from typing import Any

from autograph.runtime.explaining.raw_errors import mark_of
from autograph.runtime.messages.places import caller, is_block, visible


def users_variables(with_globals: bool = False) -> Iterator[tuple[FrameType, str, Any]]:
    """The frame, name and value of each, innermost first; perhaps with the global variables that their code names."""
    frame = caller()
    while frame is not None and (mark_of(frame.f_code) in ("Form", "Staged") or is_block(frame.f_code)):
        yield from ((frame, name, value) for name, value in frame.f_locals.items())
        if with_globals:
            space = frame.f_globals
            yield from ((frame, name, space[name]) for name in frame.f_code.co_names if name in space)
        frame = visible(frame.f_back)
