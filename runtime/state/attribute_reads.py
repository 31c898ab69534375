"""Which attributes of the user's objects a compiled function reads: only what they hold guards its programs, and becomes inputs.

Names are collected from the code of the function and of what it calls, by name: methods, properties and functions of its module.  That is a guess,
and each trace checks it: while the user's code runs, the other attributes stand in the objects' `__dict__` under keys that tell when they are looked
up.  Python compares a key with the name that it looks for, so every read is seen, also one by `getattr`, by a library or by C code.  A trace that has
read another attribute is made again, with it.

What is not seen is code that goes over the values of a `__dict__` alone.  A function that mentions `__dict__` or `vars` therefore reads all, and so
does any function of objects of a library's classes.
"""

from __future__ import annotations

import collections
import functools
import inspect
import itertools
import operator
import sys
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import jax

from autograph.runtime.errors.raise_sites import is_users
from autograph.runtime.state.cells import held_in_cells
from autograph.runtime.state.program_keys import names_in

_WHOLE = frozenset({"__dict__", "vars", "__getstate__", "__reduce__", "__reduce_ex__"})
_NOT_RUN = frozenset(  # special methods that no operation on an object that is there calls, and those whose text is made of keys
    "__init__ __new__ __post_init__ __init_subclass__ __class_getitem__ __set_name__ __del__ __reduce__ __reduce_ex__ __getstate__ __setstate__ "
    "__getnewargs__ __getnewargs_ex__ __repr__ __str__".split()
)


_PARTS = ("fget", "fset", "fdel", "func", "__func__", "__wrapped__")  # of what a class holds
_DESCRIPTOR = ("__get__", "__set__", "__delete__")


class _Own(threading.local):
    """Whether what this thread reads is read by us."""

    reading = False


_own = _Own()
_watches: dict[int, set[str]] = {}  # what the traces that are made now have seen read, by any thread: code may hand work to others


class Key(str):
    """A key of a `__dict__` that tells when it is compared, or used in any way but to be hashed."""

    __slots__ = ("plain",)
    plain: str


def _telling(name: str) -> Any:
    method = getattr(str, name)

    @functools.wraps(method)
    def told(self: Key, *args: Any, **kwargs: Any) -> Any:
        if not _own.reading:
            for seen in tuple(_watches.values()):
                seen.add(self.plain)
        return method(self, *args, **kwargs)

    return told


for _name in vars(str).keys() - {"__new__", "__getattribute__", "__doc__", "__hash__", "maketrans"}:
    setattr(Key, _name, _telling(_name))
Key.__hash__ = str.__hash__  # type: ignore[method-assign]  # of C: an exchange of keys runs no code of Python's


def _key(name: str) -> Key:
    key = Key(name)
    key.plain = name
    return key


def plain(names: Iterable[str]) -> list[str]:
    """Names as they are, where some may be keys that tell."""
    return [n if type(n) is str else n.plain if type(n) is Key else n for n in list(names)]


def note_names(names: frozenset[str]) -> None:
    """Code runs that mentions these: if it goes over all that an object holds, all is read."""
    if _watches and (whole := names & _WHOLE):
        for seen in tuple(_watches.values()):
            seen.update(whole)


@contextmanager
def unseen() -> Iterator[None]:
    """What is read in here the program does not read."""
    before, _own.reading = _own.reading, True
    try:
        yield
    finally:
        _own.reading = before


_MOST_GROWN = 4  # traces that have read more than the ones before: then all is looked at


class NamespaceView(NamedTuple):
    """What is looked at: attributes of these names, `whole`: any, and with `stores` also what may hold an array."""

    names: frozenset[str]
    whole: bool
    stores: bool
    identical: bool  # are functions only themselves? The function keeps one


EVERYTHING = NamespaceView(frozenset(), True, False, False)


