"""Classes of the user's whose special methods and properties Python calls itself: those are replaced by their twins.

The comparisons that `dataclass` writes have no source text: they are replaced by the comparison of the fields that they stand for.  The `!=` that
Python derives from a class's `__eq__` asks for a bool, and is replaced likewise.

A twin does what its function does wherever nothing is traced, so a class may keep it.  Other methods are converted where they are called.
"""

from __future__ import annotations

import functools
import types
import weakref
from collections.abc import Callable
from typing import Any

from autograph.runtime.access.cached import Cached
from autograph.runtime.operators.comparisons import by_fields, unlike
from autograph.source.policy import is_users, is_wrapper

_adopted: weakref.WeakSet[type] = weakref.WeakSet()
_called: weakref.WeakSet[type] = weakref.WeakSet()
_KEPT = frozenset({"__init_subclass__", "__class_getitem__", "__new__", "__del__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__"})


def adopt(cls: type, twin: Callable[[types.FunctionType], Any], calls: bool = False) -> None:
    """Give a class, and those that it inherits from, the twins of its special methods and properties; of `__init__` if the program `calls` it.

    What an `__init__` makes is then made by its twin, lambdas too: objects from before would be told from those after by the code of these.
    """
    for k in cls.__mro__:
        if k.__module__ == "builtins" or k in (_called if calls else _adopted):
            continue
        members = {name: member for name, member in vars(k).items() if name != "__init__" and k not in _adopted or name == "__init__" and calls}
        _adopted.add(k)
        if calls:
            _called.add(k)
        changed = {name: by_fields(k, name) if _generated(k, name) else _converted(name, member, twin) for name, member in members.items()}
        compares = "__eq__" in members
        if compares and "__ne__" not in changed and _generated(k, "__eq__"):
            changed["__ne__"] = by_fields(k, "__ne__")
        elif compares and getattr(k, "__ne__", None) is getattr(object, "__ne__", None) and _is_users(vars(k).get("__eq__")):
            changed["__ne__"] = unlike(k)
        for name, new in changed.items():
            if new is not vars(k).get(name):
                try:
                    type.__setattr__(k, name, new)
                except TypeError:  # a class that cannot be changed
                    break


_COMPARING = frozenset({"__eq__", "__lt__", "__le__", "__gt__", "__ge__"})


def _generated(cls: type, name: str) -> bool:
    """Whether `dataclass` has written a comparison of a class."""
    member, params = vars(cls).get(name), vars(cls).get("__dataclass_params__")
    if name not in _COMPARING or type(member) is not types.FunctionType or params is None:
        return False
    return bool(params.eq if name == "__eq__" else params.order) and member.__code__.co_filename.startswith("<")


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
        new = Cached(twin(function))
        new.attrname = name
        return new
    if _is_users(getattr(type(member), "__get__", None)) or _is_users(getattr(type(member), "__set__", None)):
        adopt(type(member), twin)
    return member


def _is_users(f: Any) -> bool:
    return type(f) is types.FunctionType and (is_users(f.__code__) or is_wrapper(f.__code__))
