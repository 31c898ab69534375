"""Subscripts and places as arguments: `a:b` is `slice(a, b)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograph.passes.context import Context
from autograph.passes.list_lengths import span_of
from autograph.trees import syntax as s
from autograph.trees.quote import quote, quote_expr


def index_of(node: Any) -> Any:
    """A subscript as an argument: `a:b` is `slice(a, b)`, and `i:i + k` is `span(i, i + k, k)`."""
    if isinstance(node, s.Slice):
        if (length := span_of(node)) is not None:
            return quote_expr("ag.span($a, $b, $length)", node, a=node.lower, b=node.upper, length=length)
        parts = [p if p is not None else s.constant(None) for p in (node.lower, node.upper)]
        if node.step is not None:
            parts.append(node.step)
        return quote_expr("ag.slice($parts)", node, parts=parts)
    if isinstance(node, s.Tuple):
        return s.at(s.Tuple([index_of(e) for e in node.elts], s.Load()), node)
    return node


def place(path: str, at: Any) -> Any:
    """What stands for a path that is no name of the function: an attribute, or a variable from outside."""
    if path.startswith("="):
        return quote_expr("ag.fixed($name, $x)", at, name=s.constant(path[1:]), x=s.at(s.name(path[1:]), at))
    owner, _, attribute = path.rpartition(".")
    return quote_expr("ag.place($o, $a)", at, o=_named(owner, at), a=s.constant(attribute))


def _named(path: str, at: Any) -> Any:
    owner, _, attribute = path.rpartition(".")
    return s.at(s.Attribute(_named(owner, at), attribute, s.Load()) if owner else s.name(attribute), at)


def deleted(target: Any, stmt: Any) -> list[Any]:
    """The statements for `del target`."""
    match target:
        case s.Subscript(value=s.Attribute(value=owner, attr=attr), slice=index) if not any(isinstance(n, s.Call) for n in s.walk(index)):
            return quote("ag.del_attr_item($o, $name, $i)", stmt, o=owner, name=s.constant(attr), i=index_of(index))
        case s.Subscript(value=value):
            return quote("ag.del_item($x, $i)", stmt, x=value, i=index_of(target.slice))
        case s.Attribute(value=owner, attr=attr):
            return quote("ag.del_attr($o, $name)", stmt, o=owner, name=s.constant(attr))
        case s.Tuple(elts=elts) | s.List(elts=elts):
            return [new for t in elts for new in deleted(t, stmt)]
    return [s.at(s.Delete([target]), stmt)]


def one_by_one(stmt: Any, first: Any, rest: list[Any], stored: Callable[[Any], bool], context: Context) -> None:
    """Let a `with` enter its first manager only, and the others inside of it; a target that is stored into is assigned there."""
    stmt.items = [first]
    stmt.body = [s.at(s.With(rest, stmt.body, None), stmt)] if rest else stmt.body
    target = first.optional_vars
    if target is not None and stored(target):
        item = context.fresh("item")
        first.optional_vars = s.at(s.name(item, s.Store()), target)
        stmt.body = [s.at(s.Assign([target], s.at(s.name(item), target), None), target), *stmt.body]
