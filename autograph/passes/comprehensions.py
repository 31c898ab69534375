"""Hand generators that are folded at once to the runtime, so that what they iterate and their conditions may be traced.

sum(f(x) for x in v if x > 0)      =>   ag.sum(ag.each(v, lambda x: f(x), lambda x: x > 0))
any(p(i, x) for i, x in items)     =>   ag.any(ag.each(items, lambda i, x: p(i, x), unpack=2))
max(a for r in m for a in r)       =>   ag.max(ag.each(m, lambda r: ag.each(r, lambda a: a), inner=True))
len([x for x in v if x > 0])       =>   ag.len(ag.each(v, lambda x: x, lambda x: x > 0))
[g(x) for x in v]                  =>   ag.collected(ag.each(v, lambda x: g(x)))
[x for x in v if x > 0]            =>   ag.collected(ag.each(v, lambda x: x, lambda x: x > 0))

What a comprehension stores into on its way is stored by a condition:
[f() for o.a in v]                 =>   [f() for target in v if ag.set_attr(o, 'a', target) is None]
"""

from __future__ import annotations

import functools
from typing import Any

from autograph.analysis.targets import leaves
from autograph.passes.context import Context
from autograph.passes.indices import index_of
from autograph.passes.new_lists import filters, made_longer
from autograph.trees import syntax as s
from autograph.trees.quote import quote_expr

_FOLDS = frozenset({"sum", "any", "all", "min", "max"})
_OF_LISTS = frozenset({"enumerate", "filter", "list", "map", "reversed", "sorted", "zip"})  # builtins that go over what they get
_BLOCKS = frozenset({"cond", "switch", "while_loop", "for_loop"})


def lower_comprehensions(fn: Any, context: Context) -> None:
    if not (context.fresh.kinds & {s.GeneratorExp, s.ListComp, s.SetComp, s.DictComp} or not context.fresh.taken.isdisjoint({"filter", "map"})):
        return
    body = [fn.body] if isinstance(fn, s.Lambda) else fn.body
    lower = _Comprehensions(context, context.locals_of(fn), _values(body), frozenset(made_longer(body)))
    new = [lower.visit(b) for b in body]
    fn.body = new[0] if isinstance(fn, s.Lambda) else new


def _values(body: list[Any]) -> dict[str, list[Any]]:
    """What each name is assigned, or is a part of."""
    found: dict[str, list[Any]] = {}
    for node in (n for part in body for n in s.walk(part) if isinstance(n, s.Assign)):
        for leaf in (leaf for target in node.targets for leaf in leaves(target) if isinstance(leaf, s.Name)):
            found.setdefault(leaf.id, []).append(node.value)
    return found


