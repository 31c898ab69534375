"""Methods of lists, dicts, sets and deques that change their object, called as functions."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

from autograph.runtime.operators.moved_items import OF_LISTS
from autograph.runtime.sequences.bounded_list import refuse_hidden
from autograph.runtime.sequences.rows import traced_part, unknown
from autograph.runtime.state.captured_state import record_write
from autograph.runtime.state.escape_analysis import fewer
from autograph.runtime.state.recorded_writes import note_told
from autograph.runtime.state.state_refs import ContentsRef
from autograph.runtime.tracing import hooks
from autograph.runtime.values.abstract_values import is_container

MUTATING = frozenset(
    "append extend insert pop remove clear sort reverse update setdefault popitem add discard appendleft popleft extendleft rotate move_to_end "
    "subtract "
    "difference_update intersection_update symmetric_difference_update __setitem__ __delitem__ __iadd__ __ior__ __iand__ __ixor__ __isub__".split()
)


def changing_method(f: Any) -> Any:
    """What is called in the place of a method of a list, dict, set or deque that changes it; any other as it is."""
    owner = getattr(f, "__self__", None)
    if not is_container(owner):
        return f
    if f.__name__ == "__getitem__" and isinstance(owner, (list, dict)):
        return functools.partial(importlib.import_module("autograph.runtime.operators.getitem").load_content, owner)
    method = functools.partial(_sort, owner) if f.__name__ == "sort" and isinstance(owner, list) else f
    return functools.partial(changed_by, owner, method) if f.__name__ in MUTATING else method


def changed_by(owner: Any, method: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """A call of a method that changes its object: the arguments have been evaluated, and may have failed."""
    refuse_hidden(owner)
    record_write(ContentsRef(owner))
    if getattr(method, "__name__", "") in ("pop", "popitem", "clear"):
        fewer(owner)
    name = getattr(method, "__name__", "")
    if (
        type(owner) is list
        and args
        and not kwargs
        and name in OF_LISTS
        and (traced_part([*owner, args[0]]) if name == "remove" else unknown(args[0]))
    ):
        method = functools.partial(OF_LISTS[method.__name__], owner)
    out = method(*args, **kwargs)
    note_told(ContentsRef(owner))
    return out


def _sort(items: list[Any], *, key: Any = None, reverse: Any = False) -> None:
    """`items.sort()`."""
    list.__setitem__(items, slice(None), hooks.face.sorted(items, key=key, reverse=reverse))
