"""Flags that remember jumps, where a jump cannot become the other side of a branch."""

from __future__ import annotations

from typing import Any

from autograph.passes.context import Context
from autograph.passes.exits import else_after_jump, jumps
from autograph.trees import syntax as s
from autograph.trees.quote import quote

_FLAGS = {s.Return: "returned", s.Break: "broke", s.Continue: "skipped"}


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

    def jumping(self, rest: list[Any], at: Any) -> list[Any]:
        """`rest`, if no flag is set; otherwise the jump."""
        for kind, flag in self.flags.items():
            jump = self.jump(kind, at)
            if rest:
                rest = quote("if $flag:\n    $jump\nelse:\n    $rest", at, flag=flag, jump=jump, rest=rest)
            else:
                rest = quote("if $flag:\n    $jump", at, flag=flag, jump=jump)
        return rest

    def any(self, at: Any) -> Any:
        """An expression: some flag is set."""
        names = [s.at(s.name(flag), at) for flag in self.flags.values()]
        return names[0] if len(names) == 1 else s.at(s.BoolOp(s.Or(), names), at)

    def set(self, block: list[Any]) -> list[Any]:
        """`block`, whose tail jumps set flags instead."""
        if not block:
            return block
        *init, last = block
        if isinstance(last, s.LOOPS):  # its jumps are its own
            return block
        if type(last) in self.flags:
            flag = self.flags[type(last)]
            if isinstance(last, s.Return):
                value = last.value if last.value is not None else s.at(s.constant(None), last)
                return [*init, *quote("$flag, $result = True, $value", last, flag=flag, result=self.result, value=value)]
            return [*init, *quote("$flag = True", last, flag=flag)]
        if else_after_jump(last):
            last.body = self.set(last.body)
            last.orelse = quote("if not $any:\n    $orelse", last.orelse[0], any=self.any(last), orelse=last.orelse)
        for inner in s.blocks(last):
            inner[:] = self.set(inner)
        if isinstance(last, s.Try) and any(any(jumps([inner])) for inner in last.body):
            for handler in last.handlers:  # the jump was given up: something on its way out raised
                handler.body[:0] = self.clear(handler.body[0])
        return block
