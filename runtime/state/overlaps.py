"""NumPy arrays that share memory with one that a call stores into: they would show it in Python, and were read as they had been.

Arrays that are one object in several attributes, lists or global variables are one array in the trace; views, and arguments that are also held
elsewhere, are not.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from types import CellType, CodeType, FunctionType
from typing import Any

import numpy as np

from autograph.runtime.errors.errors import ArrayStoreError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.state.object_graph import ObjectWalk

Named = tuple[str, Any]


def refuse_overlaps(fn: Callable[..., Any], inputs: Iterable[int], stored: dict[str, Any], walk: ObjectWalk, args: Any, kwargs: Any) -> None:
    """Called before a call's changes are committed: `inputs` are the arrays of the walk that change, `stored` the arguments that do, by name.

    Raises:
      ArrayStoreError: (AG403) another array in reach shares memory with one of them.
    """
    changed = [(walk.name_of(k), x) for k in inputs if isinstance(x := walk.arrays[k], np.ndarray)]
    given = [(f"`{name}`", x) for name, x in stored.items()]
    if not (changed or given):
        return
    held = [(f"{walk.name_of(k)}", y) for k, y in enumerate(walk.arrays) if isinstance(y, np.ndarray) and y.ndim]
    outside = [(f"the global `{name}`", y) for name, y in named_outside(fn).items() if isinstance(y, np.ndarray) and y.ndim]
    for pairs, may_be_one in ((_pairs(changed, [*held, *outside]), True), (_pairs(changed, _arguments(fn, args, kwargs)), False)):
        _refuse(pairs, may_be_one)
    _refuse(_pairs(given, [*held, *outside]), False)


def _pairs(a: list[Named], b: list[Named]) -> Iterator[tuple[Named, Named]]:
    return ((x, y) for x in a for y in b)


def _refuse(pairs: Iterable[tuple[Named, Named]], may_be_one: bool) -> None:
    for (name, x), (other, y) in pairs:
        if x is y and may_be_one or not np.may_share_memory(x, y) or not (x is y or np.shares_memory(x, y)):
            continue
        what = "are one NumPy array" if x is y else "are NumPy arrays that share memory"
        raise ArrayStoreError(
            f"{name}, which is stored into, and {other} {what}: a store into one would not be seen in the other", here(),
            "use one of them only, or give one a copy (`.copy()`)",
        )  # fmt: skip


def _arguments(fn: Callable[..., Any], args: Any, kwargs: Any) -> list[Named]:
    try:
        given = inspect.signature(fn).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        given = {}
    return [(f"`{name}`", x) for name, x in given.items() if isinstance(x, np.ndarray) and x.ndim]


def named_outside(function: Any) -> dict[str, Any]:
    """The global and free variables that a function names, and those that functions of its file name which it calls."""
    found: dict[str, Any] = {}
    todo, seen = [function], set()
    while todo:
        x = todo.pop()
        f = inspect.unwrap(x) if callable(x) else x  # another may answer anything when it is asked for an attribute
        if not isinstance(f, FunctionType) or id(f) in seen or f.__globals__ is not function.__globals__:
            continue
        seen.add(id(f))
        codes = [f.__code__]
        while codes:
            code = codes.pop()
            codes += [c for c in code.co_consts if isinstance(c, CodeType)]
            held = {n: f.__globals__[n] for n in code.co_names if n in f.__globals__}
            found |= held
            todo += held.values()
        cells = zip(f.__code__.co_freevars, f.__closure__ or (), strict=True)
        inside = {n: c.cell_contents for n, c in cells if c != _EMPTY}
        found |= inside
        todo += inside.values()
    return found


_EMPTY = CellType()
