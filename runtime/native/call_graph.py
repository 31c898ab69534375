"""What some code can come to by the names in it, and by those in what it comes to: whether that is Python's own, and nothing of JAX's.

Names are looked up where the code would find them: globals in their module, attributes in the modules and classes that are within reach.  What is
found is remembered with the place where it was found, and looked at again before the next run (`Reach.holds`).
"""

from __future__ import annotations

import builtins
import enum
import functools
import operator
import sys
import weakref
from collections.abc import Iterable, Mapping
from types import BuiltinFunctionType, CodeType, FunctionType, GetSetDescriptorType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

from autograph.runtime.errors.raise_sites import is_users
from autograph.runtime.errors.source_spans import mark_of
from autograph.runtime.native.code_facts import MUTATING, facts_of
from autograph.runtime.native.python_operators import known_code
from autograph.runtime.native.reachable_objects import ATOMS, MEMO, ReachableObjects, brought, is_plain, users_class

_PURE = frozenset(
    "math cmath itertools functools _functools operator _operator collections collections.abc _collections _collections_abc fractions decimal "
    "_decimal string bisect _bisect heapq _heapq copy enum dataclasses typing types abc _abc numbers re reprlib textwrap unicodedata".split()
)
_PYTHONS = frozenset(
    "abs all any ascii bin bool bytearray bytes callable chr complex dict divmod enumerate filter float format frozenset hash hex id int "
    "isinstance issubclass iter len list map max min next object oct ord pow property range repr reversed round set slice sorted staticmethod "
    "classmethod str sum super tuple type zip NotImplemented Ellipsis True False None __debug__ __name__".split()
).union(name for name, x in vars(builtins).items() if isinstance(x, type) and issubclass(x, BaseException))
_MISSING = object()


class Unknown(Exception):
    """The code may come to something that is not Python's own; says what."""


