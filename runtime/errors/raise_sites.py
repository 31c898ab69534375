"""Where an exception comes from, read from its traceback and the bytecode: a `raise` of the user's, or an operation that failed."""

from __future__ import annotations

import dis
import functools
import itertools
import linecache
import os
import re
import sys
import sysconfig
from types import CodeType, FrameType, ModuleType, TracebackType

from autograph.runtime.errors.errors import AutographError, GlobalStateError, SourceSpan
from autograph.runtime.errors.source_spans import HIDDEN, caller, function_around, is_block, place_in

_STDLIB = tuple({p + os.sep for k in ("stdlib", "platstdlib") for p in (sysconfig.get_paths()[k], os.path.realpath(sysconfig.get_paths()[k]))})
_RAISE = dis.opmap["RAISE_VARARGS"]


def innermost_of(error: BaseException) -> tuple[FrameType, int, int] | None:
    """The innermost frame of a traceback, its line and its last instruction; where an operator of ours failed, that of its call."""
    tb, found, hidden, ours = error.__traceback__, None, None, False
    while tb is not None:
        ours = tb.tb_frame.f_code.co_filename.startswith(HIDDEN[0])
        if not ours:
            hidden = tb
            if is_users(tb.tb_frame.f_code.co_filename):
                found = tb
        tb = tb.tb_next
    if ours and found is None and (frame := caller()) is not None:  # the call stands outside the block that failed: a later part of a chain
        return frame, frame.f_lineno, frame.f_lasti
    if not ours:  # JAX's, a library's or the user's own
        found = hidden
    return found and (found.tb_frame, found.tb_lineno, found.tb_lasti)


_STAGING = tuple(HIDDEN[0] + name for name in "arrays branches effects errors loops state tracing values jaxapi/jax_errors".split())
_OF_BLOCKS = tuple(HIDDEN[0] + name for name in ("branches", "loops"))  # where no error of Python's is raised on purpose


def is_fault(error: Exception) -> bool:
    """Whether it is an error of this package, of what stages blocks: no operation of the user's program is made there, but loads of items."""
    if isinstance(error, AutographError) or not isinstance(error, (AssertionError, AttributeError, LookupError, NameError)):
        return False
    tb = error.__traceback__
    while tb is not None and tb.tb_next is not None:
        tb = tb.tb_next
    if tb is None or not (file := tb.tb_frame.f_code.co_filename).startswith(_STAGING) or tb.tb_frame.f_globals.get("HAS_OPERATIONS_OF_THE_USER"):
        return False
    return file.startswith(_OF_BLOCKS) or not _raises(tb)


def unset_global(error: Exception) -> GlobalStateError | None:
    """The error for a global variable that a block binds and that does not exist before: the block begins with what it holds."""
    if type(error) is not NameError or (found := innermost_of(error)) is None:
        return None
    frame, name = found[0], error.name
    codes, stored = [frame.f_code], False
    while codes and not stored:
        code = codes.pop()
        stored = any(i.opname == "STORE_GLOBAL" and i.argval == name for i in dis.get_instructions(code))
        codes += [c for c in code.co_consts if isinstance(c, CodeType)]
    if not stored or name in frame.f_globals:
        return None
    return GlobalStateError(
        f"the global variable `{name}` does not exist before, and a compiled loop or branch binds it", place_in(frame.f_code, found[2], found[1]),
        f"give it a value in the module (`{name} = None`), or return the value",
    )  # fmt: skip


def _raises(tb: TracebackType) -> bool:
    """Whether a `raise` statement raised the error: one of Python's own that is meant."""
    code = tb.tb_frame.f_code.co_code
    return 0 <= tb.tb_lasti < len(code) and code[tb.tb_lasti] == _RAISE


def _is_generated(frame: FrameType, line: int) -> bool:
    """Whether a frame runs code that nobody can look at, such as methods that `dataclass` writes."""
    return frame.f_code.co_filename == "<string>" and not linecache.getline("<string>", line)


LISTED: dict[str, bool] = {}  # by file, or folder with its separator: is what stands there converted, as `ag.include` and `ag.exclude` say?


def listed(file: str) -> bool | None:
    """Whether a file is converted that `ag.include` or `ag.exclude` names; None of any other.  The innermost package counts."""
    found = [place for place in LISTED if file == place or place.endswith(os.sep) and file.startswith(place)]
    return LISTED[max(found, key=len)] if found else None


