"""Dataflow over the syntax tree: which names are live, and which are surely bound.

Python is structured: control leaves a statement by falling through, break, continue, return or raise.  Carrying what holds at each of
these five exits is enough to walk a function once, without a control-flow graph: backwards for what is live, forwards for what is bound.
(Aho et al., Compilers, 9.2.5 and 9.2.6.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from autograph.analysis.memo import Memo
from autograph.analysis.names import (
    NONE,
    Names,
    State,
    deletes,
    irrefutable,
    meet,
    reads,
)
from autograph.trees import syntax as s


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

    def __init__(self, body: Sequence[Any], always: Names = NONE, memo: Memo | None = None, bound: Bound | None = None) -> None:
        self.before: dict[Any, Names] = dict.fromkeys(s.own_statements(body), always)
        self.after: dict[Any, Names] = dict(self.before)
        self.raising: dict[Any, Names] = dict(self.before)
        self._memo = memo or Memo()
        self._ends = (bound or Bound(body, NONE, self._memo)).ends
        self._block(body, Exits(always, always, always, always, always))

    def _block(self, body: Sequence[Any], exits: Exits) -> Names:
        live = exits.next
        for stmt in reversed(body):
            self.after[stmt] |= live
            self.raising[stmt] |= exits.exc
            if type(stmt) in _STRUCTURED:
                live = self._stmt(stmt, exits._replace(next=live))
            else:
                live = self._memo.live_before(stmt, live)
                if self._memo.may_raise(stmt):
                    live |= exits.exc
            self.before[stmt] |= live
        return live

    def _stmt(self, stmt: Any, x: Exits) -> Names:
        fails = x.exc if self._memo.may_raise(stmt) else NONE
        match stmt:
            case s.If():
                return fails | self._memo.live_before_test(stmt.test, self._block(stmt.body, x), self._block(stmt.orelse, x))
            case s.While():
                leave = self._block(stmt.orelse, x)
                return self._loop(stmt, x, lambda again: fails | self._memo.live_before_test(stmt.test, again, leave))
            case s.For() | s.AsyncFor():
                leave = self._block(stmt.orelse, x)
                return fails | self._memo.live_before(
                    stmt.iter, self._loop(stmt, x, lambda again: self._memo.live_before(stmt.target, again) | leave | x.exc)
                )
            case s.With() | s.AsyncWith():
                return self._with(stmt.items, stmt.body, x)
            case s.Try() | s.TryStar():
                return self._try(stmt, x)
            case s.Match():
                live = x.next
                for case in reversed(stmt.cases):
                    entered = self._block(case.body, x)
                    if case.guard is not None:
                        entered = self._memo.live_before_test(case.guard, entered, live) | x.exc
                    # Names are captured when the whole pattern has matched.
                    live = (NONE if irrefutable(case.pattern) else live) | (entered - self._memo.surely_binds(case.pattern)) | reads(case.pattern)
                return fails | self._memo.live_before(stmt.subject, live)
            case s.Break():
                return x.brk
            case s.Continue():
                return x.cont
            case s.Return():
                return fails | self._memo.live_before(stmt.value, x.ret)
            case s.Delete():
                return fails | self._memo.live_before(stmt, x.next)
            case s.Raise():
                return fails | self._memo.live_before(stmt.exc, self._memo.live_before(stmt.cause, x.exc))
            case s.Assert():
                return fails | self._memo.live_before_test(stmt.test, x.next, self._memo.live_before(stmt.msg, x.exc))
        raise AssertionError(stmt)

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
        raised = x.exc if self._memo.swallows_nothing(items[0].context_expr) else x.next
        inside = Exits(*(live | x.exc for live in (x.next, x.brk, x.cont, x.ret, raised)))
        live = self._with(items[1:], body, inside)
        target = items[0].optional_vars
        if target is not None:
            live = self._memo.live_before(target, live) | (NONE if isinstance(target, s.Name) else inside.exc)
        return self._memo.live_before(items[0].context_expr, live) | x.exc

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
            caught = entered if handler.type is None else self._memo.live_before(handler.type, entered | caught) | x.exc
        return self._block(stmt.body, x._replace(next=self._block(stmt.orelse, x), exc=caught))


class Bound:
    """`before[stmt]`: the names surely bound when a statement starts; None if it never does.

    `ends[stmt]`: how control comes to the `finally` of a `try` statement.  Without `suppress` no `with` swallows an exception.
    """

    def __init__(self, body: Sequence[Any], given: Names, memo: Memo | None = None, suppress: bool = True) -> None:
        self._memo, self._suppress = memo or Memo(), suppress
        self.before: dict[Any, State] = dict.fromkeys(s.own_statements(body))
        self.tests: dict[Any, State] = {}  # what is bound whenever the test of a loop is evaluated
        self.ends: dict[Any, Ends] = {}
        self.end = self._block(body, given).next

    def where_read(self, stmt: Any) -> State:
        """What is bound whenever a statement evaluates what it reads itself."""
        return self.tests[stmt] if isinstance(stmt, s.While) and stmt in self.tests else self.before.get(stmt)

    def _block(self, body: Sequence[Any], bound: State) -> Ends:
        ends = Ends()
        raised: State = None
        for stmt in body:
            if bound is None:
                break
            self.before[stmt] = meet(self.before[stmt], bound)
            if type(stmt) in _STRUCTURED:
                left = self._stmt(stmt, bound)
                ends, bound = _join(ends, left), left.next
            else:  # what a statement binds before it raises is more than `bound`: only `del` takes away
                if self._memo.may_raise(stmt):
                    raised = meet(raised, bound)
                bound |= self._memo.surely_binds(stmt)
        return _join(ends, Ends(exc=raised))._replace(next=bound)

    def _stmt(self, stmt: Any, bound: Names) -> Ends:
        fails = Ends(exc=bound if self._memo.may_raise(stmt) else None)
        match stmt:
            case s.If():
                yes, no = self._memo.binds_if(stmt.test, bound)
                return _join(fails, self._block(stmt.body, yes), self._block(stmt.orelse, no))
            case s.While() | s.For() | s.AsyncFor():
                return self._loop(stmt, bound)
            case s.Break():
                return Ends(brk=bound)
            case s.Continue():
                return Ends(cont=bound)
            case s.Return():
                return fails._replace(ret=bound | self._memo.surely_binds(stmt))
            case s.Raise():
                return fails
            case s.With() | s.AsyncWith():
                return self._with(stmt.items, stmt.body, bound)
            case s.Try() | s.TryStar():
                return self._try(stmt, bound)
            case s.Match():
                return self._match(stmt, bound)
            case s.Assert():
                return fails._replace(next=self._memo.binds_if(stmt.test, bound)[0])
            case s.Delete():
                after = (bound | self._memo.surely_binds(stmt)) - deletes(stmt)
                return Ends(next=after, exc=bound if isinstance(stmt.targets[0], s.Name) and len(stmt.targets) == 1 else bound & after)
        raise AssertionError(stmt)

    def _loop(self, loop: Any, bound: Names) -> Ends:
        head: Names = bound if isinstance(loop, s.While) else bound | self._memo.surely_binds(loop.iter)
        while True:
            yes, no = self._memo.binds_if(loop.test, head) if isinstance(loop, s.While) else (head | self._memo.surely_binds(loop.target), head)
            inside = self._block(loop.body, yes)
            again = meet(head, inside.next, inside.cont)
            if again == head:
                break
            head = again or NONE
        self.tests[loop] = meet(self.tests.get(loop), head) if loop in self.tests else head
        leave = self._block(loop.orelse, no)
        fails = Ends(exc=bound & head if self._memo.may_raise(loop) else None)
        return _join(fails, leave, Ends(next=inside.brk, ret=inside.ret, exc=inside.exc))

    def _with(self, items: Sequence[Any], body: Sequence[Any], bound: Names) -> Ends:
        if not items:
            return self._block(body, bound)
        entered, target = bound | self._memo.surely_binds(items[0].context_expr), items[0].optional_vars
        inside = self._with(items[1:], body, entered if target is None else entered | self._memo.surely_binds(target))
        if target is not None and not isinstance(target, s.Name):
            inside = _join(inside, Ends(exc=entered))
        # Leaving may raise, and whatever is raised inside may be suppressed.
        suppresses = self._suppress and not self._memo.swallows_nothing(items[0].context_expr)
        through = meet(inside.next, inside.exc) if suppresses else inside.next
        return inside._replace(next=through, exc=meet(bound, *inside))

    def _try(self, stmt: Any, bound: Names) -> Ends:
        body = self._block(stmt.body, bound)
        ends = _join(self._block(stmt.orelse, body.next), body._replace(next=None, exc=None))
        caught = body.exc
        for handler in stmt.handlers:
            if caught is None:
                break
            named = frozenset([handler.name.id]) if handler.name is not None else NONE
            tested = caught if handler.type is None else caught | self._memo.surely_binds(handler.type)
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
        ends, rest = Ends(exc=bound), meet(*self._memo.binds_if(stmt.subject, bound))
        for case in stmt.cases:
            if rest is None:
                break
            matched = rest | self._memo.surely_binds(case.pattern)
            yes, no = (matched, None) if case.guard is None else self._memo.binds_if(case.guard, matched)
            ends = _join(ends, self._block(case.body, yes))
            rest = meet(None if irrefutable(case.pattern) else rest, no)
        return _join(ends, Ends(next=rest))


def _join(first: Ends, *rest: Ends) -> Ends:
    for ends in rest:
        if first == _NOWHERE:
            first = ends
        elif ends != _NOWHERE:
            first = Ends(*map(meet, first, ends))
    return first


_NOWHERE = Ends()
_STRUCTURED = frozenset(
    {
        s.If, s.While, s.For, s.AsyncFor, s.With, s.AsyncWith, s.Try, s.TryStar, s.Match, s.Break, s.Continue, s.Return, s.Raise, s.Assert, s.Delete,
    }
)  # fmt: skip
