"""Data-dependent errors: an int32 code that blocks carry as state, raised by `ag.function` when the call ends.

    if x < 0: raise ValueError("negative")       code = select(x < 0 and code == 0, number of this error, code)

`fail(condition, kind, message)` sets the code where nothing has failed before.  Its number leads to the class, the message (whose traced parts are
results of the program, too) and the user's line.  A loop tests the code; a scan that may fail is a scan of `cond(code == 0, iteration, nothing)`.

The first error in program order wins.  A block that certainly fails is left (`PathEnds`): the rest of that path is not traced.  Under plain
`jax.jit`, where nobody reads the code, it goes to a callback (`received`).  With `checks="deferred"` a later call raises it
(`async_checks.py`).
"""

from __future__ import annotations

import ast
import functools
import linecache
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import CodeType
from typing import Any

import jax
import numpy as np
from jax import lax

from autograph.runtime.effects.handlers import finally_around, handler_around, note_error
from autograph.runtime.errors.errors import AutographError, NotStagedError, SourceSpan, StagedRaiseError
from autograph.runtime.errors.raise_sites import (
    as_of_concrete,
    calls_to,
    explicit_raise,
    innermost_of,
    is_fault,
    is_of_tracers,
    is_unhashable,
    is_users,
    place_of_error,
    unset_global,
)
from autograph.runtime.errors.source_spans import caller, function_around, place_of
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi import trees
from autograph.runtime.state.captured_state import ERROR, ErrorValues, load, may_have_failed, reachable, store
from autograph.runtime.state.escape_analysis import forget_object
from autograph.runtime.state.formatting import Text
from autograph.runtime.tracing.trace_context import attempt, frames, in_block
from autograph.runtime.values.printed import plain_number
from autograph.runtime.values.values import Blank


class PathEnds(BaseException):
    """This path has left with a deferred error."""


class Ending(NotStagedError):
    """AG501: it is data-dependent whether an iterator of the user's has another item."""

    iterator: Any


class _Iterators(threading.local):
    """The iterators that this thread takes an item of."""

    def __init__(self) -> None:
        self.asked: list[Any] = []


_iterators = _Iterators()


@contextmanager
def ending(iterator: Any) -> Iterator[None]:
    """In here a loop asks an iterator for an item: its StopIteration is no error."""
    _iterators.asked.append(iterator)
    try:
        yield
    finally:
        _iterators.asked.pop()


def _endless(iterator: Any) -> Ending:
    error = Ending(
        f"it is data-dependent when this `{type(iterator).__name__}` ends", place_of(caller()),
        "keep its position in a Python number, and compare it with numbers; or write the loop as a `while`",
    )  # fmt: skip
    error.iterator = iterator
    return error


Spot = tuple[SourceSpan, str]  # with the function that it stands in


class _Deferred:
    """An error that a compiled program may raise: the exception without its traced values, where it is raised, and the calls that led there."""

    def __init__(self, error: Exception, tree: Any, known: list[Any], unknown: list[bool], at: Spot | None, calls: Sequence[Spot]) -> None:
        self.error, self.tree, self.known, self.unknown, self.at, self.calls = error, tree, known, unknown, at, calls

    def like(self, other: _Deferred) -> bool:
        """Whether it is the same error at the same place."""
        mine, others = ((type(d.error), d.unknown, d.at, d.calls) for d in (self, other))
        return mine == others and self.tree == other.tree and repr(self.known) == repr(other.known)

    def made(self, values: Sequence[Any]) -> Exception:
        """The exception with the values that the program has computed."""
        found = iter(values)
        args, attributes = self.tree.unflatten([next(found, None) if u else x for x, u in zip(self.known, self.unknown, strict=True)])
        new: Exception = type(self.error).__new__(type(self.error), *args)
        shown = trees.map(lambda x: str(x) if isinstance(x, Text) else x, args, is_leaf=lambda x: x is None or isinstance(x, Text))
        base: Any = next(k for k in type(new).__mro__ if k.__module__ == "builtins")
        base.__init__(new, *shown)  # what Python itself keeps of the arguments: the message of a SyntaxError, say
        new.args = shown
        vars(new).update(trees.map(lambda x: str(x) if isinstance(x, Text) else x, attributes, is_leaf=lambda x: x is None or isinstance(x, Text)))
        new.__cause__, new.__suppress_context__ = self.error.__cause__, self.error.__suppress_context__
        return new


_errors: list[_Deferred] = []  # the error of code k is `_errors[k - 1]`