def is_users(file: str) -> bool:
    """Whether a file is the user's, or a library's that is converted as if it were."""
    if LISTED and listed(file):
        return True
    return not file.startswith((*HIDDEN, *_STDLIB)) and "site-packages" not in file and not file.startswith("<frozen")


def in_library() -> bool:
    """Whether the code that runs is of a library for JAX that `ag.include` names: it knows that it has tracers, and compares these.

    A library that imports no JAX does not know, and is as the user's own code.
    """
    frame: FrameType | None = sys._getframe(1) if LISTED else None
    while frame is not None and frame.f_code.co_filename.startswith(HIDDEN):
        frame = frame.f_back
    return frame is not None and bool(listed(frame.f_code.co_filename)) and _knows_jax(str(frame.f_globals.get("__name__", "")).partition(".")[0])


@functools.cache
def _knows_jax(package: str) -> bool:
    """Whether a module of a package that is loaded has imported JAX, or a part of it."""
    inside = [m for name, m in [*sys.modules.items()] if name == package or name.startswith(f"{package}.")]
    named = (x.__name__ for m in inside if isinstance(m, ModuleType) for x in [*vars(m).values()] if isinstance(x, ModuleType))
    return any(name.partition(".")[0] == "jax" for name in named)


def explicit_raise(error: BaseException) -> SourceSpan | None:
    """The place of the `raise` or failed `assert` that raised `error`; None if an operation in it failed.

    A library that raises while it traces is not the user's doing: only the innermost frame counts, and it must not be ours or JAX's.
    """
    found = innermost_of(error)
    if isinstance(error, AutographError) or found is None:
        return None
    frame, line, instruction = found
    code = frame.f_code
    if not is_users(code.co_filename):
        return None
    return SourceSpan(code.co_filename, line) if code.co_code[instruction] == _RAISE else None


def is_of_tracers(error: BaseException) -> bool:
    """Whether Python or C says of a tracer, or of an optional value, that it has not what it needs: the program's value would have it."""
    return (
        isinstance(error, TypeError)
        and re.search(r" type \w+Tracer\b|\w*Tracer\.__format__|conversion from \w+Tracer|not Maybe$", str(error)) is not None
    )


def as_of_concrete(error: BaseException) -> None:
    """Let the message of an operation of Python's that failed name the type of the concrete value."""
    error.args = tuple(re.sub(r"'\w*Tracer'", "'Array'", a) if isinstance(a, str) else a for a in error.args)


def is_unhashable(error: BaseException) -> bool:
    """Whether a traced value was a key of a dict, or an item of a set: no array can be."""
    return isinstance(error, TypeError) and re.search(r"\bunhashable type: '(\w*Tracer|ArrayImpl|Array)'", str(error)) is not None


def place_of_error(error: BaseException) -> tuple[SourceSpan, str] | None:
    """Where the operation stands that failed, and the function that it stands in."""
    found = innermost_of(error)
    if found is not None and _is_generated(found[0], found[1]):
        tb, inner = error.__traceback__, found[0]
        while tb is not None and tb.tb_frame is not inner:
            if is_users(tb.tb_frame.f_code.co_filename) and not _is_generated(tb.tb_frame, tb.tb_lineno):
                found = tb.tb_frame, tb.tb_lineno, tb.tb_lasti  # the line that calls it
            tb = tb.tb_next
    return found and (place_in(found[0].f_code, found[2], found[1]), function_around(found[0].f_code))


ENTRIES: set[CodeType] = set()  # where compiled functions are traced from: their callers are not among the calls


def calls_to(error: BaseException) -> tuple[tuple[SourceSpan, str], ...]:
    """The user's calls that led to an error inside a compiled function, outermost first; of a function and its blocks, the innermost."""
    found: list[tuple[CodeType, int, int]] = []
    frame = caller()
    while frame is not None and frame.f_code not in ENTRIES:
        found.append((frame.f_code, frame.f_lasti, frame.f_lineno))
        frame = frame.f_back
    found.reverse()
    tb = error.__traceback__
    while tb is not None:
        found.append((tb.tb_frame.f_code, tb.tb_lasti, tb.tb_lineno))
        tb = tb.tb_next
    users = [at for at in found if is_users(at[0].co_filename)]
    calls = [at for at, (after, _, _) in itertools.pairwise(users) if not (is_block(after) and function_around(after) == function_around(at[0]))]
    return tuple((place_in(*at), function_around(at[0])) for at in calls)
