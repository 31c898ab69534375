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

from collections.abc import Iterator
from typing import Any

from autograph import syntax as s
from autograph.passes.context import Context
from autograph.quote import quote

JUMPS = (s.Return, s.Break, s.Continue)
_FLAGS = {s.Return: "returned", s.Break: "broke", s.Continue: "skipped"}
DEEPEST = 16


def nest(block: list[Any], context: Context) -> list[Any]:
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
        if not isinstance(stmt, s.If):
            if not rest and not _else_after_jump(stmt):
                for inner in s.blocks(stmt):
                    inner[:] = nest(inner, context)
                return block
            return [*before, *nest(_guarded(stmt, rest, context), context)]
        body, orelse = falls_through(stmt.body), falls_through(stmt.orelse)
        if body and orelse and rest:
            return [*before, *nest(_guarded(stmt, rest, context), context)]
        stmt.body = nest(stmt.body + (rest if body else []), context)
        stmt.orelse = nest(stmt.orelse + (rest if orelse else []), context)
        return [*before, stmt]
    return block


def _else_after_jump(stmt: Any) -> bool:
    """Whether a jump out of the body of a `try` must skip its `else`."""
    return isinstance(stmt, s.Try) and bool(stmt.orelse) and any(jumps(stmt.body))


class Flags:
    """The flags that remember jumps, and the place of a returned value."""

    def __init__(self, block: list[Any], context: Context) -> None:
        kinds = {type(j) for j in jumps(block)}
        self.flags = {kind: context.fresh(name) for kind, name in _FLAGS.items() if kind in kinds}
        self.result = context.fresh("result") if s.Return in self.flags else ""

    def before(self, at: Any) -> list[Any]:
        out: list[Any] = []
        for kind, flag in self.flags.items():
            if kind is s.Return:
                out += quote("$flag, $result = False, ag.blank", at, flag=flag, result=self.result)
            else:
                out += quote("$flag = False", at, flag=flag)
        return out

    def clear(self, at: Any) -> list[Any]:
        return [q for flag in self.flags.values() for q in quote("$flag = False", at, flag=flag)]

    def jump(self, kind: type, at: Any) -> list[Any]:
        return quote("return $result", at, result=self.result) if kind is s.Return else [s.at(kind(), at)]

    def any(self, at: Any) -> Any:
        """An expression: some flag is set."""
        names = [s.at(s.name(flag), at) for flag in self.flags.values()]
        return names[0] if len(names) == 1 else s.at(s.BoolOp(s.Or(), names), at)

    def set(self, block: list[Any]) -> list[Any]:
        """`block`, whose tail jumps set flags instead."""
        if not block:
            return block
        *init, last = block
        if type(last) in self.flags:
            flag = self.flags[type(last)]
            if isinstance(last, s.Return):
                value = last.value if last.value is not None else s.at(s.constant(None), last)
                return [*init, *quote("$flag, $result = True, $value", last, flag=flag, result=self.result, value=value)]
            return [*init, *quote("$flag = True", last, flag=flag)]
        if _else_after_jump(last):
            last.body = self.set(last.body)
            last.orelse = quote("if not $any:\n    $orelse", last.orelse[0], any=self.any(last), orelse=last.orelse)
        for inner in s.blocks(last):
            inner[:] = self.set(inner)
        if isinstance(last, s.Try) and any(any(jumps([inner])) for inner in last.body):
            for handler in last.handlers:  # the jump was given up: something on its way out raised
                handler.body[:0] = self.clear(handler.body[0])
        return block


def _guarded(stmt: Any, rest: list[Any], context: Context) -> list[Any]:
    """`stmt` with flags for its jumps, and `if flag: jump else: rest`."""
    flags = Flags([stmt], context)
    for inner in s.blocks(stmt):
        inner[:] = nest(inner, context)
    flagged = flags.set([stmt])
    for kind, flag in flags.flags.items():
        rest = quote("if $flag:\n    $jump\nelse:\n    $rest", stmt, flag=flag, jump=flags.jump(kind, stmt), rest=rest) if rest else quote(
            "if $flag:\n    $jump", stmt, flag=flag, jump=flags.jump(kind, stmt)
        )  # fmt: skip
    return [*flags.before(stmt), *flagged, *rest]


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
        group = flags.set(nest(group, context))
        out += group if begin == 0 else quote("if not $any:\n    $group", at, any=flags.any(at), group=group)
    kinds = list(flags.flags)
    for kind in kinds:
        jump = flags.jump(kind, block[-1])
        if always and kinds == [kind]:
            out += jump
        elif kind is not s.Continue:
            out += quote("if $flag:\n    $jump", block[-1], flag=flags.flags[kind], jump=jump)
    return nest(out, context) if len(kinds) > 1 or not always else out


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