def fail(when: Any, kind: type[Exception], text: str, refusal: Callable[[], AutographError] | None = None, advice: str = "") -> None:
    """Raise `kind(text)` where `when`, a bool or a traced bool, holds; if it is traced, or in a staged block, when the compiled function ends.

    Where no `ag.function` reads the error code (plain `jax.jit`, a transformation that is not converted) the compiled program raises it, by a
    callback; or `refusal()` is raised while tracing.
    """
    if when is False:
        return
    if when is True and not in_block() and not may_have_failed():
        raise _made(kind, text, place_of(caller()), advice)
    if refusal is not None and not (checked() and reachable()):
        raise refusal()
    if (handler := handler_around(kind)) is not None:
        raise _caught(handler, f"{kind.__name__}: {text}")
    _record(when, _made(kind, text, place_of(caller()), advice))


def fail_with(when: Any, error: Exception) -> None:
    """Raise an error of the user's where `when`, a traced bool or True, holds: when the compiled function ends, or by a callback."""
    if (handler := handler_around(type(error))) is not None:
        raise _caught(handler, type(error).__name__)
    _record(when, error)


def _caught(handler: SourceSpan, what: str, raised: SourceSpan | None = None) -> StagedRaiseError:
    """The error where an `except`, or a `with` that suppresses errors, would have to catch one that is data-dependent."""
    manager = linecache.getline(handler.file, handler.line).lstrip().startswith(("with ", "async with "))
    around, word = ("this `with`", "with") if manager else ("an `except` around this", "try")
    return StagedRaiseError(
        f"{around} may catch a data-dependent {what}", handler, f"test for it before, and do without the `{word}`", [(raised, "")]
    )


def defer(error: Exception) -> bool:
    """Whether an error in a block that may not run is now deferred to when it does: a `raise` of the user's, or Python's own."""
    if (refusal := unset_global(error)) is not None:
        raise refusal from None
    if is_fault(error):  # of ours: it would be taken for the program's
        return False
    raised = explicit_raise(error) is not None
    ours = is_unhashable(error) or is_of_tracers(error)
    if not raised and (ours or type(error) not in _PYTHONS or not reachable() or not _of_users_code(error)):
        return False
    if (handler := handler_around(type(error))) is not None:
        raised_at = place_of_error(error)
        raise _caught(handler, type(error).__name__, raised_at and raised_at[0]) from None
    try:
        if not raised:
            as_of_concrete(error)
        _record(True, error, place_of_error(error), at_error=True)
    except PathEnds:
        return True
    return False


_PYTHONS = frozenset({TypeError, ValueError, IndexError, KeyError, AttributeError, ZeroDivisionError, OverflowError, NameError, UnboundLocalError})


def _record(when: Any, error: Exception, at: Spot | None = None, at_error: bool = False) -> None:
    if (last := finally_around(error if at_error else None)) is not None:
        raise StagedRaiseError(
            f"this `finally` may raise {type(error).__name__} after a data-dependent error: the second exception would replace the first",
            last, "keep operations that may fail out of the `finally`",
        )  # fmt: skip
    if isinstance(error, StopIteration) and _iterators.asked:
        raise _endless(_iterators.asked[-1]) from None
    note_error()
    if at is None:
        frame = caller()
        place = place_of(frame)
        at = (place, function_around(frame.f_code)) if frame is not None and place is not None else None
    number, values = _code(error, at, calls_to(error) if at is not None else ())
    if not reachable():
        jax.debug.callback(lambda k, v: raise_code(int(k), v), jax.numpy.where(when, number, 0), values)
    else:
        code, now = np.int32(number), load(ERROR)
        new: Any = code if when is True else lax.select(when, code, np.int32(0))
        if values:
            _keep(ErrorValues(number), values, now)
        store(ERROR, new if type(now) is int else _first(now, new))
    if when is True:
        raise PathEnds


def _keep(location: ErrorValues, values: list[Any], now: Any) -> None:
    """Remember the values that are part of an error, if it is the first."""
    if type(now) is not int:
        before, fine_so_far = load(location), lax.eq(now, np.int32(0))
        if not isinstance(before, Blank):
            values = [jax.numpy.where(fine_so_far, new, old) for new, old in zip(values, before, strict=True)]
    store(location, tuple(values))


def _first(now: Any, new: Any) -> Any:
    """The error that came first."""
    return lax.select(lax.eq(now, np.int32(0)), jax.numpy.asarray(new), now)


def _code(error: Exception, at: Spot | None, calls: Sequence[Spot]) -> tuple[int, list[Any]]:
    """The number of an error, and the traced values that are part of it."""
    parts, tree = trees.flatten((error.args, dict(vars(error))), is_leaf=lambda x: x is None)
    forget_object(error)  # what it holds is part of the error from here on
    unknown = [isinstance(x, jax.Array) for x in parts]
    values = [jax.numpy.asarray(x) for x, u in zip(parts, unknown, strict=True) if u]
    known = [None if u else x for x, u in zip(parts, unknown, strict=True)]
    new = _Deferred(error.with_traceback(None), tree, known, unknown, at, calls)
    for k, old in enumerate(_errors):
        if old.like(new):
            return k + 1, values
    error.args, error.__context__ = (), None
    vars(error).clear()  # no tracer outlives its trace
    _errors.append(new)
    return len(_errors), values


