"""Containers that code changes without telling."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from autograph.runtime.frames import frames, lifting
from autograph.runtime.heap import Contents
from autograph.runtime.identity import is_spoiled
from autograph.runtime.lifted import touch
from autograph.runtime.numpy_places import note_moves
from autograph.runtime.specs import is_container


class Watch:
    """Containers that are given to code which may change them without telling."""

    def __init__(self, values: Iterable[Any]) -> None:
        found = {id(x): x for v in values for x in (v if type(v) is tuple else (v,)) if is_container(x)}
        self.before = [(location := Contents(x), location.get()) for x in found.values()]

    def notice(self) -> None:
        """Remember the changes."""
        for location, before in self.before:
            now = location.get()
            if not now.same(before) and not is_spoiled(now):
                location.put(before)
                told = location in lifting()[-1].written
                touch(location, late=False)
                location.put(now)
                for frame in frames():
                    if frame.root and not told:
                        note_moves(location.obj, before, frame)
