"""Cut `elif` chains that are too long to nest.

    if a: ...                       pending = False
    elif b: ...                     if a: ...
    (more than 16)          =>      elif b: ...
    elif z: ...                     else: pending = True
                                    if pending:
                                        if z: ...
"""

from __future__ import annotations

from typing import Any

from autograph import syntax as s
from autograph.passes.context import Context
from autograph.quote import quote

LONGEST = 16


def cut_chains(fn: Any, context: Context) -> None:
    fn.body = _block(fn.body, context)


def _block(block: list[Any], context: Context) -> list[Any]:
    out: list[Any] = []
    for stmt in block:
        if isinstance(stmt, s.If):
            out += _chain(stmt, context)
        else:
            _inside(stmt, context)
            out.append(stmt)
    return out


def _inside(stmt: Any, context: Context) -> None:
    for inner in s.blocks(stmt):
        inner[:] = _block(inner, context)


def _chain(first: Any, context: Context) -> list[Any]:
    link, length = first, 1
    while len(link.orelse) == 1 and isinstance(link.orelse[0], s.If):
        link.body = _block(link.body, context)
        if length == LONGEST:
            pending = context.fresh("pending")
            rest = link.orelse
            link.orelse = quote("$pending = True", rest[0], pending=pending)
            before = quote("$pending = False", first, pending=pending)
            return [*before, first, *quote("if $pending:\n    $rest", rest[0], pending=pending, rest=_block(rest, context))]
        link, length = link.orelse[0], length + 1
    link.body, link.orelse = _block(link.body, context), _block(link.orelse, context)
    return [first]
