"""Calls of functions of the same file that store into arrays they are given: the new arrays come back to the caller's names.

swap(a, i, j)          =>   _, a = ag.storing(swap, 0)(a, i, j)
x = pop(heap, n)       =>   x, heap = ag.storing(pop, 0)(heap, n)
f(pop(self.heap, n))   =>   f(ag.last(value := ag.storing(pop, 0)(self.heap, n), ag.set_attr(self, 'heap', value[1]), value[0]))
"""

from __future__ import annotations

from typing import Any

from autograph import syntax as s
from autograph.aliases import UNKNOWN, Update
from autograph.passes.context import Context
from autograph.passes.indices import place
from autograph.quote import quote, quote_expr


def lower_updates(fn: Any, context: Context) -> None:
    if context.updates:
        fn.body = _Updates(context).block(fn.body)


class _Updates(s.Transformer):
    def __init__(self, context: Context) -> None:
        self.context = context

    def block(self, block: list[Any]) -> list[Any]:
        return [new for stmt in block for new in self.stmt(stmt)]

    def stmt(self, stmt: Any) -> list[Any]:
        if isinstance(stmt, s.SCOPES):
            return [stmt]
        call = stmt.value if isinstance(stmt, (s.Expr, s.Assign, s.Return)) else None
        if call is not None and (update := self._update(call)) is not None:
            self.generic_visit(call)
            target = stmt.targets[0] if isinstance(stmt, s.Assign) and len(stmt.targets) == 1 else None
            given = {target.id} if isinstance(target, s.Name) else set()
            paths = [p if p not in given else "_" for p in update.paths]
            name = "_" if isinstance(stmt, s.Expr) else next(iter(given), "") or self.context.fresh("value")
            others = [p for p in self._others(call) if p not in (*given, UNKNOWN)]
            out: list[Any] = []
            olds = [self.context.fresh("old") if others else "" for _ in paths]
            for old, path in zip(olds, update.paths, strict=True):
                if old:
                    out += quote("$old = ag.Held($path)", stmt, old=old, path=_path(path, stmt, s.Load()))
            targets = [s.at(s.name(name, s.Store()), stmt), *(_path(p, stmt, s.Store()) for p in paths)]
            out.append(s.at(s.Assign([s.at(s.Tuple(targets, s.Store()), stmt)], self._storing(call, update), None), stmt))
            for old, path in zip(olds, paths, strict=True):
                if old and path != "_":
                    out += self._renewed(old, path, others, stmt)
            if isinstance(stmt, s.Return):
                out += quote("return $value", stmt, value=s.at(s.name(name), stmt))
            elif isinstance(stmt, s.Assign) and not given:
                out += [s.at(s.Assign([t], s.at(s.name(name), stmt), None), stmt) for t in stmt.targets]
            return out
        for field in stmt._fields:
            value = getattr(stmt, field, None)
            if isinstance(value, list) and value and isinstance(value[0], s.AST) and any(value is b for b in s.blocks(stmt)):
                value[:] = self.block(value)
            elif isinstance(value, list):
                setattr(
                    stmt, field, [self.visit(v) if isinstance(v, s.AST) and not isinstance(v, (s.ExceptHandler, s.match_case)) else v for v in value]
                )
                for v in value:
                    if isinstance(v, (s.ExceptHandler, s.match_case)):
                        v.body[:] = self.block(v.body)
            elif isinstance(value, s.AST):
                setattr(stmt, field, self.visit(value))
        return [stmt]

    def visit_Lambda(self, node: Any) -> Any:
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_Lambda

    def visit_Call(self, node: Any) -> Any:
        self.generic_visit(node)
        update = self._update(node)
        if update is None:
            return node
        value = self.context.fresh("value")
        others = [p for p in self._others(node) if p != UNKNOWN]
        olds = [self.context.fresh("old") if others else "" for _ in update.paths]
        before = [quote_expr("ag.Held($path)", node, path=_path(path, node, s.Load())) for path in update.paths]
        parts = [_bound(old, held, node) for old, held in zip(olds, before, strict=True) if old]
        parts.append(_bound(value, self._storing(node, update), node))
        for k, (old, path) in enumerate(zip(olds, update.paths, strict=True)):
            new = quote_expr(f"$value[{k + 1}]", node, value=s.at(s.name(value), node))
            parts.append(_given(path, new, node))
            for other in (p for p in others if old and p[0] != "="):
                here = {"new": _path(path, node, s.Load()), "other": _path(other, node, s.Load())}
                renewed = quote_expr("ag.renew($old, $new, $other)[-1]", node, old=s.at(s.name(old), node), **here)
                parts.append(_given(other, renewed, node))
        parts.append(quote_expr("$value[0]", node, value=s.at(s.name(value), node)))
        return quote_expr("ag.last($parts)", node, parts=parts)

    def _update(self, node: Any) -> Update | None:
        return self.context.updates.get((node.lineno, node.col_offset)) if isinstance(node, s.Call) else None

    def _others(self, node: Any) -> tuple[str, ...]:
        return self.context.aliases.get((node.lineno, node.col_offset), ())

    def _storing(self, node: Any, update: Update) -> Any:
        wanted = [s.at(s.constant(k), node) for k in update.arguments]
        node.func = quote_expr("ag.storing($f, $wanted)", node.func, f=node.func, wanted=wanted)
        return node

    def _renewed(self, old: str, path: str, others: list[str], stmt: Any) -> list[Any]:
        names = [p for p in others if p.isidentifier()]
        more = [s.at(s.name(p), stmt) for p in names] + [place(p, stmt) for p in others if not p.isidentifier()]
        new = _path(path, stmt, s.Load())
        return quote("_, $outs, = ag.renew($old, $new, $more)", stmt, outs=names, old=s.at(s.name(old), stmt), new=new, more=more)


def _path(path: str, at: Any, ctx: Any) -> Any:
    if path.isidentifier():
        return s.at(s.name(path, ctx), at)
    owner, _, attribute = path.rpartition(".")
    return s.at(s.Attribute(_path(owner, at, s.Load()), attribute, ctx), at)


def _bound(name: str, value: Any, at: Any) -> Any:
    return s.at(s.NamedExpr(s.at(s.name(name, s.Store()), at), value), at)


def _given(path: str, value: Any, at: Any) -> Any:
    """An expression that gives a path a new value."""
    if path.isidentifier():
        return _bound(path, value, at)
    owner, _, attribute = path.rpartition(".")
    return quote_expr("ag.set_attr($o, $a, $value)", at, o=_path(owner, at, s.Load()), a=s.constant(attribute), value=value)
