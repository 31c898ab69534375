"""Methods that stand in a class while converted code is traced: the converted one where this thread traces converted code, else the class's own."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any

from autograph.runtime.tracing.class_members import marked
from autograph.runtime.tracing.trace_context import watched


def dispatched(own: Callable[..., Any], converted: Callable[..., Any], stands_for: Any = None) -> Any:
    """The method that stands in the class, for `own` if nothing else is said: other threads have none of our frames."""

    def method(*args: Any, **kwargs: Any) -> Any:
        return converted(*args, **kwargs) if watched() else own(*args, **kwargs)

    functools.update_wrapper(method, own)
    return marked(method, own if stands_for is None else stands_for)


_CODE = dispatched(len, len).__code__


def own_of(method: Any) -> Any:
    """A class's own method, where one of these stands for it; any other as it is."""
    return vars(method)["__wrapped__"] if type(method) is FunctionType and method.__code__ is _CODE else method


def converted_of(method: FunctionType) -> Any:
    """What one of these gives where converted code is traced."""
    return dict(zip(_CODE.co_freevars, method.__closure__ or (), strict=True))["converted"].cell_contents
