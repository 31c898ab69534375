"""Where in the user's program we are: names and lines for errors, read from frames and bytecode only when an error needs them."""

from __future__ import annotations

import dis
import functools
import itertools
import os
import re
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import jax

from autograph.runtime.errors.errors import SourceSpan

_BLOCK = re.compile(r"(then|orelse|body|test|item|case_\d+|<lambda>)(_\d+)?")
_JUMPS = ("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT")
_WHOLE = 1 << 20  # columns: to the end of the line
_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_WHOLE_PACKAGE = os.path.dirname(os.path.abspath(str(sys.modules["autograph"].__file__))) + os.sep  # in a checkout `runtime/` stands beside it
JAX = os.path.dirname(os.path.abspath(jax.__file__)) + os.sep
HIDDEN = (_OURS, _WHOLE_PACKAGE, JAX)


def caller() -> FrameType | None:
    """The innermost frame that is neither ours nor JAX's: the call of the operator in the user's code."""
    return visible(sys._getframe(1))


_libraries: tuple[str, ...] = HIDDEN  # and those whose objects change in their own code
_is_hidden: dict[str, bool] = {}  # files of frames that have been looked at


def hide(package: Any) -> None:
    """Errors are placed where the user's code calls a package."""
    global _libraries
    _libraries += (os.path.dirname(os.path.abspath(package.__file__)) + os.sep,)
    _is_hidden.clear()


def visible(frame: FrameType | None) -> FrameType | None:
    """A frame, or the first around it that is neither ours nor JAX's."""
    while frame is not None:
        file = frame.f_code.co_filename
        hidden = _is_hidden.get(file)
        if hidden is None:
            hidden = _is_hidden[file] = file.startswith(_libraries)
        if not hidden:
            break
        frame = frame.f_back
    return frame


_NAMED = {"trace_to_jaxpr": "jit", "trace_to_jaxpr_nocache": "jit"}  # what JAX's functions inside are called outside


def transformation() -> str:
    """The function of JAX that is calling the user's code that runs now, or has just run."""
    frame: FrameType | None = sys._getframe()
    name = ""
    while (frame := frame.f_back if frame is not None else None) is not None:
        code = frame.f_code
        if code.co_filename.startswith(JAX):
            own = code.co_qualname.removesuffix(".__call__")
            name = name if own.startswith(("reraise", "_", "wrap")) or "." in own else own
        elif name and not code.co_filename.startswith(HIDDEN):
            break
    return f"`{_NAMED.get(name, name)}`" if name else "a transformation"


def variable_of(obj: Any, but: str = "") -> str:
    """The name, other than `but`, that a function of the user's which is running, or its file, has for an object: `x`, `self.x`, or nothing."""
    frame = caller()
    while frame is not None:
        for name, value in frame.f_locals.items():
            if value is obj and name.isidentifier() and (shown := shown_name(frame.f_code, name)) != but:
                return shown
        for name, value in frame.f_locals.items():
            own = getattr(value, "__dict__", None) if name.isidentifier() and not isinstance(value, type) else None
            found = next((a for a, held in own.items() if held is obj), "") if isinstance(own, dict) else ""
            if found:
                return f"{shown_name(frame.f_code, name)}.{found}"
        found = next((n for n in frame.f_code.co_names if frame.f_globals.get(n) is obj), "")
        if found:
            return found
        frame = visible(frame.f_back)
    return ""


def place_of(frame: FrameType | None) -> SourceSpan | None:
    if frame is None:
        return None
    return place_in(frame.f_code, frame.f_lasti, frame.f_lineno or frame.f_code.co_firstlineno)


def place_in(code: CodeType, offset: int, line: int) -> SourceSpan:
    """Where the instruction stands that code is at, in a line."""
    first, last, column, end = _position(code, offset)
    if first != line or column is None or end is None:
        return SourceSpan(code.co_filename, line)
    return SourceSpan(code.co_filename, line, column, end if last == first and end > column + 1 else _WHOLE)


