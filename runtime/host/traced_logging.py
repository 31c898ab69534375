"""Logging and warnings in a trace: said whenever the program runs, with the file, line and function of the user's call."""

from __future__ import annotations

import builtins
import functools
import logging
import sys
import warnings
from collections.abc import Callable, Iterator
from types import CodeType, FrameType, FunctionType
from typing import Any

from autograph.runtime.errors.source_spans import function_around, is_block, visible
from autograph.runtime.host.output import afterwards
from autograph.runtime.state.formatting import Text
from autograph.runtime.tracing.trace_context import in_block

_LOGGING = frozenset("debug info warning warn error critical exception log".split())


def saying(f: Any, owner: Any) -> Callable[..., Any] | None:
    """What to call in the place of a function of `logging` or `warnings.warn`, in a trace; None for any other function."""
    if f is warnings.warn:
        return _warn
    if isinstance(owner, (logging.Logger, logging.LoggerAdapter)):
        return functools.partial(_log, f) if f.__name__ in _LOGGING else None
    own = isinstance(f, FunctionType) and f.__module__ == "logging" and f.__name__ in _LOGGING
    return functools.partial(_log, f) if own else None


def _log(f: Any, /, *args: Any, stacklevel: int = 1, **kwargs: Any) -> None:
    afterwards(_as_from(f, _level(stacklevel)), args, kwargs)


def _warn(message: Any, category: Any = None, stacklevel: int = 1, source: Any = None, *, skip_file_prefixes: tuple[str, ...] = ()) -> None:
    """`warnings.warn`: in a block, or with traced values, whenever the program runs and gets there; elsewhere while the function is traced."""
    warn = _as_from(warnings.warn, _level(max(2, stacklevel) if skip_file_prefixes else stacklevel, tuple(skip_file_prefixes)))

    def run(message: Any) -> None:
        warn(str(message) if isinstance(message, Text) else message, category, source=source)

    if in_block() or isinstance(message, Text):
        afterwards(run, [message], {})
    else:
        run(message)


def _level(stacklevel: int, skipped: tuple[str, ...] = ()) -> tuple[FrameType, str] | None:
    """The frame that so many levels stand above, counted as in the user's program, and the name of its function."""
    found = None
    for level, (frame, name) in enumerate(_callers()):
        if not level or not frame.f_code.co_filename.startswith(skipped or ("\0",)):
            found, stacklevel = (frame, name), stacklevel - 1
        if stacklevel <= 0:
            return found
    return found if skipped else None


def _callers() -> Iterator[tuple[FrameType, str]]:
    """The frames of the user's functions, the innermost first, where they are: in a function's block, if that is what runs."""
    frame = visible(sys._getframe(1))
    while frame is not None:
        outer, inner = frame, frame
        while (around := visible(outer.f_back)) is not None and outer.f_back is not around and _is_one(outer.f_code, around.f_code):
            outer = around
        yield inner, outer.f_code.co_name
        frame = visible(outer.f_back)


def _is_one(code: CodeType, around: CodeType) -> bool:
    """Whether code is that of a block of a function, or a function's staged form, which its plain form has entered."""
    same = (code.co_filename, code.co_firstlineno, code.co_name) == (around.co_filename, around.co_firstlineno, around.co_name)
    return same or is_block(code) and code in around.co_consts


def _as_from(f: Callable[..., Any], at: tuple[FrameType, str] | None) -> Callable[..., Any]:
    """`f`, which whenever it is called finds that this frame has called it."""
    if at is None:
        code, names = _call.__code__.replace(co_filename="sys", co_firstlineno=1, co_name="<sys>"), vars(sys)
    else:
        frame, name = at
        code = _call.__code__.replace(
            co_filename=frame.f_code.co_filename, co_firstlineno=frame.f_lineno or 1, co_name=name, co_qualname=function_around(frame.f_code)
        )  # fmt: skip
        names = frame.f_globals
    registry = names.setdefault("__warningregistry__", {})  # not the names themselves: a program must not keep them
    space = {"__name__": names.get("__name__"), "__warningregistry__": registry, "__builtins__": builtins}
    return functools.partial(FunctionType(code, space), f)


_call: Any = lambda f, *args, **kwargs: f(*args, **kwargs)  # noqa: E731 (on one line, which is the first)