class Reads:
    """The names of the attributes that one function reads, as its text and its traces have shown them."""

    def __init__(self, fn: Any) -> None:
        self.fn = fn
        self.view = NamespaceView(frozenset(), False, False, False)
        self._grown = 0  # how often traces have read more than was known
        self._codes: set[CodeType] = set()
        self._classes: weakref.WeakSet[type] = weakref.WeakSet()

    def add(self, names: Iterable[str] = (), stores: bool = False, identical: bool = False) -> bool:
        """A trace has shown more; gives whether it is more."""
        self._grown += bool(names)
        return self._widen(NamespaceView(frozenset(names), self._grown > _MOST_GROWN, stores, identical))

    def _widen(self, more: NamespaceView) -> bool:
        before, names = self.view, self.view.names | more.names
        whole = before.whole or more.whole or bool(names & _WHOLE)
        self.view = NamespaceView(names, whole, before.stores or more.stores, before.identical or more.identical)
        return self.view != before

    def look(self, objects: Iterable[Any], functions: Iterable[Any]) -> bool:
        """Read the code that operations on some objects may run, and that of functions; gives whether that names more attributes."""
        if self.view.whole:
            return False
        new = [cls for cls in {type(x) for x in objects} if cls not in self._classes and by_name(cls)]
        more = [f for f in functions if isinstance(f, FunctionType) and f.__code__ not in self._codes]
        if self._codes and not new and not more:
            return False
        self._classes.update(new)
        names = set(self.view.names)
        for f in (inspect.unwrap(self.fn), *more):
            self._function(f, names)
        known = -1
        while known != len(names):
            known = len(names)
            for cls in list(self._classes):
                self._class(cls, names)
        return self._widen(NamespaceView(frozenset(names), False, False, False))

    def _class(self, cls: type, names: set[str]) -> None:
        """The names in what Python runs of a class by itself, and in its members that are named."""
        for k in cls.__mro__[:-1]:
            for name, member in list(vars(k).items()):
                if name in names or name.startswith("__") and name.endswith("__") and name not in _NOT_RUN:
                    self._function(member, names)
                    for part in _PARTS:
                        self._function(_part(member, part), names)
                    for part in _DESCRIPTOR:
                        self._function(getattr(type(member), part, None), names)

    def _function(self, f: Any, found: set[str]) -> None:
        """The names in the code of a function of the user's, and of the functions and classes of the user's that these stand for."""
        todo = [f]
        while todo:
            f = todo.pop()
            f = f if isinstance(f, type) else _part(f, "__wrapped__") or f
            f = f.__func__ if isinstance(f, MethodType) else f.func if isinstance(f, functools.partial) else f
            if isinstance(f, type):
                if f not in self._classes and by_name(f):
                    todo += [m for k in f.__mro__[:-1] for m in vars(k).values() if isinstance(m, FunctionType)]
                continue
            if not isinstance(f, FunctionType) or f.__code__ in self._codes:
                continue
            self._codes.add(f.__code__)
            if not is_users(f.__code__.co_filename):
                continue
            names = names_in(f.__code__)
            found |= names
            todo += held_in_cells(f)
            for held in [f.__globals__[name] for name in names & f.__globals__.keys()]:
                if not isinstance(held, ModuleType):
                    todo.append(held)
                elif is_users(getattr(held, "__file__", None) or "site-packages"):
                    todo += [vars(held)[name] for name in names & vars(held).keys()]


def _part(x: Any, name: str) -> Any:
    """An attribute of an object, or None; its class's `__getattr__` may do anything."""
    try:
        return object.__getattribute__(x, name)
    except AttributeError:
        return None


def by_name(cls: type) -> bool:
    """Whether of objects of a class only what is read is looked at: it, and what it inherits from, is the user's.

    A class that is registered as a pytree is taken apart as a whole, by code that nobody names.
    """
    if (known := _by_name.get(cls)) is None:
        known = _by_name[cls] = bool(cls.__dictoffset__) and all(map(_is_users_class, cls.__mro__[:-1]))
    return known and not jax.tree_util.is_tree_node(cls)


_by_name: weakref.WeakKeyDictionary[type, bool] = weakref.WeakKeyDictionary()
_PLAIN_BASES = frozenset({("abc", "ABC"), ("typing", "Generic"), ("typing", "Protocol")})


def _is_users_class(cls: type) -> bool:
    if (cls.__module__, cls.__qualname__) in _PLAIN_BASES:
        return True
    found = sys.modules.get(cls.__module__)
    file = getattr(found, "__file__", None)
    return found is not None and (cls.__module__ == "__main__" if file is None else is_users(file))


_CANNOT: tuple[type, ...] = (int, float, complex, bool, str, bytes, type(None))


def may_hold_array(x: Any) -> bool:
    """Whether what an attribute holds is, or may lead to, an array."""
    if type(x) in _CANNOT:
        return False
    if type(x) in (list, tuple, set, frozenset):
        return not set(map(type, x)) <= set(_CANNOT)
    return not (type(x) is dict and {*map(type, x.values())} <= set(_CANNOT))


class ReadWatch:
    """While it is entered, reads of attributes that are not looked at are `seen`."""

    def __init__(self, objects: Iterable[Any], view: NamespaceView) -> None:
        self.seen: set[str] = set()
        self._names, self._whole = view.names, view.whole
        self._spaces = [] if view.whole else [x.__dict__ for x in objects if by_name(type(x))]
        self._changed: list[tuple[dict[str, Any], dict[str, Key]]] = []

    def __enter__(self) -> ReadWatch:
        with unseen():
            for space in self._spaces:
                if names := {n for n in list(space) if type(n) is str} - self._names:  # what a trace around watches tells already
                    keys = {n: _key(n) for n in names}
                    self._changed.append((space, keys))
                    _exchange(space, keys)
        if not self._whole:
            _watches[id(self)] = self.seen
        return self

    def __exit__(self, *error: Any) -> None:
        _watches.pop(id(self), None)
        with unseen():
            for space, keys in self._changed:
                _exchange(space, {key: name for name, key in keys.items()})


def _exchange(space: dict[str, Any], keys: Mapping[Any, str]) -> None:
    """Give some keys of a dict others in their place, in the same order.

    All of it is done by functions of C, one after the other: no other thread sees the dict without its items, or loses one.
    """
    items: dict[str, Any] = {}
    steps = ((items.update, zip(map(keys.get, space, space), space.values(), strict=True)), (space.clear,), (space.update, items))
    collections.deque(itertools.starmap(operator.call, steps), maxlen=0)
