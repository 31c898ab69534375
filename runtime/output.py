"""`print`: at once where everything is known; of traced values, and in staged blocks, when the compiled program runs, in program order."""

from __future__ import annotations

import builtins
from typing import Any

import jax

from autograph.runtime.frames import in_block, touched
from autograph.runtime.values import ARRAYS, traced


def print(*values: Any, sep: str | None = " ", end: str | None = "\n", file: Any = None, flush: bool = False) -> None:
    """`print`, whose values may be traced."""
    touched()
    if not traced(*values) and not in_block():
        builtins.print(*values, sep=sep, end=end, file=file, flush=flush)
        return
    leaves, tree = jax.tree.flatten(values, is_leaf=lambda x: x is None)
    dynamic = [isinstance(x, ARRAYS) for x in leaves]
    static = [None if d else x for x, d in zip(leaves, dynamic, strict=True)]

    def show(*arrays: Any) -> None:
        flat = iter(arrays)
        shown = tree.unflatten([next(flat) if d else x for x, d in zip(static, dynamic, strict=True)])
        builtins.print(*shown, sep=sep, end=end, file=file, flush=flush)

    jax.debug.callback(show, *[x for x, d in zip(leaves, dynamic, strict=True) if d], ordered=True)
