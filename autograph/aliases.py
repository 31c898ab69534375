"""Which names and places may hold the array that a statement stores into: found by following moves through the user's text.

A move is `b = a`, unpacking, a conditional expression of names, a store into a container or attribute, and the loads from them.  Results of
calls and operators are values.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any, NamedTuple

from autograph.paths import KEEPING, UNKNOWN, Sources, Stored, arguments_of, chain, containers_of, path_of

Pair = frozenset[str]
State = frozenset[Pair]  # pairs of paths that may hold the same array, or one an array and the other a container of it; alone: surely bound
Position = tuple[int, int]
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


class Update(NamedTuple):
    """A call that may store into arrays it is given: the arguments (positions or keywords), each with the path that is bound anew."""

    arguments: tuple[int | str, ...]
    paths: tuple[str, ...]


class Aliases:
    """`stores`: for each store into a subscript, by its place, the other paths that may hold the array; `calls`: calls that store.

    `given` are pairs of the function's parameters and of names from outside that its callers give it as well.
    """

    def __init__(self, node: Any, stored: Stored, given: State = frozenset()) -> None:
        self.stores: dict[Position, tuple[str, ...]] = {}
        self.operated: dict[Position, tuple[str, ...]] = {}  # for `x += v`, the same
        self.calls: dict[Position, Update] = {}
        self.shared: dict[Position, tuple[str, ...]] = {}  # for calls that store: the other paths
        self.returned: set[str] = set()  # the paths whose array the function may return
        self.handed: set[tuple[str, int | str, str]] = set()  # callee, argument, and a name that may hold what is given there
        lasting = self._start(node, stored, given)
        if lasting - given:  # an earlier call may have left them
            self._start(node, stored, given | lasting)
        bound = _bound(node).union(*given)
        self.stores, self.operated, self.shared = (
            {at: tuple(_marked(p, bound) for p in paths) for at, paths in found.items()} for found in (self.stores, self.operated, self.shared)
        )

    def _start(self, node: Any, stored: Stored, state: State) -> State:
        """Walk the function; gives the pairs of places that last when it ends: attributes, and what callers hold."""
        self._stored = stored
        self._ends: list[State] = []
        self._owners: set[str] = set()  # what arrays have been put into
        self._breaks: list[State] = []
        self._continues: list[State] = []
        if not isinstance(node, ast.Lambda):
            self._containers = containers_of(node)
            self._sources = Sources(self._containers, stored, _bound(node) | outside(node))
            args = node.args
            given = (*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg)))
            end = self._block(node.body, state | {frozenset({a.arg}) for a in given})
            found = frozenset[Pair]().union(*self._ends, *([end] if end is not None else []))
            parameters = {a.arg for a in given}
            around, fresh = parameters | outside(node), parameters - self._owners
            lasting = {p for p in found if len(p) == 2 and any("." in q for q in p) and not p & fresh}
            return frozenset(p for p in lasting if all(q.split(".")[0] in around for q in p))
        return frozenset()

    def _block(self, body: Iterable[Any], state: State | None) -> State | None:
        for stmt in body:
            if state is None:
                return None
            state = self._stmt(stmt, state)
        return state

    def _stmt(self, stmt: Any, state: State) -> State | None:
        match stmt:
            case ast.Assign(targets=targets, value=value):
                state = self._expr(value, state)
                for target in targets:
                    state = self._assign(target, value, state)
                names = [p for t in targets if (p := path_of(t))]  # `a = b = f()`: one array
                return state | {frozenset({p, q}) for p in names for q in names if p != q}
            case ast.AnnAssign(target=target, value=value) if value is not None:
                return self._assign(target, value, self._expr(value, state))
            case ast.AugAssign(target=target, value=value):
                state = self._expr(value, state)
                if not isinstance(target, ast.Attribute):  # who else holds what is in an attribute is known when it runs
                    self._store(target, state, self.operated if isinstance(target, ast.Name) else self.stores)
                return state  # one of NumPy's is changed in place: the others hold the same array still
            case ast.If(test=test, body=body, orelse=orelse):
                state = self._expr(test, state)
                return _join(self._block(body, state), self._block(orelse, state))
            case ast.While() | ast.For() | ast.AsyncFor():
                return self._loop(stmt, state)
            case ast.Break():
                self._breaks.append(state)
                return None
            case ast.Continue():
                self._continues.append(state)
                return None
            case ast.Return() | ast.Raise():
                for child in ast.iter_child_nodes(stmt):
                    state = self._expr(child, state)
                if isinstance(stmt, ast.Return) and stmt.value is not None:
                    given = self._sources.of(stmt.value)
                    self.returned |= given.union(*(_aliases(p, state) for p in given))
                self._ends.append(state)
                return None
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                for item in items:
                    state = self._expr(item.context_expr, state)
                    if item.optional_vars is not None:
                        state = self._assign(item.optional_vars, None, state)
                return self._block(body, state)
            case ast.Try() | ast.TryStar():
                inside = self._block(stmt.body, state)
                around = _join(state, inside) or state
                after = self._block(stmt.orelse, inside)
                for handler in stmt.handlers:
                    after = _join(after, self._block(handler.body, around))
                if not stmt.finalbody:
                    return after
                last = self._block(stmt.finalbody, _join(after, around) or around)
                return last if after is not None else None
            case ast.Match(subject=subject, cases=cases):
                state = self._expr(subject, state)
                return _join(state, *(self._block(case.body, state) for case in cases))
            case ast.Delete(targets=targets):
                gone = {p for t in targets if (p := path_of(t))}
                return _without(state, gone) - {frozenset({p}) for p in gone}
            case _ if isinstance(stmt, _SCOPES):
                return state
        for child in ast.iter_child_nodes(stmt):
            state = self._expr(child, state)
        return state

    def _loop(self, loop: Any, state: State) -> State | None:
        breaks, continues = self._breaks, self._continues
        head = state if isinstance(loop, ast.While) else self._expr(loop.iter, state)
        while True:
            self._breaks, self._continues = [], []
            inside = (
                self._expr(loop.test, head)
                if isinstance(loop, ast.While)
                else self._assign(loop.target, self._iterated(loop.iter), head, element=True)
            )
            end = self._block(loop.body, inside)
            again = _join(head, end, *self._continues)
            if again == head:
                break
            head = again or head
        out = _join(self._block(loop.orelse, inside if isinstance(loop, ast.While) else head), *self._breaks)
        self._breaks, self._continues = breaks, continues
        return out

    def _iterated(self, node: Any) -> Any:
        """What a loop iterates, if its items may be arrays that something else holds, or parts of one."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("enumerate", "zip", "reversed"):
            return ast.Tuple([inner for a in node.args if (inner := self._iterated(a)) is not None], ast.Load())
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("values", "items"):
            return node.func.value
        return node if isinstance(node, (ast.Tuple, ast.List, ast.Call)) or path_of(node) else None

    def _expr(self, node: Any, state: State) -> State:
        """What evaluating an expression does: walruses, methods that keep their argument, calls that store."""
        stack, found = [node], []
        while stack:
            n = stack.pop()
            found.append(n)
            if not isinstance(n, _SCOPES):
                stack += reversed(list(ast.iter_child_nodes(n)))
        for n in reversed(found):
            if isinstance(n, ast.NamedExpr):
                state = self._assign(n.target, n.value, state)
            elif isinstance(n, ast.Call):
                state = self._call(n, state)
        return state

    def _call(self, node: ast.Call, state: State) -> State:
        func = node.func
        name = func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""
        if isinstance(func, ast.Attribute) and name in KEEPING:
            owner = path_of(func.value) or UNKNOWN
            return state | {frozenset({owner, p}) for a in node.args for p in self._sources.of(a) if p != owner}
        for k, given in [*enumerate(node.args, isinstance(func, ast.Attribute)), *((n.arg, n.value) for n in node.keywords)]:
            if k is not None and (path := path_of(given)):
                self.handed |= {(name, k, q) for q in (path, *_aliases(path, state)) if q.isidentifier()}
        if (parameters := self._stored.get(name)) is not None:
            arguments = arguments_of(node, parameters, isinstance(func, ast.Attribute))
            if arguments:
                self.calls[_at(node)] = Update(tuple(k for k, _ in arguments), tuple(p for _, p in arguments))
                others = {q for _, p in arguments for q in _aliases(p, state)} - {p for _, p in arguments}
                self.shared[_at(node)] = tuple(sorted({*self.shared.get(_at(node), ()), *others}))
        return state

    def _store(self, target: Any, state: State, found: dict[Position, tuple[str, ...]]) -> None:
        if path := path_of(chain(target)[0]):
            others = _aliases(path, state)
            found[_at(target)] = tuple(sorted({*found.get(_at(target), ()), *others}))

    def _assign(self, target: Any, value: Any, state: State, element: bool = False) -> State:
        pairs: list[tuple[str, frozenset[str]]] = []
        self._moves(target, value, state, pairs, element)
        moved = {p for p, _ in pairs}
        reach = {p: frozenset().union(*({s} | _aliases(s, state) for s in found)) for p, found in pairs}
        new = set(_without(state, moved)) | {frozenset({p}) for p in moved if p.isidentifier()}
        for k, (p, _) in enumerate(pairs):
            new |= {frozenset({p, q}) for q in reach[p] if q != p and q not in moved and q.split(".")[0] not in moved}
            new |= {frozenset({p, q}) for q, _ in pairs[:k] if q != p and reach[p] & reach[q]}
        return frozenset(new)

    def _moves(self, target: Any, value: Any, state: State, pairs: list[tuple[str, frozenset[str]]], element: bool) -> None:
        match target:
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                parts = (
                    value.elts if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(elts) and not element else [None] * len(elts)
                )
                for t, v in zip(elts, parts, strict=True):
                    self._moves(t, v if v is not None else value, state, pairs, element)
            case ast.Starred(value=inner):
                self._moves(inner, value, state, pairs, element)
            case ast.Subscript():
                self._store(target, state, self.stores)
                path = path_of(chain(target)[0])
                holds = path in self._containers or (path and isinstance(value, (ast.Name, ast.Attribute)) and not _is_slice(target))
                if value is not None and holds and (found := self._sources.of(value)):
                    self._owners.add(path)
                    pairs.append((path, found | {path}))
            case _:
                if path := path_of(target):
                    pairs.append((path, self._sources.of(value) if value is not None else frozenset()))


