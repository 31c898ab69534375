"""Which expressions give a new list."""

from __future__ import annotations

from typing import Any

from autograph.trees import syntax as s


def makes_list(value: Any) -> bool:
    """Whether an expression certainly does: a display, `list(...)`, `[x] + [y]`."""
    if isinstance(value, s.BinOp):
        return isinstance(value.op, s.Add) and makes_list(value.left) and makes_list(value.right)
    return isinstance(value, (s.List, s.ListComp)) or isinstance(value, s.Call) and getattr(value.func, "id", "") == "list"


def may_make_list(value: Any) -> bool:
    """The same, or perhaps an array of NumPy's: `[x] * n`, `[x] + more`."""
    if isinstance(value, s.BinOp):
        return isinstance(value.op, (s.Add, s.Mult)) and (may_make_list(value.left) or may_make_list(value.right))
    return makes_list(value)
