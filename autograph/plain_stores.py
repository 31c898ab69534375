"""Stores of the plain form: `x[i] = v` as the user wrote it, and what happens where x is an array, which has no item assignment.

    x[0] = y        =>   try: x[0] = y
                         except TypeError:
                             if not ag.is_array(x): raise
                             x = ag.set_item(x, 0, y)

Calls of functions of the file that store into arrays they are given get the new arrays back.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable
from typing import Any

from autograph.aliases import Aliases
from autograph.live_rows import Trees, changing, gone_over, turns
from autograph.load import KEY
from autograph.names import mangled
from autograph.paths import UNKNOWN, chain
from autograph.rebuild import Rebuilder, at, replaced

_LOAD, _STORE = ast.Load(), ast.Store()
_YIELDS = (ast.Yield, ast.YieldFrom, ast.Await)


class Stores(Rebuilder):
    """Rewrites the stores of one function."""

    form: Any
    cls: str  # the class that the function stands in
    aliases: Aliases | None
    borrowed: frozenset[str]  # parameters that are stored into, where no caller gets them back
    shared: frozenset[str] = frozenset()  # variables of the code around that are stored into
    in_class = False
    inner = False  # in a comprehension
    is_builtin: Callable[[Any], bool]
    over: Callable[..., Any]  # what is gone over
    live: frozenset[Any] = frozenset()  # the nodes whose rows the loop reads itself
    names: dict[str, set[str]]  # paths that may be one array, by the text

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

    def visit_ExceptHandler(self, node: Any) -> Any:
        """A call that stored into an array of JAX's and then raised cannot give it back."""
        new = self.rebuilt(node)
        if self.in_class or not (self.aliases and self.aliases.calls):
            return new
        return replaced(new, body=[at(ast.Expr(at(call(ag("caught")), node.body[0])), node.body[0]), *new.body])

    def visit_For(self, node: Any) -> Any:
        """`for x[i] in items`: the item is assigned first in the body; so are rows of arrays that the body stores into."""
        aliases = self.aliases
        paths = changing(node, aliases.calls, self.names) if aliases else {}
        before, self.live = self.live, gone_over(node.iter, paths, self._trees(node)) if paths else frozenset()
        iterable = self.visit(node.iter)
        self.live = before
        new = self.rebuilt(replaced(node, iter=ast.Constant(None)))
        new.iter = iterable
        if self.in_class or _has_yield(new.target):
            return new
        rows = turns(new.iter, paths, self._trees(node)) if paths else None
        if rows is None:
            iterable = self.over(new.iter)
            new = new if iterable is new.iter else replaced(new, iter=iterable)
        if rows is None and not stores(new.target):
            return new
        iter, target, value = rows or (new.iter, at(ast.Name(".item", _STORE), new.target), at(name(".item"), new.target))
        first = at(ast.Assign([new.target], value), new.target)
        gone = ast.Delete([at(ast.Name(n.id, ast.Del()), n) for n in ast.walk(target) if isinstance(n, ast.Name)])
        assigned = [first]
        if stores(new.target):
            whole = at(ast.Assign([at(ast.Name(".row", _STORE), new.target)], value), new.target)
            assigned = [whole, *self.visit_Assign(at(ast.Assign([new.target], at(name(".row"), new.target)), new.target))]
        return replaced(new, iter=iter, target=target, body=[*assigned, at(gone, new.target), *new.body])

    def _trees(self, loop: Any) -> Trees:
        count = itertools.count(1)
        return Trees(
            name=lambda id, stored: at(ast.Name(id, _STORE if stored else _LOAD), loop.target),
            call=lambda attr, args: at(call(ag(attr), *args), loop.iter),
            tuple=lambda elts, stored: at(ast.Tuple(elts, _STORE if stored else _LOAD), loop.target),
            fresh=lambda: f".k{next(count)}",
            is_builtin=self.is_builtin,
        )

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
            at(ast.Try(self._rebound(root, indices, got, target, where, inner), [refused], [], []), where),
        ]
        trial = at(ast.Try([at(first, where)], [at(ast.ExceptHandler(ag("TypeError"), None, fix), where)], [], []), where)
        drop = [at(ast.Delete([ast.Name(t, ast.Del()) for t in temporaries]), where)] if temporaries else []
        return [*before, trial, *drop]

    def _rebound(self, root: Any, indices: list[Any], value: Any, target: Any, where: Any, inner: Any) -> list[Any]:
        """The store into an array: its name, and other names that may hold it, get the new one."""
        out: list[Any] = []
        last: list[Any] = []
        path = [_index(i) for i in indices]
        index, kind = (path[0], "item") if len(path) == 1 else (ast.Tuple(path, _LOAD), "path")
        others = [p for p in self.aliases.stores.get((target.lineno, target.col_offset), ()) if p != UNKNOWN] if self.aliases else []
        names = [p for p in others if p.isidentifier()]
        more = [name(p) for p in names] + [self._place(p) for p in others if not p.isidentifier()]
        if isinstance(root, ast.Attribute):
            new = call(ag(f"set_attr_{kind}"), root.value, self._text(root.attr), index, value)
            if not more:
                return [at(ast.Expr(new), where)]
            renewed = call(ag("renew"), ast.Attribute(root.value, root.attr, _LOAD), new, *more)
            outs: list[Any] = [ast.Name(".n", _STORE)]
        else:
            if root.id in self.borrowed:
                out.append(
                    at(ast.Expr(call(ag("borrowed"), ast.Constant(self.form.code.co_name), ast.Constant(root.id), name(root.id), inner)), where)
                )
            if root.id in self.shared or root.id in self.form.code.co_cellvars:
                out.append(at(ast.Expr(call(ag("stores_into" if root.id in self.shared else "stores_into_own"), reader(root.id))), where))
            new = call(ag(f"set_{kind}"), name(root.id), index, value)
            taken = root.id
            if root.id in self.shared:  # bound last, when this function's own names have the new array
                taken = ".n"
                last = [at(ast.Assign([ast.Name(root.id, _STORE)], call(ag("bound"), reader(root.id), name(taken))), where)]
            renewed = call(ag("renew"), name(root.id), new, *more) if more else new
            outs = [ast.Name(taken, _STORE)]
        outs += [ast.Name(n, _STORE) for n in names]
        if outs[0].id == ".n":
            last.append(at(ast.Delete([ast.Name(".n", ast.Del())]), where))
        return [*out, at(ast.Assign([ast.Tuple(outs, _STORE) if names else outs[0]], renewed), where), *last]

    def _updating(self, node: Any, normal: Any) -> Any:
        """A call of a function that stores into an array it is given: if it is a `jax.Array`, the new one comes back to its name."""
        update = self.aliases.calls.get((node.lineno, node.col_offset)) if self.aliases and not self.inner else None
        if update is None:
            return normal
        assert self.aliases is not None
        others = [p for p in self.aliases.shared.get((node.lineno, node.col_offset), ()) if p != UNKNOWN and p[0] != "="]
        func = call(ag("storing"), node.func, *(ast.Constant(k) for k in update.arguments))
        parts: list[Any] = [ast.NamedExpr(ast.Name(f".a{k}", _STORE), _path(p)) for k, p in enumerate(update.paths)]
        parts.append(ast.NamedExpr(ast.Name(".u", _STORE), ast.Call(func, node.args, node.keywords)))
        for k, path in enumerate(update.paths):
            new = ast.Subscript(name(".u"), ast.Constant(k + 1), _LOAD)
            lasts = not path.isidentifier() or path in self.shared  # the call itself may have bound it anew
            if not lasts:
                parts.append(self._given(path, new))
            for other in (*([path] if lasts else []), *others):
                renewed: Any = ast.Subscript(call(ag("renew"), name(f".a{k}"), new, _path(other)), ast.Constant(-1), _LOAD)
                if other in self.shared:
                    renewed = call(ag("bound"), reader(other), renewed)
                parts.append(self._given(other, renewed))
        parts.append(ast.Subscript(name(".u"), ast.Constant(0), _LOAD))
        arrays = call(ag("any_array"), *map(_path, update.paths))
        whole = ast.Subscript(ast.Tuple(parts, _LOAD), ast.Constant(-1), _LOAD)
        return at(ast.IfExp(arrays, whole, normal), node)

    def _place(self, path: str) -> Any:
        if path.startswith("="):
            return call(ag("fixed"), ast.Constant(path[1:]), name(path[1:]))
        owner, _, attribute = path.rpartition(".")
        return call(ag("place"), _path(owner), self._text(attribute))

    def _given(self, path: str, value: Any) -> Any:
        """An expression that gives a path a new value."""
        if path.isidentifier():
            return ast.NamedExpr(ast.Name(path, _STORE), value)
        owner, _, attribute = path.rpartition(".")
        return call(ag("renew_attr"), _path(owner), self._text(attribute), value)

    def _text(self, attribute: str) -> Any:
        """The name of an attribute as an argument."""
        return ast.Constant(mangled(attribute, self.cls))


def reader(variable: str) -> Any:
    """A function that reads a variable."""
    return ast.Lambda(ast.arguments([], [], None, [], [], None, []), name(variable))


def _subscripts(root: Any, indices: list[Any]) -> Any:
    for i in indices:
        root = at(ast.Subscript(root, i, _LOAD), root)
    return root


def _path(path: str) -> Any:
    if path.isidentifier():
        return name(path)
    owner, _, attribute = path.rpartition(".")
    return ast.Attribute(_path(owner), attribute, _LOAD)


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
