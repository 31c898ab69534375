"""A transformer of `ast` trees that shares what it does not change: the tree of a file is parsed once and never modified."""

from __future__ import annotations

import ast
from typing import Any

from autograph.trees.fields import node_fields

_LEAVES = frozenset({ast.Name, ast.Constant, ast.Load, ast.Store, ast.Del, ast.Pass, ast.Break, ast.Continue, ast.Global, ast.Nonlocal})


class Rebuilder:
    """`visit` gives a node or a new one in its place (for a statement also a list); `visit_<Class>` methods say which."""

    def __init__(self) -> None:
        self._methods: dict[type, Any] = {}

    def visit(self, node: Any) -> Any:
        kind = type(node)
        if kind in _LEAVES:
            return node
        method = self._methods.get(kind)
        if method is None:
            method = self._methods[kind] = getattr(self, f"visit_{kind.__name__}", self.rebuilt)
        return method(node)

    def rebuilt(self, node: Any) -> Any:
        """The node itself, or a copy whose children are new."""
        changed: dict[str, Any] = {}
        held = node.__dict__
        for field in node_fields(node.__class__):
            value = held.get(field)
            if value.__class__ is list:
                new = self.visit_all(value)
                if new is not value:
                    changed[field] = new
            elif value is not None:
                one = self.visit(value)
                if one is not value:
                    changed[field] = one
        return replaced(node, **changed) if changed else node

    def visit_all(self, nodes: list[Any]) -> list[Any]:
        """The list itself, or a new one; a statement may become several."""
        out: list[Any] = []
        same = True
        for node in nodes:
            new = self.visit(node) if isinstance(node, ast.AST) else node
            same = same and new is node
            if isinstance(new, list):
                out += new
            else:
                out.append(new)
        return nodes if same else out


def replaced(node: Any, **fields: Any) -> Any:
    """A copy of a node with other fields, in its place."""
    new = type(node)(**{f: fields.get(f, getattr(node, f, None)) for f in node._fields})
    return at(new, node) if "lineno" in node._attributes else new


def at(node: Any, where: Any) -> Any:
    """Place a new node where another one stands."""
    node.lineno, node.col_offset = where.lineno, where.col_offset
    node.end_lineno, node.end_col_offset = where.end_lineno, where.end_col_offset
    return node
