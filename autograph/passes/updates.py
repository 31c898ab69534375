"""Calls of functions of the same file that store into arrays they are given: the new arrays come back to the caller's names.

swap(a, i, j)          =>   _, a = ag.storing(swap, 0)(a, i, j)
x = pop(heap, n)       =>   x, heap = ag.storing(pop, 0)(heap, n)
f(pop(self.heap, n))   =>   f(ag.last(old := ag.Held(self.heap), value := ag.storing(pop, 0)(self.heap, n),
                                      ag.renew_attr(self, 'heap', ag.renew(old, value[1], self.heap)[-1]), value[0]))

An attribute, and a variable that functions share, may be bound anew in the call: it gets the new array if it still holds what was given.
"""

from __future__ import annotations

from typing import Any

from autograph import syntax as s
from autograph.aliases import Update
from autograph.names import Names
from autograph.passes.context import Context
from autograph.passes.indices import place
from autograph.paths import UNKNOWN
from autograph.quote import quote, quote_expr
from autograph.scopes import Scope


def lower_updates(fn: Any, context: Context) -> None:
    if context.updates:
        scope = Scope(fn)
        fn.body = _Updates(context, scope.globals | scope.nonlocals, scope.shared).block(fn.body)


class _Updates(s.Transformer):
    def __init__(self, context: Context, outside: Names, shared: Names) -> None:
        self.context, self.outside, self.shared = context, outside, outside | shared

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
            lasting = {p: self.context.fresh("item") for p in update.paths if self._lasts(p) and p not in given}
            others = [p for p in self._others(call) if p not in (*given, UNKNOWN)]
            bound = {p: self.context.fresh("item") if others else "_" for p in given}  # to the result: the array itself may have other names
            paths = [lasting.get(p) or bound.get(p, p) for p in update.paths]
            name = "_" if isinstance(stmt, s.Expr) else next(iter(given), "") or self.context.fresh("value")
            out: list[Any] = [s.at(s.Expr(told), stmt) for told in self._told(update, stmt)]
            olds = [self.context.fresh("old") if others or p in lasting else "" for p in update.paths]
            for old, path in zip(olds, update.paths, strict=True):
                if old:
                    out += quote("$old = ag.Held($path)", stmt, old=old, path=_path(path, stmt, s.Load()))
            targets = [s.at(s.name(name, s.Store()), stmt), *(_path(p, stmt, s.Store()) for p in paths)]
            out.append(s.at(s.Assign([s.at(s.Tuple(targets, s.Store()), stmt)], self._storing(call, update), None), stmt))
            for old, path, p in zip(olds, paths, update.paths, strict=True):
                if p in lasting and not others:
                    out += [s.at(s.Assign([_path(p, stmt, s.Store())], _still(old, s.at(s.name(path), stmt), p, stmt), None), stmt)]
                elif others and path != "_":
                    out += self._renewed(old, path, others, stmt, [p] if p in lasting else [])
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
        olds = [self.context.fresh("old") if others or self._lasts(p) else "" for p in update.paths]
        before = [quote_expr("ag.Held($path)", node, path=_path(path, node, s.Load())) for path in update.paths]
        parts = [*self._told(update, node, False), *(_bound(old, held, node) for old, held in zip(olds, before, strict=True) if old)]
        parts.append(_bound(value, self._storing(node, update), node))
        for k, (old, path) in enumerate(zip(olds, update.paths, strict=True)):
            new = quote_expr(f"$value[{k + 1}]", node, value=s.at(s.name(value), node))
            also = [other for other in others if other[0] != "="]
            if not also:
                parts.append(_given(path, _still(old, new, path, node) if self._lasts(path) else new, node))
                continue
            held, wanted = self.context.fresh("held"), [path, *also] if self._lasts(path) else also
            if wanted is also:
                parts.append(_given(path, s.copy(new), node))
            now = [_path(p, node, s.Load()) for p in wanted]
            parts.append(_bound(held, quote_expr("ag.renew($old, $new, $now)", node, old=s.at(s.name(old), node), new=new, now=now), node))
            for i, p in enumerate(wanted):
                parts.append(_given(p, quote_expr(f"$held[{i + 1}]", node, held=s.at(s.name(held), node)), node))
        parts.append(quote_expr("$value[0]", node, value=s.at(s.name(value), node)))
        return quote_expr("ag.last($parts)", node, parts=parts)

    def _told(self, update: Update, at: Any, bound: bool = True) -> list[Any]:
        """What tells that arrays of the code around are stored into: those of NumPy change in place.  `bound`: a statement binds the variable."""
        text = "ag.stores_into(lambda: $name)" if bound else "ag.stores_into(lambda: $name, False)"
        out = [quote_expr(text, at, name=p) for p in update.paths if p in self.outside]
        for owner, _, attribute in (p.rpartition(".") for p in update.paths if not p.isidentifier()):
            out.append(quote_expr("ag.stores_into_attr($o, $name)", at, o=_path(owner, at, s.Load()), name=s.constant(attribute)))
        return out

    def _lasts(self, path: str) -> bool:
        """Whether a path may be bound anew in a call."""
        return not path.isidentifier() or path in self.shared

    def _update(self, node: Any) -> Update | None:
        return self.context.updates.get((node.lineno, node.col_offset)) if isinstance(node, s.Call) else None

    def _others(self, node: Any) -> tuple[str, ...]:
        return self.context.aliases.get((node.lineno, node.col_offset), ())

    def _storing(self, node: Any, update: Update) -> Any:
        wanted = [s.at(s.constant(k), node) for k in update.arguments]
        node.func = quote_expr("ag.storing($f, $wanted)", node.func, f=node.func, wanted=wanted)
        return node

    def _renewed(self, old: str, path: str, others: list[str], stmt: Any, lasting: list[str]) -> list[Any]:
        """The other names of an array, and a path that may have been bound anew: `path` holds the new one."""
        names = [*lasting, *(p for p in others if p.isidentifier())]
        more = [_path(p, stmt, s.Load()) for p in names] + [place(p, stmt) for p in others if not p.isidentifier()]
        call = quote_expr("ag.renew($old, $new, $more)", stmt, old=s.at(s.name(old), stmt), new=_path(path, stmt, s.Load()), more=more)
        if not names:  # places alone are changed by the call
            return [s.at(s.Expr(call), stmt)]
        targets = [s.at(s.name("_", s.Store()), stmt), *(_path(p, stmt, s.Store()) for p in names)]
        return [s.at(s.Assign([s.at(s.Tuple(targets, s.Store()), stmt)], call, None), stmt)]


def _still(old: str, new: Any, path: str, at: Any) -> Any:
    """What a path holds: the new array, if it still is the old one."""
    return quote_expr("ag.renew($old, $new, $now)[-1]", at, old=s.at(s.name(old), at), new=new, now=_path(path, at, s.Load()))


def _path(path: str, at: Any, ctx: Any) -> Any:
    if path.isidentifier():
        return s.at(s.name(path, ctx), at)
    owner, _, attribute = path.rpartition(".")
    found = s.at(s.Attribute(_path(owner, at, s.Load()), attribute, ctx), at)
    found.renewed = isinstance(ctx, s.Store)  # no assignment of the program's
    return found


def _bound(name: str, value: Any, at: Any) -> Any:
    return s.at(s.NamedExpr(s.at(s.name(name, s.Store()), at), value), at)


def _given(path: str, value: Any, at: Any) -> Any:
    """An expression that gives a path a new value."""
    if path.isidentifier():
        return _bound(path, value, at)
    owner, _, attribute = path.rpartition(".")
    return quote_expr("ag.renew_attr($o, $a, $value)", at, o=_path(owner, at, s.Load()), a=s.constant(attribute), value=value)
