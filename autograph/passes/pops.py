"""`items.pop()` and `items.pop(i)` inside of an expression become statements of their own, where nothing that is evaluated before them can tell.

return items.pop() + 1      =>   popped = items.pop()
                                 return popped + 1
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from autograph.trees import syntax as s
from autograph.trees.fresh import Fresh
from autograph.trees.quote import quote

_OPERANDS = {s.BinOp: ("left", "right"), s.UnaryOp: ("operand",), s.Compare: ("left", "comparators"), s.Tuple: ("elts",), s.List: ("elts",)}


def popped(value: Any, names: set[str]) -> str:
    """The list of which an expression takes an item."""
    match value:
        case s.Call(func=s.Attribute(value=s.Name(id=id), attr="pop"), args=[] | [_], keywords=[]) if id in names:
            return str(id)
    return ""


def is_taken(stmt: Any) -> bool:
    """Whether a statement only gives a name to its value, or drops it."""
    return isinstance(stmt, s.Expr) or (isinstance(stmt, s.Assign) and len(stmt.targets) == 1 and isinstance(stmt.targets[0], (s.Name, s.Tuple)))


def hoisted(stmt: Any, names: set[str], fresh: Fresh, modules: Collection[str]) -> list[Any]:
    """Statements to run before, which take the items that a statement uses; what it evaluates before them reads no such list and does nothing."""
    field = "test" if isinstance(stmt, s.If) else "value" if isinstance(stmt, (s.Return, s.Assign, s.AugAssign, s.Expr)) else ""
    value = getattr(stmt, field, None) if field else None
    if value is None or (is_taken(stmt) and popped(value, names)):
        return []
    if isinstance(stmt, s.AugAssign) and not (isinstance(stmt.target, s.Name) and stmt.target.id not in names):
        return []
    hoister = _Hoister(names, fresh, modules)
    new = hoister.visit(value)
    setattr(stmt, field, new)
    return hoister.before


class _Hoister:
    """Goes through an expression in the order of evaluation, until something is met that may not be moved behind a `pop`."""

    def __init__(self, names: set[str], fresh: Fresh, modules: Collection[str]) -> None:
        self.names, self.fresh, self.modules = names, fresh, modules
        self.before: list[Any] = []
        self.free = True
        self.read = False  # has a variable been read that a call in an index might bind anew?

    def visit(self, node: Any) -> Any:
        if not self.free:
            return node
        if popped(node, self.names) and (not self.read or all(map(_is_plain, node.args))):
            name = self.fresh("popped")
            self.before += quote("$v = $item", node, v=name, item=node)
            return s.at(s.name(name), node)
        match node:
            case s.Name(id=id):
                self.free, self.read = id not in self.names, True
                return node
            case s.Call(func=func, args=args, keywords=keywords) if self._is_known(func):
                node.args = [self.visit(a) for a in args]
                for k in keywords:
                    k.value = self.visit(k.value)
                self.free = False
                return node
            case s.Subscript(value=s.Name(), slice=index):
                self.visit(node.value)
                node.slice = self.visit(index)
                self.free = False
                return node
            case s.Compare(ops=[_]) | s.BinOp() | s.UnaryOp() | s.Tuple() | s.List():
                for name in _OPERANDS[type(node)]:
                    child = getattr(node, name)
                    setattr(node, name, [self.visit(c) for c in child] if isinstance(child, list) else self.visit(child))
                return node
        self.free = isinstance(node, s.Constant)
        return node

    def _is_known(self, func: Any) -> bool:
        """Whether no `pop` before it changes what a callee is: a method of one of the lists, a variable, or a function of a module."""
        if isinstance(func, s.Attribute) and isinstance(func.value, s.Name) and func.value.id in self.names:
            return True
        named = isinstance(func, s.Name)
        while isinstance(func, s.Attribute):
            func = func.value
        return isinstance(func, s.Name) and (named or func.id in self.modules)


def _is_plain(index: Any) -> bool:
    """Whether evaluating an index does nothing."""
    return not any(isinstance(n, (s.Call, s.Attribute, s.Subscript, s.NamedExpr, s.Await, s.Lambda)) for n in s.walk(index))
