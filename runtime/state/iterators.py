"""Iterators and generators: what is taken of one in a block would be taken once, while the block is traced, and whichever way it goes."""

from __future__ import annotations

import functools
import gc
import itertools
import sys
from collections import deque
from collections.abc import Iterator
from types import BuiltinFunctionType, CellType, FunctionType, GeneratorType, MethodType, MethodWrapperType, ModuleType
from typing import Any

from autograph.runtime.errors.errors import EffectError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.errors.users_variables import named_values, users_frames, users_variables
from autograph.runtime.jaxapi.tracers import ArrayTracer
from autograph.runtime.jaxapi.traces import Tracer
from autograph.runtime.state.attribute_reads import plain
from autograph.runtime.state.object_graph import is_state
from autograph.runtime.state.reference_counts import VARIABLE
from autograph.runtime.state.state_refs import base_of
from autograph.runtime.tracing.trace_context import frames
from autograph.runtime.values.values import ATOMS, ITERATORS

_OF_EACH_KIND: list[Any] = [[], (), range(0), ""]
_COPIED = frozenset({zip, enumerate, type(reversed([])), *map(type, map(iter, _OF_EACH_KIND))})  # whose `__reduce__` tells where they stand
_MADE_OF_OTHERS = (zip, map, filter, enumerate)
_NO_HOLDERS = frozenset({*ATOMS, ArrayTracer, BuiltinFunctionType, ModuleType, type})  # what variables mostly hold
_DEEP, _LARGE = 4, 100


class Positions:
    """Where the iterators stand that are there when a block begins: those that variables of the functions around hold, or what is in these."""

    def __init__(self, reached: Any = None) -> None:
        """`reached`: a function and its arguments, in the place of the functions that run."""
        found = _iterators(_variables()) if reached is None else _iterators(_of_function(*reached), _OF_CODE)
        self.before = [(name, x, _position(x)) for name, x in found]

    def check(self) -> None:
        """Called when the block has been traced.

        Raises:
          EffectError: (AG405) it has taken items of one of them.
        """
        for name, x, before in self.before:
            if not _is_same(_position(x), before):
                raise EffectError(
                    f"a data-dependent branch or loop takes from `{name}`, a `{type(x).__name__}` from outside of it: that would happen "
                    "once, while it is traced", here(),
                    "take the values before, as a list, or count an index in the block",
                )  # fmt: skip

    def check_again(self, known: set[int]) -> None:
        """Called when a function is traced again; of the `known` ones, by identity, it is known what they have given.

        Raises:
          EffectError: (AG405) another has given items.
        """
        for name, x, before in self.before:
            if id(x) not in known and not _is_same(_position(x), before):
                raise EffectError(
                    f"this function takes from `{name}`, a `{type(x).__name__}` from outside of it, and has to be traced again: that would be done "
                    "twice", here(), "take items with `next`, or give the function a list",
                )  # fmt: skip

    def moved(self) -> bool:
        """Whether one of them has given items since."""
        return any(not _is_same(_position(x), before) for _, x, before in self.before)


def has_other_references(x: Any, count: int) -> bool:
    """Whether x is an iterator that anything holds beside one variable of ours, where `count` references are counted: what is left of it can be seen.

    Python 3.14 lends us what a variable of the caller holds: then there is no reference more.
    """
    return isinstance(x, ITERATORS) and (count > VARIABLE + _noted(x) or any(v is x for _, _, v in users_variables()))


def has_held_parts(x: Any) -> bool:
    """The same of the iterators that it takes its items of."""
    parts = parts_of(x)
    return any(count > _PART + _noted(part) for part, count in zip(parts, _counts(parts), strict=True)) or any(map(has_held_parts, parts))


def _noted(x: Any) -> int:
    """How many of our own records hold it."""
    return sum(f.made.get(id(x)) is x for f in frames())


def _counts(parts: tuple[Any, ...]) -> list[int]:
    return [sys.getrefcount(x) for x in parts]


