"""Which expressions give a new list."""

from __future__ import annotations

from typing import Any

from autograph.trees import syntax as s

GROWING = frozenset("append extend insert delete remove reverse_list clear renewed".split())  # operators that make a list another


def filters(made: Any) -> bool:
    """Whether a comprehension has a condition."""
    return any(g.ifs for g in made.generators)


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


def is_each_named(targets: list[Any], values: list[Any]) -> bool:
    """Whether `kept, count = [], 0` is two assignments: each value has its name, and reads none of the names."""
    names = {t.id for t in targets if isinstance(t, s.Name)}
    read = {n.id for v in values for n in s.walk(v) if isinstance(n, s.Name)}
    return len(names) == len(targets) == len(values) and not names & read and not any(isinstance(v, s.Starred) for v in values)
