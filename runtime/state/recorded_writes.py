"""Containers whose changes the blocks around have been told of: another change of what is known needs no more than Python does.

A run of a block remembers the containers that it has been told of (`Frame.told`), until something makes another change of one of them matter.
"""

from __future__ import annotations

from typing import Any

from autograph.runtime.state.captured_state import may_have_failed
from autograph.runtime.state.state_refs import ContentsRef, StateRef
from autograph.runtime.tracing.trace_context import frames
from autograph.runtime.values.abstract_values import is_container


def is_told(x: Any) -> bool:
    """Whether the innermost run, and so all around it, remembers what a container held before it changed it."""
    around = frames()
    return bool(around) and id(x) in around[-1].told and not may_have_failed()


def is_remembered(x: Any) -> bool:
    """Whether the blocks around have noted what a container held, though perhaps nobody has told this run of a change."""
    if not is_container(x):
        return False
    place = ContentsRef(x)
    for frame in reversed(frames()):
        if place not in frame.saved:
            return False
        if frame.lifting:
            return place in frame.written
    return False


def note_told(location: StateRef) -> None:
    """A container has changed, and everything has been done about it."""
    if not frames():
        return
    frame, key = frames()[-1], id(location.obj)
    if location in frame.saved and not any(key in f.twins or key in f.copied for f in frames()):
        frame.told.add(key)


def forget_told() -> None:
    """From now on changes of some container matter that did not."""
    for frame in frames():
        frame.told.clear()
