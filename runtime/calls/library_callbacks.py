"""Functions of the user's that code of a library is given: it may call them in a trace of its own, so each is entered there."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from autograph.runtime.calls.foreign_trace_entry import converted
from autograph.runtime.errors.raise_sites import is_users


def with_entries(f: Any) -> Any:
    """What a transpiled file calls in the place of `f` where the transpiler is not installed: the functions of a file have no entry of their own."""
    if type(f) is not FunctionType or is_users(f.__code__.co_filename):
        return f

    def library_call(*args: Any, **kwargs: Any) -> Any:
        return f(*map(_entered, args), **{k: _entered(v) for k, v in kwargs.items()})

    return library_call


def _entered(x: Any) -> Any:
    return converted(x, fresh=True) if type(x) is FunctionType and is_users(x.__code__.co_filename) else x