def _bound(node: Any) -> frozenset[str]:
    """The names that a function binds itself, or declares."""
    args = node.args
    found = {a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg)))}
    stack = list(node.body) if isinstance(node.body, list) else [node.body]
    while stack:
        n = stack.pop()
        match n:
            case ast.Name(id=id, ctx=ast.Store() | ast.Del()):
                found.add(id)
            case ast.Subscript(ctx=ast.Store()):
                base = chain(n)[0]
                found |= {base.id} if isinstance(base, ast.Name) else set()
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                found.update(names)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
        if not isinstance(n, _SCOPES):
            stack += ast.iter_child_nodes(n)
    return frozenset(found)


def outside(node: Any) -> frozenset[str]:
    """The names from outside that a function uses, or a function in it."""
    args = node.args
    bound = {a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg)))}
    used: set[str] = set()
    declared: set[str] = set()
    stack = list(node.body) if isinstance(node.body, list) else [node.body]
    while stack:
        n = stack.pop()
        match n:
            case ast.Name(id=id, ctx=ast.Load()):
                used.add(id)
            case ast.Name(id=id):
                bound.add(id)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                declared.update(names)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                bound.add(name)
        if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            used |= outside(n)
        else:
            stack += ast.iter_child_nodes(n)
    return frozenset(used - bound | declared)


