"""Which parameters a function only reads: it neither changes the object that it is given, nor lets anything keep it.

A list may become longer after it was given to such a function, since no second name of it is left. The analysis is one of the text, and says no
where it does not know: each use of the parameter has to stand where an item, a length, a truth value or a copy is taken.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

READING = frozenset("len sum min max any all sorted print str repr abs tuple list set bool isinstance dict frozenset".split())
_LAZY = frozenset({"enumerate", "zip", "reversed", "iter"})  # they keep what they go over
_METHODS = frozenset({"index", "count", "copy"})
_LOOPS = (ast.For, ast.comprehension)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)

Definitions = Callable[[str], ast.FunctionDef | None]  # the function of a module that a global name stands for
Question = Callable[[str], bool]  # whether a global name is a builtin; whether it is an array library


class Readers:
    """Which parameters the functions of a module only read.

    >>> tree = ast.parse("def f(a, b, c): b.append(1); return sum(a) + len(a), c")
    >>> sorted(Readers(lambda name: None, lambda name: True, lambda name: False).of(tree.body[0]))
    ['a']
    """

    def __init__(self, defined: Definitions, is_builtin: Question, is_library: Question) -> None:
        self.defined, self.is_builtin, self.is_library = defined, is_builtin, is_library
        self.found: dict[ast.FunctionDef, frozenset[str]] = {}
        self.looked_at: list[ast.FunctionDef] = []  # whose bodies are looked at now, the innermost last

    def reads(self, name: str, place: int | str, spread: bool = False) -> bool:
        """Whether the function of a global name only reads its argument at a place: a position, behind no `*args`, or a name."""
        fn = self.defined(name)
        return fn is not None and not spread and parameter_at(fn, place) in self.of(fn)

    def of(self, fn: ast.FunctionDef) -> frozenset[str]:
        if fn in self.looked_at[:-1]:
            return frozenset()  # of functions that call each other: not known yet, and what is found meanwhile is kept
        if fn in self.found:
            return self.found[fn]
        args = fn.args
        names = {a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
        parents = {child: node for node in ast.walk(fn) for child in ast.iter_child_nodes(node)} if names else {}
        if fn.decorator_list or any(isinstance(n, (ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal)) for n in parents):
            names = set()  # a decorator, a generator or a shared variable may keep it
        self.found[fn] = frozenset(names)  # what calls itself keeps nothing by that alone
        self.looked_at.append(fn)
        try:
            while True:
                before = self.found[fn]
                self.found[fn] = before - set(self._escaping(fn, before, parents)) if before else before
                if self.found[fn] == before:
                    return before
        finally:
            self.looked_at.pop()

    def _escaping(self, fn: ast.FunctionDef, names: frozenset[str], parents: dict[ast.AST, ast.AST]) -> Iterator[str]:
        """Those of some names that are used where the object may be kept or changed; `parents` holds all nodes but the function."""
        for node in parents:
            if isinstance(node, ast.Name):
                if node.id in names and not (isinstance(node.ctx, ast.Load) and self._reads(node, parents)):
                    yield node.id
            elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
                yield node.name
            elif isinstance(node, _FUNCTIONS):  # a function inside keeps what it reads
                yield from (n.id for n in ast.walk(node) if isinstance(n, ast.Name))

    def _reads(self, node: ast.expr, parents: dict[ast.AST, ast.AST]) -> bool:
        parent = parents[node]
        match parent:
            case ast.Subscript(value=value, ctx=ast.Load()):
                return value is node
            case ast.Compare() | ast.FormattedValue() | ast.BinOp():
                return True
            case ast.UnaryOp(op=ast.Not()):
                return True
            case ast.BoolOp() | ast.NamedExpr():
                return isinstance(parent, ast.BoolOp) and self._is_test(parent, parents)
            case ast.If() | ast.While() | ast.IfExp() | ast.Assert():
                return parent.test is node
            case ast.For() | ast.comprehension():
                return parent.iter is node
            case ast.Attribute(attr=attr) if attr in _METHODS:
                return isinstance(call := parents[parent], ast.Call) and call.func is parent
            case ast.Starred():
                return isinstance(call := parents[parent], ast.Call) and parent in call.args
            case ast.keyword(arg=str(name)):
                call = parents[parent]
                return isinstance(call, ast.Call) and self._taken(call, name, parents)
            case ast.Call(args=args) if node in args:
                return self._taken(parent, args.index(node), parents)
        return False

    def _is_test(self, node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
        """Whether only the truth of an expression is asked for."""
        parent = parents[node]
        if isinstance(parent, ast.BoolOp):
            return self._is_test(parent, parents)
        return isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not) or getattr(parent, "test", None) is node

    def _taken(self, call: ast.Call, place: int | str, parents: dict[ast.AST, ast.AST]) -> bool:
        """Whether what a call is given at a place, a position or a name, is only read."""
        root = call.func
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name):
            return False
        if self.is_library(root.id):
            return True
        if root is not call.func:
            return False
        if self.is_builtin(root.id):
            if root.id in READING:
                return True
            parent = parents[call]
            consumed = isinstance(parent, _LOOPS) and parent.iter is call or isinstance(parent, ast.Call) and self._taken(parent, 0, parents)
            return root.id in _LAZY and consumed
        return self.reads(root.id, place, isinstance(place, int) and any(isinstance(a, ast.Starred) for a in call.args[:place]))


def parameter_at(fn: ast.FunctionDef, place: int | str) -> str | None:
    """The name of the parameter that gets an argument."""
    positional = [*fn.args.posonlyargs, *fn.args.args]
    if isinstance(place, str):
        return place
    return positional[place].arg if place < len(positional) else None
