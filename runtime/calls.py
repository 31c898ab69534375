"""Calls of functions that may be the user's: the transpiler, where it is installed, converts them when they are reached.

The runtime does not know the transpiler: the function that converts is handed in.  A transpiled file works without it; then callees in
other modules run as they are.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import BuiltinMethodType, MethodWrapperType
from typing import Any

from autograph.runtime.frames import watched
from autograph.runtime.heap import Contents
from autograph.runtime.lifted import touch
from autograph.runtime.specs import is_container

_resolve: Callable[[Any], Any] | None = None


def install(resolve: Callable[[Any], Any], adopted: Callable[[type], None] = lambda cls: None) -> None:
    """Hand in what converts a callee, and what converts the special methods of a class."""
    global _resolve, _adopted
    _resolve, _adopted = resolve, adopted


_adopted: Callable[[type], None] = lambda cls: None  # noqa: E731


def adopt(cls: type) -> None:
    """Convert the special methods and properties of a class of the user's."""
    _adopted(cls)


class _Probe(threading.local):
    check: Callable[[Any], None] | None = None


_probe = _Probe()


@contextmanager
def probing(check: Callable[[Any], None]) -> Iterator[None]:
    """Give every callee to `check` before it is called."""
    before, _probe.check = _probe.check, check
    try:
        yield
    finally:
        _probe.check = before


def call(f: Any) -> Any:
    """What to call in the place of `f`: `call(f)(x)` is `f(x)` with `f` converted, if it is the user's and can be."""
    if _probe.check is not None:
        _probe.check(f)
    if watched() and type(f) in _NATIVE:
        owner = getattr(f, "__self__", None)
        if is_container(owner):
            if f.__name__ in MUTATING:
                touch(Contents(owner))
            return f
    return (_resolve or _find())(f)


_NATIVE = (BuiltinMethodType, MethodWrapperType)
MUTATING = frozenset(
    "append extend insert pop remove clear sort reverse update setdefault popitem add discard appendleft popleft extendleft rotate "
    "difference_update intersection_update symmetric_difference_update __setitem__ __delitem__ __iadd__ __ior__ __iand__ __ixor__ __isub__".split()
)


def _find() -> Callable[[Any], Any]:
    try:
        importlib.import_module("autograph.callees")  # hands its function in
    except ImportError:  # the runtime alone is installed
        install(lambda f: f)
    assert _resolve is not None
    return _resolve
