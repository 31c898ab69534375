"""`with` statements of the user's context managers: `__exit__` runs also after an error that only traced values know, as it does in Python.

It is run once for both ways out of the block, so it must not ask for the error, nor stop it.
"""

from __future__ import annotations

import dis
from types import CodeType, FunctionType
from typing import Any

from autograph.runtime.calls import adopt
from autograph.runtime.errors import StagedRaiseError
from autograph.runtime.frames import lifting
from autograph.runtime.handlers import as_without_errors, code_now
from autograph.runtime.host_effects import check_entered
from autograph.runtime.places import here


class Managed:
    """A context manager of the user's in a trace."""

    def __init__(self, manager: Any) -> None:
        self.manager, self.place = manager, here()

    def __enter__(self) -> Any:
        value = type(self.manager).__enter__(self.manager)
        self.before = code_now()
        return value

    def __exit__(self, kind: Any, error: Any, trace: Any) -> Any:
        leave = type(self.manager).__exit__
        if code_now() is self.before:
            return leave(self.manager, kind, error, trace)
        name = type(self.manager).__qualname__
        if (why := _asks(original_code(leave))) is not None:
            raise StagedRaiseError(
                f"an error that only traced values decide may leave this `with`, and `{name}.__exit__` {why}", self.place,
                "test for it before the `with`, or let `__exit__` do the same in both cases and return nothing",
            )  # fmt: skip
        with as_without_errors(self.before):
            leave(self.manager, None, None, None)
        return None


def entering(manager: Any) -> Any:
    """The context manager of a `with` statement.

    Raises:
      EffectError: (AG405) a lock, a file or a socket in a staged block: it would be entered once, while the block is traced.
    """
    check_entered(manager)
    if not lifting():
        return manager
    adopt(type(manager))
    leave = getattr(type(manager), "__exit__", None)
    converted = isinstance(leave, FunctionType) and original_code(leave) is not leave.__code__
    return Managed(manager) if converted and hasattr(type(manager), "__enter__") else manager


def original_code(f: FunctionType) -> CodeType:
    """The user's code of a converted function: its own, if it is not converted."""
    found = (getattr(constant, "code", None) for constant in f.__code__.co_consts)
    return next((code for code in found if isinstance(code, CodeType)), f.__code__)


def _asks(code: CodeType) -> str | None:
    """What the code of an `__exit__` has to do with the error."""
    count = code.co_argcount + bool(code.co_flags & 0x04) + code.co_kwonlyargcount
    given, before, value = set(code.co_varnames[1:count]), None, None
    if not given.isdisjoint(code.co_cellvars):
        return "looks at the error"
    for i in dis.get_instructions(code):
        named = i.argval if isinstance(i.argval, tuple) else (i.argval,)
        if i.opname.startswith("LOAD") and not given.isdisjoint(n for n in named if isinstance(n, str)) and "CONST" not in i.opname:
            return "looks at the error"
        if i.opname == "RETURN_CONST" and i.argval or i.opname == "RETURN_VALUE" and not (before == "LOAD_CONST" and not value):
            return "may stop it"
        if i.opname not in ("CACHE", "EXTENDED_ARG", "NOP"):
            before, value = i.opname, i.argval
    return None
