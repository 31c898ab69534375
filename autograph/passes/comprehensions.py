"""Hand generators that are folded at once to the runtime, so that what they iterate and their conditions may be traced.

sum(f(x) for x in v if x > 0)      =>   ag.sum(ag.each(v, lambda x: f(x), lambda x: x > 0))
any(p(i, x) for i, x in items)     =>   ag.any(ag.each(items, lambda i, x: p(i, x), unpack=2))
max(a for r in m for a in r)       =>   ag.max(ag.each(m, lambda r: ag.each(r, lambda a: a), inner=True))
len([x for x in v if x > 0])       =>   ag.len(ag.each(v, lambda x: x, lambda x: x > 0))
[g(x) for x in v]                  =>   ag.collected(ag.each(v, lambda x: g(x)))

What a comprehension stores into on its way is stored by a condition:
[f() for o.a in v]                 =>   [f() for target in v if ag.set_attr(o, 'a', target) is None]
"""

from __future__ import annotations

from typing import Any

from autograph.analysis.targets import leaves
from autograph.passes.context import Context
from autograph.passes.indices import index_of
from autograph.trees import syntax as s
from autograph.trees.quote import quote_expr

_FOLDS = frozenset({"sum", "any", "all", "min", "max"})


def lower_comprehensions(fn: Any, context: Context) -> None:
    if not (context.fresh.kinds & {s.GeneratorExp, s.ListComp, s.SetComp, s.DictComp} or "filter" in context.fresh.taken):
        return
    body = [fn.body] if isinstance(fn, s.Lambda) else fn.body
    lower = _Comprehensions(context, context.locals_of(fn))
    new = [lower.visit(b) for b in body]
    fn.body = new[0] if isinstance(fn, s.Lambda) else new


class _Comprehensions(s.Transformer):
    def __init__(self, context: Context, local: frozenset[str]) -> None:
        self.context, self.local = context, local

    def visit_comprehension(self, node: Any) -> Any:
        self.generic_visit(node)
        if all(isinstance(leaf, s.Name) for leaf in leaves(node.target)):
            return node
        stores: list[Any] = []
        node.target = self._stored(node.target, stores)
        node.ifs = stores + node.ifs
        return node

    def _stored(self, target: Any, stores: list[Any]) -> Any:
        """The target, with fresh names for the attributes and subscripts in it; `stores` gets the conditions that store them."""
        match target:
            case s.Attribute() | s.Subscript():
                new = s.at(s.name(self.context.fresh("target")), target)
                if isinstance(target, s.Attribute):
                    call = quote_expr("ag.set_attr($o, $name, $new)", target, o=target.value, name=s.constant(target.attr), new=new)
                else:
                    call = quote_expr("ag.store_item($x, $i, $new)", target, x=target.value, i=index_of(target.slice), new=new)
                stores.append(quote_expr("$call is None", target, call=call))
                return s.at(s.name(new.id, s.Store()), target)
            case s.Tuple() | s.List():
                target.elts = [self._stored(e, stores) for e in target.elts]
            case s.Starred():
                target.value = self._stored(target.value, stores)
        return target

    def visit_Call(self, node: Any) -> Any:
        self.generic_visit(node)
        func = node.func
        if not (isinstance(func, s.Name) and node.args and self.context.is_builtin(func) and func.id not in self.local):
            return node
        source = node.args[0]
        if func.id in _FOLDS and len(node.args) == 1 and self._filtered(source):
            test, items = source.args
            test = quote_expr("lambda x: x", test) if isinstance(test, s.Constant) else quote_expr("ag.call($f)", test, f=test)
            node.args[0] = quote_expr("ag.each($items, lambda x: x, $test)", source, items=items, test=test)
            return node
        if func.id == "next" and isinstance(source, s.GeneratorExp) and len(node.args) <= 2 and _movable(source):
            node.func, node.args[0] = s.at(s.runtime("next"), func), _each(source.generators, source.elt, source)
            return node
        folds = func.id in _FOLDS and isinstance(source, (s.GeneratorExp, s.ListComp))
        counts = func.id == "len" and isinstance(source, s.ListComp) and any(g.ifs for g in source.generators)
        if not (folds or counts) or (len(node.args) > 1 and func.id != "sum") or not _movable(source):
            return node
        node.args[0] = _each(source.generators, source.elt, source)
        if counts:
            node.func = s.at(s.runtime("len"), func)
        return node

    def visit_ListComp(self, node: Any) -> Any:
        self.generic_visit(node)
        if len(node.generators) > 1 or node.generators[0].ifs or not _movable(node) or not self._may_be_long(node.elt):
            return node
        return quote_expr("ag.collected($values)", node, values=_each(node.generators, node.elt, node))

    def _may_be_long(self, value: Any) -> bool:
        """Whether a value may be many operations, and makes no function that would see the variable of the last turn."""
        nodes = list(s.walk(value))
        long = any(isinstance(n, s.Call) and self._may_be_many(n.func) or isinstance(n, s.BinOp) and type(n.op).__name__ == "MatMult" for n in nodes)
        return long and not any(isinstance(n, (s.Lambda, s.GeneratorExp)) for n in nodes)

    def _may_be_many(self, func: Any) -> bool:
        """Whether a callee is the user's, or one of JAX's."""
        if isinstance(func, s.Name):
            return func.id in self.local or not self.context.is_builtin(func)
        while isinstance(func, s.Attribute):
            func = func.value
        return isinstance(func, s.Name) and self.context.modules.get(func.id, "jax").split(".")[0] == "jax"

    def _filtered(self, source: Any) -> bool:
        """`filter(f, items)` with a function."""
        match source:
            case s.Call(func=s.Name(id="filter"), args=[test, _], keywords=[]):
                return (
                    (not isinstance(test, s.Constant) or test.value is None) and self.context.is_builtin(source.func) and "filter" not in self.local
                )
        return False


