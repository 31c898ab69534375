"""Which expressions may be slices or masked items of an array whose length is not known: what is called with them goes through the runtime."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from autograph.passes.callables import MAKING
from autograph.passes.context import Context
from autograph.passes.new_lists import filters, made_longer
from autograph.trees import syntax as s


def sections(fn: Any) -> frozenset[str]:
    """The names that may be bound to slices or masked items whose length is not known."""
    assigned = [n for n in s.statements(fn) if isinstance(n, (s.Assign, s.AnnAssign, s.AugAssign)) and n.value is not None]
    bound = [pair for n in assigned for t in (n.targets if isinstance(n, s.Assign) else [n.target]) for pair in _pairs(t, n.value)]
    found: set[str] = set()
    while True:
        new = {name for name, value in bound if makes_section(value, found)}
        if new <= found:
            return frozenset(found)
        found |= new


def _pairs(target: Any, value: Any) -> list[tuple[str, Any]]:
    """The names that an assignment binds, each with what it is bound to, as far as that can be seen."""
    match target, value:
        case s.Name(id=id), _:
            return [(id, value)]
        case s.Tuple(elts=targets), s.Tuple(elts=values) if len(targets) == len(values):
            return [pair for t, v in zip(targets, values, strict=True) for pair in _pairs(t, v)]
        case s.Tuple(elts=targets), s.Call():  # of a block: by the names in it
            return [pair for k, t in enumerate(targets) for pair in _pairs(t, s.Tuple(_given(value, k), s.Load()))]
    return []


def _given(call: Any, k: int) -> list[Any]:
    """The k-th of what the sides of a branch give that are expressions."""
    sides = [a.body for a in call.args if isinstance(a, s.Lambda)]
    return [side.elts[k] for side in sides if isinstance(side, s.Tuple) and k < len(side.elts)]


def makes_section(node: Any, names: Collection[str]) -> bool:
    """Whether an expression may be a slice or masked items whose length is not known, or is made of one; subscripts have been lowered."""
    match node:
        case s.Name(id=id):
            return id in names
        case s.BinOp(left=left, right=right):
            return makes_section(left, names) or makes_section(right, names)
        case s.UnaryOp(operand=operand):
            return makes_section(operand, names)
        case s.Tuple(elts=elts):  # what one of several sides gives
            return any(makes_section(e, names) for e in elts)
        case s.Call(func=s.Attribute(value=s.Name(id=s.RUNTIME), attr="cond"), args=args):
            return any(makes_section(a.body, names) for a in args if isinstance(a, s.Lambda))
        case s.Compare(left=left, comparators=others):
            return any(makes_section(n, names) for n in (left, *others))
        case s.Call(func=s.Attribute(value=s.Name(id=s.RUNTIME), attr="get_item"), args=[value, index]):
            parts = index.elts if isinstance(index, s.Tuple) else [index]
            return makes_section(value, names) or any(map(_may_take_any, parts))
        case s.Call(func=s.Call(func=s.Attribute(value=s.Name(id=s.RUNTIME), attr="call"), args=[s.Attribute(value=value, attr="astype" | "copy")])):
            return makes_section(value, names)
        case (
            s.Call(func=s.Call(func=s.Attribute(value=s.Name(id=s.RUNTIME), attr="call"), args=[made]), args=[of, *_])
            | s.Call(func=made, args=[of, *_])
        ):
            return isinstance(made, s.Attribute) and made.attr in ("array", "asarray") and _may_be_kept(of)
    return False


def _may_be_kept(value: Any) -> bool:
    """Whether a value that is made an array may be a list of data-dependent length."""
    return isinstance(value, s.Name) or isinstance(value, s.ListComp) and filters(value) or fills(value, ())


def _may_take_any(index: Any) -> bool:
    match index:
        case s.Call(func=s.Attribute(value=s.Name(id=s.RUNTIME), attr="slice")) | s.Compare():
            return True
        case s.UnaryOp(op=op) | s.BinOp(op=op):
            return type(op).__name__ in ("Invert", "BitAnd", "BitOr", "BitXor")
    return False


def filled(fn: Any, context: Context) -> frozenset[str]:
    """The names of lists that something is appended to, and of what comprehensions that are loops give: where the file names what makes arrays."""
    taken, modules = context.fresh.taken, context.modules
    if taken.isdisjoint(MAKING) and not any(modules[n].endswith(MAKING) for n in taken & modules.keys()):
        return frozenset()
    assigned = [n for n in s.walk(fn) if isinstance(n, s.Assign) and isinstance(n.targets[0], s.Name)]
    return frozenset(n.targets[0].id for n in assigned if fills(n.value, ()) or _may_give_list(n.value)) | made_longer([fn])


def _may_give_list(value: Any) -> bool:
    """Whether an expression gives a list that other code, or `sorted`, may have filled."""
    match value:
        case s.Call(func=s.Attribute(value=s.Name(id=s.RUNTIME), attr="sorted" | "list")) | s.Call(func=s.Name()) | s.Attribute():
            return True
    return False


def fills(node: Any, names: Collection[str]) -> bool:
    """Whether an expression is such a list."""
    match node:
        case s.Name(id=id):
            return id in names
        case s.Call(func=s.Attribute(value=s.Name(id=s.RUNTIME), attr="append" | "collected")):
            return True
    return False
