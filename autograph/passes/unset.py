"""Variables that a block takes without being surely set: their first value, and the checks of their reads.

    if c:                            y = ag.Unset('y')
        y = 1               =>       if c:
    return y                             y = 1
                                     return ag.read(y)

What the source proves to be set is not checked: if every read of a variable is, its first value is `ag.blank`, which takes any type; else
such a read is `ag.some(y)`.  The proof is made on the source as the user wrote it, before jumps become flags.
"""

from __future__ import annotations

import sys
from typing import Any

from autograph.analysis.facts import Bound
from autograph.analysis.names import Names, binds, comprehension_targets, free, reads, surely_binds
from autograph.analysis.scopes import Scope
from autograph.passes.context import Context
from autograph.passes.maybe_unbound import reads_of
from autograph.trees import syntax as s
from autograph.trees.quote import quote, quote_expr


def check_reads(body: list[Any], scope: Scope, bound: Bound, tracked: Names, context: Context) -> list[Any]:
    """`body` with checks on reads of `tracked` names that are not surely set, and with their first values."""
    if not tracked:
        return body
    checker = _Checker(tracked, bound, context)
    unsure = checker.unsure_anywhere(body)
    checker.checked = unsure
    checker.block(body)
    return _initialised(body, scope, tracked, unsure)


def _initialised(body: list[Any], scope: Scope, tracked: Names, unsure: Names) -> list[Any]:
    """Put the first value before the statement that first binds a variable, and after an `except ... as y` that unbinds it."""
    out: list[Any] = []
    missing = set(tracked) - set(scope.parameters)

    def first_value(name: str, at: Any) -> list[Any]:
        if name in unsure:
            return quote("$name = ag.Unset($text)", at, name=name, text=s.constant(name))
        return quote("$name = ag.blank", at, name=name)

    for stmt in body:
        first = missing & {n.id for n in s.walk(stmt) if isinstance(n, s.Name)} | missing & binds(stmt)
        missing -= first
        if s.blocks(stmt) or first & reads(stmt):
            set_here: Names = frozenset()
        else:
            set_here = surely_binds(stmt)
        for name in scope.ordered(first - set_here):
            out += first_value(name, stmt)
        out.append(stmt)
        for name in scope.ordered(_unbound_by(stmt) & tracked):
            out += first_value(name, stmt)
    return out


def _unbound_by(stmt: Any) -> Names:
    return frozenset(n.name.id for n in s.own(stmt) if isinstance(n, s.ExceptHandler) and n.name is not None)


