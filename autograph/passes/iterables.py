"""Where Python itself goes over something while the user's code runs in between, rows of an array are taken as they are when they are reached.

[f(x) for x in v]                  =>   [f(x) for x in ag.over(v)]
(x for x in v if x is not None)    =>   (x for x in ag.over(v) if x is not None)
for x in v: yield x                =>   for x in ag.over(v): yield x
yield from v                       =>   yield from ag.over(v)
"""

from __future__ import annotations

from typing import Any

from autograph.passes.callables import is_runtime_call
from autograph.passes.context import TAKE_ALL, Context
from autograph.trees import syntax as s
from autograph.trees.quote import quote_expr

_MAY_BE_ARRAYS = (s.Attribute, s.BoolOp, s.Call, s.IfExp, s.Name, s.NamedExpr, s.Subscript)


def lower_iterables(fn: Any, context: Context) -> None:
    if not context.fresh.kinds & {s.GeneratorExp, s.ListComp, s.SetComp, s.DictComp, s.For, s.YieldFrom}:
        return
    lower = _Iterables(context, context.locals_of(fn))
    new = [lower.visit(b) for b in ([fn.body] if isinstance(fn, s.Lambda) else fn.body)]
    fn.body = new[0] if isinstance(fn, s.Lambda) else new


class _Iterables(s.Transformer):
    def __init__(self, context: Context, local: frozenset[str]) -> None:
        self.context, self.local = context, local
        self.taken: set[Any] = set()  # generators of which the call that they are handed to takes all at once

    def visit_Call(self, node: Any) -> Any:
        func = node.func
        if (self._is_builtin(func) and func.id in TAKE_ALL) or (isinstance(func, s.Attribute) and func.attr in (*TAKE_ALL, "join")):
            self.taken.update(a for a in node.args if isinstance(a, s.GeneratorExp))
        return self.generic_visit(node)

    def visit_For(self, node: Any) -> Any:
        """A loop of a generator that stays Python's."""
        self.generic_visit(node)
        node.iter = self._over(node.iter)
        return node

    def visit_YieldFrom(self, node: Any) -> Any:
        self.generic_visit(node)
        node.value = self._over(node.value)
        return node

    def _comprehension(self, node: Any) -> Any:
        self.generic_visit(node)
        if (isinstance(node, s.GeneratorExp) and node not in self.taken) or any(map(self._is_users, s.walk(node))):
            for part in node.generators:
                part.iter = self._over(part.iter)
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def _is_builtin(self, func: Any) -> bool:
        return isinstance(func, s.Name) and self.context.is_builtin(func) and func.id not in self.local

    def _is_users(self, node: Any) -> bool:
        """Whether a node calls what may be a function of the user's."""
        if not isinstance(node, s.Call):
            return False
        return not self._is_builtin(node.func) if isinstance(node.func, s.Name) else isinstance(node.func, s.Call) and is_runtime_call(node.func)

    def _over(self, iterable: Any) -> Any:
        """What is gone over; as it is, if that is no array by the text alone."""
        known = isinstance(iterable, s.Call) and (self._is_builtin(iterable.func) or is_runtime_call(iterable))
        return quote_expr("ag.over($x)", iterable, x=iterable) if isinstance(iterable, _MAY_BE_ARRAYS) and not known else iterable
