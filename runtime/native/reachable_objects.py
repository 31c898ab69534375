"""What values hold, as far as it is Python's own and known: the walk ends at the first thing that is not."""

from __future__ import annotations

import collections
import decimal
import enum
import fractions
import functools
import gc
import operator
import re
import sys
import weakref
from collections.abc import Iterable
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from autograph.runtime.errors.raise_sites import is_users
from autograph.runtime.state.object_graph import own_attributes
from autograph.runtime.state.program_keys import TWIN
from autograph.runtime.state.state_refs import AttributeRef

ATOMS = frozenset(
    {
        bool, int, float, complex, str, bytes, type(None), type(...), type(NotImplemented), range, slice, fractions.Fraction, decimal.Decimal,
        re.Pattern, operator.itemgetter,
    }
)  # fmt: skip
_ROWS = frozenset({list, set, collections.deque})
_TABLES = frozenset({dict, collections.OrderedDict, collections.Counter, collections.defaultdict})
_VIEWS = frozenset({type({}.keys()), type({}.values()), type({}.items())})
_OF_EACH: tuple[Any, ...] = ([], (), range(1), range(1 << 70), "", b"", reversed([]), reversed(range(1)))
_ITERATORS = frozenset({enumerate, zip, map, filter, reversed, *map(type, map(iter, _OF_EACH))})
MEMO = functools._lru_cache_wrapper
_CODE = (FunctionType, MethodType, BuiltinFunctionType, type, ModuleType, functools.partial, MEMO)


class ReachableObjects:
    """What some values hold: `mutable` containers and objects, and the functions, classes and modules among it, whose code may run.

    `passing`: are there iterators, of which items are taken?  `making`: are there dicts that make a key when it is read?
    With `all_parts` the walk goes on where it would end.
    """

    __slots__ = ("all_parts", "budget", "making", "mutable", "passing", "running")

    def __init__(self, budget: int, all_parts: bool = False) -> None:
        self.all_parts, self.passing, self.making = all_parts, False, False
        self.mutable: dict[int, Any] = {}
        self.running: dict[int, Any] = {}
        self.budget = budget

    def walk(self, values: Iterable[Any]) -> bool:
        """Look at values and all they hold; False at the first that may be traced, is nothing of Python's or the user's, or is one too many."""
        todo = [x for x in values if type(x) not in ATOMS]
        while todo:
            x = todo.pop()
            kind = type(x)
            if kind in ATOMS:
                continue
            self.budget -= 1
            if self.budget < 0:
                return False
            if id(x) in self.mutable or id(x) in self.running:
                continue
            if kind is tuple or kind is frozenset:
                todo += x
            elif kind in _ROWS:
                self.mutable[id(x)] = x
                self.budget -= len(x)
                if self.budget < 0:
                    return False
                todo += _others(x)
            elif kind in _TABLES:
                self.mutable[id(x)] = x
                self.budget -= len(x)
                if self.budget < 0:
                    return False
                todo += [*_others(x), *_others(x.values())]
                if kind is collections.defaultdict:
                    self.making = True
                    todo.append(x.default_factory)
            elif kind in _VIEWS:
                todo += gc.get_referents(x)  # its dict
            elif kind in _ITERATORS:
                self.passing = True
                todo += x.__reduce__()[1]
            elif isinstance(x, _CODE):
                self.running[id(x)] = x
                todo += brought(x)
            elif is_plain(kind) and not isinstance(x, BaseException):
                self.mutable[id(x)] = x
                self.running[id(kind)] = kind
                if isinstance(x, tuple):
                    todo += x
                todo += [AttributeRef(x, name).get() for name in own_attributes(x) if not (isinstance(x, enum.Enum) and name == "__objclass__")]
            elif self.all_parts:
                continue
            elif kind.__module__ != "dataclasses":  # marks that the methods which it writes compare with
                return False
        return True


def _others(items: Iterable[Any]) -> list[Any]:
    """Those of some items that are no atoms."""
    return [] if ATOMS.issuperset(map(type, items)) else [x for x in items if type(x) not in ATOMS]


def brought(f: Any) -> list[Any]:
    """What a function, class or module brings along."""
    if isinstance(f, FunctionType):
        cells = [c.cell_contents for c in f.__closure__ or () if not _is_empty(c)]
        own = [x for name, x in f.__dict__.items() if name != TWIN]
        return [*cells, *own, *(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()]
    if isinstance(f, MethodType):
        return [f.__func__, f.__self__]
    if isinstance(f, functools.partial):
        return [f.func, *f.args, *f.keywords.values()]
    if isinstance(f, MEMO):
        return [f.__wrapped__]
    if isinstance(f, BuiltinFunctionType):
        return [] if isinstance(f.__self__, (type, ModuleType, type(None))) else [f.__self__]
    return []


def _is_empty(cell: Any) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:
        return True
    return False


_plain: weakref.WeakKeyDictionary[type, bool] = weakref.WeakKeyDictionary()


def is_plain(cls: type) -> bool:
    """Whether objects of a class are what their attributes are: of the user's classes, derived from nothing that keeps more."""
    found = _plain.get(cls)
    if found is None:
        found = _plain[cls] = type(cls).__module__ in ("builtins", "abc", "enum") and all(map(_adds_attributes_only, cls.__mro__))
    return found


def _adds_attributes_only(cls: type) -> bool:
    if cls.__module__ == "builtins":
        return cls is object or cls is tuple or issubclass(cls, BaseException)
    return cls.__module__ in ("enum", "abc", "typing", "collections.abc") or users_class(cls)


def users_class(cls: type) -> bool:
    """Whether a class is of the user's own modules."""
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return not cls.__module__.startswith("autograph.") and (file is None or is_users(file)) and cls.__module__ not in sys.stdlib_module_names
