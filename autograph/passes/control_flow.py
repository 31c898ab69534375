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

from autograph.analysis.names import NONE, Names, binds_all, reads, surely_binds
from autograph.passes.block_signatures import Plan, Plans, until_of
from autograph.passes.branch_values import value_of
from autograph.passes.callables import is_runtime
from autograph.passes.context import Context
from autograph.passes.maybe_unbound import lazy_operands
from autograph.passes.new_lists import GROWING
from autograph.passes.switches import Switch, switch_of
from autograph.passes.unset import check_reads
from autograph.trees import syntax as s
from autograph.trees.quote import quote

_LARGEST_LAMBDA = 12  # nodes of a loop's test, and two for each variable, that are still read at a glance


def lower_control_flow(fn: Any, context: Context) -> None:
    unsure = context.unsure.get(fn)
    if _branches(fn.body) or (unsure and any(n in unsure for operand in lazy_operands(fn.body) for n in s.walk(operand))):
        _Lower(fn, context).run()


def _branches(block: list[Any]) -> bool:
    kinds = (s.If, s.While, s.For)
    return any(isinstance(stmt, kinds) or (not isinstance(stmt, s.SCOPES) and any(map(_branches, s.blocks(stmt)))) for stmt in block)


def _told(names: Names, stmt: Any) -> list[Any]:
    """The runtime is told that a statement binds global or nonlocal variables."""
    return [q for name in sorted(names) for q in quote("ag.rebinds(lambda: $name)", stmt, name=name)]