def parts_of(x: Any) -> tuple[Any, ...]:
    """The iterators that an iterator of Python's takes its items of."""
    if isinstance(x, GeneratorType):
        return ()
    held = x.__reduce__()[1] if isinstance(x, _MADE_OF_OTHERS) else gc.get_referents(x)
    return tuple(part for part in held if isinstance(part, ITERATORS))


def _variables() -> list[tuple[str, Any]]:
    """The variables of the functions around."""
    return [(name, x) for frame in users_frames() for name, x in named_values(frame) if type(x) not in _NO_HOLDERS]


def _of_function(fn: Any, *values: Any) -> list[tuple[str, Any]]:
    """What a function reaches by its globals, cells and arguments; not what other functions hold, whose code may be none that is converted."""
    code, space = getattr(fn, "__code__", None), getattr(fn, "__globals__", {})
    named = [(name, space[name]) for name in code.co_names if name in space] if code is not None else []
    cells = _held_by(fn) if type(fn) is FunctionType else []
    return [*named, *((path[1:], x) for path, x in cells), *(("an argument", x) for x in values)]


_OF_CODE = (FunctionType, MethodType, functools.partial)


def _iterators(level: list[tuple[str, Any]], but: tuple[type, ...] = ()) -> Iterator[tuple[str, Any]]:
    """The iterators among some values, or what these hold (`but` for objects of some classes): a few steps deep, not through large containers."""
    level = [(name, x) for name, x in level if type(x) not in _NO_HOLDERS and not (type(x) is FunctionType and x.__closure__ is None)]
    seen: set[int] = set()
    for depth in range(_DEEP):
        inside: list[tuple[str, Any]] = []
        for name, x in level:
            if id(x) not in seen:
                seen.add(id(x))
                if issubclass(type(x), ITERATORS):
                    yield name, x
                elif issubclass(type(x), but):
                    continue
                elif depth == 0 or not issubclass(type(x), (list, tuple, dict, deque)) or len(x) <= _LARGE:
                    inside += [(f"{name}{path}", v) for path, v in _held_by(x) if type(v) not in _NO_HOLDERS]
        level = inside


def _held_by(x: Any) -> list[tuple[str, Any]]:
    """What an object holds, each with the path to it; no code of its class is run."""
    kind = type(x)
    if issubclass(kind, (list, tuple, deque)):
        return [(f"[{k}]", v) for k, v in enumerate(base_of(x).__iter__(x))]
    if issubclass(kind, dict):
        return [(f"[{k!r}]", v) for k, v in dict.items(x)]
    if issubclass(kind, functools.partial):
        return [("", v) for v in (*x.args, *x.keywords.values())]
    if kind is MethodType or kind is MethodWrapperType:
        return [("", x.__self__)]
    if kind is FunctionType:
        return [(f".{n}", c.cell_contents) for n, c in zip(x.__code__.co_freevars, x.__closure__ or (), strict=True) if not _is_empty(c)]
    if kind.__dictoffset__ and not kind.__module__.startswith("autograph.runtime.") and not issubclass(kind, Tracer) and is_state(x):
        return [(f".{n}", v) for n, v in zip(plain(x.__dict__), x.__dict__.values(), strict=True)]
    return []


def _is_empty(cell: CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return True
    return False


def _position(x: Any) -> Any:
    """Something that changes when an item is taken."""
    if isinstance(x, GeneratorType):
        if x.gi_frame is None or x.gi_running:
            return x.gi_frame is None
        return x.gi_frame.f_lasti, [*x.gi_frame.f_locals.values()], _position(x.gi_yieldfrom)
    if isinstance(x, _MADE_OF_OTHERS):
        return [_position(part) for part in x.__reduce__()[1]]
    hint = getattr(x, "__length_hint__", None)
    return hint() if hint is not None else repr(x) if isinstance(x, (itertools.count, itertools.repeat)) else x


def _is_same(a: Any, b: Any) -> bool:
    if isinstance(a, (list, tuple)) and type(a) is type(b) and len(a) == len(b):
        return all(map(_is_same, a, b))
    return a is b or isinstance(a, (int, str)) and type(a) is type(b) and a == b


_OWNER: Any = zip(iter([]))
_PART = _counts(parts_of(_OWNER))[0]  # references to one that only its owner holds
