"""What the passes know of the function they rewrite, beyond its tree."""

from __future__ import annotations

import builtins
from dataclasses import dataclass, field
from typing import Any

from autograph.names import Fresh


@dataclass
class Context:
    """One conversion: fresh names, and the facts of the file that the function stands in."""

    fresh: Fresh
    modules: dict[str, str] = field(default_factory=dict)  # names bound once in the file, by an import: what they stand for
    bound: frozenset[str] = frozenset()  # names that the file binds anywhere: a builtin of that name may be another thing
    converted: frozenset[str] = frozenset()  # module-level functions that a decorator in the file converts
    free: frozenset[str] = frozenset()  # names that the function takes from functions around it
    around: dict[Any, frozenset[str]] = field(default_factory=dict)  # for each function in the tree, the locals of those around it
    sure: set[Any] = field(default_factory=set)  # the nodes of reads that the source proves to be of a set variable
    blocks: dict[str, str] = field(default_factory=dict)  # the names of generated functions

    def block_name(self, stem: str) -> str:
        """`then`, `orelse`, `test`, `body`, `item`: one name each for the whole conversion."""
        if stem not in self.blocks:
            self.blocks[stem] = self.fresh(stem)
        return self.blocks[stem]

    def is_builtin(self, node: Any) -> bool:
        return hasattr(builtins, getattr(node, "id", "")) and node.id not in self.bound
