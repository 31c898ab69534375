"""What each `if`, `while` and `for` of a function takes, gives and shares, worked out before any of them is rewritten."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autograph.analysis.facts import Bound, Liveness
from autograph.analysis.names import NONE, Names, binds_itself, free, surely_binds
from autograph.analysis.scopes import Scope
from autograph.passes.context import Context
from autograph.passes.exits import falls_through, returns
from autograph.passes.maybe_unbound import lazy_operands
from autograph.trees import syntax as s

_FAR, _NEAR = (1 << 30, 0), (0, 0)


class Plan:
    """`ins`: variables that a block takes; `outs`: that it gives; `shared`: that it must assign in their cell.

    Where both sides of a branch return, `outs` are given beside what they return.  `unread`: what a loop gives only because a closure may read it.
    """

    def __init__(self, ins: Names, outs: Names, shared: Names, returns: bool = False, unread: Names = NONE) -> None:
        self.ins, self.outs, self.shared, self.returns, self.unread = ins, outs, shared, returns, unread


class Plans:
    """The plans of one function, and the names whose value may be missing where a block takes or reads it."""

    def __init__(self, fn: Any, context: Context) -> None:
        self.fn, self.context, self.scope = fn, context, context.scope(fn)
        self.scope.ordered(())  # the order of the user's text
        self.declared = self.scope.globals | self.scope.nonlocals
        self.bound = Bound(fn.body, frozenset(self.scope.parameters) | self.declared, context.memo)
        self.own = self.live = Liveness(fn.body, NONE, context.memo, self.bound)
        if self.scope.shared:  # a variable that a closure may read is live while such a closure may exist
            self.live = Liveness(fn.body, self.scope.shared, context.memo, self.bound)
        self.exists, self.rebound = _closures(fn.body, self.scope)
        self.of: dict[Any, Plan] = {}
        self.returning: dict[Any, bool] = {}  # by statement: whether it may return at its end
        for node, known in self.bound.before.items():
            if known is not None and isinstance(node, (s.If, s.While, s.For)) and node not in context.kept:
                self.of[node] = self._plan(node)
        self.tracked = self._tracked() - self.declared

    def _plan(self, node: Any) -> Plan:
        end = _end(node) if self.scope.shared else _NEAR
        shared = frozenset(n for n in self.scope.shared if self.exists.get(n, _NEAR) <= end)

        def live(fact: str, key: Any) -> Names:
            own: Names = getattr(self.own, fact)[key]
            return (getattr(self.live, fact)[key] & shared) | (own - shared) if shared else own

        after, escaping = live("after", node), live("raising", node)
        changed = self.context.memo.binds_all([*node.body, *node.orelse])
        if self.rebound & shared and s.contains([*node.body, *node.orelse], s.Call):
            changed |= self.rebound & shared  # by a function that is called
        if isinstance(node, s.If):
            ends = returns([node], self.returning) or not falls_through([node])
            outs = changed & self.declared if ends else changed & (after | escaping)
            entries = [live("before", b[0]) if b else after for b in (node.body, node.orelse)]
            return Plan(changed & (entries[0] | entries[1] | escaping), outs, changed & (shared | escaping), ends)
        target, flag = NONE, NONE
        if isinstance(node, s.For):
            target = surely_binds(node.target)
            head = live("before", node.body[0]) - target
            flag = frozenset([until_of(node)] if until_of(node) else [])
        else:
            head = live("before", node)
        state = (changed & (head | after | escaping)) | (target & (after | escaping)) | flag
        read = self.own.after[node] | self.own.raising[node] | self.declared
        return Plan(state, state, (changed | target) & (shared | escaping), unread=target - read)

    def _tracked(self) -> Names:
        """Variables that need a value which says that they are unset."""
        found: set[str] = set()
        for node, plan in self.of.items():
            found |= plan.ins - (self.bound.before[node] or NONE)
            if isinstance(node, s.For):  # a target that a closure may read: what it held before is not, and is not handed on by the blocks before
                found |= (plan.ins & surely_binds(node.target)) - self.own.before[node]
        unsure = self.context.unsure.get(self.fn, frozenset())
        if unsure:
            level = self._bound_at_level(self.fn.body)
            found |= {n.id for n in unsure} - level - frozenset(self.scope.parameters)
            for node in [*self._outermost(self.fn.body), *lazy_operands(self.fn.body)]:
                found |= {n.id for n in s.walk(node) if n in unsure}
        for stmt in self._outermost(self.fn.body) if s.Delete in self.context.fresh.kinds else ():
            if s.contains(stmt, s.Delete):
                found |= {n.id for n in s.own(stmt) if isinstance(n, s.Name) and isinstance(n.ctx, s.Del)}
        return frozenset(found)

    def _outermost(self, block: list[Any]) -> Iterator[Any]:
        """The planned statements that stand in no other."""
        for stmt in block:
            if stmt in self.of:
                yield stmt
            elif not isinstance(stmt, s.SCOPES):
                for inner in s.blocks(stmt):
                    yield from self._outermost(inner)

    def _bound_at_level(self, block: list[Any]) -> Names:
        """The names that the function itself, not a block of it, still binds when it is rewritten."""
        found = NONE
        for stmt in block:
            if (plan := self.of.get(stmt)) is not None:
                found |= plan.outs
                continue
            inner = [] if isinstance(stmt, s.SCOPES) else s.blocks(stmt)
            found |= binds_itself(stmt) if inner else self.context.memo.binds_all([stmt])
            for b in inner:
                found |= self._bound_at_level(b)
        return found


def until_of(loop: Any) -> str:
    """The flag of a `for` whose body ends with `if flag: break`."""
    match loop.body[-1]:
        case s.If(test=s.Name(id=flag), body=[s.Break()], orelse=[]):
            return str(flag)
    return ""


def _end(node: Any) -> tuple[int, int]:
    """The last place in a statement: what follows a jump has moved into it, and a `return` that nobody wrote has the place of the jump."""
    found = _NEAR
    todo = [node]
    while todo:
        stmt = todo.pop()
        if getattr(stmt, "end_lineno", None) is not None:
            found = max(found, (stmt.end_lineno, stmt.end_col_offset))
        for block in s.blocks(stmt) if not isinstance(stmt, s.SCOPES) else []:
            todo += block[-2:] if block and isinstance(block[-1], s.Return) else block[-1:]
    return found


def _closures(body: list[Any], scope: Scope) -> tuple[dict[str, tuple[int, int]], Names]:
    """For each shared name the place from which on a closure that captures it may exist; and the names that closures bind anew."""
    found: dict[str, tuple[int, int]] = {}
    rebound: set[str] = set()
    if not scope.shared:
        return found, NONE

    def visit(node: Any, loop: Any) -> None:
        if isinstance(node, (*s.SCOPES, s.GeneratorExp)):
            start = loop or node
            place = (start.lineno, start.col_offset) if hasattr(start, "lineno") else _NEAR
            for name in free(node) & scope.shared:
                found[name] = min(found.get(name, _FAR), place)
            rebound.update(n for inner in s.walk(node) if isinstance(inner, s.Nonlocal) for n in inner.names)
        if not isinstance(node, s.SCOPES):
            looping = loop or (node if isinstance(node, s.LOOPS) else None)
            for child in s.children(node):
                visit(child, looping)

    for stmt in body:
        visit(stmt, None)
    outside = scope.globals | scope.nonlocals
    return {n: p for n, p in found.items() if n not in outside}, frozenset(rebound) & scope.shared
