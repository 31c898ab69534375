"""Cut `elif` chains that are too long to nest; drop what a constant test never runs, as CPython does.

if a: ...                       pending = False
elif b: ...                     if a: ...
(more than 16)          =>      elif b: ...
elif z: ...                     else: pending = True
                                if pending:
                                    if z: ...

A chain as long whose branches jump is one of guards: `if a: return x` and so on, which are cut when jumps are lowered.
"""

from __future__ import annotations

from typing import Any

from autograph.analysis.names import binds_all
from autograph.passes.context import DEEPEST, Context
from autograph.passes.exits import falls_through
from autograph.passes.switches import switch_of
from autograph.trees import syntax as s
from autograph.trees.quote import quote


def cut_chains(fn: Any, context: Context) -> None:
    dropped: list[Any] = []
    fn.body = _block(fn.body, context, dropped)
    if dropped:
        context.dropped[fn] = binds_all(dropped)


def _block(block: list[Any], context: Context, dropped: list[Any]) -> list[Any]:
    out: list[Any] = []
    for stmt in block:
        match stmt:
            case s.If(test=s.Constant(value=value)):
                taken, other = (stmt.body, stmt.orelse) if value else (stmt.orelse, stmt.body)
                dropped += other
                out += _block(taken, context, dropped) if taken else []
            case s.While(test=s.Constant(value=value)) if not value:
                dropped += stmt.body
                out += _block(stmt.orelse, context, dropped) if stmt.orelse else []
            case s.If():
                out += _chain(stmt, context, dropped)
            case _:
                if not isinstance(stmt, s.SCOPES):
                    for inner in s.blocks(stmt):
                        if inner:
                            inner[:] = _block(inner, context, dropped)
                out.append(stmt)
    return out or [s.at(s.Pass(), block[0])]


def _length(link: Any) -> int:
    """How many branches an `elif` chain has, as far as it matters."""
    length = 1
    while length <= DEEPEST and len(link.orelse) == 1 and isinstance(link.orelse[0], s.If):
        link, length = link.orelse[0], length + 1
    return length


def _chain(first: Any, context: Context, dropped: list[Any]) -> list[Any]:
    if (switch := switch_of(first)) is not None:  # its sides will not nest
        for _, link in switch.sides:
            link.body = _block(link.body, context, dropped)
        last = switch.sides[-1][1]
        last.orelse = _block(last.orelse, context, dropped) if last.orelse else []
        return [first]
    if _length(first) > DEEPEST and not falls_through(first.body):  # a guard: those in a row are cut by `tails`
        rest, first.orelse = first.orelse, []
        first.body = _block(first.body, context, dropped)
        return [first, *_block(rest, context, dropped)]
    out, pending = list[Any](), ""
    while True:
        link, length, rest = first, 1, list[Any]()
        while len(link.orelse) == 1 and isinstance(link.orelse[0], s.If) and not isinstance(link.orelse[0].test, s.Constant):
            link.body = _block(link.body, context, dropped)
            if length == DEEPEST:
                rest = link.orelse
                break
            link, length = link.orelse[0], length + 1
        if not rest:
            link.body, link.orelse = _block(link.body, context, dropped), _block(link.orelse, context, dropped) if link.orelse else []
            return [*out, *quote("if $pending:\n    $first", first, pending=pending, first=[first])] if pending else [first]
        before = [] if pending else quote("$pending = False", first, pending=(name := context.fresh("pending")))
        link.orelse = quote("$pending = True", rest[0], pending=pending or name)
        group = [first] if not pending else quote("if $pending:\n    $pending = False\n    $first", first, pending=pending, first=[first])
        out, pending, first = [*out, *before, *group], pending or name, rest[0]
