"""Dataflow over the syntax tree: which names are live, and which are surely bound.

Python is structured: control leaves a statement by falling through, break, continue, return or raise.  Carrying what holds at each of
these five exits is enough to walk a function once, without a control-flow graph: backwards for what is live, forwards for what is bound.
(Aho et al., Compilers, 9.2.5 and 9.2.6.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from autograph import syntax as s
from autograph.names import NONE, Names, reads, surely_binds

State = Names | None  # the names bound on every path to a point; None where no path leads there


class Exits(NamedTuple):
    """What is live wherever control may go next."""

    next: Names = NONE
    brk: Names = NONE
    cont: Names = NONE
    ret: Names = NONE
    exc: Names = NONE


class Ends(NamedTuple):
    """What is bound wherever control leaves."""

    next: State = None
    brk: State = None
    cont: State = None
    ret: State = None
    exc: State = None


class Liveness:
    """`before[stmt]`, `after[stmt]`: names live around a statement; `raising[stmt]`: names live if it raises.

    `always` are the names that may be read through a cell at any time.
    """

    def __init__(self, body: Sequence[Any], always: Names = NONE) -> None:
        self.before: dict[Any, Names] = dict.fromkeys(_statements(body), always)
        self.after: dict[Any, Names] = dict(self.before)
        self.raising: dict[Any, Names] = dict(self.before)
        self._ends = Bound(body, NONE).ends
        self._block(body, Exits(always, always, always, always, always))

    def _block(self, body: Sequence[Any], exits: Exits) -> Names:
        for stmt in reversed(body):
            live = self._stmt(stmt, exits)
            self.after[stmt] |= exits.next
            self.before[stmt] |= live
            self.raising[stmt] |= exits.exc
            exits = exits._replace(next=live)
        return exits.next

    def _stmt(self, stmt: Any, x: Exits) -> Names:
        fails = x.exc if _may_raise(stmt) else NONE
        match stmt:
            case s.If():
                return fails | _test(stmt.test, self._block(stmt.body, x), self._block(stmt.orelse, x))
            case s.While():
                leave = self._block(stmt.orelse, x)
                return self._loop(stmt, x, lambda again: fails | _test(stmt.test, again, leave))
            case s.For() | s.AsyncFor():
                leave = self._block(stmt.orelse, x)
                return fails | _live(stmt.iter, self._loop(stmt, x, lambda again: _live(stmt.target, again) | leave | x.exc))
            case s.With() | s.AsyncWith():
                return self._with(stmt.items, stmt.body, x)
            case s.Try() | s.TryStar():
                return self._try(stmt, x)
            case s.Match():
                live = x.next
                for case in reversed(stmt.cases):
                    entered = self._block(case.body, x)
                    if case.guard is not None:
                        entered = _test(case.guard, entered, live) | x.exc
                    # Names are captured when the whole pattern has matched.
                    live = (NONE if _irrefutable(case.pattern) else live) | (entered - surely_binds(case.pattern)) | reads(case.pattern)
                return fails | _live(stmt.subject, live)
            case s.Break():
                return x.brk
            case s.Continue():
                return x.cont
            case s.Return():
                return fails | _live(stmt.value, x.ret)
            case s.Raise():
                return fails | reads(stmt)
            case s.Assert():
                return fails | _test(stmt.test, x.next, _live(stmt.msg, x.exc))
            case _:
                return fails | _live(stmt, x.next)

    def _loop(self, loop: Any, x: Exits, head_of: Callable[[Names], Names]) -> Names:
        """The least solution of head = head_of(what is live at the start of the body)."""
        head = head_of(NONE)
        while True:
            again = head | head_of(self._block(loop.body, x._replace(next=head, cont=head, brk=x.next)))
            if again == head:
                return head
            head = again

    def _with(self, items: Sequence[Any], body: Sequence[Any], x: Exits) -> Names:
        if not items:
            return self._block(body, x)
        # Leaving may raise, and whatever is raised inside may be suppressed.
        inside = Exits(*(live | x.exc for live in (x.next, x.brk, x.cont, x.ret, x.next)))
        live = self._with(items[1:], body, inside)
        target = items[0].optional_vars
        if target is not None:
            live = _live(target, live) | (NONE if isinstance(target, s.Name) else inside.exc)
        return _live(items[0].context_expr, live) | x.exc

    def _try(self, stmt: Any, x: Exits) -> Names:
        if stmt.finalbody:
            taken = self._ends.get(stmt, Ends())
            x = Exits(*(live if end is None else self._block(stmt.finalbody, x._replace(next=live)) for live, end in zip(x, taken)))
        star = isinstance(stmt, s.TryStar)
        caught = x.exc | x.next if star else x.exc
        for handler in reversed(stmt.handlers):
            named = frozenset([handler.name.id]) if handler.name is not None else NONE
            # `except*` goes on to the handlers below, whatever a handler does.  Leaving a handler unbinds its name.
            inside = Exits(*(live - named for live in (x._replace(next=caught, exc=caught) if star else x)))
            entered = self._block(handler.body, inside) - named
            caught = entered if handler.type is None else _live(handler.type, entered | caught) | x.exc
        return self._block(stmt.body, x._replace(next=self._block(stmt.orelse, x), exc=caught))


def _live(node: Any, live: Names) -> Names:
    """What is live before a node is evaluated that is followed by `live`."""
    match node:
        case None:
            return live
        case s.Name():
            if isinstance(node.ctx, s.Store):
                return live - {node.id}
            return live | {node.id} if node.id != s.RUNTIME else live
        case s.BoolOp() | s.IfExp() | s.Compare() | s.UnaryOp(op=s.Not()):
            return _test(node, live, live)
        case s.NamedExpr() | s.Assign():
            targets = node.targets if isinstance(node, s.Assign) else [node.target]
            return _live(node.value, _in_turn(targets, live))
        case s.AugAssign(target=s.Name(id=id)):
            return _live(node.value, live - {id}) | {id}
        case s.AnnAssign():  # the annotation of a local is not evaluated
            return _live(node.value, live if isinstance(node.target, s.Name) and node.value is None else _live(node.target, live))
        case s.Delete():
            return _in_turn(node.targets, live - _deleted(node)) | _deleted(node)
        case s.Call() | s.Expr() | s.Tuple() | s.List() | s.Starred() | s.BinOp() | s.Attribute() | s.Subscript() | s.keyword():
            return _in_turn(list(s.children(node)), live)
        case _:
            return (live - surely_binds(node)) | reads(node)


def _in_turn(nodes: Sequence[Any], live: Names) -> Names:
    for node in reversed(nodes):
        live = _live(node, live)
    return live


def _test(node: Any, yes: Names, no: Names) -> Names:
    """What is live before a condition after which `yes` is live if it holds, and `no` if not."""
    match node:
        case s.Constant():
            return yes if node.value else no
        case s.UnaryOp(op=s.Not()):
            return _test(node.operand, no, yes)
        case s.IfExp():
            return _test(node.test, _test(node.body, yes, no), _test(node.orelse, yes, no))
        case s.BoolOp(op=s.And()):
            for value in reversed(node.values):
                yes = _test(value, yes, no)
            return yes
        case s.BoolOp():
            for value in reversed(node.values):
                no = _test(value, yes, no)
            return no
        case s.Compare():
            yes |= no
            for value in reversed(node.comparators):
                yes = _live(value, yes) | (no if value is not node.comparators[0] else NONE)
            return _live(node.left, yes)
        case _:
            return _live(node, yes | no)


class Bound:
    """`before[stmt]`: the names surely bound when a statement starts; None if it never does.

    `ends[stmt]`: how control comes to the `finally` of a `try` statement.
    """

    def __init__(self, body: Sequence[Any], given: Names) -> None:
        self.before: dict[Any, State] = dict.fromkeys(_statements(body))
        self.ends: dict[Any, Ends] = {}
        self.end = self._block(body, given).next

    def _block(self, body: Sequence[Any], bound: State) -> Ends:
        ends = Ends()
        for stmt in body:
            if bound is None:
                break
            self.before[stmt] = meet(self.before[stmt], bound)
            left = self._stmt(stmt, bound)
            ends, bound = _join(ends, left), left.next
        return ends._replace(next=bound)

    def _stmt(self, stmt: Any, bound: Names) -> Ends:
        # What a statement binds before it raises is more than `bound`: only `del` takes away.
        fails = Ends(exc=bound if _may_raise(stmt) else None)
        match stmt:
            case s.If():
                yes, no = _outcomes(stmt.test, bound)
                return _join(fails, self._block(stmt.body, yes), self._block(stmt.orelse, no))
            case s.While() | s.For() | s.AsyncFor():
                return self._loop(stmt, bound)
            case s.Break():
                return Ends(brk=bound)
            case s.Continue():
                return Ends(cont=bound)
            case s.Return():
                return fails._replace(ret=bound | surely_binds(stmt))
            case s.Raise():
                return fails
            case s.With() | s.AsyncWith():
                return self._with(stmt.items, stmt.body, bound)
            case s.Try() | s.TryStar():
                return self._try(stmt, bound)
            case s.Match():
                return self._match(stmt, bound)
            case s.Assert():
                return fails._replace(next=_outcomes(stmt.test, bound)[0])
            case s.Delete():
                after = (bound | surely_binds(stmt)) - _deleted(stmt)
                return Ends(next=after, exc=bound if isinstance(stmt.targets[0], s.Name) and len(stmt.targets) == 1 else bound & after)
            case _:
                return fails._replace(next=bound | surely_binds(stmt))

    def _loop(self, loop: Any, bound: Names) -> Ends:
        head: Names = bound if isinstance(loop, s.While) else bound | surely_binds(loop.iter)
        while True:
            yes, no = _outcomes(loop.test, head) if isinstance(loop, s.While) else (head | surely_binds(loop.target), head)
            inside = self._block(loop.body, yes)
            again = meet(head, inside.next, inside.cont)
            if again == head:
                break
            head = again or NONE
        leave = self._block(loop.orelse, no)
        fails = Ends(exc=bound & head if _may_raise(loop) else None)
        return _join(fails, leave, Ends(next=inside.brk, ret=inside.ret, exc=inside.exc))

    def _with(self, items: Sequence[Any], body: Sequence[Any], bound: Names) -> Ends:
        if not items:
            return self._block(body, bound)
        entered, target = bound | surely_binds(items[0].context_expr), items[0].optional_vars
        inside = self._with(items[1:], body, entered if target is None else entered | surely_binds(target))
        if target is not None and not isinstance(target, s.Name):
            inside = _join(inside, Ends(exc=entered))
        # Leaving may raise, and whatever is raised inside may be suppressed.
        return inside._replace(next=meet(inside.next, inside.exc), exc=meet(bound, *inside))

    def _try(self, stmt: Any, bound: Names) -> Ends:
        body = self._block(stmt.body, bound)
        ends = _join(self._block(stmt.orelse, body.next), body._replace(next=None, exc=None))
        caught = body.exc
        for handler in stmt.handlers:
            if caught is None:
                break
            named = frozenset([handler.name.id]) if handler.name is not None else NONE
            tested = caught if handler.type is None else caught | surely_binds(handler.type)
            inside = self._block(handler.body, tested | named)
            inside = Ends(*(None if end is None else end - named for end in inside))
            if isinstance(stmt, s.TryStar):  # goes on to the handlers below
                tested, inside = meet(tested, inside.next, inside.exc) or NONE, inside._replace(next=None, exc=None)
            ends = _join(ends, inside, Ends(exc=caught if handler.type is not None else None))
            caught = None if handler.type is None else tested
        ends = _join(ends, Ends(next=caught if isinstance(stmt, s.TryStar) else None, exc=caught))
        if not stmt.finalbody:
            return ends
        self.ends[stmt] = _join(self.ends.get(stmt, Ends()), ends)
        left = Ends()
        for way, end in zip(Ends._fields, ends):
            through = self._block(stmt.finalbody, end)
            left = _join(left, through._replace(next=None), Ends(**{way: through.next}))
        return left

    def _match(self, stmt: Any, bound: Names) -> Ends:
        ends, rest = Ends(exc=bound), meet(*_outcomes(stmt.subject, bound))
        for case in stmt.cases:
            if rest is None:
                break
            matched = rest | surely_binds(case.pattern)
            yes, no = (matched, None) if case.guard is None else _outcomes(case.guard, matched)
            ends = _join(ends, self._block(case.body, yes))
            rest = meet(None if _irrefutable(case.pattern) else rest, no)
        return _join(ends, Ends(next=rest))


def _outcomes(node: Any, bound: State) -> tuple[State, State]:
    """What is bound after a condition that holds, and after one that does not."""
    if bound is None:
        return None, None
    match node:
        case s.Constant():
            return (bound, None) if node.value else (None, bound)
        case s.UnaryOp(op=s.Not()):
            return _outcomes(node.operand, bound)[::-1]
        case s.IfExp():
            ways = [_outcomes(arm, state) for arm, state in zip((node.body, node.orelse), _outcomes(node.test, bound))]
            return meet(ways[0][0], ways[1][0]), meet(ways[0][1], ways[1][1])
        case s.BoolOp():
            done: State = None
            conjunction = isinstance(node.op, s.And)
            for value in node.values:
                yes, no = _outcomes(value, bound)
                bound, done = (yes, meet(done, no)) if conjunction else (no, meet(done, yes))
            return (bound, done) if conjunction else (done, bound)
        case s.Compare():
            return bound.union(*map(surely_binds, s.children(node))), bound | surely_binds(node)
        case _:
            return bound | surely_binds(node), bound | surely_binds(node)


def meet(*states: State) -> State:
    """Names bound on every path; None stands for a path that is never taken."""
    reached = [state for state in states if state is not None]
    return frozenset.intersection(*reached) if reached else None


def _join(*ends: Ends) -> Ends:
    return Ends(*map(meet, *ends))


def _may_raise(stmt: Any) -> bool:
    """Whether a statement may raise in what it evaluates itself, outside its blocks."""
    match stmt:
        case s.Pass() | s.Break() | s.Continue() | s.Global() | s.Nonlocal() | s.Return(value=None | s.Constant()) | s.Expr(value=s.Constant()):
            return False
        case s.If(test=s.Constant()) | s.While(test=s.Constant()) | s.AnnAssign(target=s.Name(), value=None | s.Constant()):
            return False
        case s.Assign(value=s.Constant()):
            return not all(isinstance(target, s.Name) for target in stmt.targets)
        case _:
            return not isinstance(stmt, (s.Try, s.TryStar))


def _deleted(stmt: Any) -> Names:
    return frozenset(n.id for n in s.own(stmt) if isinstance(n, s.Name) and isinstance(n.ctx, s.Del))


def _irrefutable(pattern: Any) -> bool:
    return isinstance(pattern, s.MatchAs) and (pattern.pattern is None or _irrefutable(pattern.pattern))


def _statements(body: Sequence[Any]) -> list[Any]:
    return [n for n in s.own(*body) if isinstance(n, s.stmt)]