def _movable(source: Any) -> bool:
    """Whether the parts can become functions: nothing is bound outside, and the targets are names or tuples of names."""
    plain = all(not g.is_async and (isinstance(g.target, s.Name) or _names(g.target)) for g in source.generators)
    return plain and not any(isinstance(n, (s.NamedExpr, *s.YIELDS)) for n in s.walk(source))


def _names(target: Any) -> bool:
    if not isinstance(target, s.Tuple) or not all(isinstance(e, s.Name) for e in target.elts):
        return False
    ids = [str(e.id) for e in target.elts if e.id != "_"]
    return len(target.elts) > 0 and len(set(ids)) == len(ids)


def _each(generators: list[Any], value: Any, at: Any) -> Any:
    first, *rest = generators
    names = [first.target] if isinstance(first.target, s.Name) else first.target.elts
    parts = [_each(rest, value, at) if rest else value]
    if first.ifs:
        parts.append(first.ifs[0] if len(first.ifs) == 1 else s.at(s.BoolOp(s.And(), first.ifs), first.ifs[0]))
    functions = []
    for part in parts:
        new = s.thunk(part)
        last = len(names) - 1 - [n.id for n in reversed(names)].index("_") if any(n.id == "_" for n in names) else -1
        ids = [n.id if n.id != "_" or k == last else f"_{k}" for k, n in enumerate(names)]  # of several `_` the last is meant
        new.args.args = [s.at(s.name(id, s.Param()), n) for id, n in zip(ids, names, strict=True)]
        functions.append(new)
    call = quote_expr("ag.each($items, $functions)", at, items=first.iter, functions=functions)
    if not isinstance(first.target, s.Name):
        call.keywords.append(s.keyword("unpack", s.at(s.constant(len(names)), at)))
    if rest:
        call.keywords.append(s.keyword("inner", s.at(s.constant(True), at)))
    return call
