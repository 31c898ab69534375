"""`with` statements of context managers that run the user's code: they are left also after a data-dependent error, as in Python.

What is run at the end is run once for both ways out of the block, so it must not ask for the error, nor stop it.
"""

from __future__ import annotations

import contextlib
import dis
import inspect
from collections.abc import Callable
from types import CodeType, FunctionType, GeneratorType
from typing import Any

from autograph.runtime.calls.callees import adopt, call
from autograph.runtime.calls.dispatched_methods import own_of
from autograph.runtime.effects.handlers import as_without_errors, catches, code_now
from autograph.runtime.errors.errors import StagedRaiseError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.host.host_effects import check_entered
from autograph.runtime.tracing.trace_context import lifting


class Managed:
    """A context manager in a trace; `leave` is run at the end of the block whatever the manager's `__exit__` is."""

    def __init__(self, manager: Any, leave: Callable[..., Any] | None = None, pushed: bool = False) -> None:
        self.manager, self.leave, self.pushed, self.place = manager, leave, pushed, here()
        self.why_not = _asks(manager.__code__, 0) if pushed and isinstance(manager, FunctionType) else None
        self.before = code_now()

    def __enter__(self) -> Any:
        value = type(self.manager).__enter__(self.manager)
        self.before = code_now()
        return value

    def __exit__(self, kind: Any, error: Any, trace: Any) -> Any:
        if self.leave is not None:
            if kind is not None and self.pushed:  # an error that Python itself has raised
                return call(self.manager)(kind, error, trace)
            if self.why_not is not None and code_now() is not self.before:
                raise StagedRaiseError(
                    f"`{self.manager.__name__}` is called at the end of a `with`, where an error is data-dependent, and it {self.why_not}",
                    self.place, "give `callback` a function that does the same in both cases",
                )  # fmt: skip
            with as_without_errors(self.before):
                self.leave()
            return None
        leave = type(self.manager).__exit__
        if code_now() is self.before:
            return leave(self.manager, kind, error, trace)
        of_generator = leave is _OF_GENERATOR
        why = _catching(self.manager.gen) if of_generator else _asks(original_code(leave))
        if why is not None:
            name = self.manager.gen.__name__ if of_generator else f"{type(self.manager).__qualname__}.__exit__"
            raise StagedRaiseError(
                f"a data-dependent error may leave this `with`, and `{name}` {why}", self.place,
                "test for it before the `with`, or let the manager do the same in both cases, and not stop the error",
            )  # fmt: skip
        if of_generator:  # after an error only what its `finally` says is run, as of any function
            return leave(self.manager, None, None, None)
        with as_without_errors(self.before):
            leave(self.manager, None, None, None)
        return None


_MADE_BY_GENERATOR: Any = contextlib.contextmanager(lambda: iter(()))()
_OF_GENERATOR = type(_MADE_BY_GENERATOR).__exit__


def entering(manager: Any) -> Any:
    """The context manager of a `with` statement.

    Raises:
      EffectError: (AG405) a lock, a file or a socket in a staged block: it would be entered once, while the block is traced.
    """
    check_entered(manager)
    if not lifting():
        return manager
    if type(manager) is contextlib.closing:
        return Managed(manager, call(manager.thing.close))  # type: ignore[attr-defined]
    adopt(type(manager))
    if isinstance(manager, type(_MADE_BY_GENERATOR)) and hasattr(manager, "args") and inspect.getgeneratorstate(manager.gen) == "GEN_CREATED":
        manager.gen = call(manager.func)(*manager.args, **manager.kwds)
    leave = getattr(type(manager), "__exit__", None)
    converted = isinstance(leave, FunctionType) and (leave is _OF_GENERATOR or original_code(leave) is not leave.__code__)
    return Managed(manager) if converted and hasattr(type(manager), "__enter__") else manager


def stacked(method: Any) -> Callable[..., Any] | None:
    """A method of `contextlib.ExitStack` that puts something on it, in a trace: what that does at the end it does after an error, too."""
    stack, name = method.__self__, method.__name__
    if not lifting() or name not in ("callback", "enter_context", "push"):
        return None
    if name == "enter_context":
        return lambda manager: stack.enter_context(entering(manager))

    def callback(f: Any, /, *args: Any, **kwargs: Any) -> Any:
        stack.push(Managed(f, lambda: call(f)(*args, **kwargs)))
        return f

    def push(leave: Any) -> Any:
        if hasattr(type(leave), "__exit__"):
            managed = entering(leave)
        else:
            managed = Managed(leave, lambda: call(leave)(None, None, None), pushed=True)
        stack.push(managed)
        return leave

    return callback if name == "callback" else push


def _catching(generator: Any) -> str | None:
    """Whether a generator that is suspended would catch an error which is thrown into it."""
    while isinstance(generator, GeneratorType):
        if generator.gi_frame is not None and catches(generator.gi_frame, None):
            return "may catch it"
        generator = generator.gi_yieldfrom
    return None


def original_code(f: FunctionType) -> CodeType:
    """The user's code of a converted function: its own, if it is not converted."""
    f = own_of(f)
    found = (getattr(constant, "code", None) for constant in f.__code__.co_consts)
    return next((code for code in found if isinstance(code, CodeType)), f.__code__)


def _asks(code: CodeType, first: int = 1) -> str | None:
    """What the code of an `__exit__` has to do with the error, which it is given from the parameter `first` on."""
    count = code.co_argcount + bool(code.co_flags & 0x04) + code.co_kwonlyargcount
    given, before, value = set(code.co_varnames[first:count]), None, None
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
