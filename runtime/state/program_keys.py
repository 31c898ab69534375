"""What stands for something that is no array in the key of a compiled program.

Numbers and texts stand for themselves.  A function stands for its code and what it reads, where that cannot change: so a lambda that is written in a
call is the same in each call.  Most other things stand only for themselves, a function that reads a list or an object among them.
"""

from __future__ import annotations

import enum
import functools
import operator
import struct
import sys
import weakref
from collections.abc import Iterable, Sequence
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from autograph.runtime.errors.raise_sites import is_users
from autograph.runtime.jaxapi.traces import ArrayImpl
from autograph.runtime.state.cells import stores
from autograph.runtime.values.values import NUMBERS, Unset

VALUES = (str, bytes, type(None), range, slice, np.dtype)
TWIN = "__autograph_twin__"  # where a function of the user's keeps the one that it was converted to
_DEEPEST = 4  # functions in the closures of functions
_MOST_OBJECTS = 1000  # items of an array of objects
_FEW = 8


class IdentityKey:
    """An object as part of the key of a compiled program: equal only to itself, and held weakly where its type allows."""

    __slots__ = ("hash", "ref")

    def __init__(self, obj: Any) -> None:
        self.hash = id(obj)
        try:
            self.ref: Any = weakref.ref(obj)
        except TypeError:
            self.ref = lambda: obj

    def __eq__(self, other: object) -> bool:
        return type(other) is IdentityKey and self.ref() is other.ref() is not None

    def __hash__(self) -> int:
        return self.hash


class Alike(IdentityKey):
    """An object that another one of the same structure stands for as well."""

    __slots__ = ("structure",)

    def __init__(self, obj: Any, structure: Any) -> None:
        super().__init__(obj)
        self.structure = structure
        self.hash = hash(structure)

    def __eq__(self, other: object) -> bool:
        return type(other) is Alike and self.structure == other.structure

    __hash__ = IdentityKey.__hash__


def key_of(x: Any, identical: bool = False) -> Any:
    """What stands for something that is no array in the key of a compiled program: 0.0 is not -0.0, 1 is not True, nan is nan.

    `identical`: functions are only themselves.
    """
    if (value := _of_value(x)) is not None:
        return value
    if not identical or isinstance(x, np.ndarray):
        try:
            if (structure := _structure(x, ())) is not None:
                return Alike(x, structure)
        except _OnlyItself:
            pass
    return IdentityKey(x)


class _OnlyItself(Exception):
    """No other object stands for one: what it reads may change, or it is asked which one it is."""


def _of_value(x: Any) -> Any:
    if isinstance(x, (*NUMBERS, *VALUES)) and not isinstance(x, enum.Enum):
        return type(x), repr(x) if isinstance(x, (float, complex)) else (x.start, x.stop, x.step) if isinstance(x, slice) else x
    return "unset" if isinstance(x, Unset) else None


def _structure(x: Any, around: tuple[Any, ...]) -> Any:
    """What another object has to be equal in to stand for this one; None if it is none of those that others can stand for.

    Raises:
      _OnlyItself: what it holds or reads may change without being another object.
    """
    kind = type(x)
    if kind is FunctionType:
        return _of_function(x, around)
    if kind is functools.partial and not vars(x):
        around = (*around, None)
        parts = _fixed(x.func, around), _all_fixed(x.args, around), _all_fixed(x.keywords.values(), around)
        return "partial", tuple(x.keywords), parts
    if kind is np.ndarray and x.dtype == object and x.size <= _MOST_OBJECTS:
        return "objects", x.shape, tuple(map(_item, x.flat))
    return None


def _item(x: Any) -> Any:
    """An item of an array of objects: a program sees which object it is, or its value."""
    return IdentityKey(x) if (value := _of_value(x)) is None else value


def _fixed(x: Any, around: tuple[Any, ...]) -> Any:
    """What stands for a part of a function, which cannot change."""
    if (value := _of_value(x)) is not None:
        return value
    if type(x) is tuple:
        return "tuple", _all_fixed(x, around)
    if isinstance(x, (type, ModuleType, enum.Enum, ArrayImpl)) or _is_librarys(x):
        return IdentityKey(x)
    if (structure := _structure(x, around)) is None or structure[0] == "objects":
        raise _OnlyItself
    return structure


def _is_librarys(x: Any) -> bool:
    """Whether it is a function of JAX's, NumPy's or Python's own."""
    if type(x) is BuiltinFunctionType:
        return x.__self__ is None or isinstance(x.__self__, ModuleType)
    if not callable(x) or isinstance(x, MethodType) or type(x) is FunctionType and is_users(x.__code__.co_filename):
        return False  # a wrapper of the user's has the name and module of what it wraps
    module = getattr(x, "__module__", None)
    return isinstance(module, str) and module.partition(".")[0] in ("jax", "jaxlib", "numpy")


def _all_fixed(values: Iterable[Any], around: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(_fixed(v, around) for v in values)


def _of_function(f: FunctionType, around: tuple[Any, ...]) -> Any:
    """A function is used in a program by what it does: that is its code, with what it reads.

    One that assigns variables around it is only itself, as is one with attributes of its own, one that a module holds by its name, and one that
    reads what may change: a list, a dict, an object.
    """
    if _is_librarys(f):
        return None
    module = sys.modules.get(f.__module__ or "")
    if f.__code__ in around:  # it calls itself
        return "function", f.__code__
    if len(around) > _DEEPEST or module is None or vars(module) is not f.__globals__ or f.__dict__.keys() - {TWIN} or stores(f.__code__)[0]:
        raise _OnlyItself
    if not around and True in map(functools.partial(operator.is_, f), f.__globals__.values()):
        return None
    around = (*around, f.__code__)
    cells = tuple(_of_cell(c, around) for c in f.__closure__ or ())
    read = [n for n in names_in(f.__code__) if n in f.__globals__]
    defaults = f.__kwdefaults__ or {}
    given = _all_fixed(f.__defaults__ or (), around), tuple(defaults), _all_fixed(defaults.values(), around)
    said = f.__name__, f.__qualname__, f.__doc__, tuple(f.__annotations__), _all_fixed(f.__annotations__.values(), around)
    return "function", f.__code__, IdentityKey(module), cells, given, said, tuple(read), _all_fixed([f.__globals__[n] for n in read], around)


def _of_cell(cell: CellType, around: tuple[Any, ...]) -> Any:
    try:
        held = cell.cell_contents
    except ValueError:  # it is not set yet
        return "unset"
    return _fixed(held, around)


_known_names: weakref.WeakKeyDictionary[CodeType, frozenset[str]] = weakref.WeakKeyDictionary()


def names_in(code: CodeType) -> frozenset[str]:
    """The globals and attributes that code and the functions in it name, also those that stand in a text: `getattr(x, "__dict__")`."""
    if (found := _known_names.get(code)) is None:
        inner = [names_in(c) for c in code.co_consts if isinstance(c, CodeType)]
        texts = [c for c in code.co_consts if type(c) is str and c.isidentifier()]
        found = _known_names[code] = frozenset((*code.co_names, *texts)).union(*inner)
    return found


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