class Reach:
    """All that some code can come to, if it is Python's own."""

    def __init__(self, code: CodeType, space: dict[str, Any], running: Iterable[Any]) -> None:
        """Raises Unknown."""
        self.values: list[tuple[weakref.ref[Any] | None, str]] = []  # globals and attributes that hold what can change: looked at in every run
        self.pins: list[tuple[weakref.ref[Any] | None, str, weakref.ref[Any] | None]] = []  # where a name was looked up, and what was found
        self.changes = False  # may it change objects that it has not made?
        self.converted = False  # does it come to functions that are converted?
        self.makes_keys = False
        self._attributes: set[str] = set()
        self._codes: dict[int, CodeType] = {}
        self._modules: list[ModuleType] = []
        self._classes: list[type] = []
        self._seen: dict[int, Any] = {}
        self._named: set[tuple[int, str]] = set()
        self._todo: list[Any] = [*running]
        self.stores: list[tuple[weakref.ref[Any], str]] = []  # attributes of classes, modules and functions that may be stored
        self._sizes: list[tuple[weakref.ref[Any], int]] = []  # of classes: an attribute that is added later may hide another
        self._stored: set[str] = set()
        self._memo = False
        self._space = space
        if facts_of(code).binds:
            raise Unknown("it binds a variable of the function around")
        self._code(code, space)
        self._follow()
        while True:
            found = ReachableObjects(_MOST)
            if not found.walk(self.held(space)):
                raise Unknown("what a global variable or an attribute of a class holds")
            if not (new := [x for x in found.running.values() if id(x) not in self._seen]):
                break
            self._todo += new
            self._follow()
        if self._memo and self.changes:
            raise Unknown("what a cache holds may change")
        places = [*self._classes, *self._modules, *(x for x in self._seen.values() if isinstance(x, FunctionType))]
        self.stores = [(weakref.ref(place), name) for place in places for name in sorted(self._stored) if not _is_descriptor(place, name)]
        self._sizes = [(weakref.ref(cls), len(vars(cls))) for cls in self._classes]
        self._known = {id(x): weakref.ref(x) for x in map(_lasting, self._seen.values()) if x is not None}
        del self._stored, self._todo, self._seen, self._named, self._codes, self._modules, self._classes, self._attributes, self._space

    def admits(self, running: Iterable[Any]) -> bool:
        """Whether these functions, classes and modules are all within reach."""
        for x in running:
            one = _lasting(x)
            if one is not None and ((known := self._known.get(id(one))) is None or known() is not one):
                return False
        return True

    def holds(self, space: dict[str, Any]) -> bool:
        """Whether the names still stand for what was found."""
        for cls, size in self._sizes:
            if (found := cls()) is None or len(vars(found)) != size:
                return False
        for owner, name, what in self.pins:
            now = _variables(owner, space).get(name, _MISSING)
            if what is None:
                if now is not _MISSING and type(now) not in ATOMS:
                    return False
            elif what() is not _inner(now):
                return False
        return True

    def held(self, space: dict[str, Any]) -> list[Any]:
        """What globals and attributes within reach hold now that can change."""
        return [_variables(owner, space).get(name) for owner, name in self.values]

    def _follow(self) -> None:
        while self._todo:
            self._one(self._todo.pop())
            if not self._todo:
                self._members()

    def _code(self, code: CodeType, space: dict[str, Any]) -> None:
        """Look up the names of a function in its module, whose variables are `space`."""
        if id(code) in self._codes:
            return
        owner = None
        if space is not self._space:
            module = sys.modules.get(space.get("__name__", ""))
            if module is None or vars(module) is not space:
                raise Unknown(f"`{code.co_name}` is of a namespace of its own")
            owner = weakref.ref(module)
        self._codes[id(code)] = code
        facts = facts_of(code)
        if facts.refused:
            raise Unknown(f"`{code.co_name}`: {facts.refused}")
        self.changes = self.changes or facts.changes
        self._attributes |= facts.attributes
        self._stored |= facts.stored
        for name in facts.variables:
            value = space.get(name, _MISSING)
            if value is _MISSING:
                if hasattr(builtins, name) and name not in _PYTHONS:
                    raise Unknown(f"`{name}`")
                self.pins.append((owner, name, None))
                continue
            self._at(owner, name, value)

    def _at(self, owner: weakref.ref[Any] | None, name: str, value: Any) -> None:
        """What is found at a place."""
        inner = _inner(value)
        if isinstance(value, property):
            self._todo += [f for f in (value.fset, value.fdel) if f is not None]
        if type(inner) in ATOMS:
            self.pins.append((owner, name, None))
        elif isinstance(inner, (FunctionType, type, ModuleType)):
            self.pins.append((owner, name, weakref.ref(inner)))
            self._todo.append(value)
            if isinstance(inner, FunctionType) and (brought(inner)):
                self.values.append((owner, name))
        elif isinstance(inner, (BuiltinFunctionType, MEMO)):
            self.pins.append((owner, name, weakref.ref(inner)))
            self._todo.append(inner)
        else:
            self.values.append((owner, name))

    def _one(self, x: Any) -> None:
        x = _inner(x)
        if id(x) in self._seen:
            return
        self._seen[id(x)] = x
        if isinstance(x, FunctionType):
            self._function(x)
        elif isinstance(x, MethodType):
            self._todo.append(x.__func__)
        elif isinstance(x, type):
            self._class(x)
        elif isinstance(x, ModuleType):
            if x.__name__ not in _PURE and not _is_users_module(x):
                raise Unknown(f"the module `{x.__name__}`")
            self._modules.append(x)
        elif isinstance(x, functools.partial):
            self._todo += [x.func]
        elif isinstance(x, MEMO):
            self._memo = True
            self._todo.append(x.__wrapped__)
        elif isinstance(x, BuiltinFunctionType):
            self.changes = self.changes or x.__name__ in MUTATING
            if (x.__module__ or "builtins") not in _PURE and not (x.__module__ in ("builtins", None) and (x.__name__ in _PYTHONS or _is_method(x))):
                raise Unknown(f"`{x.__name__}`")
        elif callable(x) and type(x).__module__ not in _PURE and not isinstance(x, _DESCRIPTORS) and not is_plain(type(x)):
            raise Unknown(f"a `{type(x).__name__}`")

    def _function(self, f: FunctionType) -> None:
        kind = mark_of(f.__code__)
        code = getattr(f.__code__.co_consts[-1], "code", None) if kind == "Form" else f.__code__
        if not is_users(f.__code__.co_filename):
            module = f.__globals__.get("__name__", "")
            if module in _PURE:
                return  # it runs what it is given, and what its variables hold
            if not f.__code__.co_filename.startswith("<"):
                raise Unknown(f"`{f.__qualname__}` of `{module}`")
        if code is None:
            raise Unknown(f"`{f.__qualname__}`")
        if kind == "Staged" and known_code(code) is None:
            raise Unknown(f"`{f.__qualname__}` does what has to be told")
        self.converted = self.converted or kind == "Form"
        if facts_of(code).binds:
            raise Unknown(f"`{f.__qualname__}` binds a variable of the function around")
        self._code(code, f.__globals__)

    def _class(self, cls: type) -> None:
        if cls.__module__ == "builtins" or cls.__module__ in _PURE:
            if cls in (operator.attrgetter, operator.methodcaller):
                raise Unknown(f"`{cls.__name__}`")
            self.makes_keys = self.makes_keys or hasattr(cls, "__missing__")
            if (
                cls.__module__ == "builtins"
                and cls.__name__ not in _PYTHONS
                and not cls.__name__.endswith(("iterator", "_keys", "_values", "_items"))
            ):
                raise Unknown(f"`{cls.__name__}`")
            return
        if not is_plain(cls):
            raise Unknown(f"the class `{cls.__qualname__}`")
        for k in cls.__mro__:
            if users_class(k) and k not in self._classes:
                self._classes.append(k)
                if issubclass(k, enum.Enum):
                    self.values.append((weakref.ref(k), "_member_map_"))
                for name, member in vars(k).items():
                    if name.startswith("__") and isinstance(_inner(member), FunctionType):
                        self._at(weakref.ref(k), name, member)

    def _members(self) -> None:
        """The attributes of modules and classes that code within reach names."""
        for place in (*self._modules, *self._classes):
            for name in self._attributes & vars(place).keys():
                if (id(place), name) not in self._named:
                    self._named.add((id(place), name))
                    value = vars(place)[name]
                    if not isinstance(value, _DESCRIPTORS):
                        self._at(weakref.ref(place), name, value)


