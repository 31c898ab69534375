"""Which names an expression or statement reads and binds, which names a function shares with the functions inside it, and fresh names."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

from autograph import syntax as s

Names = frozenset[str]
NONE: Names = frozenset()


def reads(node: Any) -> Names:
    """Names that evaluating a node may read in its scope; what a function made here captures counts as read."""
    found: set[str] = set()
    _reads(node, found)
    return frozenset(found)


def _reads(node: Any, found: set[str]) -> None:
    match node:
        case s.Name():
            if isinstance(node.ctx, s.Load) and node.id != s.RUNTIME:
                found.add(node.id)
        case s.AugAssign(target=s.Name(id=id)):
            found.add(id)
            _reads(node.value, found)
        case s.FunctionDef() | s.AsyncFunctionDef() | s.Lambda() | s.ClassDef():
            found |= free(node)
            for child in s.own(node):
                if child is not node and isinstance(child, s.Name) and isinstance(child.ctx, s.Load):
                    found.add(child.id)
        case s.ListComp() | s.SetComp() | s.DictComp() | s.GeneratorExp():
            inside: set[str] = set()
            for child in s.children(node):
                _reads(child, inside)
            first: set[str] = set()
            _reads(node.generators[0].iter, first)
            found |= (inside - comprehension_targets(node)) | first
        case _:
            for child in s.children(node):
                _reads(child, found)


def binds(node: Any) -> Names:
    """Names that a node binds in its scope, certainly or perhaps; blocks inside a statement included."""
    found: set[str] = set()
    _binds(node, found)
    return frozenset(found)


def _binds(node: Any, found: set[str]) -> None:
    match node:
        case s.Name():
            if isinstance(node.ctx, (s.Store, s.Del)):
                found.add(node.id)
        case s.FunctionDef() | s.AsyncFunctionDef() | s.ClassDef():
            found.add(node.name)
            for child in s.own(node):
                if isinstance(child, s.NamedExpr):
                    found.add(child.target.id)
        case s.Lambda():
            for child in s.own(node):
                if isinstance(child, s.NamedExpr):
                    found.add(child.target.id)
        case s.ListComp() | s.SetComp() | s.DictComp() | s.GeneratorExp():
            found |= {n.target.id for n in s.own(node) if isinstance(n, s.NamedExpr)}
        case s.alias():
            found.add(node.asname or node.name.split(".")[0])
        case s.ExceptHandler():
            if node.name is not None:
                found.add(node.name.id)
            for child in (node.type, *node.body):
                if child is not None:
                    _binds(child, found)
        case s.MatchAs() | s.MatchStar():
            if node.name is not None:
                found.add(_text(node.name))
            if getattr(node, "pattern", None) is not None:
                _binds(node.pattern, found)
        case s.MatchMapping():
            if node.rest is not None:
                found.add(_text(node.rest))
            for child in s.children(node):
                _binds(child, found)
        case s.AnnAssign(target=s.Name(), value=None):
            pass  # a bare annotation binds nothing
        case _:
            for child in s.children(node):
                _binds(child, found)


def _text(name: Any) -> str:
    return name if isinstance(name, str) else name.id


def binds_all(nodes: Iterable[Any]) -> Names:
    return NONE.union(*map(binds, nodes))


def surely_binds(node: Any) -> Names:
    """Names that evaluating a node to its end certainly binds."""
    match node:
        case s.BoolOp():
            return surely_binds(node.values[0])
        case s.IfExp():
            return surely_binds(node.test) | (surely_binds(node.body) & surely_binds(node.orelse))
        case s.Compare():
            return surely_binds(node.left) | surely_binds(node.comparators[0])
        case s.ListComp() | s.SetComp() | s.DictComp() | s.GeneratorExp():
            return surely_binds(node.generators[0].iter)
        case s.Assert():
            return surely_binds(node.test)
        case s.FunctionDef() | s.AsyncFunctionDef() | s.ClassDef() | s.Lambda() | s.alias() | s.Name() | s.AnnAssign(target=s.Name(), value=None):
            return binds(node)
        case s.MatchAs() | s.MatchStar() | s.MatchMapping():
            return binds(node)
        case _:
            return NONE.union(*map(surely_binds, s.children(node)))


def comprehension_targets(node: Any) -> Names:
    return NONE.union(*(binds(g.target) for g in node.generators))


def free(node: Any) -> Names:
    """The free names of a function, lambda, class or comprehension: those that it takes from the scopes around."""
    if isinstance(node, s.COMPREHENSIONS):
        inside: set[str] = set()
        for child in s.children(node):
            _reads(child, inside)
        return frozenset(inside) - comprehension_targets(node)
    body = [node.body] if isinstance(node, s.Lambda) else node.body
    args = frozenset() if isinstance(node, s.ClassDef) else frozenset(s.parameter_names(node.args))
    inside = set()
    for child in body:
        _reads(child, inside)
    declared = {n for c in s.own(*body) if isinstance(c, (s.Nonlocal, s.Global)) for n in c.names}
    if isinstance(node, s.ClassDef):  # a class body looks names up outwards even when it binds them
        return frozenset(inside) | binds_all(body) & frozenset(declared)
    return (frozenset(inside) - args - (binds_all(body) - declared)) | frozenset(declared)


def captured(body: Iterable[Any]) -> Names:
    """Names of a scope that functions made in it may read or assign later, through their cells."""
    found: set[str] = set()
    for node in s.own(*body):
        if isinstance(node, (*s.SCOPES, s.GeneratorExp)):
            found |= free(node)
    return frozenset(found)


class Scope:
    """The names of one function: its locals in order of appearance, what it declares, what it shares with functions inside it."""

    def __init__(self, fn: Any) -> None:
        self.body: list[Any] = [fn.body] if isinstance(fn, s.Lambda) else fn.body
        self.parameters = s.parameter_names(fn.args)
        self.globals: Names = frozenset(n for c in s.own(*self.body) if isinstance(c, s.Global) for n in c.names)
        self.nonlocals: Names = frozenset(n for c in s.own(*self.body) if isinstance(c, s.Nonlocal) for n in c.names)
        bound = binds_all(self.body)
        self.locals: Names = (frozenset(self.parameters) | bound) - self.globals - self.nonlocals
        self.shared: Names = ((captured(self.body) & self.locals) | self.globals | self.nonlocals) & (bound | frozenset(self.parameters))
        self._order = {n: k for k, n in enumerate(self.parameters)}
        for node in _in_order(self.body):
            if isinstance(node, s.Name) and not isinstance(node.ctx, s.Load):
                self._order.setdefault(node.id, len(self._order))
            elif isinstance(node, (s.FunctionDef, s.ClassDef)):
                self._order.setdefault(node.name, len(self._order))

    def ordered(self, names: Iterable[str]) -> list[str]:
        """Names in the order in which the function introduces them."""
        return sorted(names, key=lambda n: (self._order.get(n, len(self._order)), n))


def _in_order(body: Iterable[Any]) -> Iterable[Any]:
    """The nodes of a scope in the order of the text."""
    for node in body:
        yield node
        if isinstance(node, s.Assign):
            yield from _in_order([node.value, *node.targets])
        elif not isinstance(node, s.SCOPES):
            yield from _in_order(s.children(node))


class Fresh:
    """Names that no name of a tree can clash with."""

    def __init__(self, *trees: Any) -> None:
        self.taken: set[str] = set()
        for tree in trees:
            for n in s.walk(tree):
                for field in ("id", "name", "attr", "arg"):
                    value = getattr(n, field, None)
                    if isinstance(value, str):
                        self.taken.add(value)
                if isinstance(n, (s.Global, s.Nonlocal)):
                    self.taken |= set(n.names)

    def __call__(self, stem: str) -> str:
        for k in itertools.count(1):
            name = stem if k == 1 else f"{stem}_{k}"
            if name not in self.taken:
                self.taken.add(name)
                return name
        raise AssertionError
