"""Changes of Python objects in a staged block: allowed for objects that the block made, undone and refused for all others.

Whether an object was made in the block is known when the block ends: nothing but the log still holds it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from autograph.runtime.errors import AttributeStateError, EffectError, Place

Undo = Callable[[Any], None]  # takes the object: a log entry holds it once


class Change:
    """One change: the object, what was done to it, where, and how to undo it."""

    __slots__ = ("advice", "error", "obj", "place", "undo", "what")

    def __init__(self, obj: Any, what: str, place: Place | None, undo: Undo, error: type[EffectError | AttributeStateError], advice: str) -> None:
        self.obj, self.what, self.place, self.undo, self.error, self.advice = obj, what, place, undo, error, advice

    def refusal(self) -> EffectError | AttributeStateError:
        return self.error(f"{self.what} in a staged loop or branch", self.place, self.advice)


def settle(changes: list[Change]) -> None:
    """At the end of a block: refuse the changes of objects that live on.  All changes of the block are undone then."""
    outliving = None
    for change in changes:
        held = sum(c.obj is change.obj for c in changes)
        if sys.getrefcount(change.obj) > held + 1:
            outliving = change
            break
    if outliving is None:
        return
    for change in reversed(changes):
        change.undo(change.obj)
    raise outliving.refusal()


MUTATING = frozenset(
    "append extend insert pop remove clear sort reverse update setdefault popitem add discard appendleft popleft extendleft rotate "
    "difference_update intersection_update symmetric_difference_update".split()
)


def restore_of(obj: Any) -> Undo:
    """What puts a container back to what it holds now."""
    content: Any = obj.copy()

    def undo(obj: Any) -> None:
        obj.clear()
        if isinstance(obj, (dict, set)):
            obj.update(content)
        else:
            obj.extend(content)

    return undo
