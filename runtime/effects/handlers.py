"""Whether an `except` of the user's stands around what is running, read from the bytecode's exception tables."""

from __future__ import annotations

import dis
import inspect
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from autograph.runtime.errors.errors import SourceSpan, StagedRaiseError
from autograph.runtime.errors.source_spans import HIDDEN, place_of
from autograph.runtime.state.captured_state import ERROR, load, may_have_failed, reachable, store
from autograph.runtime.tracing.trace_context import frames

_SUPPRESSING = frozenset({"suppress", "raises", "assertRaises"})  # context managers that stop an error
_ROOTS = frozenset({"traced", "outside"})  # our functions that begin the trace of a user's function


def handler_around(kind: type[BaseException]) -> SourceSpan | None:
    """The place of an `except` that would catch an error of a class raised now, in the functions that are being traced."""
    if not any(f.root for f in frames()):
        return None  # whose `except` is around is not known
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith(HIDDEN):
            if code.co_name in _ROOTS:
                return None
        elif code.co_exceptiontable and (line := catches(frame, kind)):
            return SourceSpan(code.co_filename, line)
        frame = frame.f_back
    return None


class _Try:
    """A `try` that is run: the error code before it, and what the variables of the function hold when the first error may have occurred in it."""

    def __init__(self, frame: FrameType, code: Any) -> None:
        self.frame, self.code = frame, code
        self.held: dict[str, Any] | None = None


class _Finishing(threading.local):
    """The functions of this thread that run a `finally`, entered when an error may have occurred before; the error codes at each `try` around."""

    def __init__(self) -> None:
        self.frames: list[FrameType] = []
        self.tries: list[_Try] = []
        self.aside: list[tuple[FrameType, Any]] = []


_finishing = _Finishing()


def code_now() -> Any:
    """The error code at this point of the program: 0 where nothing can have failed."""
    return load(ERROR) if may_have_failed() else 0


def trying() -> None:
    """Called at the start of a `try` whose `finally` may do something: an error that occurs from now on leads to it."""
    _finishing.tries.append(_Try(sys._getframe(1), code_now()))


def note_error() -> None:
    """Called where an error may occur."""
    for t in _finishing.tries:
        if t.held is None:
            t.held = dict(t.frame.f_locals)


@contextmanager
def as_without_errors(before: Any) -> Iterator[None]:
    """Do what Python does also after an error that has occurred since the error code was `before`."""
    now = code_now()
    if now is not before:
        store(ERROR, before)
    try:
        yield
    finally:
        if now is not before:
            store(ERROR, now)


def finishing(*unset: str, reads: tuple[str, ...] = ()) -> None:
    """Called at the start of a `finally`; `unset` are variables that it reads and that an error before would have left unset.

    `reads` are those which it reads and the `try` changes.

    Raises:
      StagedRaiseError: (AG404) it is data-dependent whether there was one.
    """
    frame, before, held = sys._getframe(1), 0, None
    k = next((k for k, t in reversed([*enumerate(_finishing.tries)]) if t.frame is frame), None)
    if k is not None:
        own, *inside = _finishing.tries[k:]
        before, held = own.code, own.held
        _finishing.tries[k:] = [t for t in inside if t.frame.f_code.co_flags & inspect.CO_GENERATOR]  # these may go on
    if not may_have_failed():
        return
    if unset:
        raise StagedRaiseError(
            f"this `finally` reads `{unset[0]}`, which is undefined after a data-dependent error", place_of(frame),
            f"give `{unset[0]}` a value before the `try`",
        )  # fmt: skip
    now_held = frame.f_locals if held is not None else {}
    for name in reads:
        if held is not None and now_held.get(name, _NOTHING) is not held.get(name, _NOTHING):
            raise StagedRaiseError(
                f"this `finally` reads `{name}`, and its value depends on which statement failed", place_of(frame),
                f"give `{name}` its value before the `try`, or test for the error there",
            )  # fmt: skip
    _finishing.frames.append(frame)
    if reachable() and (now := code_now()) is not before:  # a `finally` is run after an error, too
        _finishing.aside.append((frame, now))
        store(ERROR, before)


