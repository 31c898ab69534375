"""Which expressions give a new list."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from autograph.trees import syntax as s

GROWING = frozenset("append extend insert delete remove reverse_list clear sort renewed".split())  # operators that make a list another


def filters(made: Any) -> bool:
    """Whether a comprehension has a condition."""
    return any(g.ifs for g in made.generators)


def made_longer(body: Iterable[Any]) -> set[str]:
    """The names of lists that are made longer or shorter: in the function of a block, too, the variable has the same name."""
    calls = (n for part in body for n in s.walk(part) if isinstance(n, s.Call) and n.args and isinstance(n.args[0], s.Name))
    return {
        n.args[0].id for n in calls if isinstance(n.func, s.Attribute) and getattr(n.func.value, "id", "") == s.RUNTIME and n.func.attr in GROWING
    }


def makes_list(value: Any) -> bool:
    """Whether an expression certainly does: a display, `list(...)`, `sorted(...)`, `[x] + [y]`, a slice of one."""
    if isinstance(value, s.BinOp):
        return isinstance(value.op, s.Add) and makes_list(value.left) and makes_list(value.right)
    if isinstance(value, s.Subscript):
        return isinstance(value.slice, s.Slice) and makes_list(value.value)
    return isinstance(value, (s.List, s.ListComp)) or isinstance(value, s.Call) and getattr(value.func, "id", "") in ("list", "sorted")


def remakes(name: str, value: Any) -> bool:
    """Whether an expression makes a new list of one that has a name, if that is a list: `q[1:]`, `q[1:] + [x]`, `q.copy()`."""
    match value:
        case s.Subscript(value=s.Name(id=id), slice=s.Slice()):
            return bool(id == name)
        case s.Call(func=s.Attribute(value=s.Name(id=id), attr="copy"), args=[], keywords=[]):
            return bool(id == name)
        case s.BinOp(op=s.Add(), left=left, right=right):
            sides = [left, right]
            whole = [isinstance(x, s.Name) and x.id == name or remakes(name, x) for x in sides]
            return any(whole) and all(w or makes_list(x) for w, x in zip(whole, sides, strict=True))
    return False


def is_remade(name: str, value: Any) -> bool:
    """Whether an expression makes a new list of one that has a name, or of its items: `sorted(q)[:3]`, `[x for x in q if x]`."""
    names = [n for n in s.walk(value) if isinstance(n, s.Name) and n.id == name]  # not one of a comprehension in it
    return remakes(name, value) or makes_list(value) and bool(names) and all(isinstance(n.ctx, s.Load) for n in names)


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
