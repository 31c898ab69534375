"""By which statements control leaves a block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autograph.trees import syntax as s

JUMPS = (s.Return, s.Break, s.Continue)


def else_after_jump(stmt: Any) -> bool:
    """Whether a jump out of the body of a `try` must skip its `else`."""
    return isinstance(stmt, s.Try) and bool(stmt.orelse) and any(jumps(stmt.body))


def jumps(block: list[Any]) -> Iterator[Any]:
    """The statements by which control may leave `block` other than at its end or by raising."""
    for stmt in block:
        if isinstance(stmt, JUMPS):
            yield stmt
        elif isinstance(stmt, s.LOOPS):
            yield from (j for j in jumps(stmt.body) if isinstance(j, s.Return))
            yield from jumps(stmt.orelse)
        elif not isinstance(stmt, s.SCOPES):
            for inner in s.blocks(stmt):
                yield from jumps(inner)


def falls_through(block: list[Any]) -> bool:
    """Whether the end of `block` can be reached."""
    if not block:
        return True
    match block[-1]:
        case s.Return() | s.Break() | s.Continue() | s.Raise():
            return False
        case s.If(body=body, orelse=orelse):
            return falls_through(body) or falls_through(orelse)
    return True


def returns(block: list[Any], known: dict[Any, bool] | None = None) -> bool:
    """Whether a `return` is among the ends of `block`, whose jumps are in tail position; `known` are answers for last statements."""
    if not block or isinstance(block[-1], (*s.LOOPS, *s.SCOPES)):
        return False
    last = block[-1]
    if known is not None and last in known:
        return known[last]
    found = isinstance(last, s.Return) or any(returns(inner, known) for inner in s.blocks(last))
    if known is not None:
        known[last] = found
    return found
