"""Calls of functions that may be the user's: the transpiler, where it is installed, converts them when they are reached.

The runtime does not know the transpiler: the function that converts is handed in.  A transpiled file works without it; then callees in
other modules run as they are.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

_resolve: Callable[[Any], Any] | None = None


def install(resolve: Callable[[Any], Any]) -> None:
    """Hand in what converts a callee."""
    global _resolve
    _resolve = resolve


def call(f: Any) -> Any:
    """What to call in the place of `f`: `call(f)(x)` is `f(x)` with `f` converted, if it is the user's and can be."""
    return (_resolve or _find())(f)


def _find() -> Callable[[Any], Any]:
    try:
        importlib.import_module("autograph.callees")  # hands its function in
    except ImportError:  # the runtime alone is installed
        install(lambda f: f)
    assert _resolve is not None
    return _resolve
