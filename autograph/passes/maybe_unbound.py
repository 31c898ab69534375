"""Which reads of local names the source does not prove to be of a set variable; noted on the structure that the user wrote."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autograph.analysis.facts import Bound
from autograph.analysis.names import binds, free
from autograph.passes.context import Context
from autograph.trees import syntax as s


def note_unsure_reads(fn: Any, context: Context) -> bool:
    """Remember which reads of local names the source does not prove to be of a set variable."""
    scope = context.scope(fn)
    given, context.locals[fn] = frozenset(scope.parameters), scope.locals

    unbound: set[str] = set()
    if context.fresh.kinds & {s.Delete, s.ExceptHandler}:
        for n in s.own(*fn.body):
            if isinstance(n, s.Name) and isinstance(n.ctx, s.Del):
                unbound.add(n.id)
            elif isinstance(n, s.ExceptHandler) and n.name is not None:
                unbound.add(n.name.id)

    def unproved(bound: Bound) -> frozenset[Any]:
        found: set[Any] = {n for name in unbound & scope.locals for n in _reads_later(fn.body, name)}
        for stmt in bound.before:
            known = bound.where_read(stmt)
            if known is not None and not (context.memo.exposed(stmt) & scope.locals) <= known:
                found.update(n for n in reads_of(stmt) if n.id in scope.locals and n.id not in known)
        return frozenset(found)

    context.unsure[fn] = unsure = unproved(Bound(fn.body, given, context.memo))
    if unsure and s.contains(fn.body, s.With):
        context.suppressed |= unsure - unproved(Bound(fn.body, given, context.memo, suppress=False))
    return False


def _reads_later(body: list[Any], name: str) -> Iterator[Any]:
    """Where functions made in a body read a variable: they may be called when it is unset again."""
    for node in s.own(*body):
        if isinstance(node, (s.FunctionDef, s.AsyncFunctionDef, s.Lambda, s.GeneratorExp)) and name in free(node):
            yield from (n for n in s.walk(node) if isinstance(n, s.Name) and n.id == name and isinstance(n.ctx, s.Load))


def lazy_operands(body: list[Any]) -> Iterator[Any]:
    """The operands that are evaluated in functions of their own when they are lowered: a variable that they read must exist."""
    for node in s.own(*body):
        match node:
            case s.IfExp(body=then, orelse=orelse):
                yield from (then, orelse)
            case s.BoolOp(values=[_, *rest]) | s.Compare(comparators=[_, *rest]):
                yield from rest
            case s.Assert(msg=message) if message is not None:
                yield message


def reads_of(stmt: Any) -> Iterator[Any]:
    """The names that a statement itself reads, also in functions made in it; the statements in its blocks are visited on their own."""
    inside = {id(child) for block in s.blocks(stmt) for child in block}
    if isinstance(stmt, s.Match):  # what a pattern has bound, its guard may read
        for case in stmt.cases:
            if case.guard is not None:
                names = binds(case.pattern)
                inside |= {id(n) for n in s.walk(case.guard) if isinstance(n, s.Name) and n.id in names}
    stack = [c for c in s.children(stmt) if id(c) not in inside]
    while stack:
        node = stack.pop()
        match node:  # the other names that may hold the array are no reads of the user's
            case s.Call(func=s.Attribute(value=s.Name(id=s.RUNTIME), attr="in_place" | "renew" as name), args=args):
                inside |= {id(a) for a in args[3 if name == "in_place" else 2 :] if isinstance(a, s.Name)}
        if isinstance(node, s.Name):
            if not isinstance(node.ctx, s.Store) or isinstance(stmt, s.AugAssign):
                yield node
        else:
            stack += [c for c in s.children(node) if id(c) not in inside]
