"""Methods that change the length of a list, in branches and loops: the list is a variable that they bind anew.

    items.append(x)      =>   items = ag.append(items, x)
    items.extend(xs)     =>   items = ag.extend(items, xs)          (and `items += [x]`)
    x = items.pop()      =>   x, items = ag.pop(items)             (and `items.pop(0)`)
    items.insert(0, x)   =>   items = ag.insert(items, 0, x)       (and `remove`, `reverse`, `clear`)
    del items[i]         =>   items = ag.delete(items, i)
    len(items)           =>   ag.len(items)
    items.sort()         =>   items = ag.sort(items)
    items = [x]          =>   items = ag.renewed(items, [x])       in a branch
    items = items[1:]    =>   items = ag.renewed(items, items[1:])
    total(items)         =>   ag.reading(total, 0)(items)          a function of the file that only reads what it is given

Only of a variable that the function itself makes a list, and that has no second name where it changes.
"""

from __future__ import annotations

from typing import Any

from autograph.passes.callables import CHANGING
from autograph.passes.context import Context
from autograph.passes.indices import index_of
from autograph.passes.list_names import Uses
from autograph.passes.list_rebinding import resets
from autograph.passes.new_lists import is_remade
from autograph.passes.pops import hoisted, popped
from autograph.trees import syntax as s
from autograph.trees.quote import quote, quote_expr

_TAKES = {"append": 1, "extend": 1, "insert": 2, "remove": 1, "reverse": 0, "clear": 0, "sort": 0}  # arguments
_NAMED = {"sort": {"key", "reverse"}}


def lower_appends(fn: Any, context: Context) -> bool:
    kinds, taken = context.fresh.kinds, context.fresh.taken
    makes = kinds & {s.List, s.ListComp} or taken & {"list", "sorted"}
    if not makes or not (kinds & {s.AugAssign, s.Delete, s.Slice} or taken & {*CHANGING, "sorted"}):
        return False  # it makes no list, or changes none
    uses = Uses(fn, context)
    names = uses.eligible()
    if names:
        fn.body = _Appends(names, resets(fn.body, names), context, uses).block(fn.body)
    return bool(names)


def _takes(call: Any, method: str) -> bool:
    """Whether a call gives a method of lists the arguments that it takes."""
    named = {k.arg for k in call.keywords}
    return _TAKES.get(method) == len(call.args) and not any(isinstance(a, s.Starred) for a in call.args) and named <= _NAMED.get(method, set())


class _Appends(s.Transformer):
    def __init__(self, names: set[str], resets: set[int], context: Context, uses: Uses) -> None:
        self.names, self.resets, self.context, self.uses = names, resets, context, uses

    def block(self, block: list[Any]) -> list[Any]:
        return [
            new for stmt in block for part in [*hoisted(stmt, self.names, self.context.fresh, self.context.modules), stmt] for new in self.stmt(part)
        ]

    def stmt(self, stmt: Any) -> list[Any]:
        if isinstance(stmt, s.SCOPES):
            return [stmt]
        match stmt:
            case s.Expr(value=s.Call(func=s.Attribute(value=s.Name(id=id), attr=method)) as call) if id in self.names and _takes(call, method):
                values = {f"v{k}": self.visit(a) for k, a in enumerate(call.args)} | {f"k_{k.arg}": self.visit(k.value) for k in call.keywords}
                operator = "reverse_list" if method == "reverse" else method
                given = ["$x_", *(f"{name[2:]}=${name}" if name.startswith("k_") else f"${name}" for name in values)]
                return quote(f"$x = ag.{operator}({', '.join(given)})", stmt, x=id, x_=s.at(s.name(id), stmt), **values)
            case s.Assign(targets=[s.Name(id=name)], value=value) if self._is_reset(stmt, name, value):
                return quote("$x = ag.renewed($x_, $value)", stmt, x=name, x_=s.at(s.name(name), stmt), value=self.visit(value))
            case s.Delete(targets=[s.Subscript(value=s.Name(id=id), slice=index)]) if id in self.names:
                return quote("$x = ag.delete($x_, $i)", stmt, x=id, x_=s.at(s.name(id), stmt), i=index_of(self.visit(index)))
            case s.AugAssign(target=s.Name(id=id), op=s.Add(), value=value) if id in self.names:
                return quote("$x = ag.extend($x_, $value)", stmt, x=id, x_=s.at(s.name(id), stmt), value=self.visit(value))
            case s.Expr(value=value) if id := popped(value, self.names):
                return [self._taken(s.at(s.name(self.context.fresh("popped"), s.Store()), stmt), id, value, stmt)]
            case s.Assign(targets=[target], value=value) if (id := popped(value, self.names)) and isinstance(target, (s.Name, s.Tuple)):
                return [self._taken(target, id, value, stmt)]
        for inner in s.blocks(stmt):
            inner[:] = self.block(inner)
        for field in stmt._fields:
            value = getattr(stmt, field, None)
            if isinstance(value, s.AST) and not isinstance(value, s.stmt):
                setattr(stmt, field, self.visit(value))
        return [stmt]

    def _is_reset(self, stmt: Any, name: str, value: Any) -> bool:
        return id(stmt) in self.resets or name in self.names and is_remade(name, value)

    def _taken(self, target: Any, id: str, value: Any, stmt: Any) -> Any:
        """An item that is taken out of a list, and the list without it."""
        pair = s.at(s.Tuple([target, s.at(s.name(id, s.Store()), stmt)], s.Store()), stmt)
        call = quote_expr("ag.pop($x)", stmt, x=s.at(s.name(id), stmt))
        call.args += [self.visit(a) for a in value.args]
        return s.at(s.Assign([pair], call, None), stmt)

    def visit_Call(self, node: Any) -> Any:
        self.generic_visit(node)
        match node:
            case s.Call(func=s.Name(id="len"), args=[s.Name(id=id)], keywords=[]) if id in self.names and self.context.is_builtin(node.func):
                node.func = s.at(s.runtime("len"), node.func)
                return node
        given = (*enumerate(node.args), *((k.arg, k.value) for k in node.keywords))
        read = [s.constant(place) for place, a in given if getattr(a, "id", "") in self.names and self.uses.is_read(node, place)]
        if read:
            node.func = quote_expr("ag.reading($f)", node.func, f=node.func)
            node.func.args += [s.at(place, node) for place in read]
        return node
