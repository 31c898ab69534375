"""Whether something runs where a generator is left: Python closes it, and a `finally` or `with` around its `yield` ends."""

from __future__ import annotations

import dis
import itertools
from types import CodeType, GeneratorType
from typing import Any


def ends_something(generator: GeneratorType[Any, Any, Any]) -> bool:
    """Whether a generator waits in a `try` with `finally`, or in a `with`; or one that it yields from does.

    >>> def numbers():
    ...     yield 1
    ...     with open("log.txt"):
    ...         yield 2
    >>> g = numbers()
    >>> next(g), ends_something(g)
    (1, False)
    """
    frame, inner = generator.gi_frame, generator.gi_yieldfrom
    if frame is None:
        return False
    return _ends(frame.f_code, frame.f_lasti) or isinstance(inner, GeneratorType) and ends_something(inner)


def _ends(code: CodeType, offset: int) -> bool:
    """Whether the handlers of an exception at some place of a code object are others than `except` with a class (its table of exceptions)."""
    seen: set[int] = set()
    instructions: Any = dis.Bytecode(code)  # whose table of exceptions has no type
    while offset not in seen:
        seen.add(offset)
        offset = next((e.target for e in instructions.exception_entries if e.start <= offset < e.end), offset)
        names = [i.opname for i in instructions if i.offset >= offset]
        if names[0] != "PUSH_EXC_INFO":
            continue
        asked = itertools.takewhile(lambda name: name.startswith(("LOAD_", "BUILD_TUPLE", "CACHE")), names[1:])
        if names[1 + len([*asked])] != "CHECK_EXC_MATCH":
            return True
    return False
