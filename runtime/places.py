"""Where in the user's program we are: names and lines for errors, read from frames and bytecode only when an error needs them."""

from __future__ import annotations

import dis
import os
import re
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import jax

from autograph.runtime.errors import Place

_OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep
HIDDEN = (_OURS, os.path.dirname(_OURS[:-1]) + os.sep, os.path.dirname(os.path.abspath(jax.__file__)) + os.sep)


def caller() -> FrameType | None:
    """The innermost frame that is neither ours nor JAX's: the call of the operator in the user's code."""
    return visible(sys._getframe(1))


def visible(frame: FrameType | None) -> FrameType | None:
    """A frame, or the first around it that is neither ours nor JAX's."""
    while frame is not None and frame.f_code.co_filename.startswith(HIDDEN):
        frame = frame.f_back
    return frame


def place_of(frame: FrameType | None) -> Place | None:
    return Place(frame.f_code.co_filename, frame.f_lineno or frame.f_code.co_firstlineno) if frame else None


def here() -> Place | None:
    """The user's line that is running."""
    return place_of(caller())


def assigned_names(frame: FrameType | None) -> list[str]:
    """What the call that `frame` is in assigns its results to: names, or [] where they are returned or used at once."""
    if frame is None:
        return []
    names: list[str] = []
    wanted = 1
    for instruction in dis.get_instructions(frame.f_code):
        if instruction.offset <= frame.f_lasti or instruction.opname in ("CACHE", "EXTENDED_ARG"):
            continue
        if instruction.opname == "UNPACK_SEQUENCE" and not names:
            wanted = instruction.arg or 0
        elif instruction.opname.startswith("STORE_") and instruction.opname not in ("STORE_SUBSCR", "STORE_ATTR", "STORE_SLICE"):
            names += instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
            if len(names) >= wanted:
                return names[:wanted]
        else:
            return names
    return names


def loaded_after(frame: FrameType, name: str) -> bool:
    """Whether a variable may be read after the call that `frame` is in: later in the text, or because of a loop."""
    parameter = name in frame.f_code.co_varnames[: frame.f_code.co_argcount]
    for instruction in dis.get_instructions(frame.f_code):
        if instruction.offset <= frame.f_lasti:
            continue
        if instruction.opname == "RETURN_VALUE" and not parameter:
            return False
        if _names(instruction, "LOAD_", name):
            return True
        if _names(instruction, "STORE_", name):
            return False
        if "BACKWARD" in instruction.opname:
            return True
    return parameter and not _returns_call(frame)


def _names(instruction: dis.Instruction, kind: str, name: str) -> bool:
    """Whether an instruction loads or stores a variable, and not an attribute of this name."""
    if not instruction.opname.startswith(kind) or "ATTR" in instruction.opname or "METHOD" in instruction.opname:
        return False
    return name in instruction.argval if isinstance(instruction.argval, tuple) else instruction.argval == name


def read_after(frame: FrameType, name: str) -> bool:
    """Whether the function that `frame` runs may itself read a variable after the call that it is in."""
    last = -1  # where it was read before
    for instruction in dis.get_instructions(frame.f_code):
        load = _names(instruction, "LOAD_", name)
        last = instruction.offset if load else last
        if instruction.offset <= frame.f_lasti:
            continue
        if load:
            return True
        if _names(instruction, "STORE_", name):
            return False
        if "BACKWARD" in instruction.opname and instruction.argval <= last:
            return True
    return False


def _returns_call(frame: FrameType) -> bool:
    after = [i.opname for i in dis.get_instructions(frame.f_code) if i.offset > frame.f_lasti and i.opname not in ("CACHE", "EXTENDED_ARG")]
    return bool(after) and after[0] == "RETURN_VALUE"


def returned_names(frame: FrameType | None, count: int) -> list[str]:
    """The names of `count` results that a block of ours returns at once: they are its state."""
    kind = re.fullmatch(r"(body|then|orelse)(_\d+)?", frame.f_code.co_name) if frame is not None else None
    if frame is None or kind is None:
        return []
    given = frame.f_code.co_varnames[: frame.f_code.co_argcount]
    if kind[1] == "body":  # the first parameter of a `for` is the item
        return list(given[-count:]) if len(given) >= count else []
    return list(given) if len(given) == count else []


def parameter_names(fn: Callable[..., Any], count: int) -> list[str]:
    """The names of the last `count` parameters: those of a loop's state; `x_` stands for a shared variable `x`."""
    code = getattr(fn, "__code__", None)
    if code is None or code.co_argcount < count:
        return [f"state[{k}]" for k in range(count)]
    names = code.co_varnames[code.co_argcount - count : code.co_argcount]
    shared = {*code.co_freevars, *code.co_names}
    return [n[:-1] if n.endswith("_") and n[:-1] in shared else n for n in names]


def last_store(fn: Callable[..., Any], name: str) -> Place | None:
    """The line of the last assignment to `name` in a body, blocks inside it included."""
    code = getattr(fn, "__code__", None)
    lines = list(_stores(code, name)) if code else []
    return Place(code.co_filename, max(lines)) if code and lines else None


def _stores(code: CodeType, name: str) -> Any:
    for instruction in dis.get_instructions(code):
        argval = instruction.argval
        stored = argval if isinstance(argval, tuple) else (argval,)
        if instruction.opname.startswith("STORE_") and name in stored and instruction.positions and instruction.positions.lineno:
            yield instruction.positions.lineno
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _stores(constant, name)
