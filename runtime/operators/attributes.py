"""Stores into attributes.  A place that a staged block changes is state of the block."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from autograph.runtime.branches.state_writes import noticed
from autograph.runtime.errors.errors import AttributeStateError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import trees
from autograph.runtime.state.attribute_reads import plain
from autograph.runtime.state.captured_state import record_write
from autograph.runtime.state.cells import location_of
from autograph.runtime.state.object_graph import plain_attributes
from autograph.runtime.state.state_refs import AttributeRef, NameRef, StateRef, namespace
from autograph.runtime.tracing.hooks import call
from autograph.runtime.tracing.trace_context import frames, in_block, watched

_ELSEWHERE: tuple[Any, ...] = (threading.local, *weakref.ProxyTypes)


def set_attr(obj: Any, name: str, value: Any) -> None:
    """`obj.name = value`.

    Raises:
      AttributeStateError: (AG401) a staged loop or branch would give the attribute a value that has no joint type with the one before.
    """
    if watched() and not _is_raised_here(obj):
        if issubclass(type(obj), _ELSEWHERE):
            raise AttributeStateError(
                f"`{type(obj).__name__}.{name}` is set in compiled code, and a `{type(obj).__name__}` keeps its attributes elsewhere", here(),
                "use an object of a class of your own (of a weak reference `ref`, `ref().x`)",
            )  # fmt: skip
        if name in ("__class__", "__dict__") and in_block():
            raise AttributeStateError(
                f"`{type(obj).__name__}.{name}` is set in a compiled loop or branch, and no array can hold its value", here(),
                "keep a flag or a number in an attribute, and decide by it",
            )  # fmt: skip
        if (setter := None if isinstance(obj, trees.OBJECTS) else _setter(obj, name)) is not None:
            setter(value)
            return
        place = place_of(obj, name)
        value = noticed(place, value)
    setattr(obj, name, value)


def _is_raised_here(obj: Any) -> bool:
    """Whether it is an exception of the code that runs, outside of blocks: its traceback holds whatever the functions on its way out have made."""
    return isinstance(obj, BaseException) and not in_block() and not any(id(obj) in f.passed or id(obj) in f.outside for f in frames())


def put_attr(obj: Any, name: str, value: Any) -> None:
    """What an attribute holds after a store into it, `obj.name[i] = v`: in Python no code of the class's own runs, and the object may be frozen."""
    if plain_attributes(type(obj)) or isinstance(obj, (type, ModuleType)):
        set_attr(obj, name, value)
        return
    place = place_of(obj, name)
    if watched():
        value = noticed(place, value)
    place.put(value)


def holding(obj: Any, value: Any) -> list[str]:
    """The attributes in which an object holds a value itself."""
    return plain(attribute for attribute, held in getattr(obj, "__dict__", {}).items() if held is value)


def class_that_holds(obj: Any, name: str) -> Any:
    """The class that gives an object an attribute, or the object itself: `obj.name[i] = v` is no store into the object."""
    if isinstance(obj, type) or name in (namespace(obj) or {}):
        return obj
    found = next((k for k in type(obj).__mro__ if name in vars(k)), obj)
    return obj if found is obj or hasattr(type(vars(found)[name]), "__get__") else found


def is_property(obj: Any, name: str) -> bool:
    """Whether code of the class stands between `obj.name = value` and the object."""
    member = next((vars(k)[name] for k in type(obj).__mro__ if name in vars(k)), None)
    return hasattr(type(member), "__set__") and type(member).__name__ != "member_descriptor"


def del_attr(obj: Any, name: str) -> None:
    """`del obj.name`."""
    if watched():
        place = place_of(obj, name)
        record_write(place)
    delattr(obj, name)


def bound(variable: Callable[[], Any], value: Any) -> Any:
    """What a global or nonlocal variable is bound to, given a function that reads it."""
    return noticed(location_of(variable), value) if watched() else value


def place_of(obj: Any, name: str) -> StateRef:
    return NameRef(vars(obj), name) if isinstance(obj, ModuleType) else AttributeRef(obj, name)


def _setter(obj: Any, name: str) -> Callable[[Any], None] | None:
    """The user's own code that stores this attribute, converted: a property's, or `__setattr__`."""
    cls = type(obj)
    own: Any = cls.__setattr__
    if isinstance(own, FunctionType):
        return lambda value: call(own)(obj, name, value)
    if own is not object.__setattr__ and getattr(own, "__name__", "") == "__setitem__":  # a dict of which the items are attributes
        return lambda value: call(own)(obj, name, value)
    for k in cls.__mro__:
        member = vars(k).get(name)
        if member is not None:
            if (setter := getattr(member, "fset", None)) is not None:
                return lambda value: call(setter)(obj, value)
            descriptor: Any = getattr(type(member), "__set__", None)
            return (lambda value: call(descriptor)(member, obj, value)) if isinstance(descriptor, FunctionType) else None
    return None
