"""Trees that are deeper than the interpreter's recursion limit allows: the analysis, the passes and the printer go down them by recursion.

CPython compiles an `elif` chain of a thousand branches or a sum of a thousand operands, which are trees as deep as that.  Where a piece of work
meets the limit it is done once more with room for the tree's own depth.  That is sound: the depth is measured without recursion, so what ends the
second time would have ended with any limit, and the limit is put back.  A RecursionError of the user's program is not met here: nothing of it runs.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
_FRAMES = 60  # of ours for each level of a tree, at most
_SPARE = 2_000


def depth_of(tree: Any) -> int:
    """How deep a tree is, or the deepest of some."""
    found, level = 0, list(tree) if isinstance(tree, list) else [tree]
    while level:
        found, level = found + 1, [child for node in level for child in ast.iter_child_nodes(node)]
    return found


def with_depth(tree: Any, work: Callable[[], T]) -> T:
    """What `work()` gives, which goes down a tree, however deep that is."""
    try:
        return work()
    except RecursionError:
        pass
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit + _FRAMES * depth_of(tree) + _SPARE)
    try:
        return work()
    finally:
        sys.setrecursionlimit(limit)