_NOTHING = object()


def finished(jumps: Any = False) -> None:
    """Called at the end of a `finally`; if it `jumps`, an error before it is given up."""
    frame = sys._getframe(1)
    while frame in _finishing.frames:
        _finishing.frames.pop()
    while _finishing.aside:
        of, now = _finishing.aside.pop()
        if of is frame:
            store(ERROR, now)
            break


def finally_around(error: BaseException | None = None) -> SourceSpan | None:
    """Where a `finally` runs now, or ran when `error` was raised, that an error before it, which is data-dependent, may have led to."""
    if not _finishing.frames:
        return None
    tb = error.__traceback__ if error is not None else None
    while tb is not None:
        if tb.tb_frame in _finishing.frames:
            return SourceSpan(tb.tb_frame.f_code.co_filename, tb.tb_lineno)
        tb = tb.tb_next
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame in _finishing.frames:
            return place_of(frame)
        frame = frame.f_back
    _finishing.frames.clear()  # left by exceptions
    return None


_UNKNOWN = object()


def catches(frame: FrameType, kind: type[BaseException] | None) -> int:
    """The line of the `except` that would catch an error of a class (None: of any) which is raised where a function is; 0 if there is none."""
    code = frame.f_code
    parsed = dis.Bytecode(code)
    steps = [i for i in parsed if i.opname not in ("CACHE", "EXTENDED_ARG")]
    entries: Any = parsed.exception_entries  # type: ignore[attr-defined]
    suppresses = not _SUPPRESSING.isdisjoint(code.co_names)
    todo, seen = [e.target for e in entries if e.start <= frame.f_lasti < e.end], set()
    while todo:
        if (target := todo.pop()) in seen:
            continue
        seen.add(target)
        k = next(n for n, i in enumerate(steps) if i.offset >= target)
        first = line = 0
        stack: list[Any] = []
        while k < len(steps):
            step, k = steps[k], k + 1
            line = step.positions.lineno or line if step.positions else line
            first = first or line
            match step.opname:
                case "CHECK_EXC_MATCH":
                    if _matches(stack.pop() if stack else _UNKNOWN, kind):
                        return line
                    k = next(n for n, i in enumerate(steps) if i.offset >= steps[k].argval)  # the next clause
                case "CHECK_EG_MATCH":
                    return line
                case "POP_EXCEPT" if k < 2 or steps[k - 2].opname != "COPY":  # a bare `except`, and not the way out of another
                    return first
                case "WITH_EXCEPT_START" if suppresses:
                    return first
                case "RERAISE":  # of a `finally`, a `with`, or after the last clause: what stands around comes next
                    todo += [e.target for e in entries if e.start <= step.offset < e.end]
                    break
                case "RETURN_VALUE" | "RETURN_CONST" | "RAISE_VARARGS":
                    break
                case _:
                    _evaluate(step, stack, frame)
    return 0


def _evaluate(step: dis.Instruction, stack: list[Any], frame: FrameType) -> None:
    """Follow the expression that says what an `except` catches."""
    if step.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FAST", "LOAD_DEREF"):
        spaces = (frame.f_locals, frame.f_globals, frame.f_builtins)
        stack.append(next((space[step.argval] for space in spaces if step.argval in space), _UNKNOWN))
    elif step.opname == "LOAD_ATTR" and stack:
        stack.append(getattr(stack.pop(), str(step.argval), _UNKNOWN))
    elif step.opname == "BUILD_TUPLE" and step.arg is not None and len(stack) >= step.arg:
        stack[len(stack) - step.arg :] = [tuple(stack[len(stack) - step.arg :])]
    elif step.opname not in ("PUSH_NULL", "NOP", "RESUME", "PUSH_EXC_INFO"):
        stack.clear()


def _matches(caught: Any, kind: type[BaseException] | None) -> bool:
    """Whether an `except` of a class, or of a tuple of them, catches an error of another; what is not known may."""
    if isinstance(caught, tuple):
        return any(_matches(c, kind) for c in caught)
    return not isinstance(caught, type) or kind is None or issubclass(kind, caught)