def checked() -> bool:
    """Whether the function that is being traced is an `ag.function`, which reads the error code when its call ends."""
    roots = [f.checked for f in frames() if f.root]
    return bool(roots) and roots[-1]


def fine() -> Any:
    """Whether no error has occurred so far."""
    return lax.eq(load(ERROR), np.int32(0))


class Checked:
    """What a compiled function returns that may fail or change state: its result, the error code, and what it changed."""

    def __init__(
        self, value: Any, code: Any, changes: Any = None, values: Any = None, finals: Any = None, holds: Any = None, decides: int | None = None
    ) -> None:  # fmt: skip
        self.value, self.code, self.changes, self.values = value, code, changes, values
        self.finals = finals  # what parameters hold in the end
        self.holds = holds  # whether the conditions have the values that they are known to have
        self.decides = decides  # the number of the condition whose value it is, where the program has no other result

    def __repr__(self) -> str:
        return f"<the result of a compiled function before its error code is read: {self.value!r}>"


def _checked(decides: int | None, children: Any) -> Checked:
    made = Checked(*children)
    made.decides = decides
    return made


jax.tree_util.register_pytree_node(Checked, lambda c: ((c.value, c.code, c.changes, c.values, c.finals, c.holds), c.decides), _checked)


def received(code: Any, values: dict[int, Any] | None = None) -> None:
    """The error code of a function that has ended: raise its error, or hand it to the trace around."""
    values = values or {}
    if _jax.concrete(code):
        number = _jax.number(code)
        if number:
            raise_code(number, values.get(number, ()))
    elif checked() and reachable():
        now = load(ERROR)
        for number, kept in values.items():
            _keep(ErrorValues(number), list(kept), now)
        store(ERROR, code if type(now) is int else _first(now, code))
    else:  # a transformation that is not converted stands between: the compiled program raises
        jax.debug.callback(lambda k, v: raise_code(int(k), v.get(int(k), ())), code, values)


ERROR.leave = received


def raise_code(code: int, values: Any = ()) -> None:
    """Raise the error of a code; its traceback has the user's calls and ends at the user's line."""
    if code == 0:
        return
    found = _errors[code - 1]
    error = found.made([plain_number(v) if getattr(v, "weak_type", False) else v for v in map(_jax.known_value, values)])
    try:
        if found.at is None:
            raise error
        _raise_at(error, [*found.calls, found.at])
    finally:
        del error  # its traceback holds this frame


def _raise_at(error: Exception, spots: Sequence[Spot]) -> None:
    """Raise an error at the last of some places, called from those before."""
    (place, function), *inner = spots
    names = {"error": error, "go": functools.partial(_raise_at, error, inner), "__name__": "autograph"}
    try:
        exec(_standing(place, function, "go()" if inner else "raise error"), names)
    finally:
        names.clear()
        del error


def values_of(values: dict[Any, Any]) -> dict[int, Any]:
    """The values of errors among the state outside that a trace leaves."""
    return {location.number: tuple(v) for location, v in values.items() if isinstance(location, ErrorValues) and not isinstance(v, Blank)}


def _made(kind: type[Exception], text: str, place: SourceSpan | None, advice: str) -> Exception:
    if not issubclass(kind, AutographError):
        return kind(text)
    with attempt():  # it is the program's error, and no refusal
        return kind(text, place, advice)


def _of_users_code(error: Exception) -> bool:
    """Whether an operation in the user's own code failed, not one inside JAX or another library, and not a `raise`."""
    found = innermost_of(error)
    return found is not None and is_users(found[0].f_code.co_filename) and explicit_raise(error) is None


def _standing(place: SourceSpan, function: str, text: str) -> CodeType:
    """A statement in the user's file, line and columns."""
    end = min(place.end, len(linecache.getline(place.file, place.line).encode().rstrip()))
    column, end = (place.column, end) if end > place.column else (0, 0)
    spot: Any = {"lineno": place.line, "end_lineno": place.line, "col_offset": column, "end_col_offset": end}
    tree = ast.parse(text)
    for node in ast.walk(tree):
        for field in node._attributes:
            setattr(node, field, spot[field])
    code = compile(ast.fix_missing_locations(tree), place.file, "exec", dont_inherit=True)
    name = function.rpartition(".")[2] or "<module>"
    return code.replace(co_name=name, co_qualname=function or name)
