"""`items.pop()` and `items.pop(i)` inside of an expression become statements of their own, where nothing that is evaluated before them can tell.

return items.pop() + 1      =>   popped = items.pop()
                                 return popped + 1
"""

from __future__ import annotations

from typing import Any

from autograph import syntax as s
from autograph.fresh import Fresh
from autograph.quote import quote

_OPERANDS = {s.BinOp: ("left", "right"), s.UnaryOp: ("operand",), s.Compare: ("left", "comparators"), s.Tuple: ("elts",), s.List: ("elts",)}


def popped(value: Any, names: set[str]) -> str:
    """The list of which an expression takes an item."""
    match value:
        case s.Call(func=s.Attribute(value=s.Name(id=id), attr="pop"), args=[] | [_], keywords=[]) if id in names:
            return str(id)
    return ""


def hoisted(stmt: Any, names: set[str], fresh: Fresh) -> list[Any]:
    """Statements to run before, which take the items that a statement uses; what it evaluates before them reads no such list and does nothing."""
    field = "test" if isinstance(stmt, s.If) else "value" if isinstance(stmt, (s.Return, s.Assign, s.AugAssign, s.Expr)) else ""
    value = getattr(stmt, field, None) if field else None
    if value is None or popped(value, names) and not isinstance(stmt, (s.Return, s.If, s.AugAssign)):
        return []
    if isinstance(stmt, s.Assign) and not all(isinstance(t, (s.Name, s.Tuple)) for t in stmt.targets):
        return []
    if isinstance(stmt, s.AugAssign) and not (isinstance(stmt.target, s.Name) and stmt.target.id not in names):
        return []
    hoister = _Hoister(names, fresh)
    new = hoister.visit(value)
    setattr(stmt, field, new)
    return hoister.before


class _Hoister:
    """Goes through an expression in the order of evaluation, until something is met that may not be moved behind a `pop`."""

    def __init__(self, names: set[str], fresh: Fresh) -> None:
        self.names, self.fresh = names, fresh
        self.before: list[Any] = []
        self.free = True

    def visit(self, node: Any) -> Any:
        if not self.free:
            return node
        if popped(node, self.names) and all(map(_is_plain, node.args)):
            name = self.fresh("popped")
            self.before += quote("$v = $item", node, v=name, item=node)
            return s.at(s.name(name), node)
        match node:
            case s.Name(id=id):
                self.free = id not in self.names
                return node
            case s.Call(func=s.Attribute(value=s.Name(id=id), attr="append"), args=[arg], keywords=[]) if id in self.names:
                node.args = [self.visit(arg)]
                self.free = False
                return node
            case s.Compare(ops=[_]) | s.BinOp() | s.UnaryOp() | s.Tuple() | s.List():
                for name in _OPERANDS[type(node)]:
                    child = getattr(node, name)
                    setattr(node, name, [self.visit(c) for c in child] if isinstance(child, list) else self.visit(child))
                return node
        self.free = isinstance(node, s.Constant)
        return node


def _is_plain(index: Any) -> bool:
    """Whether evaluating an index does nothing."""
    return not any(isinstance(n, (s.Call, s.Attribute, s.Subscript, s.NamedExpr, s.Await, s.Lambda)) for n in s.walk(index))