class _Comprehensions(s.Transformer):
    def __init__(self, context: Context, local: frozenset[str], values: dict[str, list[Any]], longer: frozenset[str]) -> None:
        self.context, self.local, self.values, self.longer = context, local, values, longer
        self.folded: Any = None  # the comprehension that is an argument of `sum` and the like

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
        func = node.func
        if not (isinstance(func, s.Name) and node.args and self.context.is_builtin(func) and func.id not in self.local):
            return self.generic_visit(node)
        source = node.args[0]
        folds = func.id in _FOLDS and isinstance(source, (s.GeneratorExp, s.ListComp)) and (len(node.args) == 1 or func.id == "sum")
        counts = func.id == "len" and isinstance(source, s.ListComp) and filters(source) and len(node.args) == 1
        if (folds or counts) and _movable(source):
            self.folded = source
        self.generic_visit(node)
        if (folds or counts) and _movable(source):
            node.args[0] = _each(source.generators, source.elt, source)
            if counts:
                node.func = s.at(s.runtime("len"), func)
            return node
        source = node.args[0]
        if func.id == "next" and isinstance(source, s.GeneratorExp) and len(node.args) <= 2 and _movable(source):
            node.func, node.args[0] = s.at(s.runtime("next"), func), _each(source.generators, source.elt, source)
            return node
        if len(node.args) > 1 or func.id != "list" and func.id not in _FOLDS:
            return node
        if self._filtered(source):
            test, items = source.args
            test = quote_expr("lambda x: x", test) if isinstance(test, s.Constant) else quote_expr("ag.call($f)", test, f=test)
            node.args[0] = quote_expr("ag.each($items, lambda x: x, $test)", source, items=items, test=test)
        elif func.id == "list" and self._mapped(source) and self._may_be_any_length(source.args[1]):
            function, items = source.args
            node.args[0] = quote_expr("ag.each($items, ag.call($f))", source, items=items, f=function)
        elif func.id == "list" and isinstance(source, s.GeneratorExp) and filters(source) and _movable(source) and not _makes_functions(source):
            node.args[0] = _each(source.generators, source.elt, source)
        else:
            return node
        return node if func.id in _FOLDS else quote_expr("ag.collected($values)", node, values=node.args[0])

    def visit_ListComp(self, node: Any) -> Any:
        folded, self.folded = node is self.folded, None
        self.generic_visit(node)
        if folded or not _movable(node) or _makes_functions(node):
            return node
        only = len(node.generators) == 1
        if filters(node) or only and (self._may_be_any_length(node.generators[0].iter) or self._may_be_long(node.elt)):
            return quote_expr("ag.collected($values)", node, values=_each(node.generators, node.elt, node))
        return node

    def _may_be_any_length(self, items: Any, seen: frozenset[str] = frozenset()) -> bool:
        """Whether traced values may decide how long that is which is gone over: a list, or what a builtin makes of one."""
        again = functools.partial(self._may_be_any_length, seen=seen)
        match items:
            case s.Name(id=name):
                if name not in self.local or name in seen:
                    return name in self.longer
                values = self.values.get(name)  # None for a parameter
                return values is None or name in self.longer or any(self._may_be_any_length(v, seen | {name}) for v in values)
            case s.Attribute() | s.ListComp():
                return not isinstance(items, s.ListComp) or filters(items) or again(items.generators[0].iter)
            case s.Subscript(value=value):
                return isinstance(items.slice, s.Slice) and again(value)
            case s.BinOp(left=left, right=right):
                return isinstance(items.op, s.Add) and (again(left) or again(right))
            case s.IfExp(body=left, orelse=right):
                return again(left) or again(right)
            case s.BoolOp(values=values):
                return any(map(again, values))
            case s.Call(func=func, args=args):
                if _is_collected(func) or self._is_users(func) or isinstance(func, s.Attribute) and func.attr == "copy":
                    return True
                if isinstance(func, s.Name) and func.id == "range":
                    return any(_is_len(n) and any(map(again, n.args)) for a in args for n in s.walk(a))
                return isinstance(func, s.Name) and func.id in _OF_LISTS and any(map(again, args))
        return False

    def _is_users(self, func: Any) -> bool:
        """Whether a callee is a function of the user's by the text alone: a name that is no builtin, or a method of `self`; or a block of ours."""
        if isinstance(func, s.Attribute):
            return isinstance(func.value, s.Name) and (func.value.id == "self" or func.value.id == s.RUNTIME and func.attr in _BLOCKS)
        return isinstance(func, s.Name) and (func.id in self.local or not self.context.is_builtin(func))

    def _may_be_long(self, value: Any) -> bool:
        """Whether a value may be many operations."""
        return any(
            isinstance(n, s.Call) and self._may_be_many(n.func) or isinstance(n, s.BinOp) and type(n.op).__name__ == "MatMult" for n in s.walk(value)
        )

    def _may_be_many(self, func: Any) -> bool:
        """Whether a callee is the user's, or one of JAX's."""
        if isinstance(func, s.Name):
            return func.id in self.local or not self.context.is_builtin(func)
        while isinstance(func, s.Attribute):
            func = func.value
        return isinstance(func, s.Name) and self.context.modules.get(func.id, "jax").split(".")[0] == "jax"

    def _mapped(self, source: Any) -> bool:
        """`map(f, items)`."""
        match source:
            case s.Call(func=s.Name(id="map"), args=[_, items], keywords=[]) if not isinstance(items, s.Starred):
                return self.context.is_builtin(source.func) and "map" not in self.local
        return False

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


def _is_len(node: Any) -> bool:
    return isinstance(node, s.Call) and "len" in (getattr(node.func, "id", ""), getattr(node.func, "attr", ""))


def _is_collected(node: Any) -> bool:
    return isinstance(node, s.Attribute) and isinstance(node.value, s.Name) and (node.value.id, node.attr) == (s.RUNTIME, "collected")


def _makes_functions(node: Any) -> bool:
    """Whether a comprehension makes a function that would see the variable of the last iteration."""
    parts = [node.elt, *(part for g in node.generators for part in g.ifs), *(g.iter for g in node.generators[1:])]
    return any(isinstance(n, (s.Lambda, s.GeneratorExp)) for part in parts for n in s.walk(part))


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
