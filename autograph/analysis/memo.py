"""What single statements and conditions do to the facts, each worked out once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autograph.analysis.names import (
    NONE,
    Names,
    State,
    binds,
    binds_if,
    binds_itself,
    deletes,
    live_before,
    live_before_test,
    loads,
    may_raise,
    reads,
    surely_binds,
)
from autograph.trees import syntax as s


class Memo:
    """What the statements of one tree do to the facts, each worked out once; a statement must not change meanwhile.

    Going backwards over an expression is `live -> (live - kill) | gen`, whatever is live; forwards a condition adds two sets of names.
    """

    def __init__(self, modules: Mapping[str, str] | None = None) -> None:
        self._modules = modules or {}  # what names that imports bind stand for
        self._binds: dict[Any, Names] = {}
        self._sure: dict[Any, Names] = {}
        self._back: dict[Any, tuple[Names, Names]] = {}
        self._test: dict[Any, tuple[Names | None, Names | None, Names]] = {}
        self._if: dict[Any, tuple[State, State]] = {}
        self._raises: dict[Any, bool] = {}

    def swallows_nothing(self, manager: Any) -> bool:
        """Whether the manager of a `with` is one that is known to let every exception through."""
        match manager:
            case s.Call(func=s.Attribute(value=s.Name(id=id), attr=attr)):
                return attr in _LETS_THROUGH.get(self._modules.get(id, ""), ())
            case s.Call(func=s.Name(id=id)):
                module, _, attr = self._modules.get(id, "").rpartition(".")
                return attr in _LETS_THROUGH.get(module, ())
        return False

    def forget(self, *nodes: Any) -> None:
        """These nodes have changed."""
        for node in nodes:
            for known in (self._binds, self._sure, self._back, self._test, self._if, self._raises):
                known.pop(node, None)

    def binds_all(self, block: Sequence[Any]) -> Names:
        """The names that a block binds, perhaps."""
        found = NONE
        for stmt in block:
            known = self._binds.get(stmt)
            if known is None:
                inner = s.blocks(stmt)
                simple = None if inner else self._simple(stmt)
                known = simple[0] if simple is not None else binds(stmt) if not inner else binds_itself(stmt).union(*map(self.binds_all, inner))
                self._binds[stmt] = known
            found |= known
        return found

    def surely_binds(self, node: Any) -> Names:
        found = self._sure.get(node)
        if found is None:
            if (simple := self._simple(node)) is not None:
                return simple[0]
            found = self._sure[node] = surely_binds(node)
        return found

    def _simple(self, node: Any) -> tuple[Names, Names] | None:
        """What a simple statement binds and reads, if it reads all before it binds anything; else None."""
        match node:
            case s.Assign(targets=[s.Name(id=id)], value=value):
                bound = frozenset([id])
            case s.Assign(targets=[s.Tuple(elts=elts)], value=value) if all(type(e) is s.Name for e in elts):
                bound = frozenset(e.id for e in elts)
            case s.AugAssign(target=s.Name(id=id), value=value):
                bound = frozenset([id])
            case s.Expr(value=value):
                bound = NONE
            case _:
                return None
        read, calm = loads(value)
        if not calm:
            return None
        if type(node) is s.AugAssign:
            read |= bound
        self._sure[node], self._back[node] = bound, (bound, read)
        return bound, read

    def exposed(self, stmt: Any) -> Names:
        """The names that a statement may read, outside its blocks, before it binds them."""
        match stmt:
            case s.If() | s.While():
                return self.live_before(stmt.test, NONE)
            case s.For() | s.AsyncFor():
                return self.live_before(stmt.iter, NONE) | reads(stmt.target)
            case s.With() | s.AsyncWith():
                return NONE.union(*map(reads, stmt.items))
            case s.Try() | s.TryStar():
                return NONE.union(*(reads(h.type) for h in stmt.handlers if h.type is not None))
            case s.Match():
                guards = [c.guard for c in stmt.cases if c.guard is not None]
                return reads(stmt.subject).union(*map(reads, [*guards, *(c.pattern for c in stmt.cases)]))
            case s.Delete():
                return reads(stmt) | deletes(stmt)
        return self.live_before(stmt, NONE)

    def may_raise(self, stmt: Any) -> bool:
        found = self._raises.get(stmt)
        if found is None:
            found = self._raises[stmt] = may_raise(stmt)
        return found

    def live_before(self, node: Any, live: Names) -> Names:
        if node is None:
            return live
        known = self._back.get(node)
        if known is None:
            known = self._simple(node)
        if known is None:
            bound = binds(node)
            known = self._back[node] = (bound - live_before(node, bound), live_before(node, NONE))
        return (live - known[0]) | known[1]

    def live_before_test(self, node: Any, yes: Names, no: Names) -> Names:
        """As `names.live_before_test`: where `yes` or `no` cannot follow, it does not count."""
        known = self._test.get(node)
        if known is None and type(node) is not s.Constant and (found := loads(node))[1]:
            known = self._test[node] = (NONE, NONE, found[0])
            self._if[node] = NONE, NONE
        if known is None:
            bound = binds(node) | _PROBE
            ways = [bound - live_before_test(node, *sides) for sides in ((bound, NONE), (NONE, bound))]
            kills = [None if _PROBE <= way else way for way in ways]
            known = self._test[node] = (kills[0], kills[1], live_before_test(node, NONE, NONE))
        return known[2].union(*(live - kill for live, kill in zip((yes, no), known, strict=False) if kill is not None))

    def binds_if(self, node: Any, bound: State) -> tuple[State, State]:
        if bound is None:
            return None, None
        known = self._if.get(node)
        if known is None and type(node) is not s.Constant and not isinstance(node, (s.BoolOp, s.UnaryOp, s.IfExp)) and loads(node)[1]:
            known = self._if[node] = NONE, NONE
        if known is None:
            known = self._if[node] = binds_if(node, NONE)
        return tuple(None if way is None else bound | way for way in known)  # type: ignore[return-value]


_OURS = frozenset({"loop", "GradientTape", "device", "run_eagerly"})
_LETS_THROUGH = {
    "autograph": _OURS, "autograph.runtime": _OURS, "numpy": frozenset({"errstate", "printoptions"}),
    "jax": frozenset(
        {"named_scope", "default_matmul_precision", "default_device", "disable_jit", "ensure_compile_time_eval", "debug_nans", "enable_x64"}
    ),
}  # fmt: skip
_PROBE = frozenset({"a name$ of no program"})
