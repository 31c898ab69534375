"""Errors that only traced values decide: an int32 code that blocks thread as state, raised by `ag.function` when the call ends.

The first error in program order wins.  A block that certainly fails is left (`Exit`): the rest of that path is not traced.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from types import CodeType
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import lax

from autograph.runtime import _jax
from autograph.runtime.errors import AutographError, Place, StagedRaiseError
from autograph.runtime.frames import frames, in_block
from autograph.runtime.handlers import finally_around, handler_around
from autograph.runtime.lifted import ERROR, load, may_have_failed, reachable, store
from autograph.runtime.places import caller, place_of
from autograph.runtime.raised import explicit_raise, innermost_of, is_users, place_of_error


class Exit(BaseException):
    """This path has left with a deferred error."""


class _Deferred(NamedTuple):
    kind: type[Exception]
    args: tuple[Any, ...]
    place: Place | None
    function: str
    advice: str


_errors: list[_Deferred] = []  # the error of code k is `_errors[k - 1]`


def fail(when: Any, kind: type[Exception], text: str, refusal: Callable[[], AutographError] | None = None, advice: str = "") -> None:
    """Raise `kind(text)` where `when`, a bool or a traced bool, holds; if it is traced, or in a staged block, when the compiled function ends.

    Where no `ag.function` reads the error code (plain `jax.jit`, a transformation that is not converted) the compiled program raises it, by a
    callback; or `refusal()` is raised while tracing.
    """
    if when is False:
        return
    if when is True and not in_block() and not may_have_failed():
        raise _made(kind, (text,), place_of(caller()), advice)
    if refusal is not None and not (checked() and reachable()):
        raise refusal()
    if (handler := handler_around()) is not None:
        raise StagedRaiseError(
            f"an `except` around this may catch the {kind.__name__} that only traced values decide: {text}", handler,
            "test for it before, and do without the `try`",
        )  # fmt: skip
    _record(when, kind, (text,), advice)


def defer(error: Exception) -> bool:
    """Whether an error of Python's own, in a block that may not run, is now deferred to when it does."""
    if type(error) not in _PYTHONS or not (checked() and reachable()) or not _of_users_code(error) or handler_around() is not None:
        return False
    try:
        args = tuple(re.sub(r"'\w*Tracer'", "'Array'", a) if isinstance(a, str) else a for a in error.args)  # as of a concrete array
        _record(True, type(error), args, "", place_of_error(error), error)
    except Exit:
        return True
    return False


_PYTHONS = frozenset({TypeError, ValueError, IndexError, KeyError, AttributeError, ZeroDivisionError, OverflowError, NameError, UnboundLocalError})


def _record(
    when: Any, kind: type[Exception], args: tuple[Any, ...], advice: str, at: tuple[Place, str] | None = None, error: Exception | None = None
) -> None:
    if (last := finally_around(error)) is not None:
        raise StagedRaiseError(
            f"this `finally` may raise {kind.__name__} after an error that only traced values decide: the later one would have to replace it",
            last, "keep operations that may fail out of the `finally`",
        )  # fmt: skip
    if at is None:
        frame = caller()
        place = place_of(frame)
        at = (place, frame.f_code.co_qualname) if frame is not None and place is not None else None
    number = _code(_Deferred(kind, args, at[0] if at else None, at[1] if at else "", advice))
    if not reachable():
        jax.debug.callback(lambda k: raise_code(int(k)), jax.numpy.where(when, number, 0))
        return
    code, now = np.int32(number), load(ERROR)
    new: Any = code if when is True else lax.select(when, code, np.int32(0))
    store(ERROR, new if type(now) is int else _first(now, new))
    if when is True:
        raise Exit


def _first(now: Any, new: Any) -> Any:
    """The error that came first."""
    return lax.select(lax.eq(now, np.int32(0)), jax.numpy.asarray(new), now)


def _code(error: _Deferred) -> int:
    for k, known in enumerate(_errors):
        if known[0] is error[0] and repr(known) == repr(error):
            return k + 1
    _errors.append(error)
    return len(_errors)


def checked() -> bool:
    """Whether the function that is being traced is an `ag.function`, which reads the error code when its call ends."""
    roots = [f.checked for f in frames() if f.root]
    return bool(roots) and roots[-1]


def fine() -> Any:
    """Whether no error has occurred so far."""
    return lax.eq(load(ERROR), np.int32(0))


class Checked:
    """What a compiled function returns that may fail: its result and the error code."""

    def __init__(self, value: Any, code: Any) -> None:
        self.value, self.code = value, code

    def __repr__(self) -> str:
        return f"<the result of a compiled function before its error code is read: {self.value!r}>"


jax.tree_util.register_pytree_node(Checked, lambda c: ((c.value, c.code), None), lambda _, children: Checked(*children))


def received(code: Any) -> None:
    """The error code of a function that has ended: raise its error, or hand it to the trace around."""
    if _jax.concrete(code):
        raise_code(int(code))
    elif checked() and reachable():
        now = load(ERROR)
        store(ERROR, code if type(now) is int else _first(now, code))
    else:  # a transformation that is not converted stands between: the compiled program raises
        jax.debug.callback(lambda k: raise_code(int(k)), code)


ERROR.leave = received


def raise_code(code: int) -> None:
    """Raise the error of a code; its traceback ends at the user's line."""
    if code == 0:
        return
    kind, args, place, function, advice = _errors[code - 1]
    error = _made(kind, args, place, advice)
    if place is None:
        raise error
    exec(_raising(place, function), {"error": error, "__name__": "autograph"})


def _made(kind: type[Exception], args: tuple[Any, ...], place: Place | None, advice: str) -> Exception:
    return kind(str(args[0]), place, advice) if issubclass(kind, AutographError) else kind(*args)


def _of_users_code(error: Exception) -> bool:
    """Whether an operation in the user's own code failed, not one inside JAX or another library, and not a `raise`."""
    found = innermost_of(error)
    return found is not None and is_users(found[0].f_code.co_filename) and explicit_raise(error) is None


def _raising(place: Place, function: str) -> CodeType:
    """Code that raises `error` in the user's file and line."""
    code = compile("\n" * (place.line - 1) + "raise error", place.file, "exec", dont_inherit=True)
    name = function.rpartition(".")[2] or "<module>"
    return code.replace(co_name=name, co_qualname=function or name)
