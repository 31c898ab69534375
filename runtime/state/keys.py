"""What stands for something that is no array in the key of a compiled program.

Numbers and texts stand for themselves.  A function stands for its code and what its closure and defaults hold, so a lambda that is written in a call
is the same in each call; a bound method for its function and what its object holds; most other things only for themselves.
"""

from __future__ import annotations

import enum
import functools
import struct
import sys
import weakref
from collections.abc import Sequence
from types import CellType, FunctionType, MethodType
from typing import Any

import numpy as np

from autograph.runtime.state.cells import stores
from autograph.runtime.values.values import NUMBERS, Unset

VALUES = (str, bytes, type(None), range, slice, np.dtype)
TWIN = "__autograph_twin__"  # where a function of the user's keeps the one that it was converted to
_DEEPEST = 4  # functions in the closures of functions
_MOST_OBJECTS = 1000  # items of an array of objects
_FEW = 8


class Identity:
    """An object as part of the key of a compiled program: equal only to itself, and held weakly where its type allows."""

    __slots__ = ("hash", "ref")

    def __init__(self, obj: Any) -> None:
        self.hash = id(obj)
        try:
            self.ref: Any = weakref.ref(obj)
        except TypeError:
            self.ref = lambda: obj

    def __eq__(self, other: object) -> bool:
        return type(other) is Identity and self.ref() is other.ref() is not None

    def __hash__(self) -> int:
        return self.hash


class Alike(Identity):
    """An object that another one of the same structure stands for as well."""

    __slots__ = ("structure",)

    def __init__(self, obj: Any, structure: Any) -> None:
        super().__init__(obj)
        self.structure = structure
        self.hash = hash(structure)

    def __eq__(self, other: object) -> bool:
        return type(other) is Alike and self.structure == other.structure

    __hash__ = Identity.__hash__


def key_of(x: Any, depth: int = 0) -> Any:
    """What stands for something that is no array in the key of a compiled program: 0.0 is not -0.0, 1 is not True, nan is nan."""
    if isinstance(x, (*NUMBERS, *VALUES)) and not isinstance(x, enum.Enum):
        return type(x), repr(x) if isinstance(x, (float, complex)) else (x.start, x.stop, x.step) if isinstance(x, slice) else x
    if isinstance(x, Unset):
        return "unset"
    structure = _structure(x, depth)
    return Identity(x) if structure is None else Alike(x, structure)


def _structure(x: Any, depth: int) -> Any:
    """What another object has to be equal in to stand for this one; None if none can."""
    kind = type(x)
    if kind is FunctionType:
        return _of_function(x, depth)
    if kind is MethodType:
        return "method", Identity(x.__self__), key_of(x.__func__, depth)
    if kind is functools.partial and not vars(x):
        return "partial", key_of(x.func, depth), _keys(x.args, depth), *_of_keywords(x.keywords, depth)
    if kind is np.ndarray and x.dtype == object and x.size <= _MOST_OBJECTS:
        return "objects", x.shape, _keys(x.flat, depth)
    return None


def _keys(values: Any, depth: int) -> tuple[Any, ...]:
    return tuple(key_of(v, depth + 1) for v in values)


def _of_keywords(given: dict[str, Any] | None, depth: int) -> tuple[Any, Any]:
    return tuple(given or ()), _keys((given or {}).values(), depth)


def _of_function(f: FunctionType, depth: int) -> Any:
    """A function is used in a program by what it does: that is its code, with the variables that it reads.

    One that assigns variables around it is only itself, as is one with attributes of its own.
    """
    module = sys.modules.get(f.__module__ or "")
    if depth > _DEEPEST or module is None or vars(module) is not f.__globals__ or f.__dict__.keys() - {TWIN} or stores(f.__code__)[0]:
        return None
    cells = tuple(_of_cell(c, depth) for c in f.__closure__ or ())
    return "function", f.__code__, Identity(module), cells, _keys(f.__defaults__ or (), depth), *_of_keywords(f.__kwdefaults__, depth)


def _of_cell(cell: CellType, depth: int) -> Any:
    try:
        return key_of(cell.cell_contents, depth + 1)
    except ValueError:  # it is not set yet
        return "unset"


def bound(x: Any) -> tuple[Any, Any] | None:
    """The function and the object of a bound method, also of one that is compiled."""
    if type(x) is MethodType:
        return x.__func__, x.__self__
    if isinstance(x, functools.partial) and type(x) is not functools.partial and hasattr(x, "__self__"):
        return x.func, x.__self__
    return None


def key_of_all(values: Sequence[Any]) -> Any:
    """The same of many values of one type, whose keys are they themselves, in the time that it takes to copy them; None of any others."""
    kind = type(values[0]) if len(values) > _FEW else None
    if kind not in (int, str, bool, float) or set(map(type, values)) != {kind}:
        return None
    return "all", kind, struct.pack(f"{len(values)}d", *values) if kind is float else tuple(values)


def constant(key: Any) -> Any:
    """The value that a key stands for by value; no number, which is always an array."""
    kind, value = key
    return slice(*value) if kind is slice else value
