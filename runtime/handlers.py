"""Whether an `except` of the user's stands around what is running, read from the bytecode's exception tables."""

from __future__ import annotations

import dis
import sys
from types import CodeType, FrameType

from autograph.runtime.errors import Place
from autograph.runtime.frames import frames
from autograph.runtime.places import HIDDEN

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
