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


_OWN = ("numpy", "jax", "math")  # what their functions are given, they do not keep


def given_by_others(fn: Any, modules: dict[str, str]) -> frozenset[str]:
    """The items that loops go over, which may be rows of an array; and arrays that NumPy has made here and a call is given, which may keep them."""
    items: set[str] = set()
    made: set[str] = set()
    handed: set[str] = set()
    for n in s.walk(fn):
        match n:
            case s.For(iter=s.Call(func=s.Name(id="range"))):
                pass
            case s.For(target=target):
                items |= {leaf.id for leaf in leaves(target) if isinstance(leaf, s.Name)}
            case s.Assign(targets=[s.Name(id=id)], value=s.Call(func=func)) if _module(func, modules) == "numpy":
                made.add(id)
            case s.Call(func=func, args=args, keywords=keywords) if _module(func, modules) not in _OWN:
                handed |= {a.id for a in (*args, *(k.value for k in keywords)) if isinstance(a, s.Name)}
    return frozenset(items | made & handed)


def _module(func: Any, modules: dict[str, str]) -> str:
    while isinstance(func, s.Attribute):
        func = func.value
    return modules.get(func.id, "").split(".")[0] if isinstance(func, s.Name) else ""