class _Lower:
    def __init__(self, fn: Any, context: Context) -> None:
        self.fn, self.context = fn, context
        self.plans = Plans(fn, context)
        self.scope = self.plans.scope
        self.depth = 0

    def run(self) -> None:
        plans = self.plans
        body = check_reads(self.fn.body, self.scope, plans.bound, plans.tracked, self.context)
        self.shared = NONE.union(*(plan.shared for plan in plans.of.values()))
        body = self.block(body)
        missing = self._unbound(body) - frozenset(self.scope.parameters) if self.shared & self.scope.locals else NONE
        for name in self.scope.ordered(missing):  # `nonlocal` needs a binding
            body[:0] = quote("$name = ag.Unset($text)", body[0], name=name, text=s.constant(name))
        self.fn.body = body

    def _unbound(self, body: list[Any]) -> Names:
        """The names that a block in `body` declares nonlocal and no function of ours around it binds."""
        found = NONE
        for stmt in s.own(*body):
            if isinstance(stmt, s.FunctionDef) and stmt.name in self.context.blocks.values():
                declared = frozenset(n for b in stmt.body if isinstance(b, s.Nonlocal) for n in b.names)
                found |= (self._unbound(stmt.body) - frozenset(s.parameter_names(stmt.args))) | (declared & self.scope.locals)
        return found - binds_all(body)

    def block(self, block: list[Any]) -> list[Any]:
        return [new for stmt in block for new in self.stmt(stmt)]

    def inside(self, block: list[Any]) -> list[Any]:
        """A block that becomes a function."""
        self.depth += 1
        new = [x for x in self.block(block) if not isinstance(x, s.Pass)]
        self.depth -= 1
        return new

    def stmt(self, stmt: Any) -> list[Any]:
        plan = self.plans.of.get(stmt)
        if plan is not None:
            check = _told(plan.outs & self.plans.declared, stmt) if not self.depth else []
            match stmt:
                case s.If():
                    return [*check, *self.branch(stmt, plan)]
                case s.While():
                    return [*check, *self.while_loop(stmt, plan)]
                case s.For():
                    return [*check, *self.for_loop(stmt, plan)]
        if isinstance(stmt, s.AnnAssign) and isinstance(stmt.target, s.Name) and stmt.target.id in self.shared:  # cannot be nonlocal
            return [s.at(s.Assign([stmt.target], stmt.value, None), stmt)] if stmt.value is not None else []
        if not isinstance(stmt, s.SCOPES):
            for inner in s.blocks(stmt):
                inner[:] = self.block(inner)
        return [stmt]

    def branch(self, node: Any, plan: Plan) -> list[Any]:
        outs = self.scope.ordered(plan.outs)
        if (switch := switch_of(node)) is not None:
            return self.switch(switch, plan, node)
        out, (then, orelse), state = self._sides([("then", node.body), ("orelse", node.orelse)], plan, node)
        call = quote("ag.cond($test, $then, $orelse, $ins)", node, test=node.test, then=then, orelse=orelse, ins=state)[0].value
        return [*out, *self._result(call, outs, plan.returns, node)]

    def switch(self, switch: Switch, plan: Plan, node: Any) -> list[Any]:
        stems = [f"case_{k + 1}" for k in range(len(switch.sides))]
        blocks = [*zip(stems, (link.body for _, link in switch.sides), strict=True), ("orelse", switch.default)]
        out, (*cases, default), state = self._sides(blocks, plan, node)
        keys = [k[0] if len(k) == 1 else s.at(s.Tuple(k, s.Load()), k[0]) for k, _ in switch.sides]
        table = s.at(s.Dict(keys, cases), node.test)
        call = quote("ag.switch($subject, $table, $default, $ins)", node, subject=switch.subject, table=table, default=default, ins=state)[0].value
        return [*out, *self._result(call, self.scope.ordered(plan.outs), plan.returns, node)]

    def _sides(self, blocks: list[tuple[str, list[Any]]], plan: Plan, node: Any) -> tuple[list[Any], list[Any], list[str]]:
        """The functions that the sides of a branch become, what stands for each in the call, and the state that they take."""
        ins, outs = self.scope.ordered(plan.ins), self.scope.ordered(plan.outs)
        lowered = [(stem, self.inside(block)) for stem, block in blocks]
        values = [None if plan.shared else value_of(b, outs, node.test) for _, b in lowered]
        grows = any(_grows(v) for v in values if v is not None)
        state = [] if all(values) and not grows else ins
        out: list[Any] = []
        sides: list[Any] = []
        for (stem, stmts), value in zip(lowered, values, strict=True):
            if not stmts and ins == outs and (grows or not all(values)):
                sides.append(s.runtime("keep"))
            elif value is not None:
                sides.append(_lambda(state, value))
            else:
                name = self.context.block_name(stem)
                out += self._function(name, [], ins, plan, self._returning(stmts, outs, plan.returns, node), node)
                sides.append(s.at(s.name(name), node.test))
        return out, sides, state

    def while_loop(self, node: Any, plan: Plan) -> list[Any]:
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
        out += self._function(name, [], state, plan, self._returning(self.inside(node.body), state, False, node), node)
        call = quote("ag.while_loop($test, $body, $state)", node, test=test, body=name, state=state)[0].value
        return [*out, *self._result(call, state, False, node)]

    def for_loop(self, node: Any, plan: Plan) -> list[Any]:
        state = self.scope.ordered(plan.ins)
        until = until_of(node)
        body = node.body[:-1] if until else node.body
        target = node.target
        if isinstance(target, s.Name) and target.id not in state and target.id not in plan.shared:
            item, unpack = target.id, []
        else:
            item = self.context.block_name("item")
            unpack = quote("$target = $item", target, target=target, item=item)
        name = self.context.block_name("body")
        stmts = self._returning([*unpack, *self.inside(body)], state, False, node)
        out = self._function(name, [item], state, plan, stmts, node)
        call = quote("ag.for_loop($iter, $body, $state)", node, iter=node.iter, body=name, state=state)[0].value
        if until:
            call.keywords.append(s.keyword("until", s.at(s.constant(until), node)))
        if targets := [n for n in state if n in surely_binds(target)]:  # what they hold before an iteration, no iteration sees
            call.keywords.append(_names("targets", targets, target))
            if until and (unread := [n for n in targets if n in plan.unread]):
                call.keywords.append(_names("unread", unread, target))
        return [*out, *self._result(call, state, False, node)]

    def _function(self, name: str, first: list[str], ins: list[str], plan: Plan, stmts: list[Any], at: Any) -> list[Any]:
        """`def name(first, ins): stmts`, where a variable that is shared with closures is assigned in its cell."""
        shared = self.scope.ordered(plan.shared & (binds_all(stmts) | frozenset(ins))) if plan.shared else []
        enter: list[Any] = []
        for keyword in ("global", "nonlocal"):
            names = [n for n in shared if (n in self.scope.globals) == (keyword == "global")]
            if names:
                enter += quote(f"{keyword} $names", at, names=names)
        for n in shared:
            if n in ins:
                enter += quote("$name = $given", at, name=n, given=n + "_")
        parameters = [n + "_" if n in shared else n for n in ins]
        return quote("def $name($first, $ins):\n    $body", at, name=name, first=first, ins=parameters, body=enter + stmts)

    def _returning(self, block: list[Any], outs: list[str], returns: bool, at: Any) -> list[Any]:
        if returns:
            return _returning_also(block, outs) if outs else block
        stmts = [b for b in block if not isinstance(b, s.Pass)]
        if not outs or (stmts and isinstance(stmts[-1], s.Raise)):
            return stmts or quote("pass", at)
        if stmts and isinstance(stmts[-1], s.Assign) and _assigns(stmts[-1], outs):
            return [*stmts[:-1], s.at(s.Return(stmts[-1].value), stmts[-1])]
        return [*stmts, *quote("return $outs,", at, outs=outs)]

    def _result(self, call: Any, outs: list[str], returns: bool, at: Any) -> list[Any]:
        if returns and outs:
            result = self.context.fresh("result")
            return quote("$result, $outs = $call\nreturn $value", at, result=result, outs=outs, call=call, value=s.at(s.name(result), at))
        if returns:
            return quote("return $call", at, call=call)
        return quote("$outs, = $call", at, outs=outs, call=call) if outs else quote("$call", at, call=call)


