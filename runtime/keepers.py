"""What keeps an array that was stored into and that came from outside unnoticed: from a function of another file that returns what it holds."""

from __future__ import annotations

import collections
import gc
import weakref
from collections.abc import Iterator, Sequence
from types import CellType, FunctionType
from typing import Any, NamedTuple

from autograph.runtime.errors import AliasError, Place
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
    wanted = [_Wanted(x, None, place) for x, place in frame.foreign.values()]
    for found in wanted:
        if (name := _default(found.held)) is not None:
            raise _kept(name, found.place)
    for level in range(_DEEP):
        wanted = list(_around(wanted, last=level == _DEEP - 1))


class _Wanted(NamedTuple):
    """What is looked for: an array, or a list, dict or tuple around one; `inside` is what this holds."""

    held: Any
    inside: Any
    place: Place | None  # of the store


def _around(wanted: Sequence[_Wanted], last: bool) -> Iterator[_Wanted]:
    """The containers that hold any of some things, found in one walk over all that is alive; AG407 if something else does."""
    by_id = {id(w.held): w for w in wanted}
    own = {id(by_id), id(wanted), *map(id, wanted)}
    for holder in gc.get_referrers(*(w.held for w in wanted)):
        if id(holder) in own or (found := next((by_id[id(x)] for x in gc.get_referents(holder) if id(x) in by_id), None)) is None:
            continue
        if (name := _name(holder, found)) is not None:
            raise _kept(name, found.place)
        if not last and issubclass(type(holder), (list, dict, tuple, set, collections.deque)):
            yield _Wanted(holder, found.held, found.place)


def _name(holder: Any, found: _Wanted) -> str | None:
    """What holds an array, as an error shows it; none of a container, or of what is no business of the user's."""
    kind = type(holder)
    if kind is CellType:
        return "a variable of a function outside"
    if kind is dict and (name := _module(holder)):
        return f"a variable of `{name}`"
    if isinstance(holder, type):
        return f"the class `{holder.__name__}`" if holder.__module__.split(".")[0] not in _OURS else None
    if not issubclass(kind, (list, dict, tuple, set, collections.deque)) and kind.__module__.split(".")[0] not in _OURS and is_state(holder):
        return f"`{kind.__name__}{_attribute(holder, found.held, found.inside)}`"
    return None


def _kept(name: str, place: Place | None) -> AliasError:
    return AliasError(
        f"an array from outside is stored into, and {name} would keep the old one", place,
        "store through what holds it (`obj.a[i] = v`), or return the array and set it there",
    )  # fmt: skip


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
