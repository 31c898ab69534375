"""Cut `elif` chains that are too long to nest; drop what a constant test never runs, as CPython does.

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
from autograph.names import binds_all
from autograph.passes.context import Context
from autograph.passes.switches import switch_of
from autograph.quote import quote

LONGEST = 16


def cut_chains(fn: Any, context: Context) -> None:
    bound = binds_all(fn.body)
    fn.body = _block(fn.body, context)
    context.dropped[fn] = bound - binds_all(fn.body)


def _block(block: list[Any], context: Context) -> list[Any]:
    out: list[Any] = []
    for stmt in block:
        match stmt:
            case s.If(test=s.Constant(value=value)):
                taken = stmt.body if value else stmt.orelse
                out += _block(taken, context) if taken else []
            case s.While(test=s.Constant(value=value)) if not value:
                out += _block(stmt.orelse, context) if stmt.orelse else []
            case s.If():
                out += _chain(stmt, context)
            case _:
                if not isinstance(stmt, s.SCOPES):
                    for inner in s.blocks(stmt):
                        if inner:
                            inner[:] = _block(inner, context)
                out.append(stmt)
    return out or [s.at(s.Pass(), block[0])]


def _chain(first: Any, context: Context) -> list[Any]:
    if (switch := switch_of(first)) is not None:  # its sides will not nest
        for _, link in switch.sides:
            link.body = _block(link.body, context)
        last = switch.sides[-1][1]
        last.orelse = _block(last.orelse, context) if last.orelse else []
        return [first]
    link, length = first, 1
    while len(link.orelse) == 1 and isinstance(link.orelse[0], s.If) and not isinstance(link.orelse[0].test, s.Constant):
        link.body = _block(link.body, context)
        if length == LONGEST:
            pending = context.fresh("pending")
            rest = link.orelse
            link.orelse = quote("$pending = True", rest[0], pending=pending)
            before = quote("$pending = False", first, pending=pending)
            return [*before, first, *quote("if $pending:\n    $rest", rest[0], pending=pending, rest=_block(rest, context))]
        link, length = link.orelse[0], length + 1
    link.body, link.orelse = _block(link.body, context), _block(link.orelse, context) if link.orelse else []
    return [first]
