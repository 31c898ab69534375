"""Rewrite `if`, `while` and `for` as calls that take the variables that change and return them.

    if x > 0:                       def orelse():
        y = x                           z()
    else:                  =>           return -x
        z()                         y = ag.cond(x > 0, lambda: x, orelse)
        y = -x

    while x > tol:                  def body(x, steps):
        x = f(x)           =>           x = f(x)
        steps += 1                      steps += 1
                                        return x, steps
                                    x, steps = ag.while_loop(lambda x, steps: x > tol, body, x, steps)

The parameters of a block are the variables that it assigns *and* needs from outside; what it only reads it captures.
"""

from __future__ import annotations

from typing import Any

from autograph import syntax as s
from autograph.facts import Bound, Liveness
from autograph.names import NONE, Names, Scope, binds_all, free, reads, surely_binds
from autograph.passes.branch_values import value_of
from autograph.passes.context import Context
from autograph.passes.tails import falls_through
from autograph.passes.unset import check_reads
from autograph.quote import quote

_LARGEST_LAMBDA = 12  # nodes of a loop's test, and two for each variable, that are still read at a glance


def lower_control_flow(fn: Any, context: Context) -> None:
    if not _branches(fn.body):
        return
    _Lower(fn, context).run()


def _branches(block: list[Any]) -> bool:
    kinds = (s.If, s.While, s.For)
    return any(isinstance(stmt, kinds) or (not isinstance(stmt, s.SCOPES) and any(map(_branches, s.blocks(stmt)))) for stmt in block)


