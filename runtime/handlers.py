"""Whether an `except` of the user's stands around what is running, read from the bytecode's exception tables."""

from __future__ import annotations

import dis
import sys
import threading
from types import CodeType, FrameType

from autograph.runtime.errors import Place, StagedRaiseError
from autograph.runtime.frames import frames
from autograph.runtime.lifted import may_have_failed
from autograph.runtime.places import HIDDEN, caller, place_of

_SUPPRESSING = frozenset({"suppress", "raises", "assertRaises"})  # context managers that stop an error
_ROOTS = frozenset({"traced", "outside"})  # our functions that begin the trace of a user's function


def handler_around() -> Place | None:
    """The place of an `except` that would catch an error raised now, in the functions that are being traced."""
    if not any(f.root for f in frames()):
        return None  # whose `except` is around is not known
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith(HIDDEN):
            if code.co_name in _ROOTS:
                return None
        elif code.co_exceptiontable and (line := _catches(code, frame.f_lasti)):
            return Place(code.co_filename, line)
        frame = frame.f_back
    return None


class _Finishing(threading.local):
    """The functions of this thread that run a `finally`, entered when an error may have occurred before."""

    def __init__(self) -> None:
        self.frames: list[FrameType] = []


_finishing = _Finishing()


def finishing(*unset: str) -> None:
    """Called at the start of a `finally`; `unset` are variables that it reads and that an error before would have left unset.

    Raises:
      StagedRaiseError: (AG404) only traced values decide whether there was one.
    """
    if not may_have_failed() or (frame := caller()) is None:
        return
    if unset:
        raise StagedRaiseError(
            f"this `finally` reads `{unset[0]}`, which is unset after an error that only traced values decide", place_of(frame),
            f"give `{unset[0]}` a value before the `try`",
        )  # fmt: skip
    _finishing.frames.append(frame)


def finished() -> None:
    """Called at the end of a `finally`."""
    frame = caller()
    while frame in _finishing.frames:
        _finishing.frames.pop()


def finally_around(error: BaseException | None = None) -> Place | None:
    """Where a `finally` runs now, or ran when `error` was raised, that an error before it, which only traced values decide, may have led to."""
    if not _finishing.frames:
        return None
    tb = error.__traceback__ if error is not None else None
    while tb is not None:
        if tb.tb_frame in _finishing.frames:
            return Place(tb.tb_frame.f_code.co_filename, tb.tb_lineno)
        tb = tb.tb_next
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame in _finishing.frames:
            return place_of(frame)
        frame = frame.f_back
    _finishing.frames.clear()  # left by exceptions
    return None


def _catches(code: CodeType, offset: int) -> int:
    """The line of the `except` that covers an instruction; 0 if there is none."""
    parsed = dis.Bytecode(code)
    handlers = [e.target for e in parsed.exception_entries if e.start <= offset < e.end]  # type: ignore[attr-defined]
    if not handlers:
        return 0
    line, target = 0, None
    suppresses = not _SUPPRESSING.isdisjoint(code.co_names)
    for instruction in parsed:
        if instruction.positions is not None and instruction.positions.lineno:
            line = instruction.positions.lineno
        if instruction.offset in handlers:
            target = line
        if target is not None:
            match instruction.opname:
                case "CHECK_EXC_MATCH" | "CHECK_EG_MATCH":
                    return line
                case "POP_EXCEPT":  # a bare `except`
                    return target
                case "WITH_EXCEPT_START" if suppresses:
                    return target
                case "RERAISE" | "WITH_EXCEPT_START":  # `finally`, `with`
                    target = None
    return 0