class _Checker:
    def __init__(self, tracked: Names, bound: Bound, context: Context) -> None:
        self.tracked, self.bound, self.checked = tracked, bound, tracked
        self.unsure = frozenset().union(*context.unsure.values())
        self.refused = self.unsure - context.suppressed

    def unsure_anywhere(self, body: list[Any]) -> Names:
        """The tracked names with a read that nothing proves, and those that are deleted."""
        found = {n.id for n in s.own(*body) if isinstance(n, s.Name) and isinstance(n.ctx, s.Del) and n.id in self.tracked}
        stack = list(body)
        while stack:
            stmt = stack.pop()
            known = self.bound.where_read(stmt) or frozenset()
            found |= {n.id for n in reads_of(stmt) if n.id in self.tracked and n.id not in known and n in self.unsure}
            if not isinstance(stmt, s.SCOPES):
                stack += [child for block in s.blocks(stmt) for child in block]
        return frozenset(found)

    def block(self, block: list[Any]) -> None:
        out: list[Any] = []
        for stmt in block:
            known = self.bound.where_read(stmt) or frozenset()
            names = self.checked - known
            for inner in s.blocks(stmt):
                self.block(inner)
            if isinstance(stmt, s.Delete):
                out += self._delete(stmt, names)
                continue
            if names or (self.checked and s.contains(stmt, *_CLOSURES)):
                target = stmt.target if isinstance(stmt, s.AugAssign) else None
                if isinstance(target, s.Name) and target.id in names:
                    operator = "read" if target in self.refused else "some"
                    out += quote(f"$name = ag.{operator}($name)", stmt, name=target.id)
                self._statement(stmt, names)
            out.append(stmt)
        block[:] = out

    def _delete(self, stmt: Any, names: Names) -> list[Any]:
        out: list[Any] = []
        for target in stmt.targets:
            if isinstance(target, s.Name) and target.id in self.tracked:
                if target.id in names:
                    out += quote(f"ag.{'read' if target in self.refused else 'some'}($name)", stmt, name=target.id)
                out += quote("$name = ag.Unset($text)", stmt, name=target.id, text=s.constant(target.id))
            else:
                out.append(s.at(s.Delete([target]), stmt))
        return out

    def _statement(self, stmt: Any, names: Names) -> None:
        """Check the reads of a statement itself."""
        inside = {id(block) for block in s.blocks(stmt)}
        reads = _Reads(names, self.refused, closures=self.checked)
        if isinstance(stmt, s.SCOPES):
            reads.visit(stmt)
            return
        for field in stmt._fields:
            value: Any = getattr(stmt, field, None)
            if field in ("cases", "handlers"):
                for part in value:
                    for name in ("guard", "type", "pattern"):
                        if getattr(part, name, None) is not None:
                            setattr(part, name, reads.visit(getattr(part, name)))
            elif isinstance(value, list) and id(value) not in inside:
                setattr(stmt, field, [reads.visit(v) if isinstance(v, s.AST) else v for v in value])
            elif isinstance(value, s.AST):
                setattr(stmt, field, reads.visit(value))


_CLOSURES = (s.FunctionDef, s.AsyncFunctionDef, s.Lambda, s.ClassDef, s.GeneratorExp, s.ListComp, s.SetComp, s.DictComp)


class _Reads(s.Transformer):
    """Checks the reads of `names`; functions made here may be called later, when any of `closures` is unset."""

    def __init__(self, names: Names, unsure: frozenset[Any], free: bool = False, closures: Names = frozenset()) -> None:
        self.names, self.unsure, self.closures = names, unsure, closures or names
        self.operators = ("read_free", "some_free") if free else ("read", "some")

    def visit_Name(self, node: Any) -> Any:
        if not isinstance(node.ctx, s.Load) or node.id not in self.names:
            return node
        return quote_expr(f"ag.{self.operators[node not in self.unsure]}($name)", node, name=node.id)

    def _comprehension(self, node: Any) -> Any:
        """Only the first iterable is evaluated in this function; from 3.12 on all of it, but for generators."""
        inlined = sys.version_info >= (3, 12) and not isinstance(node, s.GeneratorExp)
        first = self.visit(node.generators[0].iter)
        node.generators[0].iter = s.at(s.constant(None), first)
        names = (self.closures if isinstance(node, s.GeneratorExp) else self.names) - comprehension_targets(node)
        _Reads(names, self.unsure, self.operators[0] == "read_free" or not inlined).generic_visit(node)
        node.generators[0].iter = first
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def _function(self, node: Any) -> Any:
        """A function made here reads the variable through its cell when it is called; its defaults are evaluated now."""
        for field in ("decorator_list", "bases", "keywords"):
            if hasattr(node, field):
                setattr(node, field, [self.visit(n) for n in getattr(node, field)])
        if args := getattr(node, "args", None):
            args.defaults = [self.visit(d) for d in args.defaults]
            args.kw_defaults = [d and self.visit(d) for d in args.kw_defaults]
        mine = self.closures & free(node)
        if mine:
            inner = _Reads(mine, self.unsure, free=True)
            new = [inner.visit(b) for b in (node.body if isinstance(node.body, list) else [node.body])]
            node.body = new if isinstance(node.body, list) else new[0]
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = _function
