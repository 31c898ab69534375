"""The converted source of a function as text: what `to_code`, `autograph show` and `autograph transpile` print."""

from __future__ import annotations

from typing import Any

from autograph import syntax as s
from autograph.forms import Form
from autograph.names import Fresh
from autograph.passes import PASSES, run_passes
from autograph.passes.context import Context
from autograph.printing import source
from autograph.source import File


def converted(node: Any, file: File, free: frozenset[str] = frozenset(), after: str = "") -> Any:
    """The `ast` of a function in its staged form, decorators and defaults included; `ag` is the runtime."""
    tree = s.read(node)
    decorators = getattr(tree, "decorator_list", [])
    run_passes(tree, Context(Fresh(tree), file.modules, file.bound, file.converted, free), after)
    if decorators:
        tree.decorator_list = decorators
    return s.write(_Alias(file.alias).visit(tree))


class _Alias(s.NodeTransformer):  # type: ignore[misc]
    def __init__(self, alias: str) -> None:
        self.alias = alias

    def visit_Name(self, node: Any) -> Any:
        return s.at(s.name(self.alias, node.ctx), node) if node.id == s.RUNTIME else node


def listing(form: Form, after: str = "") -> str:
    """The converted source of one function; its decorators are not part of it."""
    if after and after not in {p.name for p in PASSES}:
        raise ValueError(f"there is no pass {after!r}: the passes are {', '.join(p.name for p in PASSES)}")
    node = converted(form.node, form.file, frozenset(form.code.co_freevars), after)
    if hasattr(node, "decorator_list"):
        node.decorator_list = []
    return source([node] if hasattr(node, "decorator_list") else node)