def _marked(path: str, bound: frozenset[str]) -> str:
    """A path; of a name from outside the function, which is not bound anew, `=name`."""
    return path if "." in path or path in bound or path == UNKNOWN else f"={path}"


def _join(*states: State | None) -> State | None:
    known = [s for s in states if s is not None]
    if not known:
        return None
    sure = {p for p in frozenset.intersection(*known) if len(p) == 1}
    gone = {n for s in known for (n,) in (p for p in s if len(p) == 1)} - {n for (n,) in sure}
    pairs = {p for s in known for p in s if len(p) == 2 and not any(n.split(".")[0] in gone for n in p)}
    return frozenset(pairs | sure)


def _without(state: State, paths: Iterable[str]) -> State:
    gone = set(paths)
    if not gone:
        return state
    return frozenset(pair for pair in state if len(pair) == 1 or not any(p in gone or p.split(".")[0] in gone for p in pair))


def _aliases(path: str, state: State) -> frozenset[str]:
    return frozenset(q for pair in state if path in pair for q in pair if q != path)


def _is_slice(target: Any) -> bool:
    """Whether a store is into a part of an array or list, which takes the values."""
    parts = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
    return any(isinstance(p, ast.Slice) for p in parts) or len(parts) > 1


def _at(node: Any) -> Position:
    return node.lineno, node.col_offset
