"""Declare names where a function begins: what its `global` and `nonlocal` statements name, wherever they stand, and what it stores into.

A declaration holds for the whole function, and the statements around it may become functions of their own.  `x[i] = v` binds `x` anew, and must
not make it local.
"""

from __future__ import annotations

from typing import Any

from autograph.analysis.targets import chain, targets
from autograph.passes.context import Context
from autograph.trees import syntax as s
from autograph.trees.quote import quote


def declare(fn: Any, context: Context) -> bool:
    doc = isinstance(fn.body[0], s.Expr) and isinstance(fn.body[0].value, s.Constant) and len(fn.body) > 1
    declares = s.Global in context.fresh.kinds or s.Nonlocal in context.fresh.kinds
    declarations = [stmt for stmt in s.own(*fn.body) if isinstance(stmt, (s.Global, s.Nonlocal))] if declares else []
    late = declarations if declarations != fn.body[doc : doc + len(declarations)] else []
    if late:
        _without(fn.body, late)
        fn.body[doc:doc] = late
    return _declare_stores(fn, context, doc) or bool(late)


def _without(block: list[Any], declarations: list[Any]) -> None:
    for stmt in block:
        for inner in () if isinstance(stmt, s.SCOPES) else s.blocks(stmt):
            empty = not inner
            _without(inner, declarations)
            if not inner and not empty:
                inner.append(s.at(s.Pass(), stmt))
    block[:] = [stmt for stmt in block if stmt not in declarations]


def _declare_stores(fn: Any, context: Context, doc: int) -> bool:
    """A store into a subscript of a free or global name binds that name: undeclared it would become local."""
    stored: set[str] = set()
    for t in targets(fn.body):
        if isinstance(t, s.Subscript):
            base = chain(t)[0]
            stored |= {base.id} if isinstance(base, s.Name) else set()
    if not stored:
        return False
    scope = context.scope(fn)
    outside = stored - scope.locals - scope.globals - scope.nonlocals
    around = context.around.get(fn, frozenset())
    for keyword, names in (("global", outside - around), ("nonlocal", outside & around)):
        if names:
            fn.body[doc:doc] = quote(f"{keyword} $names", fn.body[doc], names=sorted(names))
    return bool(outside)
