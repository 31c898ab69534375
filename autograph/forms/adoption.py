"""Classes of the user's whose special methods and properties Python calls itself: their twins stand for those while converted code is traced.

The comparisons that `dataclass` writes have no source text: the comparison of the fields stands for them.  The `!=` that Python derives from a
class's `__eq__` asks for a bool, and is replaced likewise.  When the outermost trace of a thread ends the class is what it was; until then, another
thread gets the class's own methods.  Other methods are converted where they are called.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from autograph.runtime.calls.dispatched_methods import dispatched, own_of
from autograph.runtime.operators.cached_properties import Cached
from autograph.runtime.operators.comparisons import by_fields, unlike
from autograph.runtime.tracing.class_members import MISSING, ExchangedProperty, marked, put_in, stands_for
from autograph.runtime.tracing.trace_context import frames
from autograph.source.policy import is_users, is_wrapper

Twin = Callable[[types.FunctionType], Any]
_KEPT = frozenset(
    "__init_subclass__ __class_getitem__ __new__ __del__ __reduce__ __reduce_ex__ __getstate__ __setstate__ __getattribute__".split()
)  # Python calls them where no converted code stands; `__getattribute__` also for what the runtime reads


def adopt(cls: type, twin: Twin, calls: bool = False) -> None:
    """Give a class, and those that it inherits from, the twins of its special methods and properties.

    If the program `calls` it also of `__init__` and `__new__`.

    What an `__init__` makes is then made by its twin, lambdas too: objects from before would be told from those after by the code of these.
    """
    around = frames()
    if not around:  # nothing of ours is traced
        return
    mine = around[0].exchanged
    for k in cls.__mro__:
        if k.__module__ == "builtins":
            continue
        put_in(k, "members", mine, functools.partial(_members, k, twin))
        if calls:
            put_in(k, "init", mine, functools.partial(_init, k, twin))


def _init(k: type, twin: Twin) -> dict[str, Any]:
    changed: dict[str, Any] = {}
    for name in ("__init__", "__new__"):
        found = vars(k).get(name)
        own = stands_for(found) or found
        if type(own) is staticmethod and _is_users(own.__func__):
            function: Any = own.__func__
            if (new := _method(function, twin)) is not function:
                changed[name] = marked(staticmethod(new), own)
        elif name == "__init__" and (new := _converted(name, own, twin)) is not own:
            changed[name] = new
    return changed


def _members(k: type, twin: Twin) -> dict[str, Any]:
    """By name: what stands for members of a class."""
    members = {name: stands_for(member) or member for name, member in vars(k).items() if name not in _NEVER}
    changed: dict[str, Any] = {}
    for name, member in members.items():
        changed[name] = dispatched(member, by_fields(k, name)) if _generated(k, name) else _converted(name, member, twin)
    if "__eq__" in members and "__ne__" not in members:
        derived: Any = k.__ne__
        if _generated(k, "__eq__"):
            changed["__ne__"] = dispatched(derived, by_fields(k, "__ne__"), MISSING)
        elif derived is object.__ne__ and _is_users(members["__eq__"]):
            changed["__ne__"] = dispatched(derived, unlike(k), MISSING)
    return {name: new for name, new in changed.items() if new is not members.get(name)}


_NEVER = frozenset({"__init__", "__dict__", "__weakref__"})  # the last two cannot be set in a class
_COMPARING = frozenset({"__eq__", "__lt__", "__le__", "__gt__", "__ge__"})


def _generated(cls: type, name: str) -> bool:
    """Whether `dataclass` has written a comparison of a class."""
    member, params = vars(cls).get(name), vars(cls).get("__dataclass_params__")
    if name not in _COMPARING or type(member) is not types.FunctionType or params is None:
        return False
    return bool(params.eq if name == "__eq__" else params.order) and member.__code__.co_filename.startswith("<")


def _method(f: Any, twin: Twin) -> Any:
    new = twin(f)
    return f if new is f else dispatched(f, new)


def _converted(name: str, member: Any, twin: Twin) -> Any:
    if _is_users(member):
        return _method(member, twin) if name.startswith("__") and name.endswith("__") and name not in _KEPT else member
    if type(member) is property:
        mine: list[Any] = [member.fget, member.fset, member.fdel]
        parts = [_method(f, twin) if _is_users(f) else f for f in mine]
        if all(a is b for a, b in zip(parts, mine, strict=True)):
            return member
        return marked(ExchangedProperty(parts[0], parts[1], parts[2], member.__doc__), member)
    if type(member) is functools.cached_property and _is_users(member.func):
        function: Any = member.func
        new = Cached(_method(function, twin))
        new.attrname = name
        return marked(new, member)
    if _is_users(getattr(type(member), "__get__", None)) or _is_users(getattr(type(member), "__set__", None)):
        adopt(type(member), twin)
    return member


def _is_users(f: Any) -> bool:
    f = own_of(f)
    return type(f) is types.FunctionType and (is_users(f.__code__) or is_wrapper(f.__code__))
