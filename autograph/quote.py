"""Quasi-quotes: the code that a pass generates is written as code, with `$holes` for what varies.

    quote("$outs = ag.cond($test, $then, $orelse, $ins)", at=node, outs=[...], test=node.test, ...)

A hole takes a name, an expression, or a list of either (spliced into arguments, parameters and tuples); alone on its line it takes
statements.  Every hole must be filled and every filling used.  New nodes stand at `at`; `ag` is the runtime.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from textwrap import dedent
from types import SimpleNamespace
from typing import Any

from autograph import syntax as s

_HOLE = "_hole_"


def quote(template: str, at: Any, **holes: Any) -> list[Any]:
    """The statements of a template, filled."""
    filler = _Filler(holes, at)
    body = filler.block(s.read(_parsed(template)).body)
    if unused := holes.keys() - filler.used:
        raise ValueError(f"no such holes in the template: {sorted(unused)}")
    return body


def quote_expr(template: str, at: Any, **holes: Any) -> Any:
    """The expression of a template, filled."""
    (statement,) = quote(template, at, **holes)
    return statement.value


@cache
def _parsed(template: str) -> ast.Module:
    text = re.sub(r"\bag\.", "_runtime_.", dedent(template).replace("$", _HOLE))
    return ast.parse(text)


def _one_line(where: Any) -> Any:
    """The first line of a place: CPython would put a method call of several lines at its last."""
    if getattr(where, "end_lineno", None) in (None, getattr(where, "lineno", None)):
        return where
    return SimpleNamespace(lineno=where.lineno, col_offset=where.col_offset, end_lineno=where.lineno, end_col_offset=where.col_offset + 1)


class _Filler(s.NodeTransformer):  # type: ignore[misc]
    def __init__(self, holes: dict[str, Any], where: Any) -> None:
        self.holes, self.where, self.used = holes, _one_line(where), set[str]()

    def block(self, body: list[Any]) -> list[Any]:
        out: list[Any] = []
        for statement in body:
            new = self.visit(statement)
            out += new if isinstance(new, list) else [new]
        return out

    def visit(self, node: Any) -> Any:
        if isinstance(node, (s.stmt, s.AST)) and "lineno" in getattr(node, "_attributes", ()):
            s.at(node, self.where)
        return super().visit(node)

    def _filling(self, id: str) -> Any:
        if not id.startswith(_HOLE):
            return None
        key = id.removeprefix(_HOLE)
        self.used.add(key)
        return self.holes[key]

    def visit_Expr(self, node: Any) -> Any:
        if isinstance(node.value, s.Name) and isinstance(filling := self._filling(node.value.id), list):
            return filling
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: Any) -> Any:
        node.name = self._filling(node.name) or node.name
        self.visit(node.args)
        node.body = self.block(node.body)
        return node

    def visit_Global(self, node: Any) -> Any:
        filling = self._filling(node.names[0])
        node.names = node.names if filling is None else list(filling)
        return node if node.names else []

    visit_Nonlocal = visit_Global

    def visit_Name(self, node: Any) -> Any:
        if node.id == "_runtime_":
            node.id = s.RUNTIME
            return node
        filling = self._filling(node.id)
        if filling is None:
            return node
        if isinstance(filling, list):
            return [self._one(item, node) for item in filling]
        return self._one(filling, node)

    def _one(self, item: Any, hole: Any) -> Any:
        return s.at(s.name(item, type(hole.ctx)()), self.where) if isinstance(item, str) else item

    def visit_Tuple(self, node: Any) -> Any:
        """`$outs,` alone: a tuple of the names, or the name itself if there is only one."""
        self.generic_visit(node)
        return node.elts[0] if len(node.elts) == 1 else node
