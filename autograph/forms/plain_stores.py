"""Stores of the plain form: `x[i] = v` as the user wrote it, and what happens where x is an array, which has no item assignment.

    x[0] = y        =>   try: x[0] = y
                         except TypeError:
                             if not ag.is_array(x): raise
                             x = ag.set_item(x, 0, y)

Arrays among the arguments of the outermost call are objects, which change in place; of others only a variable that holds one alone can be bound anew.
"""

from __future__ import annotations

import ast
from typing import Any

from autograph.analysis.names import mangled
from autograph.analysis.targets import chain
from autograph.forms.load import KEY
from autograph.trees.rebuild import Rebuilder, at, replaced

_LOAD, _STORE = ast.Load(), ast.Store()
_YIELDS = (ast.Yield, ast.YieldFrom, ast.Await)


class Stores(Rebuilder):
    """Rewrites the stores of one function."""

    form: Any
    cls: str  # the class that the function stands in
    in_class = False

    def visit_Assign(self, node: Any) -> Any:
        new = self.rebuilt(node)
        if self.in_class or not any(map(stores, new.targets)) or _has_yield(node):
            return new
        if len(new.targets) > 1:  # the value once, then the targets from left to right
            whole = at(ast.Name(".all", _STORE), new.value)
            out = [at(ast.Assign([whole], new.value), node)]
            for target in new.targets:
                each = at(ast.Assign([target], at(name(".all"), new.value)), node)
                out += self._store_all(target, each) if stores(target) else [each]
            return [*out, at(ast.Delete([ast.Name(".all", ast.Del())]), node)]
        target = new.targets[0]
        if isinstance(target, ast.Subscript):
            return self._store(target, new.value, new)
        return self._store_all(target, new)

    def visit_For(self, node: Any) -> Any:
        """`for x[i] in items`: the item is assigned first in the body."""
        new = self.rebuilt(node)
        if self.in_class or _has_yield(new.target) or not stores(new.target):
            return new
        target, value = at(ast.Name(".item", _STORE), new.target), at(name(".item"), new.target)
        gone = at(ast.Delete([at(ast.Name(".item", ast.Del()), new.target)]), new.target)
        assigned = self.visit_Assign(at(ast.Assign([new.target], value), new.target))
        return replaced(new, target=target, body=[*assigned, gone, *new.body])

    def _store_all(self, target: Any, node: Any) -> list[Any]:
        """`x[i], (y[j], *z) = v`: unpack all of it, then store from left to right."""
        if isinstance(target, ast.Subscript):
            return self._store(target, node.value, node)
        leaves: list[Any] = []

        def unpacked(t: Any) -> Any:
            if isinstance(t, (ast.Tuple, ast.List)):
                return at(type(t)([unpacked(e) for e in t.elts], _STORE), t)
            if isinstance(t, ast.Starred):
                return at(ast.Starred(unpacked(t.value), _STORE), t)
            leaves.append(t)
            return at(ast.Name(f".{len(leaves) - 1}", _STORE), t)

        names = unpacked(target)
        out = [at(ast.Assign([names], node.value), node)]
        for k, leaf in enumerate(leaves):
            value = at(name(f".{k}"), leaf)
            out += self._store(leaf, value, node) if stores(leaf) else [at(ast.Assign([leaf], value), node)]
        return [*out, at(ast.Delete([ast.Name(f".{k}", ast.Del()) for k in range(len(leaves))]), node)]

    def visit_AugAssign(self, node: Any) -> Any:
        new = self.rebuilt(node)
        if self.in_class or not stores(new.target) or _has_yield(node):
            return new
        return self._store(new.target, new.value, new, new.op)

    def _store(self, target: Any, value: Any, where: Any, op: Any = None) -> list[Any]:
        """`x[i] = v` in a `try`; an array, which has no item assignment, is rebound to a new one."""
        before: list[Any] = []
        temporaries: list[str] = []

        def hold(id: str, held: Any) -> Any:
            before.append(at(ast.Assign([ast.Name(id, _STORE)], held), where))
            temporaries.append(id)
            return name(id)

        root, indices = chain(target)
        if not op and not _simple(value):
            value = hold(".v", value)
        if isinstance(root, ast.Attribute) and not isinstance(root.value, ast.Name):
            root = at(ast.Attribute(hold(".w", root.value), root.attr, _LOAD), root)
        if not (all(map(_simple, indices)) and _simple(value)):
            indices = [hold(f".i{k}" if k else ".i", _index(i)) for k, i in enumerate(indices)]
            if op:  # read x[i], evaluate v, operate, store
                hold(".o", at(_subscripts(root, indices), target))
                before.append(at(ast.AugAssign(ast.Name(".o", _STORE), op, value), where))
                value, op = name(".o"), None
        inner = _subscripts(root, indices[:-1])
        new = at(ast.Subscript(inner, indices[-1], _STORE), target)
        first = ast.AugAssign(new, op, value) if op else ast.Assign([new], value)
        got = ast.BinOp(_subscripts(root, indices), op, value) if op else value
        bare = at(ast.Raise(call(ag("bare"), name(".e")), ast.Constant(None)), where)  # without what this handler handles, and our frames
        refused = at(ast.ExceptHandler(ag("AutographError"), ".e", [bare]), where)
        fix = [
            at(ast.If(ast.UnaryOp(ast.Not(), call(ag("is_array"), inner)), [at(ast.Raise(None, None), where)], []), where),
            at(ast.Try(self._rebound(root, indices, got, where), [refused], [], []), where),
        ]
        trial = at(ast.Try([at(first, where)], [at(ast.ExceptHandler(ag("TypeError"), None, fix), where)], [], []), where)
        drop = [at(ast.Delete([ast.Name(t, ast.Del()) for t in temporaries]), where)] if temporaries else []
        return [*before, trial, *drop]

    def _rebound(self, root: Any, indices: list[Any], value: Any, where: Any) -> list[Any]:
        """The store into an array: a variable is bound to what it has become."""
        path = [_index(i) for i in indices]
        index, kind = (path[0], "item") if len(path) == 1 else (ast.Tuple(path, _LOAD), "path")
        if isinstance(root, ast.Attribute):
            return [at(ast.Expr(call(ag(f"set_attr_{kind}"), root.value, self._text(root.attr), index, value)), where)]
        return [at(ast.Assign([ast.Name(root.id, _STORE)], call(ag(f"set_{kind}"), name(root.id), index, value)), where)]

    def _text(self, attribute: str) -> Any:
        """The name of an attribute as an argument."""
        return ast.Constant(mangled(attribute, self.cls))


