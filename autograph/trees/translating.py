"""From `ast` to `gast` and back: gast's own translators, with a faster way through the nodes that both trees have alike, which are most."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

_ALIKE = ("Name", "Assign")  # gast has methods for these that do the same
_NO_NODES = frozenset("id attr n kind type_comment lineno module level arg asname conversion simple is_async".split())  # what these fields hold


def translator(base: type, to: Any) -> Callable[[Any], Any]:
    """The `visit` of a translator of gast's, faster; contexts and operators are shared."""

    class Makers(dict[type, Callable[[Any], Any]]):
        """By class of a value: what makes that of the other tree; made when a class is first met."""

        def __missing__(self, kind: type) -> Callable[[Any], Any]:
            if kind is list:
                made: Callable[[Any], Any] = lambda values: [makers[type(v)](v) for v in values]  # noqa: E731
            elif issubclass(kind, ast.AST):
                made = _maker(kind, gast_has, to, makers)
            else:
                made = _itself
            self[kind] = made
            return made

    class Translator(base):  # type: ignore[misc]
        def visit(self, node: Any) -> Any:
            return makers[type(node)](node)

    makers, gast_has = Makers(), Translator()
    return gast_has.visit  # type: ignore[no-any-return]


def _itself(value: Any) -> Any:
    return value


def _maker(kind: type, gast_has: Any, to: Any, makers: dict[type, Callable[[Any], Any]]) -> Callable[[Any], Any]:
    name: str = kind.__name__
    method: Any = getattr(gast_has, f"visit_{name}", None)
    cls: Any = getattr(to, name, None)
    if name in _ALIKE or getattr(method, "__func__", None) is getattr(ast.NodeVisitor, f"visit_{name}", None):
        method = None
    if method is not None:
        return method  # type: ignore[no-any-return]
    if cls is None:
        raise ValueError(f"`{name}` is no node of the other tree")
    own: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]
    if not own and not cls._attributes:
        shared = cls()
        return lambda node: shared
    fields = tuple(f for f in own if f in cls._fields and f not in _NO_NODES)
    missing = dict.fromkeys(f for f in cls._fields if f not in own)

    def make(node: Any) -> Any:
        new: Any = cls.__new__(cls)
        given = new.__dict__
        given.update(node.__dict__)
        for field in fields:
            value = given.get(field)
            if value is not None:
                given[field] = makers[type(value)](value)
        if missing:
            given.update(missing)
        return new

    return make