def _returning_also(block: list[Any], outs: list[str]) -> list[Any]:
    """A block whose `return` statements also give some variables."""
    for stmt in s.own(*block):
        if isinstance(stmt, s.Return):
            value = stmt.value or s.at(s.constant(None), stmt)
            stmt.value = s.at(s.Tuple([value, *(s.at(s.name(n), stmt) for n in outs)], s.Load()), stmt)
    if not isinstance(block[-1], (s.Return, s.Raise)):  # a `with` or `try` that is left at its end
        block += quote("return None, $outs", block[-1], outs=outs)
    return block


def _grows(value: Any) -> bool:
    """Whether an expression makes a list another, which then is a variable of the branch."""
    calls = (n for n in s.walk(value) if isinstance(n, s.Call) and is_runtime(n.func))
    return any(getattr(call.func, "attr", "") in GROWING for call in calls)


def _assigns(stmt: Any, outs: list[str]) -> bool:
    """Whether a statement assigns the result of one of our operators to exactly these names."""
    match stmt.targets, stmt.value:
        case [[target], s.Call(func=s.Attribute(value=s.Name(id=s.RUNTIME), attr="cond" | "switch" | "while_loop" | "for_loop"))]:
            names = target.elts if isinstance(target, s.Tuple) else [target]
            return [n.id for n in names if isinstance(n, s.Name)] == outs
    return False


def _names(keyword: str, names: list[str], at: Any) -> Any:
    return s.keyword(keyword, s.at(s.Tuple([s.at(s.constant(n), at) for n in names], s.Load()), at))


def _lambda(parameters: list[str], value: Any) -> Any:
    new = s.thunk(value)
    new.args.args = [s.name(n, s.Param()) for n in parameters]
    return new
