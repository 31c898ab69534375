"""Members of classes that stand in the place of the classes' own while converted code is traced: Python calls special methods and properties itself.

They are put in when such a trace first meets the class, and taken out when the outermost trace of the thread ends.  Traces of several threads are
counted: the last one takes them out.  A member knows the one that it stands for, and nothing here holds either, so that a class which a trace makes
is freed in it.
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable
from typing import Any

Key = tuple[Any, str]  # a weak reference to the class, and which part of its members
MISSING: Any = object()  # what a member stands for that the class does not have
_lock = threading.RLock()
_parts: weakref.WeakKeyDictionary[Any, dict[str, _Part]] = weakref.WeakKeyDictionary()


class _Part:
    """How many traces need a part of the members, their names, and those that do not know themselves what they stand for."""

    def __init__(self) -> None:
        self.count = 0
        self.names: list[str] = []
        self.of_libraries: dict[str, tuple[Any, Any]] = {}


class ExchangedProperty(property):
    """A property that stands for another: unlike a `property` it has room for saying so."""


_MARK = "_autograph_stands_for_"


def marked(member: Any, stands_for: Any) -> Any:
    """A member that says what it stands for."""
    vars(member)[_MARK] = stands_for
    return member


def stands_for(member: Any) -> Any:
    """What a member stands for; None of any other."""
    return getattr(member, "__dict__", {}).get(_MARK)


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
        parts = _parts.get(cls, {})
        if part not in parts:
            new = make()
            if not new:
                return
            found = _Part()
            for name, member in new.items():
                before = vars(cls).get(name, MISSING)
                if not _set(cls, name, member):
                    continue
                if stands_for(member) is None:
                    found.of_libraries[name] = before, member
                else:
                    found.names.append(name)
            parts[part] = found
            _parts[cls] = parts
        parts[part].count += 1
        mine[key] = True


def take_out(mine: dict[Key, bool]) -> None:
    """A trace has ended."""
    with _lock:
        for (reference, part), there in mine.items():
            cls = reference()
            if cls is None or not there:
                continue
            found = _parts[cls][part]
            found.count -= 1
            if found.count:
                continue
            del _parts[cls][part]
            for name in found.names if _parts[cls] else list(vars(cls)):  # unless the program has set it, or where it has put one
                if (before := stands_for(vars(cls).get(name))) is not None:
                    _put_back(cls, name, before)
            for name, (before, member) in found.of_libraries.items():
                if vars(cls).get(name) is member:
                    _put_back(cls, name, before)
        mine.clear()


def _put_back(owner: Any, name: str, before: Any) -> None:
    if before is MISSING:
        (type.__delattr__ if isinstance(owner, type) else delattr)(owner, name)
    else:
        _set(owner, name, before)


def _set(owner: Any, name: str, member: Any) -> bool:
    try:
        (type.__setattr__ if isinstance(owner, type) else setattr)(owner, name, member)
    except TypeError:  # a class that cannot be changed
        return False
    return True