def _subscripts(root: Any, indices: list[Any]) -> Any:
    for i in indices:
        root = at(ast.Subscript(root, i, _LOAD), root)
    return root


def name(id: str) -> Any:
    return ast.Name(id, _LOAD)


def ag(attr: str) -> Any:
    return ast.Attribute(ast.Constant(KEY), attr, _LOAD)


def call(func: Any, *args: Any) -> Any:
    return ast.Call(func, list(args), [])


def stores(target: Any) -> bool:
    """Whether a target stores into a subscript of a name or attribute."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return any(stores(t) for t in target.elts)
    if isinstance(target, ast.Starred):
        return stores(target.value)
    return isinstance(target, ast.Subscript) and isinstance(chain(target)[0], (ast.Name, ast.Attribute))


def _has_yield(node: Any) -> bool:
    return any(isinstance(n, _YIELDS) for n in ast.walk(node))


def _simple(node: Any) -> bool:
    """Whether evaluating it twice is the same as once."""
    match node:
        case None | ast.Name() | ast.Constant() | ast.UnaryOp(operand=ast.Constant()):
            return True
        case ast.Slice(lower=a, upper=b, step=c):
            return _simple(a) and _simple(b) and _simple(c)
        case ast.Tuple(elts=elts):
            return all(map(_simple, elts))
    return False


def _index(node: Any) -> Any:
    """A subscript as a value."""
    if isinstance(node, ast.Slice):
        return call(ag("slice"), *(p if p is not None else ast.Constant(None) for p in (node.lower, node.upper, node.step)))
    return ast.Tuple([_index(e) for e in node.elts], _LOAD) if isinstance(node, ast.Tuple) else node
