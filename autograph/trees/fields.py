"""Which fields of a class of nodes may hold nodes, in the trees of `ast` and of `gast` alike."""

from __future__ import annotations

from typing import Any

_NO_NODES = frozenset("ctx op ops id attr n kind type_comment lineno module level arg asname conversion simple is_async rest kwd_attrs str".split())
_BARE = frozenset({"Constant", "Global", "Nonlocal", "MatchSingleton"})
_found: dict[type, tuple[str, ...]] = {}


def node_fields(kind: Any) -> tuple[str, ...]:
    """Their names; contexts and operators are no nodes here."""
    found = _found.get(kind)
    if found is None:
        named = {"name"} if kind.__name__ != "TypeAlias" else set()
        found = _found[kind] = () if kind.__name__ in _BARE else tuple(f for f in kind._fields if f not in _NO_NODES | named)
    return found


def children(node: Any) -> list[Any]:
    """The nodes directly below a node."""
    kind, held = node.__class__, node.__dict__
    fields = _found.get(kind)
    found: list[Any] = []
    for field in node_fields(kind) if fields is None else fields:
        value = held.get(field)
        if value.__class__ is list:
            found += [v for v in value if v is not None]
        elif value is not None:
            found.append(value)
    return found
