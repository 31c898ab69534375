"""The scope of one function: its locals, what it declares, and what it shares with the functions inside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from autograph.analysis.names import NONE, Names, binds_all, free, reads
from autograph.trees import syntax as s


class Scope:
    """The names of one function: its locals in order of appearance, what it declares, what it shares with functions inside it."""

    def __init__(self, fn: Any, takes_all: Callable[[Any], bool] = lambda call: False) -> None:
        """`takes_all`: whether a call takes all items of a generator that it is given, and keeps none of it."""
        self.body: list[Any] = [fn.body] if isinstance(fn, s.Lambda) else fn.body
        self.parameters = s.parameter_names(fn.args)
        declared: dict[type, set[str]] = {s.Global: set(), s.Nonlocal: set()}
        taken: set[str] = set()
        bound, given = binds_all(self.body), frozenset(self.parameters)
        read_at_once: set[Any] = set()  # generators that see no later value of a variable: `sum(x[k] for k in ks)`; not where `sum` is a variable
        for node in s.own(*self.body):
            kind = type(node)
            if kind in declared:
                declared[kind].update(node.names)
            elif kind is s.Call:
                generators = any(type(a) is s.GeneratorExp for a in node.args)
                if generators and getattr(node.func, "id", "") not in bound | given and takes_all(node):
                    read_at_once.update(a for a in node.args if type(a) is s.GeneratorExp and not _keeps(a))
            elif node in read_at_once:
                continue
            elif kind is s.GeneratorExp:  # what it iterates is evaluated at once
                first, *rest = node.generators
                later = [node.elt, first.target, *first.ifs, *rest]
                taken |= free(node) & NONE.union(*map(reads, later))
            elif kind in _CLOSURES:
                taken |= free(node)
        self.globals, self.nonlocals = frozenset(declared[s.Global]), frozenset(declared[s.Nonlocal])
        self.locals: Names = (given | bound) - self.globals - self.nonlocals
        self.shared: Names = ((frozenset(taken) & self.locals) | self.globals | self.nonlocals) & (bound | given)
        self._order: dict[str, int] = {}

    def ordered(self, names: Iterable[str]) -> list[str]:
        """Names in the order in which the function introduced them when it was first asked."""
        if not self._order:
            order = self._order = {n: k for k, n in enumerate(self.parameters)}
            for name in _bound_in_order(self.body):
                order.setdefault(name, len(order))
        return sorted(names, key=lambda n: (self._order.get(n, len(self._order)), n))


def _keeps(generator: Any) -> bool:
    """Whether what a generator gives may hold a function or generator that is made in it, or whether it binds a variable."""
    return any(type(n) in _CLOSURES or type(n) is s.NamedExpr for part in s.children(generator) for n in s.walk(part))


_CLOSURES = frozenset({s.FunctionDef, s.AsyncFunctionDef, s.Lambda, s.ClassDef, s.GeneratorExp})


def _bound_in_order(body: Iterable[Any]) -> Iterable[str]:
    """The names that a scope binds, in the order of the text."""
    stack = list(body)[::-1]
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind is s.Name:
            if type(node.ctx) is not s.Load:
                yield node.id
        elif kind is s.Assign:
            stack += [*node.targets[::-1], node.value]
        elif kind in _CLOSURES:
            if kind is s.FunctionDef or kind is s.ClassDef:
                yield node.name
        elif kind is not s.Constant:
            stack += s.children(node)[::-1]
