"""Which names an expression or statement reads and binds, and which are free in a function."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from autograph.trees import syntax as s

Names = frozenset[str]
NONE: Names = frozenset()
State = Names | None  # the names bound on every path to a point; None where no path leads there


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
            for child in _evaluated(node):
                _reads(child, found)
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


def loads(expr: Any) -> tuple[Names, bool]:
    """What an expression reads, as `reads`, and whether it binds nothing: then it is the same in any order."""
    found: set[str] = set()
    stack = [expr]
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind is s.Name:
            if node.id != s.RUNTIME:
                found.add(node.id)
        elif kind is s.NamedExpr:
            return reads(expr), False
        elif kind in _SCOPED:
            if s.contains(node, s.NamedExpr):
                return reads(expr), False
            _reads(node, found)
        elif kind is not s.Constant:
            stack += s.children(node)
    return frozenset(found), True


_SCOPED = frozenset({s.Lambda, s.ListComp, s.SetComp, s.DictComp, s.GeneratorExp})


def _evaluated(node: Any) -> list[Any]:
    """What a function, lambda or class evaluates in the scope around it, where it is made."""
    if isinstance(node, s.ClassDef):
        return [*node.decorator_list, *node.bases, *node.keywords]
    annotations = [p.annotation for p in s.parameters(node.args)] + [getattr(node, "returns", None)]
    parts = [*getattr(node, "decorator_list", []), *node.args.defaults, *node.args.kw_defaults, *annotations]
    return [part for part in parts if part is not None]


def binds(node: Any) -> Names:
    """Names that a node binds in its scope, certainly or perhaps; blocks inside a statement included."""
    found: set[str] = set()
    _binds(node, found)
    return frozenset(found)


def _binds(node: Any, found: set[str]) -> None:
    stack = [node]
    while stack:
        n = stack.pop()
        kind = type(n)
        if kind is s.Name:
            if type(n.ctx) in _BINDING:
                found.add(n.id)
        elif kind in _BINDS_OTHERWISE:
            stack += _binds_otherwise(n, found)
        elif kind is not s.Constant:
            stack += s.children(n)


_BINDING = frozenset({s.Store, s.Del})
_BINDS_OTHERWISE = frozenset({*s.SCOPES, *s.COMPREHENSIONS, s.alias, s.ExceptHandler, s.MatchAs, s.MatchStar, s.MatchMapping, s.AnnAssign})


def _binds_otherwise(node: Any, found: set[str]) -> list[Any]:
    """What a node binds by a text, and the nodes in it that may bind something."""
    match node:
        case s.FunctionDef() | s.AsyncFunctionDef() | s.ClassDef():
            found.add(node.name)
            return _evaluated(node)
        case s.Lambda():
            return _evaluated(node)
        case s.ListComp() | s.SetComp() | s.DictComp() | s.GeneratorExp():
            found |= {n.target.id for n in s.own(node) if isinstance(n, s.NamedExpr)}
            return []
        case s.alias():
            found.add(node.asname or node.name.split(".")[0])
            return []
        case s.ExceptHandler():
            if node.name is not None:
                found.add(node.name.id)
            return [child for child in (node.type, *node.body) if child is not None]
        case s.MatchAs() | s.MatchStar():
            if node.name is not None:
                found.add(_text(node.name))
            pattern = getattr(node, "pattern", None)
            return [] if pattern is None else [pattern]
        case s.MatchMapping():
            if node.rest is not None:
                found.add(_text(node.rest))
        case s.AnnAssign(target=s.Name(), value=None):
            return []  # a bare annotation binds nothing
    return s.children(node)


def binds_itself(stmt: Any) -> Names:
    """The names that a statement binds outside its blocks."""
    found: set[str] = set()
    match stmt:
        case s.If() | s.While():
            _binds(stmt.test, found)
        case s.For() | s.AsyncFor():
            _binds(stmt.iter, found)
            _binds(stmt.target, found)
        case s.With() | s.AsyncWith():
            for item in stmt.items:
                _binds(item, found)
        case s.Try() | s.TryStar():
            for handler in stmt.handlers:
                if handler.type is not None:
                    _binds(handler.type, found)
                if handler.name is not None:
                    found.add(handler.name.id)
        case s.Match():
            _binds(stmt.subject, found)
            for case in stmt.cases:
                _binds(case.pattern, found)
                if case.guard is not None:
                    _binds(case.guard, found)
    return frozenset(found)


def _text(name: Any) -> str:
    return name if isinstance(name, str) else name.id


def binds_all(nodes: Iterable[Any]) -> Names:
    return NONE.union(*map(binds, nodes))


def surely_binds(node: Any) -> Names:
    """Names that evaluating a node to its end certainly binds."""
    kind = type(node)
    if kind is s.Constant or (kind is s.Name and type(node.ctx) is s.Load):
        return NONE
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
        case s.FunctionDef() | s.AsyncFunctionDef() | s.ClassDef() | s.Lambda():
            named = NONE if isinstance(node, s.Lambda) else frozenset([node.name])
            return named.union(*map(surely_binds, _evaluated(node)))
        case s.AnnAssign():  # the annotation of a local is not evaluated
            return NONE if node.value is None else surely_binds(node.target) | surely_binds(node.value)
        case s.alias() | s.Name() | s.MatchAs() | s.MatchStar() | s.MatchMapping():
            return binds(node)
        case _:
            return NONE.union(*map(surely_binds, s.children(node)))


def live_before(node: Any, live: Names) -> Names:
    """What is live before a node is evaluated that is followed by `live`."""
    match node:
        case None:
            return live
        case s.Name():
            if isinstance(node.ctx, s.Store):
                return live - {node.id}
            return live | {node.id} if node.id != s.RUNTIME else live
        case s.BoolOp() | s.IfExp() | s.Compare() | s.UnaryOp(op=s.Not()):
            return _live_before_choice(node, live, live)
        case s.NamedExpr() | s.Assign():
            targets = node.targets if isinstance(node, s.Assign) else [node.target]
            return live_before(node.value, _live_before_all(targets, live))
        case s.AugAssign(target=s.Name(id=id)):
            return live_before(node.value, live - {id}) | {id}
        case s.AnnAssign():  # the annotation of a local is not evaluated
            return live_before(node.value, live if isinstance(node.target, s.Name) and node.value is None else live_before(node.target, live))
        case s.Delete():
            return _live_before_all(node.targets, live - deletes(node)) | deletes(node)
        case s.AST(keys=[*keys], values=[*values]):  # a dict
            return _live_before_all([part for pair in zip(keys, values) for part in pair], live)
        case s.Call() | s.Expr() | s.Tuple() | s.List() | s.Starred() | s.BinOp() | s.Attribute() | s.Subscript() | s.keyword():
            return _live_before_all(list(s.children(node)), live)
        case _:
            return (live - surely_binds(node)) | reads(node)


def _live_before_all(nodes: Sequence[Any], live: Names) -> Names:
    for node in reversed(nodes):
        live = live_before(node, live)
    return live


def live_before_test(node: Any, yes: Names, no: Names) -> Names:
    """What is live before a condition after which `yes` is live if it holds, and `no` if not."""
    if isinstance(node, s.Constant):
        return yes if node.value else no
    return _live_before_choice(node, yes, no)


def _live_before_choice(node: Any, yes: Names, no: Names) -> Names:
    match node:
        case s.UnaryOp(op=s.Not()):
            return _live_before_choice(node.operand, no, yes)
        case s.IfExp():
            return _live_before_choice(node.test, _live_before_choice(node.body, yes, no), _live_before_choice(node.orelse, yes, no))
        case s.BoolOp(op=s.And()):
            for value in reversed(node.values):
                yes = _live_before_choice(value, yes, no)
            return yes
        case s.BoolOp():
            for value in reversed(node.values):
                no = _live_before_choice(value, yes, no)
            return no
        case s.Compare():
            yes |= no
            for value in reversed(node.comparators):
                yes = live_before(value, yes) | (no if value is not node.comparators[0] else NONE)
            return live_before(node.left, yes)
        case _:
            return live_before(node, yes | no)


def binds_if(node: Any, bound: State) -> tuple[State, State]:
    """What is bound after a condition that holds, and after one that does not."""
    if bound is None:
        return None, None
    match node:
        case s.Constant():
            return (bound, None) if node.value else (None, bound)
        case s.UnaryOp(op=s.Not()):
            return binds_if(node.operand, bound)[::-1]
        case s.IfExp():
            ways = [binds_if(arm, state) for arm, state in zip((node.body, node.orelse), binds_if(node.test, bound))]
            return meet(ways[0][0], ways[1][0]), meet(ways[0][1], ways[1][1])
        case s.BoolOp():
            done: State = None
            conjunction = isinstance(node.op, s.And)
            for value in node.values:
                yes, no = binds_if(value, bound)
                bound, done = (yes, meet(done, no)) if conjunction else (no, meet(done, yes))
            return (bound, done) if conjunction else (done, bound)
        case s.Compare():
            return bound.union(*map(surely_binds, s.children(node))), bound | surely_binds(node)
        case _:
            return bound | surely_binds(node), bound | surely_binds(node)


def meet(*states: State) -> State:
    """Names bound on every path; None stands for a path that is never taken."""
    found: State = None
    for state in states:
        if state is not None and state is not found:
            found = state if found is None else found & state
    return found


def deletes(stmt: Any) -> Names:
    return frozenset(n.id for n in s.own(stmt) if isinstance(n, s.Name) and isinstance(n.ctx, s.Del))


def may_raise(stmt: Any) -> bool:
    """Whether a statement may raise in what it evaluates itself, outside its blocks."""
    match stmt:
        case s.Pass() | s.Break() | s.Continue() | s.Global() | s.Nonlocal() | s.Try() | s.TryStar():
            return False
        case s.If() | s.While():
            return not isinstance(stmt.test, s.Constant)
        case s.Assign():
            return not (_harmless(stmt.value) and all(isinstance(target, s.Name) for target in stmt.targets))
        case s.AnnAssign():
            return not (_harmless(stmt.value) and isinstance(stmt.target, s.Name))
        case s.Return() | s.Expr():
            return not _harmless(stmt.value)
        case _:
            return True


def _harmless(expr: Any) -> bool:
    """Whether an expression cannot raise.  Reading a name can: it may be unbound."""
    return expr is None or isinstance(expr, s.Constant) or isinstance(expr, s.Lambda) and not (expr.args.defaults or any(expr.args.kw_defaults))


def irrefutable(pattern: Any) -> bool:
    return isinstance(pattern, s.MatchAs) and (pattern.pattern is None or irrefutable(pattern.pattern))


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


def mangled(name: str, cls: str) -> str:
    """A name as the compiler writes it in a class: `__n` becomes `_Meter__n`."""
    cls = cls.lstrip("_")
    return f"_{cls}{name}" if cls and name.startswith("__") and not name.endswith("__") and "." not in name else name
