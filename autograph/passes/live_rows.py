"""Loops over arrays that their body stores into read each row when its turn comes.

for x in a: a[0] += x             =>   for k in ag.indices(a): x = ag.row(a, k); ...
for i, x in zip(r, a): a[i] = x   =>   for k, k_2 in zip(r, ag.indices(a)): i, x = (k, ag.row(a, k_2)); ...
"""

from __future__ import annotations

from typing import Any

from autograph import syntax as s
from autograph.live_rows import Trees, changing, same_names, turns
from autograph.names import Names
from autograph.passes.context import Context
from autograph.scopes import Scope


def lower_live_rows(fn: Any, context: Context) -> None:
    if s.For not in context.fresh.kinds:
        return
    names = same_names(fn.body)
    for loop in [n for stmt in fn.body for n in s.own(stmt) if isinstance(n, s.For)]:
        if not (paths := changing(loop, context.updates, names)):
            continue
        trees = _trees(loop, context, Scope(fn).locals)
        if (found := turns(loop.iter, paths, trees)) is not None:
            loop.body = [s.at(s.Assign([loop.target], found.value, None), loop.target), *loop.body]
            loop.iter, loop.target = found.iter, found.target


def _trees(loop: Any, context: Context, local: Names) -> Trees:
    return Trees(
        name=lambda id, stored: s.at(s.name(id, s.Store() if stored else None), loop.target),
        call=lambda attr, args: s.at(s.call(s.at(s.runtime(attr), loop.iter), *map(s.copy, args)), loop.iter),
        tuple=lambda elts, stored: s.at(s.Tuple(elts, s.Store() if stored else s.Load()), loop.target),
        fresh=lambda: context.fresh("k"),
        is_builtin=lambda node: context.is_builtin(node) and node.id not in local,
    )