_MOST = 10_000  # values that globals hold
_DESCRIPTORS = (GetSetDescriptorType, MemberDescriptorType, type(str.upper), type(object.__init__), type(dict.fromkeys))


def _is_descriptor(place: Any, name: str) -> bool:
    """Whether what a class has under a name takes what its objects are given."""
    return isinstance(place, type) and hasattr(type(vars(place).get(name)), "__set__")


def _inner(x: Any) -> Any:
    """The function that a member of a class stands for."""
    if isinstance(x, (staticmethod, classmethod)):
        return x.__func__
    if isinstance(x, property):
        return x.fget
    return x.func if isinstance(x, functools.cached_property) else x


def _is_method(f: BuiltinFunctionType) -> bool:
    """Whether it is a method of an object of Python's."""
    return not isinstance(f.__self__, ModuleType) and f.__self__ is not None


def _is_users_module(module: ModuleType) -> bool:
    name = module.__name__.partition(".")[0]
    return name not in sys.stdlib_module_names and name != "autograph" and is_users(getattr(module, "__file__", None) or "<none>")


def _lasting(x: Any) -> Any:
    """What tells a function from others: its code, as functions are made anew; of a method its function is looked at."""
    return x.__code__ if isinstance(x, FunctionType) else None if x is None or isinstance(x, (MethodType, functools.partial)) else x


def _variables(owner: weakref.ref[Any] | None, space: dict[str, Any]) -> Mapping[str, Any]:
    """The names of a module or class."""
    if owner is None:
        return space
    place = owner()
    return vars(place) if place is not None else {}
