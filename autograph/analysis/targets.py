"""What statements store into: names, attributes and subscripts, without the tuples and stars around them."""

from __future__ import annotations

from typing import Any

from autograph.trees import syntax as s


def leaves(target: Any) -> list[Any]:
    if isinstance(target, (s.Tuple, s.List)):
        return [leaf for e in target.elts for leaf in leaves(e)]
    return leaves(target.value) if isinstance(target, s.Starred) else [target]


def chain(target: Any) -> tuple[Any, list[Any]]:
    """`m[i][j]`: m, and its indices; of a tree of `ast` or of gast."""
    indices: list[Any] = []
    while hasattr(target, "slice"):
        indices.insert(0, target.slice)
        target = target.value
    return target, indices


def targets(block: list[Any]) -> list[Any]:
    """What the statements of a block store into."""
    found: list[Any] = []
    for stmt in block:
        match stmt:
            case s.Assign():
                found += [leaf for t in stmt.targets for leaf in leaves(t)]
            case s.AugAssign() | s.AnnAssign():
                found.append(stmt.target)
            case s.For():
                found += leaves(stmt.target)
            case s.With():
                found += [leaf for i in stmt.items if i.optional_vars is not None for leaf in leaves(i.optional_vars)]
        if not isinstance(stmt, s.SCOPES):
            found += [t for inner in s.blocks(stmt) for t in targets(inner)]
    return found
