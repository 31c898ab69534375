"""Begin every `except` with a check that lets errors of staging through: they are not the program's.

except Exception:          except Exception:
    return 0        =>         ag.caught()
                               return 0
"""

from __future__ import annotations

from typing import Any

from autograph import syntax as s
from autograph.passes.context import Context
from autograph.quote import quote

# Exceptions that no error of staging is an instance of.
_OTHERS = frozenset({
    "ArithmeticError", "AssertionError", "FileNotFoundError", "ImportError", "KeyError", "KeyboardInterrupt", "ModuleNotFoundError", "OSError",
    "StopIteration", "ZeroDivisionError",
})  # fmt: skip


def check_excepts(fn: Any, context: Context) -> None:
    if s.ExceptHandler in context.fresh.kinds:
        _block(fn.body)


def _block(block: list[Any]) -> None:
    for stmt in block:
        if isinstance(stmt, s.SCOPES):
            continue
        for inner in s.blocks(stmt):
            _block(inner)
        if isinstance(stmt, (s.Try, s.TryStar)):
            for handler in stmt.handlers:
                if not (isinstance(handler.type, s.Name) and handler.type.id in _OTHERS):
                    handler.body[:0] = quote("ag.caught()", handler.body[0])
