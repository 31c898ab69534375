"""From `ast` to `gast` and back: gast's own translators, with a faster way through the nodes that both trees have alike, which are most."""

from __future__ import annotations

import ast
from typing import Any


def translator(base: type, to: Any) -> Any:
    """The `visit` of a translator of gast's, faster; contexts and operators are shared."""

    class Translator(base):  # type: ignore[misc]
        known: dict[type, Any] = {}  # by class of node: gast's method, or the class, its fields, those that are None, and what is shared

        def visit(self, node: Any) -> Any:
            found = self.known.get(type(node))
            if found is None:
                found = self.known[type(node)] = _found(type(node), base, to)
            method, cls, fields, new_fields, shared = found
            if method is not None:
                return method(self, node)
            if shared is not None:
                return shared
            new: Any = cls.__new__(cls)
            have, given = node.__dict__, new.__dict__
            for field in fields:
                if field in have:
                    value = have[field]
                    kind = type(value)
                    if kind is list:
                        given[field] = [self.visit(v) if isinstance(v, ast.AST) else v for v in value]
                    elif kind is int or kind is str or value is None or not isinstance(value, ast.AST):
                        given[field] = value
                    else:
                        given[field] = self.visit(value)
            for field in new_fields:
                given[field] = None
            return new

    return Translator().visit


_ALIKE = ("Name", "Assign")  # gast has methods for these that do the same


def _found(kind: type, base: type, to: Any) -> tuple[Any, Any, tuple[str, ...], tuple[str, ...], Any]:
    name: str = kind.__name__
    method: Any = getattr(base, f"visit_{name}", None)
    cls: Any = getattr(to, name, None)
    if name in _ALIKE or method is getattr(ast.NodeVisitor, f"visit_{name}", None):
        method = None
    if method is None and cls is None:
        raise ValueError(f"`{name}` is no node of the other tree")
    if method is not None:
        return method, None, (), (), None
    own: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]
    fields = (*(f for f in own if f in cls._fields), *cls._attributes)
    return None, cls, fields, tuple(f for f in cls._fields if f not in own), cls() if not fields else None
