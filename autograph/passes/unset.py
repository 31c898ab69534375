"""Check the reads of variables that may be unset, and give such variables a value that says so.

    if c:                            y = ag.Unset('y')
        y = 1               =>       if c:
    return y                             y = 1
                                     return ag.read(y)

Only variables that a lowered block takes or gives without being surely set need this; `del y` becomes `y = ag.Unset('y')`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograph import syntax as s
from autograph.facts import Bound
from autograph.names import Names, Scope, binds, comprehension_targets, free, surely_binds
from autograph.quote import quote, quote_expr


def check_reads(body: list[Any], scope: Scope, bound: Bound, tracked: Names) -> list[Any]:
    """`body` with checks on reads of `tracked` names that are not surely set, and with their first values."""
    if not tracked:
        return body
    _Checker(tracked, bound, scope).block(body)
    return _initialised(body, scope, tracked)


def _initialised(body: list[Any], scope: Scope, tracked: Names) -> list[Any]:
    """Put `y = ag.Unset('y')` before the first statement that binds `y`, and after an `except ... as y` that unbinds it."""
    out: list[Any] = []
    missing = set(tracked) - set(scope.parameters)
    for stmt in body:
        first = scope.ordered(missing & binds(stmt))
        missing -= set(first)
        for name in first if s.blocks(stmt) else scope.ordered(set(first) - surely_binds(stmt)):
            out += quote("$name = ag.Unset($text)", stmt, name=name, text=s.constant(name))
        out.append(stmt)
        out += [q for name in scope.ordered(_unbound_by(stmt) & tracked) for q in quote("$name = ag.Unset($text)", stmt, name=name, text=s.constant(name))]
    return out


def _unbound_by(stmt: Any) -> Names:
    return frozenset(n.name.id for n in s.own(stmt) if isinstance(n, s.ExceptHandler) and n.name is not None)


class _Checker:
    def __init__(self, tracked: Names, bound: Bound, scope: Scope) -> None:
        self.tracked, self.bound, self.scope = tracked, bound, scope

    def block(self, block: list[Any]) -> None:
        for k, stmt in enumerate(block):
            known = self.bound.before.get(stmt)
            unsure = self.tracked - known if known is not None else self.tracked
            if isinstance(stmt, s.Delete) and unsure_names(stmt) & self.tracked:
                block[k : k + 1] = self._delete(stmt, unsure)
                continue
            if unsure:
                self._statement(stmt, unsure)
            for inner in s.blocks(stmt):
                self.block(inner)

    def _delete(self, stmt: Any, unsure: Names) -> list[Any]:
        out: list[Any] = []
        for target in stmt.targets:
            if isinstance(target, s.Name) and target.id in self.tracked:
                if target.id in unsure:
                    out += quote("ag.read($name)", stmt, name=target.id)
                out += quote("$name = ag.Unset($text)", stmt, name=target.id, text=s.constant(target.id))
            else:
                out.append(s.at(s.Delete([target]), stmt))
        return out

    def _statement(self, stmt: Any, unsure: Names) -> None:
        """Check the reads of a statement itself; the statements in its blocks are visited on their own."""
        inside = {id(block) for block in s.blocks(stmt)}
        for field in stmt._fields:
            value = getattr(stmt, field, None)
            if isinstance(value, list) and id(value) in inside:
                continue
            if field == "cases" or field == "handlers":
                for part in value:
                    for name in ("guard", "type", "pattern"):
                        if getattr(part, name, None) is not None:
                            setattr(part, name, _Reads(unsure).visit(getattr(part, name)))
                continue
            if isinstance(stmt, s.AugAssign) and field == "target" and isinstance(value, s.Name) and value.id in unsure:
                continue
            if isinstance(value, list):
                setattr(stmt, field, [_Reads(unsure).visit(v) if isinstance(v, s.AST) else v for v in value])
            elif isinstance(value, s.AST):
                setattr(stmt, field, _Reads(unsure).visit(value))


def unsure_names(stmt: Any) -> Names:
    return frozenset(t.id for t in stmt.targets if isinstance(t, s.Name))


class _Reads(s.NodeTransformer):  # type: ignore[misc]
    def __init__(self, unsure: Names, operator: str = "ag.read($name)") -> None:
        self.unsure, self.operator = unsure, operator

    def visit_Name(self, node: Any) -> Any:
        if isinstance(node.ctx, s.Load) and node.id in self.unsure:
            return quote_expr(self.operator, node, name=node.id)
        return node

    def _comprehension(self, node: Any) -> Any:
        hidden = comprehension_targets(node)
        return _Reads(self.unsure - hidden, self.operator).generic_visit(node)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def _function(self, node: Any) -> Any:
        """A function made here reads the variable through its cell when it is called."""
        mine = self.unsure & free(node)
        if mine:
            inner = _Reads(mine, "ag.read_free($name)")
            body: Sequence[Any] = node.body if isinstance(node.body, list) else [node.body]
            new = [inner.visit(b) for b in body]
            node.body = new if isinstance(node.body, list) else new[0]
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = _function
