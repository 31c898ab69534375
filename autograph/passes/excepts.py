"""Begin every `except` with a check that lets errors of staging through: they are not the program's; mark a `finally` that may fail itself.

except Exception:          except Exception:
    return 0        =>         ag.caught()
                               return 0

try:                       try:
    f(x)                       ag.trying()
finally:            =>         f(x)
    y = 1 / x              finally:
                               ag.finishing()
                               y = 1 / x
                               ag.finished()
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograph.analysis.scopes import Scope
from autograph.passes.context import Context
from autograph.trees import syntax as s
from autograph.trees.quote import quote

# Exceptions that no error of staging is an instance of.
_OTHERS = frozenset({
    "ArithmeticError", "AssertionError", "FileNotFoundError", "ImportError", "KeyError", "KeyboardInterrupt", "ModuleNotFoundError", "OSError",
    "StopIteration", "ZeroDivisionError",
})  # fmt: skip


def check_excepts(fn: Any, context: Context) -> bool:
    if not context.fresh.kinds & {s.Try, s.TryStar}:
        return False
    scope, unsure = context.scope(fn), context.unsure.get(fn, frozenset())

    def failing(n: Any) -> bool:
        return isinstance(n, _FAILING) or (isinstance(n, s.Name) and (n in unsure or n.id not in scope.locals))

    _block(fn.body, failing, unsure, _OTHERS, scope)
    return True


def _block(block: list[Any], failing: Callable[[Any], bool], unsure: frozenset[Any], others: frozenset[str], scope: Scope) -> None:
    for stmt in block:
        if isinstance(stmt, s.SCOPES):
            continue
        for inner in s.blocks(stmt):
            _block(inner, failing, unsure, others, scope)
        if isinstance(stmt, (s.Try, s.TryStar)):
            for handler in stmt.handlers:
                if not (isinstance(handler.type, s.Name) and handler.type.id in others):
                    handler.body[:0] = quote("ag.caught()", handler.body[0])
            if any(failing(n) for last in stmt.finalbody for n in s.walk(last)):
                unset = sorted({n.id for last in stmt.finalbody for n in s.walk(last) if isinstance(n, s.Name) and n in unsure})
                stmt.body[:0] = quote("ag.trying()", stmt.body[0])
                last = stmt.finalbody[0]
                changed = {n.id for b in stmt.body for n in s.walk(b) if isinstance(n, s.Name) and not isinstance(n.ctx, s.Load)}
                reads = sorted({n.id for b in stmt.finalbody for n in s.walk(b) if isinstance(n, s.Name) and n.id in changed} & scope.locals)
                names = [s.constant(n) for n in unset]
                if reads:
                    keep = s.Tuple([s.constant(n) for n in reads], s.Load())
                    stmt.finalbody[:0] = quote("ag.finishing($names, reads=$keep)", last, names=names, keep=keep)
                else:
                    stmt.finalbody[:0] = quote("ag.finishing($names)", last, names=names)
                stmt.finalbody += quote("ag.finished()", stmt.finalbody[-1])


_FAILING = (s.Call, s.BinOp, s.UnaryOp, s.Compare, s.Subscript, s.Attribute, s.Raise, s.Assert)
