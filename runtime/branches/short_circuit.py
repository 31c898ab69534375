"""`and`, `or`, `not` and chained comparisons whose operands may be traced; short circuits are real."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jax import lax

from autograph.runtime.branches.conditional import staged_cond
from autograph.runtime.effects.error_codes import fail_with
from autograph.runtime.effects.handlers import handler_around
from autograph.runtime.errors.errors import BranchTypeError, NotStagedError, OptionalError
from autograph.runtime.errors.raise_sites import in_library
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.sequences.rows import unknown
from autograph.runtime.sequences.truth import truth
from autograph.runtime.state.captured_state import may_have_failed
from autograph.runtime.tracing.trace_context import changed_outside, in_block
from autograph.runtime.values.abstract_values import type_of
from autograph.runtime.values.path_conditions import PathFacts, facts_of, known, note
from autograph.runtime.values.values import ARRAYS, NUMBERS, has_maybe, map_maybe, parts


def and_(a: Any, b: Callable[[], Any]) -> Any:
    """The truth of `a and b()`: a bool, or a traced bool."""
    p = truth(a)
    if p is False:
        return False
    if p is True:
        return truth(b())
    second: list[PathFacts] = []
    out = staged_cond(p, lambda: _noticed(truth(b()), second), lambda: False, (), (b,))
    return note(out, PathFacts(true=facts_of(p).true + tuple(f for facts in second for f in facts.true)))


def or_(a: Any, b: Callable[[], Any]) -> Any:
    """The truth of `a or b()`."""
    p = truth(a)
    if p is True:
        return True
    if p is False:
        return truth(b())
    second: list[PathFacts] = []
    out = staged_cond(p, lambda: True, lambda: _noticed(truth(b()), second), (), (b,))
    return note(out, PathFacts(false=facts_of(p).false + tuple(f for facts in second for f in facts.false)))


def _noticed(p: Any, found: list[PathFacts]) -> Any:
    """A truth value; keeps what it proves of tags from outside."""
    true, false = (tuple(f for f in side if not _jax.made_here(f[0])) for side in facts_of(p))
    found.append(PathFacts(true, false))
    return p


def not_(a: Any) -> Any:
    """`not a`."""
    p = truth(a)
    if isinstance(p, bool):
        return not p
    facts = facts_of(p)
    return note(lax.bitwise_not(p), PathFacts(facts.false, facts.true))


def and_then(a: Any, b: Callable[[], Any]) -> Any:
    """The value of `a and b()`: an operand.  Traced operands must have equal shapes."""
    p = truth(a)
    if isinstance(p, bool):
        return b() if p else a
    return staged_cond(p, _same_shape(b, a, "and"), lambda: a, (), (b,))


def or_else(a: Any, b: Callable[[], Any]) -> Any:
    """The value of `a or b()`: an operand.  Traced operands must have equal shapes."""
    p = truth(a)
    if isinstance(p, bool):
        return a if p else b()
    return staged_cond(p, lambda: a, _same_shape(b, a, "or"), (), (b,))


def _same_shape(b: Callable[[], Any], a: Any, word: str) -> Callable[[], Any]:
    def operand() -> Any:
        value = b()
        s, t = (type_of(x) if isinstance(x, (*ARRAYS, *NUMBERS)) else None for x in (known(a), known(value)))
        if s is not None and t is not None and s.shape != t.shape:
            raise BranchTypeError(
                f"the operands of `{word}` have shapes {s.shape} and {t.shape}, and it is data-dependent which one is the result", here(),
                "give both the same shape, or use `jnp.where`",
            )  # fmt: skip
        return value

    return operand


def asserted(p: Any, message: Callable[[], Any] | None = None) -> bool:
    """The truth of an asserted condition, where it is known; else the error is raised when the compiled function ends."""
    p = truth(p)
    if p is True:
        return True
    args = () if message is None else (message(),)
    if p is False and not in_block() and not may_have_failed() and not (changed_outside() and handler_around(AssertionError) is None):
        raise AssertionError(*args)
    fail_with(True if p is False else lax.bitwise_not(p), AssertionError(*args))
    return True


def is_bool(x: Any, symbol: str, right: bool) -> bool:
    """`x is True`, `x is not False` ...: of a traced truth value it cannot be told.

    Raises:
      NotStagedError: (AG501) x is a traced bool.
    """
    if unknown(x) and x.dtype == bool and x.shape == () and not in_library():
        raise NotStagedError(
            f"`{symbol} {right}` of a traced truth value: it is an array, though it may have been a bool before", here(),
            "use the value itself as the condition: `if x:`, `if not x:`",
        )  # fmt: skip
    return (x is right) == (symbol == "is")


def matched(subject: Any, numbers: bool) -> Any:
    """The subject of a `match` whose patterns have structure; with `numbers` they ask for the class of a number.

    Raises:
      NotStagedError: (AG501) a traced value is part of it, and could be a number.
      OptionalError: (AG302) a part may be None, and Python's `match` would look into it.
    """
    subject = map_maybe(known, subject)
    if has_maybe(subject):
        raise OptionalError(
            "a pattern needs the items of an optional value, and it is data-dependent whether that is None",
            here(),
            "begin with `case None:`, or test it before",
        )
    if numbers and any(unknown(leaf) for leaf in parts(subject)):
        raise NotStagedError("a `match` on a traced value, which stays Python: its patterns ask for a bool or a class", here(), "use `if` and `elif`")
    return subject
