"""Names that clash with no name of a tree."""

from __future__ import annotations

import itertools
from typing import Any

from autograph.trees import syntax as s


class Fresh:
    """Names that no name of a tree can clash with; and the functions met on the way, each with the functions around it."""

    def __init__(self, tree: Any) -> None:
        taken: set[str] = set()
        self.taken = taken
        self.kinds: set[type] = set()  # the classes of nodes in the tree, and of the operators between two
        self.functions: list[tuple[Any, tuple[Any, ...]]] = []
        kinds = self.kinds
        stack: list[tuple[Any, tuple[Any, ...]]] = [(tree, ())]
        while stack:
            node, around = stack.pop()
            kind = type(node)
            kinds.add(kind)
            if kind is s.Name:
                taken.add(node.id)
                continue
            if kind is s.Attribute:
                taken.add(node.attr)
            elif kind is s.Constant:
                continue
            elif kind in _DEFINITIONS:
                taken.add(node.name)
                if kind is not s.ClassDef:
                    self.functions.append((node, around))
                    around = (*around, node)
            elif kind is s.BinOp:
                kinds.add(type(node.op))
            elif kind is s.keyword:
                if node.arg is not None:
                    taken.add(node.arg)
            elif kind is s.alias:
                taken.update((node.asname or node.name).split("."))
            elif kind is s.MatchAs or kind is s.MatchStar or kind is s.MatchMapping:
                taken.add(str(getattr(node, "name", None) or getattr(node, "rest", None)))
            elif kind is s.Global or kind is s.Nonlocal:
                taken.update(node.names)
            for child in reversed(s.children(node)):
                stack.append((child, around))

    def __call__(self, stem: str) -> str:
        for k in itertools.count(1):
            name = stem if k == 1 else f"{stem}_{k}"
            if name not in self.taken:
                self.taken.add(name)
                return name
        raise AssertionError


_DEFINITIONS = frozenset({s.FunctionDef, s.AsyncFunctionDef, s.ClassDef})
