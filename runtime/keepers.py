"""What keeps an array that was stored into and that came from outside unnoticed: from a function of another file that returns what it holds."""

from __future__ import annotations

import collections
import gc
import weakref
from collections.abc import Iterator
from types import CellType, FunctionType
from typing import Any

from autograph.runtime.errors import AliasError
from autograph.runtime.frames import Frame
from autograph.runtime.garbage import collect_recent
from autograph.runtime.heap import namespace
from autograph.runtime.objects import is_state
from autograph.runtime.shared import aliasable

_DEEP = 3  # lists, dicts and tuples around the array
_OURS = ("autograph", "jax", "jaxlib", "numpy")


def refuse_kept(frame: Frame) -> None:
    """At the end of a trace that has found no place to change: an array that it stored into is looked for among the objects that are alive.

    Raises:
      AliasError: (AG407) an object, a variable of a module or one of a function outside holds it.
    """
    if not frame.foreign:
        return
    collect_recent()  # what the function made and left in a cycle
    for x, place in frame.foreign.values():
        if (name := next(_keepers(x, _DEEP), None) or _default(x)) is not None:
            raise AliasError(
                f"an array from outside is stored into, and {name} would keep the old one", place,
                "store through what holds it (`obj.a[i] = v`), or return the array and set it there",
            )  # fmt: skip


def _keepers(x: Any, deep: int, inside: Any = None) -> Iterator[str]:
    """The names of what holds `x`; `inside` is what the search began with, and `x` a list, dict or tuple that holds it."""
    for holder in gc.get_referrers(x):
        kind = type(holder)
        if kind is CellType:
            yield "a variable of a function outside"
        elif kind is dict and (name := _module(holder)):
            yield f"a variable of `{name}`"
        elif kind is not dict and isinstance(holder, type) and holder.__module__.split(".")[0] not in _OURS:
            yield f"the class `{holder.__name__}`"
        elif issubclass(kind, (list, dict, tuple, set, collections.deque)) and deep > 1:
            yield from _keepers(holder, deep - 1, x)
        elif kind.__module__.split(".")[0] not in _OURS and is_state(holder):
            yield f"`{kind.__name__}{_attribute(holder, x, inside)}`"


_with_defaults: dict[int, Any] = {}  # by identity of an array: the function of which it is a default, weakly


def note_defaults(f: FunctionType) -> FunctionType:
    """A function that has been converted: the collector does not follow the tuple of its defaults, if they are arrays."""
    _with_defaults.update((id(d), weakref.ref(f)) for d in _defaults(f) if aliasable(d))
    return f


def _defaults(f: FunctionType) -> tuple[Any, ...]:
    return (*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values())


def _default(x: Any) -> str | None:
    f = _with_defaults.get(id(x), lambda: None)()
    return f"a default value of `{f.__name__}`" if f is not None and any(d is x for d in _defaults(f)) else None


def _attribute(holder: Any, x: Any, inside: Any) -> str:
    space = namespace(holder) or {}
    for name, value in space.items():
        if value is x or x is space and value is inside:
            return f".{name}"
    return ""


def _module(space: dict[Any, Any]) -> str:
    """The name of the module whose variables these are."""
    return str(space.get("__name__", "a module")) if "__builtins__" in space else ""
