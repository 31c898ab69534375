"""Put every jump in tail position, so that a block is left at its end only.

    if c:                        if c:
        return a                     return a
    b = f(a)            =>       else:
    return b                         b = f(a)
                                     return b

What follows an `if` moves into the side that does not jump.  Where both sides may go on, or the jump stands in a `with`, `try` or
`match`, a flag remembers the jump and what follows is guarded once.  More than 16 guards in a row are cut into groups with flags.
"""

from __future__ import annotations

from typing import Any

from autograph.passes.callables import is_mark
from autograph.passes.context import DEEPEST, Context
from autograph.passes.exits import JUMPS, else_after_jump, falls_through, jumps
from autograph.passes.flags import Flags
from autograph.trees import syntax as s
from autograph.trees.quote import quote


def nest_remaining(block: list[Any], context: Context) -> list[Any]:
    """`block` with all jumps out of it in tail position, and without what follows a jump."""
    guards = [k for k, stmt in enumerate(block) if isinstance(stmt, s.If) and any(jumps([stmt]))]
    if len(guards) > DEEPEST:
        return _grouped(block, guards, context)
    for i, stmt in enumerate(block):
        if isinstance(stmt, (*JUMPS, s.Raise)):
            return block[: i + 1]
        if not any(jumps([stmt])):
            continue
        before, rest = block[:i], block[i + 1 :]
        if isinstance(stmt, (s.Try, s.TryStar)) and any(jumps(stmt.finalbody)):
            return [*before, *nest_remaining(_overridden(stmt, rest, context), context)]
        if not isinstance(stmt, s.If):
            if not rest and not else_after_jump(stmt):
                for inner in s.blocks(stmt):
                    inner[:] = nest_remaining(inner, context)
                return block
            return [*before, *nest_remaining(_guarded(stmt, rest, context), context)]
        body, orelse = falls_through(stmt.body), falls_through(stmt.orelse)
        if body and orelse and rest:
            return [*before, *nest_remaining(_guarded(stmt, rest, context), context)]
        stmt.body = nest_remaining(stmt.body + (rest if body else []), context)
        stmt.orelse = nest_remaining(stmt.orelse + (rest if orelse else []), context)
        return [*before, stmt]
    return block


def _guarded(stmt: Any, rest: list[Any], context: Context) -> list[Any]:
    """`stmt` with flags for its jumps, and `if flag: jump else: rest`."""
    flags = Flags([stmt], context)
    for inner in s.blocks(stmt):
        inner[:] = nest_remaining(inner, context)
    flagged = flags.set([stmt])
    return [*flags.before(stmt), *flagged, *flags.jumping(rest, stmt)]


def _overridden(stmt: Any, rest: list[Any], context: Context) -> list[Any]:
    """A `try` whose `finally` jumps: flags for its jumps, which are looked at before those of the other parts.

    try:                     returned, result = False, ag.blank
        f()                  with ag.overriding() as leaves:
    finally:                     try:
        if p:         =>             f()
            return x             finally:
                                     if p:
                                         returned, result = True, x
                                     leaves.jumps = returned
                             if returned:
                                 return result
                             else:
                                 ...
    """
    last = stmt.finalbody[-1]
    marks = stmt.finalbody[-1:] if is_mark(last, "finished") else []
    final, stmt.finalbody = stmt.finalbody[: len(stmt.finalbody) - len(marks)], []
    flags, own = Flags(final, context), Flags([stmt], context)
    for inner in s.blocks(stmt)[:-1]:
        inner[:] = nest_remaining(inner, context)
    flagged = own.set([stmt])
    leaves = context.fresh("leaves")
    stmt.finalbody = [
        *flags.set(nest_remaining(final, context)),
        *quote("$leaves.jumps = $any", last, leaves=leaves, any=flags.any(last)),
        *(quote("ag.finished($any)", last, any=flags.any(last)) if marks else []),
    ]
    out = quote("with ag.overriding() as $leaves:\n    $body", stmt, leaves=leaves, body=flagged)
    return [*flags.before(stmt), *own.before(stmt), *out, *flags.jumping(own.jumping(rest, stmt), stmt)]


def _grouped(block: list[Any], guards: list[int], context: Context) -> list[Any]:
    """More guards than may nest: groups of them, each run if no earlier one jumped."""
    flags = Flags(block, context)
    cuts = [0, *(guards[k] for k in range(DEEPEST, len(guards), DEEPEST)), len(block)]
    first = block[0]
    out = flags.before(first)
    always = not falls_through(block)
    for begin, end in zip(cuts, cuts[1:], strict=False):
        group = block[begin:end]
        at = group[0]
        group = flags.set(nest_remaining(group, context))
        out += group if begin == 0 else quote("if not $any:\n    $group", at, any=flags.any(at), group=group)
    kinds = list(flags.flags)
    for kind in kinds:
        jump = flags.jump(kind, block[-1])
        if always and kinds == [kind]:
            out += jump
        elif kind is not s.Continue:
            out += quote("if $flag:\n    $jump", block[-1], flag=flags.flags[kind], jump=jump)
    return nest_remaining(out, context) if len(kinds) > 1 or not always else out
