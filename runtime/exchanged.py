"""Members of classes that stand in the place of the classes' own while converted code is traced: Python calls special methods and properties itself.

They are put in when such a trace first meets the class, and taken out when the outermost trace of the thread ends.  Traces of several threads are
counted: the last one takes them out.  The class holds what belongs to it, and nothing here holds the class, so one that a trace makes is freed in it.
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable
from typing import Any

Key = tuple[Any, str]  # a weak reference to the class, and which part of its members
_HERE = "_autograph_exchanged_"
_MISSING = object()
_lock = threading.RLock()


class _Part:
    """How many traces need a part of the members, and by name the members before and now."""

    def __init__(self) -> None:
        self.count = 0
        self.members: dict[str, tuple[Any, Any]] = {}


_everywhere: list[tuple[Any, str, Any]] = []


def everywhere(owner: Any, name: str, member: Any) -> None:
    """From now on each outermost trace, and each tape, puts a member into a class or module of a library."""
    _everywhere.append((owner, name, member))


def put_in_all(mine: dict[Key, bool]) -> None:
    """What such a trace or tape begins with."""
    for owner, name, member in _everywhere:
        put_in(owner, name, mine, functools.partial(dict, {name: member}))


def put_in(cls: Any, part: str, mine: dict[Key, bool], make: Callable[[], dict[str, Any]]) -> None:
    """Put members into a class or module for a trace; `mine` says of each part that the trace has met whether there was something to put in."""
    key = weakref.ref(cls), part
    if key in mine:
        return
    with _lock:
        mine[key] = False
        parts: dict[str, _Part] = vars(cls).get(_HERE, {})
        if part not in parts:
            new = make()
            if not new or not parts and not _set(cls, _HERE, parts):
                return
            found = parts[part] = _Part()
            for name, member in new.items():
                before = vars(cls).get(name, _MISSING)
                if _set(cls, name, member):
                    found.members[name] = before, member
        parts[part].count += 1
        mine[key] = True


def take_out(mine: dict[Key, bool]) -> None:
    """A trace has ended."""
    with _lock:
        for (reference, part), there in mine.items():
            cls = reference()
            if cls is None or not there:
                continue
            parts: dict[str, _Part] = vars(cls)[_HERE]
            parts[part].count -= 1
            if parts[part].count:
                continue
            for name, (before, new) in parts.pop(part).members.items():
                if vars(cls).get(name) is not new:  # the program has set it
                    continue
                if before is _MISSING:
                    _delete(cls, name)
                else:
                    _set(cls, name, before)
            if not parts:
                _delete(cls, _HERE)
        mine.clear()


def _set(owner: Any, name: str, member: Any) -> bool:
    try:
        (type.__setattr__ if isinstance(owner, type) else setattr)(owner, name, member)
    except TypeError:  # a class that cannot be changed
        return False
    return True


def _delete(owner: Any, name: str) -> None:
    (type.__delattr__ if isinstance(owner, type) else delattr)(owner, name)
