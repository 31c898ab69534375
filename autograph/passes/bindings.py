"""Bindings of global and nonlocal variables, which others see: the runtime is told; a data-dependent error prevents them.

global n
n = n + 1       =>   n = ag.bound(lambda: n, n + 1)
n += f(x)       =>   n = ag.bound(lambda: n, ag.in_place(n, '+=', f(x)))
n, m = 1, 2     =>   item, m = 1, 2
                     n = ag.bound(lambda: n, item)
for n in x: ... =>   ag.rebinds(lambda: n)
                     for n in x: ...
"""

from __future__ import annotations

from typing import Any

from autograph.analysis.names import Names, binds, binds_all
from autograph.analysis.targets import leaves
from autograph.passes.context import Context
from autograph.trees import syntax as s
from autograph.trees.quote import quote, quote_expr

_FAILING = (s.Raise, s.Assert, s.Call, s.Subscript)


def lower_bindings(fn: Any, context: Context) -> bool:
    if not any(isinstance(stmt, (s.Global, s.Nonlocal)) for stmt in fn.body):  # the first pass has moved them there
        return False
    scope = context.scope(fn)
    fn.body = _block(fn.body, scope.globals | scope.nonlocals, s.contains(fn.body, *_FAILING) or None, context)
    return True


def _block(block: list[Any], declared: Names, told: bool | None, context: Context) -> list[Any]:
    """A block whose bindings are `told`; blocks that may be staged hand their variables on themselves, if nothing fails."""
    out: list[Any] = []
    for stmt in block:
        if not isinstance(stmt, s.SCOPES):
            inside = False if told is None and isinstance(stmt, (s.If, s.While, s.For)) and stmt not in context.kept else told
            for inner in s.blocks(stmt):
                inner[:] = _block(inner, declared, inside, context)
        if told is False or isinstance(stmt, (*s.SCOPES, s.Global, s.Nonlocal)):
            out.append(stmt)
        elif s.blocks(stmt):
            out += [*_rebinds(binds_all(_headers(stmt)) & declared, stmt), stmt]
        else:
            out += _told(stmt, declared, context)
    return out


def _told(stmt: Any, declared: Names, context: Context) -> list[Any]:
    match stmt:
        case s.Assign(targets=targets) if any(n.id in declared for t in targets if not isinstance(t, s.Name) for n in _names(t)):
            return _unpacked(stmt, declared, context)
        case s.Assign(targets=[s.Name(id=name)], value=value) if name in declared:
            stmt.value = _bound(name, value)
            return [stmt]
        case s.AugAssign(target=s.Name(id=name), op=op, value=value) if name in declared:
            symbol = s.constant(s.AUGMENTED[type(op).__name__])
            return quote("$name = $new", stmt, name=name, new=_bound(name, quote_expr(
                "ag.in_place($name, $symbol, $value)", stmt, name=name, symbol=symbol, value=value
            )))  # fmt: skip
    return [*_rebinds(binds(stmt) & declared, stmt), stmt]


def _rebinds(names: Names, stmt: Any) -> list[Any]:
    return [q for name in sorted(names) for q in quote("ag.rebinds(lambda: $name)", stmt, name=name)]


def _headers(stmt: Any) -> list[Any]:
    """What a statement with blocks evaluates itself: a test, what a `for` iterates over."""
    return [child for child in s.children(stmt) if isinstance(child, s.AST) and not isinstance(child, (s.stmt, s.ExceptHandler, s.match_case))]


def _bound(name: str, value: Any) -> Any:
    return quote_expr("ag.bound(lambda: $name, $value)", value, name=name, value=value)


def _names(target: Any) -> list[Any]:
    """The variables in a target."""
    return [leaf for leaf in leaves(target) if isinstance(leaf, s.Name)]


def _unpacked(stmt: Any, declared: Names, context: Context) -> list[Any]:
    """`n, m = v`: the declared ones among the variables are bound one after the other, once all of it is unpacked."""
    stmt = s.copy(stmt)  # what the old one binds may be remembered
    out: list[Any] = [stmt]
    for target in stmt.targets:
        for leaf in _names(target):
            if leaf.id in declared:
                name, leaf.id = leaf.id, context.fresh("item")
                out += quote("$name = $new", stmt, name=name, new=_bound(name, s.at(s.name(leaf.id), stmt)))
    return out