class _Lower:
    def __init__(self, fn: Any, context: Context) -> None:
        self.fn, self.context, self.scope = fn, context, Scope(fn)
        self.scope.ordered(())  # the order of the user's text
        memo = context.memo
        self.binds = memo.binds_all
        self.bound = Bound(fn.body, frozenset(self.scope.parameters) | self.scope.globals | self.scope.nonlocals, memo)
        self.live = self.own = Liveness(fn.body, NONE, memo, self.bound)
        if self.scope.shared:  # a variable that a closure may read is live while such a closure may exist
            self.live = Liveness(fn.body, self.scope.shared, memo, self.bound)
        self.exists = _closures(fn.body, self.scope)
        self.tracked: set[str] = set()
        self.plans: dict[Any, _Plan] = {}

    def run(self) -> None:
        for node, known in self.bound.before.items():
            if known is not None and isinstance(node, (s.If, s.While, s.For)):
                self.plans[node] = plan = self._plan(node)
                self.tracked |= (plan.ins - known) - self.scope.globals - self.scope.nonlocals
        body = check_reads(self.fn.body, self.scope, self.bound, frozenset(self.tracked), self.context)
        body = self.block(body)
        shared = NONE.union(*(plan.shared for plan in self.plans.values())) & self.scope.locals
        missing = shared - binds_all(body) - frozenset(self.scope.parameters) if shared else NONE
        for name in self.scope.ordered(missing):  # `nonlocal` needs a binding
            body[:0] = quote("$name = ag.Unset($text)", body[0], name=name, text=s.constant(name))
        self.fn.body = body

    def _plan(self, node: Any) -> _Plan:
        end = (node.end_lineno, node.end_col_offset) if hasattr(node, "end_lineno") else _FAR
        shared = frozenset(n for n in self.scope.shared if self.exists.get(n, _NEAR) <= end)

        def live(fact: str, key: Any) -> Names:
            return (getattr(self.live, fact)[key] & shared) | (getattr(self.own, fact)[key] - shared)

        after, escaping = live("after", node), live("raising", node)
        if isinstance(node, s.If):
            changed = self.binds(node.body) | self.binds(node.orelse)
            returns = not falls_through(node.body) and not falls_through(node.orelse)
            outs = NONE if returns else changed & (after | escaping)
            entries = [live("before", b[0]) if b else after for b in (node.body, node.orelse)]
            return _Plan(changed & (entries[0] | entries[1] | escaping), outs, changed & (shared | escaping), returns)
        changed, target = self.binds(node.body), NONE
        if isinstance(node, s.For):
            target = surely_binds(node.target)
            head = live("before", node.body[0]) - target
        else:
            head = live("before", node)
        state = (changed & (head | after | escaping)) | (target & (after | escaping))
        return _Plan(state, state, (changed | target) & (shared | escaping), False)

    def block(self, block: list[Any]) -> list[Any]:
        return [new for stmt in block for new in self.stmt(stmt)]

    def stmt(self, stmt: Any) -> list[Any]:
        plan = self.plans.get(stmt)
        if plan is not None:
            match stmt:
                case s.If():
                    return self.branch(stmt, plan)
                case s.While():
                    return self.while_loop(stmt, plan)
                case s.For():
                    return self.for_loop(stmt, plan)
        if not isinstance(stmt, s.SCOPES):
            for inner in s.blocks(stmt):
                inner[:] = self.block(inner)
        return [stmt]

    def branch(self, node: Any, plan: _Plan) -> list[Any]:
        ins, outs = self.scope.ordered(plan.ins), self.scope.ordered(plan.outs)
        body, orelse = ([x for x in self.block(b) if not isinstance(x, s.Pass)] for b in (node.body, node.orelse))
        context = self.context
        sides: list[Any] = []
        out: list[Any] = []
        values = [None if plan.shared else value_of(b, outs, node.test) for b in (body, orelse)]
        state = [] if all(values) else ins
        for stem, stmts, value in zip(("then", "orelse"), (body, orelse), values, strict=True):
            if not stmts and ins == outs and not all(values):
                sides.append(s.runtime("keep"))
            elif value is not None:
                sides.append(_lambda(state, value))
            else:
                name = context.block_name(stem)
                out += self._function(name, [], ins, plan, self._returning(stmts, outs, plan.returns, node), node)
                sides.append(s.at(s.name(name), node.test))
        call = quote("ag.cond($test, $then, $orelse, $ins)", node, test=node.test, then=sides[0], orelse=sides[1], ins=state)[0].value
        return [*out, *self._result(call, outs, plan.returns, node)]

    def while_loop(self, node: Any, plan: _Plan) -> list[Any]:
        state = self.scope.ordered(plan.ins)
        out: list[Any] = []
        calls = bool(plan.shared & (plan.ins | reads(node.test))) and s.contains(node.test, s.Call)  # perhaps of a closure that reads the cell
        size = len(list(s.walk(node.test))) + 2 * len(state)
        if calls or size > _LARGEST_LAMBDA or s.contains(node.test, s.NamedExpr):
            name = self.context.block_name("test")
            out += self._function(name, [], state, plan, quote("return $test", node.test, test=node.test), node.test)
            test = s.at(s.name(name), node.test)
        else:
            test = _lambda(state, node.test)
        name = self.context.block_name("body")
        out += self._function(name, [], state, plan, self._returning(self.block(node.body), state, False, node), node)
        call = quote("ag.while_loop($test, $body, $state)", node, test=test, body=name, state=state)[0].value
        return [*out, *self._result(call, state, False, node)]

    def for_loop(self, node: Any, plan: _Plan) -> list[Any]:
        state = self.scope.ordered(plan.ins)
        body, until = node.body, None
        match body[-1]:
            case s.If(test=s.Name(id=flag), body=[s.Break()]):
                body, until = body[:-1], flag
        target = node.target
        if isinstance(target, s.Name) and target.id not in state and target.id not in plan.shared:
            item, unpack = target.id, []
        else:
            item = self.context.block_name("item")
            unpack = quote("$target = $item", target, target=target, item=item)
        name = self.context.block_name("body")
        stmts = self._returning([*unpack, *self.block(body)], state, False, node)
        out = self._function(name, [item], state, plan, stmts, node)
        call = quote("ag.for_loop($iter, $body, $state)", node, iter=node.iter, body=name, state=state)[0].value
        if until is not None:
            call.keywords.append(s.keyword("until", s.at(s.constant(until), node)))
        return [*out, *self._result(call, state, False, node)]

    def _function(self, name: str, first: list[str], ins: list[str], plan: _Plan, stmts: list[Any], at: Any) -> list[Any]:
        """`def name(first, ins): stmts`, where a variable that is shared with closures is assigned in its cell."""
        shared = self.scope.ordered(plan.shared & (binds_all(stmts) | frozenset(ins))) if plan.shared else []
        enter: list[Any] = []
        for keyword, names in (("global", [n for n in shared if n in self.scope.globals]), ("nonlocal", [n for n in shared if n not in self.scope.globals])):
            if names:
                enter += quote(f"{keyword} $names", at, names=names)
        for n in shared:
            if n in ins:
                enter += quote("$name = $given", at, name=n, given=n + "_")
        parameters = [n + "_" if n in shared else n for n in ins]
        return quote("def $name($first, $ins):\n    $body", at, name=name, first=first, ins=parameters, body=enter + stmts)

    def _returning(self, block: list[Any], outs: list[str], returns: bool, at: Any) -> list[Any]:
        if returns:
            return block
        stmts = [b for b in block if not isinstance(b, s.Pass)]
        if not outs or (stmts and isinstance(stmts[-1], s.Raise)):
            return stmts or quote("pass", at)
        if stmts and isinstance(stmts[-1], s.Assign) and _assigns(stmts[-1], outs):
            return [*stmts[:-1], s.at(s.Return(stmts[-1].value), stmts[-1])]
        return [*stmts, *quote("return $outs,", at, outs=outs)]

    def _result(self, call: Any, outs: list[str], returns: bool, at: Any) -> list[Any]:
        if returns:
            return quote("return $call", at, call=call)
        return quote("$outs, = $call", at, outs=outs, call=call) if outs else quote("$call", at, call=call)


