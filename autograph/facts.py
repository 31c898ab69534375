"""Dataflow over the syntax tree: which names are live, and which are surely bound.

Python is structured: control leaves a statement by falling through, break, continue, return or raise.  Carrying what is live at each of
these five exits is enough to walk a function backwards once, without a control-flow graph.  (Aho et al., Compilers, 9.2.5 and 9.2.6.)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from autograph import syntax as s
from autograph.names import NONE, Names, binds, reads, surely_binds


@dataclass(frozen=True)
class Exits:
    """What is live wherever control may go next."""

    next: Names = NONE
    brk: Names = NONE
    cont: Names = NONE
    ret: Names = NONE
    exc: Names = NONE


class Liveness:
    """`before[stmt]`, `after[stmt]`: names live around a statement; `raising[stmt]`: names live if it raises.

    `always` are the names that may be read through a cell at any time.
    """

    def __init__(self, body: Sequence[Any], always: Names = NONE) -> None:
        self.before: dict[Any, Names] = {}
        self.after: dict[Any, Names] = {}
        self.raising: dict[Any, Names] = {}
        self._block(body, Exits(always, always, always, always, always))

    def _block(self, body: Iterable[Any], exits: Exits) -> Names:
        for stmt in reversed(list(body)):
            live = self._stmt(stmt, exits)
            self.after[stmt] = self.after.get(stmt, NONE) | exits.next
            self.before[stmt] = self.before.get(stmt, NONE) | live
            self.raising[stmt] = self.raising.get(stmt, NONE) | exits.exc
            exits = replace(exits, next=live)
        return exits.next

    def _stmt(self, stmt: Any, x: Exits) -> Names:
        match stmt:
            case s.If():
                return _before(stmt.test, self._block(stmt.body, x) | self._block(stmt.orelse, x), x.exc)
            case s.While():
                leave = self._block(stmt.orelse, x)
                return self._loop(stmt, x, lambda again: _before(stmt.test, again | leave, x.exc))
            case s.For() | s.AsyncFor():
                leave = self._block(stmt.orelse, x)
                bound = surely_binds(stmt.target)
                head = self._loop(stmt, x, lambda again: (again - bound) | reads(stmt.target) | leave | x.exc)
                return _before(stmt.iter, head, x.exc)
            case s.With() | s.AsyncWith():
                # Leaving may raise, and whatever the body raises may be suppressed.
                inside = Exits(*(live | x.exc for live in (x.next, x.brk, x.cont, x.ret, x.next)))
                live = self._block(stmt.body, inside)
                for item in reversed(stmt.items):
                    if item.optional_vars is not None:
                        live = (live - surely_binds(item.optional_vars)) | reads(item.optional_vars) | inside.exc
                    live = _before(item.context_expr, live, inside.exc)
                return live
            case s.Try() | s.TryStar():
                return self._try(stmt, x)
            case s.Match():
                live = x.next
                for case in reversed(stmt.cases):
                    entered = self._block(case.body, x)
                    if case.guard is not None:
                        entered = _before(case.guard, entered | live, x.exc)
                    live = live | (entered - surely_binds(case.pattern)) | reads(case.pattern)
                return _before(stmt.subject, live, x.exc)
            case s.Break():
                return x.brk
            case s.Continue():
                return x.cont
            case s.Return():
                return _before(stmt.value, x.ret, x.exc) if stmt.value is not None else x.ret
            case s.Raise():
                return reads(stmt) | x.exc
            case s.Delete():
                return x.next - binds(stmt) | binds(stmt) | reads(stmt) | x.exc
            case _:
                return (x.next - surely_binds(stmt)) | reads(stmt) | x.exc

    def _loop(self, loop: Any, x: Exits, head_of: Any) -> Names:
        """The least solution of head = head_of(what is live at the start of the body)."""
        head: Names = head_of(NONE)
        while True:
            again = head | head_of(self._block(loop.body, replace(x, next=head, cont=head, brk=x.next)))
            if again == head:
                return head
            head = again

    def _try(self, stmt: Any, x: Exits) -> Names:
        if stmt.finalbody:
            x = Exits(*(self._block(stmt.finalbody, replace(x, next=live)) for live in (x.next, x.brk, x.cont, x.ret, x.exc)))
        caught = x.exc
        for handler in reversed(stmt.handlers):
            entered = self._block(handler.body, x) - (frozenset([handler.name.id]) if handler.name is not None else NONE)
            caught |= entered | (reads(handler.type) if handler.type is not None else NONE)
        return self._block(stmt.body, replace(x, next=self._block(stmt.orelse, x), exc=caught))


def _before(expr: Any, live: Names, exc: Names) -> Names:
    """What is live before an expression that leads to where `live` is live."""
    return (live - surely_binds(expr)) | reads(expr) | exc


class Bound:
    """`before[stmt]`: the names surely bound when a statement starts; None if it never does."""

    def __init__(self, body: Sequence[Any], given: Names) -> None:
        self.before: dict[Any, Names | None] = {}
        self._breaks: list[list[Names | None]] = []
        self.end = self._block(body, given)

    def _block(self, body: Iterable[Any], bound: Names | None) -> Names | None:
        for stmt in body:
            self.before[stmt] = bound
            bound = self._stmt(stmt, bound)
        return bound

    def _stmt(self, stmt: Any, bound: Names | None) -> Names | None:
        if bound is None:
            for node in s.own(stmt):
                if isinstance(node, s.stmt):
                    self.before[node] = None
            return None
        match stmt:
            case s.If():
                bound |= surely_binds(stmt.test)
                return meet(self._block(stmt.body, bound), self._block(stmt.orelse, bound))
            case s.While() | s.For() | s.AsyncFor():
                return self._loop(stmt, bound)
            case s.Break():
                self._breaks[-1].append(bound)
                return None
            case s.Return() | s.Continue() | s.Raise():
                return None
            case s.With() | s.AsyncWith():
                entered = bound
                for item in stmt.items:
                    entered |= surely_binds(item)
                return meet(self._block(stmt.body, entered), (bound | surely_binds(stmt.items[0].context_expr)) - deleted(stmt))
            case s.Try() | s.TryStar():
                return self._try(stmt, bound)
            case s.Match():
                bound |= surely_binds(stmt.subject)
                ends: list[Names | None] = []
                for case in stmt.cases:
                    entered = bound | surely_binds(case.pattern) | (surely_binds(case.guard) if case.guard is not None else NONE)
                    ends.append(self._block(case.body, entered))
                return meet(*ends, None if _irrefutable(stmt.cases[-1]) else bound)
            case s.Delete():
                return bound - binds(stmt)
            case _:
                return bound | surely_binds(stmt)

    def _loop(self, loop: Any, bound: Names) -> Names | None:
        head = bound - deleted(*loop.body)
        self._breaks.append([])
        if isinstance(loop, s.While):
            head |= surely_binds(loop.test)
            entered = head
        else:
            head |= surely_binds(loop.iter)
            entered = head | surely_binds(loop.target)
        self._block(loop.body, entered)
        breaks = self._breaks.pop()
        forever = isinstance(loop, s.While) and isinstance(loop.test, s.Constant) and bool(loop.test.value)
        return meet(self._block(loop.orelse, None if forever else head), *breaks)

    def _try(self, stmt: Any, bound: Names) -> Names | None:
        failed = bound - deleted(*stmt.body)
        ends = [self._block(stmt.orelse, self._block(stmt.body, bound))]
        for handler in stmt.handlers:
            named = frozenset([handler.name.id]) if handler.name is not None else NONE
            end = self._block(handler.body, failed | named)
            ends.append(None if end is None else end - named)
        if not stmt.finalbody:
            return meet(*ends)
        through, end = self._block(stmt.finalbody, bound - deleted(stmt)), meet(*ends)
        return None if through is None or end is None else (end - deleted(*stmt.finalbody)) | through


def meet(*states: Names | None) -> Names | None:
    """Names bound on every path; None stands for a path that is never taken."""
    reached = [state for state in states if state is not None]
    return frozenset.intersection(*reached) if reached else None


def deleted(*nodes: Any) -> Names:
    """Names that may be unbound somewhere inside: by `del x`, or by leaving `except E as x`."""
    found: set[str] = set()
    for n in s.own(*nodes):
        if isinstance(n, s.Name) and isinstance(n.ctx, s.Del):
            found.add(n.id)
        elif isinstance(n, s.ExceptHandler) and n.name is not None:
            found.add(n.name.id)
    return frozenset(found)


def _irrefutable(case: Any) -> bool:
    return case.guard is None and isinstance(case.pattern, s.MatchAs) and case.pattern.pattern is None
