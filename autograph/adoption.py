"""Classes of the user's whose special methods and properties Python calls itself: those are replaced by their twins.

A twin does what its function does wherever nothing is traced, so a class may keep it.  Other methods are converted where they are called.
"""

from __future__ import annotations

import functools
import types
import weakref
from collections.abc import Callable
from typing import Any

from autograph.policy import is_users

_adopted: weakref.WeakSet[type] = weakref.WeakSet()
_KEPT = frozenset({"__init_subclass__", "__class_getitem__", "__new__", "__del__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__"})


def adopt(cls: type, twin: Callable[[types.FunctionType], Any]) -> None:
    """Give a class, and those that it inherits from, the twins of its special methods and properties."""
    for k in cls.__mro__:
        if k in _adopted or k.__module__ == "builtins":
            continue
        _adopted.add(k)
        for name, member in list(vars(k).items()):
            new = _converted(name, member, twin)
            if new is not member:
                try:
                    type.__setattr__(k, name, new)
                except TypeError:  # a class that cannot be changed
                    break


def _converted(name: str, member: Any, twin: Callable[[types.FunctionType], Any]) -> Any:
    if _is_users(member):
        return twin(member) if name.startswith("__") and name.endswith("__") and name not in _KEPT else member
    if type(member) is property:
        mine: list[Any] = [member.fget, member.fset, member.fdel]
        parts = [twin(f) if _is_users(f) else f for f in mine]
        same = all(a is b for a, b in zip(parts, mine, strict=True))
        return member if same else property(parts[0], parts[1], parts[2], member.__doc__)
    if type(member) is functools.cached_property and _is_users(member.func):
        function: Any = member.func
        new = functools.cached_property(twin(function))
        new.attrname = name
        return new
    return member


def _is_users(f: Any) -> bool:
    return type(f) is types.FunctionType and is_users(f.__code__)