@functools.lru_cache(maxsize=1000)
def _position(code: CodeType, offset: int) -> tuple[int | None, int | None, int | None, int | None]:
    """That of an instruction, whatever the file: code objects of two files may compare equal."""
    return next(itertools.islice(code.co_positions(), max(offset, 0) // 2, None), (None,) * 4)


def here() -> SourceSpan | None:
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


def read_after(frame: FrameType, name: str) -> bool:
    """Whether the function that `frame` runs may itself read a variable after the call that it is in."""
    code: list[dis.Instruction] = []
    index: dict[int, int] = {}
    for i in dis.get_instructions(frame.f_code):
        index[i.offset] = len(code)  # a jump may go to the prefix of an instruction
        if i.opname not in ("CACHE", "EXTENDED_ARG"):
            code.append(i)
    handlers: Any = dis.Bytecode(frame.f_code).exception_entries  # type: ignore[attr-defined]
    todo = [next(k for k, i in enumerate(code) if i.offset > frame.f_lasti)]
    todo += [index[e.target] for e in handlers if e.start <= frame.f_lasti < e.end]
    seen: set[int] = set()
    while todo:
        k = todo.pop()
        if k in seen or k >= len(code):
            continue
        seen.add(k)
        i = code[k]
        todo += [index[e.target] for e in handlers if e.start <= i.offset < e.end]  # it may fail
        first = next((kind for kind, n in _accesses(i) if n == name), "")
        if first == "LOAD":
            return True
        if first != "STORE" and not i.opname.startswith("RETURN_") and i.opname not in ("RERAISE", "RAISE_VARARGS"):
            if i.opcode in dis.hasjrel or i.opcode in dis.hasjabs:
                todo.append(index[i.argval])
            if i.opname not in _JUMPS:
                todo.append(k + 1)
    return False


def _accesses(i: dis.Instruction) -> list[tuple[str, str]]:
    """The variables that an instruction loads and stores, in order; from 3.13 on one instruction may do two of these."""
    if any(kind in i.opname for kind in ("ATTR", "METHOD", "CONST", "GLOBAL")):
        return []
    kinds = re.findall("LOAD|STORE", i.opname)
    return list(zip(kinds, i.argval, strict=False)) if isinstance(i.argval, tuple) else [(k, i.argval) for k in kinds if isinstance(i.argval, str)]


_LOOPED = re.compile(r"(test|body|<lambda>)(_\d+)?$")


def is_block(code: CodeType) -> bool:
    """Whether code is that of a function that the transpiler made for a block: a branch, a body, a test, an item."""
    return _BLOCK.fullmatch(code.co_name) is not None


def is_handed_on(code: CodeType, name: str) -> bool:
    """Whether code is the test of a loop, and a variable part of the state that the iteration gets from it."""
    return is_block(code) and code.co_name.startswith("test") and name in code.co_varnames[: code.co_argcount]


def function_around(code: CodeType) -> str:
    """The qualified name of the user's function that code belongs to."""
    parts = code.co_qualname.split(".<locals>.")
    while len(parts) > 1 and _BLOCK.fullmatch(parts[-1]):
        parts.pop()
    return ".<locals>.".join(parts)


def returned_names(frame: FrameType | None, count: int) -> list[str]:
    """The names of `count` results that a block of ours returns at once: they are its state."""
    if frame is None or not is_block(frame.f_code) or frame.f_code.co_name.startswith(("test", "item", "<lambda>")) or not _returns_at_once(frame):
        return []
    given = frame.f_code.co_varnames[: frame.f_code.co_argcount]
    if frame.f_code.co_name.startswith("body"):  # the first parameter of a `for` is the item
        return list(given[-count:]) if len(given) >= count else []
    return list(given) if len(given) == count else []


def result_names(frame: FrameType | None, count: int) -> list[str]:
    """What the user calls the `count` results of the operator that `frame` calls."""
    return handed_to(frame) or returned_names(frame, count)


def handed_to(frame: FrameType | None) -> list[str]:
    """What the call that `frame` is in assigns its results to, or an operator of ours around to which blocks hand them at once."""
    names = assigned_names(frame)
    while not names and frame is not None and _returns_at_once(frame) and _is_called_by_us(frame):
        frame = visible(frame.f_back)
        names = assigned_names(frame)
    return names


def _is_called_by_us(frame: FrameType) -> bool:
    """Whether a block runs, and no function of the user's that its caller has called."""
    if not is_block(frame.f_code) or frame.f_back is None:
        return False
    caller = frame.f_back
    return caller.f_code.co_filename.startswith(_OURS) and not caller.f_globals.get("CALLS_FUNCTIONS_OF_THE_USER")


def returning(frame: FrameType | None) -> str:
    """The name of the user's function that returns what the call gives that it is in."""
    return frame.f_code.co_name if frame is not None and not is_block(frame.f_code) and _returns_at_once(frame) else ""


def _returns_at_once(frame: FrameType) -> bool:
    """Whether a function returns what the call gives that it is in."""
    after = (i for i in dis.get_instructions(frame.f_code) if i.offset > frame.f_lasti and i.opname not in ("CACHE", "EXTENDED_ARG"))
    return (following := next(after, None)) is not None and following.opname == "RETURN_VALUE"


def parameter_names(fn: Callable[..., Any], count: int) -> list[str]:
    """The names of the last `count` parameters: those of a loop's state; `x_` stands for a shared variable `x`."""
    code = getattr(fn, "__code__", None)
    if code is None or code.co_argcount < count:
        return [f"state[{k}]" for k in range(count)]
    return [shown_name(code, n) for n in code.co_varnames[code.co_argcount - count : code.co_argcount]]


def shown_name(code: CodeType, name: str) -> str:
    """The user's name of a variable of a block: its parameter `x_` stands for a shared variable `x`."""
    return name[:-1] if name.endswith("_") and name[:-1] in (*code.co_freevars, *code.co_names) else name


def last_store(code: CodeType | None, name: str, above: int = sys.maxsize) -> SourceSpan | None:
    """The line of the last assignment to `name` in a body, blocks inside it included; with `above` the last one above that line."""
    found = [p for p in _stores(code, name) if p.lineno < above] if code else []
    if code is None or not found:
        return None
    last = max(found, key=lambda p: (p.lineno, p.col_offset or 0))
    return SourceSpan(code.co_filename, last.lineno, last.col_offset or 0, last.end_col_offset or 0)


def value_of(code: CodeType | None, k: int = 0, count: int = 1) -> SourceSpan | None:
    """Where the expression stands that a side of a branch gives, or the k-th of a tuple of them."""
    if code is None or code.co_name != "<lambda>" or code.co_filename.startswith(HIDDEN):
        return None
    spots = _element(code, k, count) if count > 1 else [*code.co_positions()]
    sizes = [(end - column, line, column, end) for line, last, column, end in spots if None not in (line, column, end) and line == last]  # type: ignore[operator]
    if not sizes:
        return None
    _, line, column, end = max(sizes)
    return SourceSpan(code.co_filename, line or 0, column or 0, end or 0)


def _element(code: CodeType, k: int, count: int) -> list[tuple[int | None, int | None, int | None, int | None]]:
    """The position of the k-th expression of the tuple that code builds: its last instruction leaves k + 1 values on the stack."""
    depth = 0
    lasts: dict[int, dis.Instruction] = {}
    for i in dis.get_instructions(code):
        if i.opname == "BUILD_TUPLE" and i.arg == depth == count:
            p = lasts[k + 1].positions if k + 1 in lasts else None  # one instruction may push two values
            return [(p.lineno, p.end_lineno, p.col_offset, p.end_col_offset)] if p is not None else []
        depth += dis.stack_effect(i.opcode, i.arg if i.opcode >= dis.HAVE_ARGUMENT else None, jump=False)
        lasts[depth] = i
    return []


def _stores(code: CodeType, name: str) -> Any:
    for instruction in dis.get_instructions(code):
        argval = instruction.argval
        stored = argval if isinstance(argval, tuple) else (argval,)
        if instruction.opname.startswith("STORE_") and name in stored and instruction.positions and instruction.positions.lineno:
            yield instruction.positions
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _stores(constant, name)


def in_kernel() -> bool:
    """Whether a Pallas kernel is being traced, whose compiler knows JAX's own primitives only."""
    frame = sys._getframe(1)
    while frame is not None:
        if "/pallas/" in frame.f_code.co_filename and "jax" in frame.f_code.co_filename:
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


def is_generated(code: Any, name: str) -> bool:
    """Whether a variable of code that the transpiler made is none of the user's."""
    names = getattr(code.co_consts[-1], "names", None) if code.co_consts and mark_of(code) == "Staged" else None
    return names is not None and name not in names


def mark_of(code: Any) -> str:
    """The mark that the transpiler leaves in the constants of code that it makes."""
    return type(code.co_consts[-1]).__name__ if code.co_consts else ""
