"""The converted source of a function as text: what `to_code`, `autograph show` and `autograph transpile` print."""

from __future__ import annotations

from typing import Any

from autograph import syntax as s
from autograph.names import Fresh
from autograph.passes import PASSES, run_passes
from autograph.passes.context import Context
from autograph.printing import source
from autograph.source import File


def converted(node: Any, file: File, after: str = "", free: frozenset[str] = frozenset()) -> Any:
    """The `ast` of a function in its staged form; what is evaluated around it (decorators, defaults, annotations) is the user's own."""
    tree = s.read(node)
    run_passes(tree, Context(Fresh(tree), file.modules, file.bound, file.converted, free), after)
    return s.write(_Alias(file.alias).visit(tree))


class _Alias(s.Transformer):
    def __init__(self, alias: str) -> None:
        self.alias = alias

    def visit_Name(self, node: Any) -> Any:
        return s.at(s.name(self.alias, node.ctx), node) if node.id == s.RUNTIME else self.generic_visit(node)


def listing(node: Any, file: File, after: str = "", free: frozenset[str] = frozenset()) -> str:
    """The converted source of one function, without its decorators."""
    if after and after not in {p.name for p in PASSES}:
        raise ValueError(f"there is no pass {after!r}: the passes are {', '.join(p.name for p in PASSES)}")
    new = converted(node, file, after, free)
    if hasattr(new, "decorator_list"):
        new.decorator_list = []
        return source([new])
    return source(new) + "\n"
