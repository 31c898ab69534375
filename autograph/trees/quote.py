"""Quasi-quotes: the code that a pass generates is written as code, with `$holes` for what varies.

    quote("$outs, = ag.cond($test, $then, $orelse, $ins)", at=node, outs=[...], test=node.test, ...)

A hole takes a name, an expression, or a list of either (spliced into arguments, parameters and tuples); alone on its line it takes
statements.  Every hole must be filled and every filling used.  New nodes stand at `at`; `ag` is the runtime; a tuple of one is its element.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import cache
from textwrap import dedent
from types import SimpleNamespace
from typing import Any

from autograph.trees import syntax as s

_HOLE = "_hole_"
Holes = dict[str, Any]
Build = Callable[[Holes, Any], Any]  # from the fillings and the place to a node, or a list of nodes


def quote(template: str, at: Any, **holes: Any) -> list[Any]:
    """The statements of a template, filled."""
    names, build = _compiled(template)
    if holes.keys() != names:
        raise ValueError(f"the template's holes are {sorted(names)}, and {sorted(holes)} are given")
    out: list[Any] = build(holes, _one_line(at))
    return out


def quote_expr(template: str, at: Any, **holes: Any) -> Any:
    """The expression of a template, filled."""
    (statement,) = quote(template, at, **holes)
    return statement.value


def _one_line(where: Any) -> Any:
    """The first line of a place: CPython would put a method call of several lines at its last."""
    if getattr(where, "end_lineno", None) in (None, getattr(where, "lineno", None)):
        return where
    return SimpleNamespace(lineno=where.lineno, col_offset=where.col_offset, end_lineno=where.lineno, end_col_offset=where.col_offset + 1)


@cache
def _compiled(template: str) -> tuple[frozenset[str], Build]:
    text = re.sub(r"\bag\.", f"{_HOLE}ag.", dedent(template).replace("$", _HOLE))
    tree = s.read(ast.parse(text))
    names: set[str] = set()
    build = _list(tree.body, names)
    return frozenset(names), build


def _hole(text: Any, names: set[str]) -> str | None:
    if not isinstance(text, str) or not text.startswith(_HOLE):
        return None
    name = text.removeprefix(_HOLE)
    if name != "ag":
        names.add(name)
    return name


def _list(nodes: list[Any], names: set[str]) -> Build:
    """Builds a list of nodes; a hole that holds a list is spliced in."""
    builds = [_build(n, names) for n in nodes]

    def build(holes: Holes, at: Any) -> list[Any]:
        out: list[Any] = []
        for each in builds:
            new = each(holes, at)
            if isinstance(new, list):
                out += new
            else:
                out.append(new)
        return out

    return build


def _build(node: Any, names: set[str]) -> Build:
    match node:
        case s.Name(id=id) if (hole := _hole(id, names)) is not None:
            return _name(hole, type(node.ctx))
        case s.Expr(value=s.Name(id=id)) if (hole := _hole(id, names)) is not None:
            return _statement(hole)
        case s.Tuple():
            elements, ctx = _list(node.elts, names), type(node.ctx)
            return lambda holes, at: found[0] if len(found := elements(holes, at)) == 1 else s.at(s.Tuple(found, ctx()), at)
        case s.Global(names=[one]) | s.Nonlocal(names=[one]) if (hole := _hole(one, names)) is not None:
            kind = type(node)
            return lambda holes, at: s.at(kind(list(holes[hole])), at)
    return _copy(node, names)


def _name(hole: str, ctx: type) -> Build:
    if hole == "ag":
        return lambda holes, at: s.at(s.name(s.RUNTIME), at)

    def build(holes: Holes, at: Any) -> Any:
        filling = holes[hole]
        if isinstance(filling, list):
            return [s.at(s.name(f, ctx()), at) if isinstance(f, str) else f for f in filling]
        return s.at(s.name(filling, ctx()), at) if isinstance(filling, str) else filling

    return build


def _statement(hole: str) -> Build:
    """A hole alone on its line: statements, or an expression."""

    def build(holes: Holes, at: Any) -> Any:
        filling = holes[hole]
        if isinstance(filling, list):
            return filling
        return s.at(s.Expr(s.at(s.name(filling), at) if isinstance(filling, str) else filling), at)

    return build


def _filling(hole: str) -> Build:
    return lambda holes, at: holes[hole]


def _copy(node: Any, names: set[str]) -> Build:
    """A new node like one of the template; contexts and operators are shared."""
    kind: Any = type(node)
    placed = "lineno" in kind._attributes
    if not (kind._fields or placed):
        return lambda holes, at: node
    same: dict[str, Any] = {}
    parts: list[tuple[str, Build]] = []
    for field in kind._fields:
        value = getattr(node, field, None)
        if isinstance(value, list):
            parts.append((field, _list(value, names)))
        elif isinstance(value, s.AST):
            parts.append((field, _build(value, names)))
        elif (hole := _hole(value, names)) is not None:  # the name of a function
            parts.append((field, _filling(hole)))
        else:
            same[field] = value

    def build(holes: Holes, at: Any) -> Any:
        new = kind.__new__(kind)
        given = new.__dict__
        given.update(same)
        for field, part in parts:
            given[field] = part(holes, at)
        return s.at(new, at) if placed else new

    return build
