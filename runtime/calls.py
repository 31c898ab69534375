"""Calls of functions that may be the user's: the transpiler, where it is installed, converts them when they are reached.

The runtime does not know the transpiler: the function that converts is handed in.  A transpiled file works without it; then callees in
other modules run as they are.
"""

from __future__ import annotations

import collections
import importlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import BuiltinMethodType
from typing import Any

from autograph.runtime.effects import MUTATING, Change, restore_of
from autograph.runtime.errors import EffectError
from autograph.runtime.frames import changed, watched
from autograph.runtime.places import here

_resolve: Callable[[Any], Any] | None = None


def install(resolve: Callable[[Any], Any]) -> None:
    """Hand in what converts a callee."""
    global _resolve
    _resolve = resolve


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
    if type(f) is BuiltinMethodType and f.__name__ in MUTATING and watched() and isinstance(f.__self__, _CONTAINERS):
        _log_change(f)
        return f
    return (_resolve or _find())(f)


_CONTAINERS = (list, dict, set, collections.deque)


def _log_change(method: BuiltinMethodType) -> None:
    obj: Any = method.__self__
    place, undo, name = here(), restore_of(obj), f"`{type(obj).__name__}.{method.__name__}`"
    advice = "build the values in a `jnp` array of known size, or outside the loop or branch"
    changed(lambda: Change(obj, f"{name} of an object made outside", place, undo, EffectError, advice))


def _find() -> Callable[[Any], Any]:
    try:
        importlib.import_module("autograph.callees")  # hands its function in
    except ImportError:  # the runtime alone is installed
        install(lambda f: f)
    assert _resolve is not None
    return _resolve