_FAR, _NEAR = (1 << 30, 0), (0, 0)


def _closures(body: list[Any], scope: Scope) -> dict[str, tuple[int, int]]:
    """For each shared name, the place from which on a closure that captures it may exist."""
    found: dict[str, tuple[int, int]] = {}
    if not scope.shared:
        return found

    def visit(node: Any, loop: Any) -> None:
        if isinstance(node, (*s.SCOPES, s.GeneratorExp)):
            start = loop or node
            place = (start.lineno, start.col_offset) if hasattr(start, "lineno") else _NEAR
            for name in free(node) & scope.shared:
                found[name] = min(found.get(name, _FAR), place)
        if not isinstance(node, s.SCOPES):
            looping = loop or (node if isinstance(node, s.LOOPS) else None)
            for child in s.children(node):
                visit(child, looping)

    for stmt in body:
        visit(stmt, None)
    return {n: p for n, p in found.items() if n not in scope.globals | scope.nonlocals}


def _assigns(stmt: Any, outs: list[str]) -> bool:
    """Whether a statement assigns the result of one of our operators to exactly these names."""
    match stmt.targets, stmt.value:
        case [[s.Name(id=id)], s.Call(func=s.Attribute(value=s.Name(id=s.RUNTIME), attr="cond" | "while_loop" | "for_loop"))]:
            return [id] == outs
        case [[s.Tuple(elts=elts)], s.Call(func=s.Attribute(value=s.Name(id=s.RUNTIME), attr="cond" | "while_loop" | "for_loop"))]:
            return [e.id for e in elts if isinstance(e, s.Name)] == outs
    return False


def _lambda(parameters: list[str], value: Any) -> Any:
    new = s.thunk(value)
    new.args.args = [s.name(n, s.Param()) for n in parameters]
    return new


class _Plan:
    """What a statement takes, gives and shares: names."""

    def __init__(self, ins: Names, outs: Names, shared: Names, returns: bool) -> None:
        self.ins, self.outs, self.shared, self.returns = ins, outs, shared, returns
