"""Which names of a function stand for lists of its own, whose methods may give them others (`list_mutations.py`)."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

from autograph.passes.callables import ARRAY_LIBRARIES, CHANGING
from autograph.passes.context import Context
from autograph.passes.new_lists import filters, is_each_named, makes_list, may_make_list, remakes
from autograph.trees import syntax as s


class _Use(NamedTuple):
    """Where a name stands: the order in the text, and the blocks around, outermost first."""

    order: int
    loops: tuple[Any, ...]
    nested: bool  # in a branch or loop


class Uses:
    """What a function does with its names."""

    def __init__(self, fn: Any, context: Context) -> None:
        self.context = context
        self.changes: dict[str, list[_Use]] = defaultdict(list)
        self.moves: dict[str, list[_Use]] = defaultdict(list)  # where it may get a second name
        self.given: dict[str, list[tuple[_Use, Any, Any]]] = defaultdict(list)  # which calls take it, and at which place
        self.made: dict[str, list[_Use]] = defaultdict(list)  # where it becomes a new list
        self.perhaps: set[str] = set()  # which may be an array as well
        self.filtered: set[str] = set()  # of which traced values may decide how long it is from the start
        self.added: set[str] = set()  # `x += ...`, which of an array is arithmetic
        self.order, scope = 0, context.scope(fn)
        self.local = scope.locals
        self.barred: set[str] = {*scope.parameters, *scope.globals, *scope.nonlocals, *scope.shared}
        self._block(fn.body, (), False)

    def eligible(self) -> set[str]:
        barred = self.barred | self.perhaps & self.added
        names = (n for n, uses in self.changes.items() if n in self.filtered or any(u.nested for u in uses))
        return {n for n in names if n in self.made and n not in barred and self._alone(n)}

    def _alone(self, name: str) -> bool:
        """Whether every second name, and every other value of this one, comes after the last change, counting the iterations of loops."""
        given = [use for use, call, place in self.given[name] if not self.is_read(call, place)]
        for move in self.moves[name] + given:
            for change in self.changes[name]:
                shared = [loop for loop in move.loops if loop in change.loops]
                if move.order < change.order or any(not any(loop in m.loops for m in self.made[name]) for loop in shared):
                    return False
        return True

    def _block(self, block: list[Any], loops: tuple[Any, ...], nested: bool) -> None:
        for stmt in block:
            self._stmt(stmt, loops, nested)

    def _stmt(self, stmt: Any, loops: tuple[Any, ...], nested: bool) -> None:
        self.order += 1
        use = _Use(self.order, loops, nested)
        match stmt:
            case s.Assign(targets=[s.Name(id=id)], value=value) if may_make_list(value):
                self.made[id].append(use)
                self.filtered |= {id} if nested or isinstance(value, s.ListComp) and filters(value) else set()  # branches may differ
                self.perhaps |= set() if makes_list(value) else {id}
                self._expr(value, use, moved=False)
                return
            case s.Assign(targets=[s.Name(id=id)], value=value) if remakes(id, value):
                self.made[id].append(use)
                self.changes[id].append(use)
                self.perhaps.add(id)
                self._expr(value, use, moved=False)
                return
            case s.AnnAssign(target=s.Name() as target, value=value) if value is not None:
                return self._stmt(s.Assign([target], value), loops, nested)
            case s.AugAssign(target=s.Name(id=id), value=value) | s.Delete(targets=[s.Subscript(value=s.Name(id=id), slice=value)]):
                self.changes[id].append(use)
                if isinstance(stmt, s.AugAssign):
                    self.added.add(id)
                self._expr(value, use, moved=False)
                return
            case s.Assign(targets=[s.Tuple(elts=targets)], value=s.Tuple(elts=values)) if is_each_named(targets, values):
                for target, value in zip(targets, values, strict=True):
                    self._stmt(s.Assign([target], value), loops, nested)
                return
            case s.Assign(targets=targets, value=value):
                for n in (n for target in targets for n in s.walk(target) if isinstance(n, s.Name) and not isinstance(n.ctx, s.Load)):
                    self.moves[n.id].append(use)  # `items = jnp.stack(items)` ends what the name was
                self._expr(value, use, moved=True)
                return
            case s.Expr(value=value):
                self._expr(value, use, moved=False)
                return
            case s.Return(value=value):
                if value is not None:
                    self._expr(value, use, moved=False)
                return
            case s.While():
                inner = _Use(self.order, (*loops, stmt), True)
                self._expr(stmt.test, inner, moved=False)
                self._block(stmt.body, inner.loops, True)
                self._block(stmt.orelse, loops, True)
                return
            case s.For():
                self._bound(stmt.target)
                self._expr(stmt.iter, use, moved=False)
                self._block(stmt.body, (*loops, stmt), True)
                self._block(stmt.orelse, loops, True)
                return
            case s.If():
                self._expr(stmt.test, use, moved=False)
                self._block(stmt.body, loops, True)
                self._block(stmt.orelse, loops, True)
                return
            case s.With() | s.Try() | s.TryStar() | s.Match():
                for inner_block in s.blocks(stmt):
                    self._block(inner_block, loops, nested)
                for child in s.children(stmt):
                    if not isinstance(child, s.stmt):
                        self._other(child, use)
                return
            case s.Pass():
                return
        self._other(stmt, use)

    def _other(self, node: Any, use: _Use) -> None:
        """Anything else: whatever name stands in it is left alone."""
        self._bound(node)
        if not isinstance(node, (s.ExceptHandler, s.match_case)):
            self._expr(node, use, moved=True)

    def _bound(self, target: Any) -> None:
        self.barred |= {n.id for n in s.walk(target) if isinstance(n, s.Name) and not isinstance(n.ctx, s.Load)}

    def _expr(self, node: Any, use: _Use, moved: bool) -> None:
        """`moved`: the value of the expression is given to something that keeps it."""
        match node:
            case s.Name(id=id):
                if moved:
                    self.moves[id].append(use)
            case s.Attribute(value=s.Name(id=id)):  # `push = items.append`, which would keep the list
                self.barred.add(id)
            case s.Subscript(value=s.Name(), slice=index):
                self._expr(index, use, moved=False)
            case s.Call(func=func, args=args, keywords=keywords) if self._keeps_nothing(func):
                for a in (*args, *(k.value for k in keywords)):
                    self._expr(a, use, moved=False)
            case s.Call(func=s.Attribute(value=s.Name(id=id), attr=attr), args=args, keywords=keywords):
                if attr in CHANGING:
                    self.changes[id].append(use)
                for a in (*args, *(k.value for k in keywords)):
                    self._expr(a, use, moved=True)
            case s.Call(func=func, args=args, keywords=keywords):
                self._expr(func, use, moved=False)
                for place, a in (*enumerate(args), *((k.arg, k.value) for k in keywords)):
                    if isinstance(a, s.Name):
                        self.given[a.id].append((use, node, place))
                    else:
                        self._expr(a, use, moved=True)
            case s.Compare() | s.BinOp() | s.UnaryOp() | s.JoinedStr() | s.ListComp() | s.GeneratorExp():
                for child in s.children(node):
                    self._expr(child, use, moved=False)
            case s.NamedExpr(target=target, value=value):
                self.barred.add(target.id)
                self._expr(value, use, moved=True)
            case _:
                for child in s.children(node):
                    self._expr(child, use, moved)

    def is_read(self, call: Any, place: Any) -> bool:
        """Whether a call gives a variable to a function of the file that only reads it."""
        return place is not None and getattr(call.func, "id", "") not in self.local and self.context.only_reads(call, place)

    def _keeps_nothing(self, func: Any) -> bool:
        """Whether a callee is a builtin that only reads its arguments, or a function of an array library."""
        if isinstance(func, s.Name) and func.id in _READING and self.context.is_builtin(func):
            return True
        while isinstance(func, s.Attribute):
            func = func.value
        return isinstance(func, s.Name) and self.context.modules.get(func.id, "").split(".")[0] in ARRAY_LIBRARIES


_READING = frozenset("len sum min max any all sorted print range enumerate zip reversed str repr abs tuple list set bool isinstance iter".split())
