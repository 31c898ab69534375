"""Which functions of a file store into arrays that they are given, found by their aliases, through what they call."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from autograph.aliases import Aliases, called


def stores_or_calls(node: Any, stored: dict[str, dict[int, str]]) -> bool:
    """Whether a function stores into subscripts, or calls a function that does: most do not."""
    for n in ast.walk(node):
        if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store):
            return True
        if isinstance(n, ast.Call) and called(n) in stored:
            return True
    return False


def stored_parameters(functions: Sequence[Any]) -> dict[str, dict[int, str]]:
    """The functions of a file, by name, that may store into an array they are given: which of their parameters."""
    found: dict[str, dict[int, str]] = {}
    defined = [fn for fn in functions if not isinstance(fn, ast.Lambda)]
    storing = [fn for fn in defined if _stores(fn)]
    calls = {id(fn): {called(n) for n in ast.walk(fn) if isinstance(n, ast.Call)} for fn in defined} if storing else {}
    changing = bool(storing)
    while changing:
        changing = False
        for fn in {id(f): f for f in (*storing, *(f for f in defined if calls[id(f)] & found.keys()))}.values():
            args = [a.arg for a in (*fn.args.posonlyargs, *fn.args.args, *fn.args.kwonlyargs)]
            into = stored_into(fn, found)
            mine = {k: a for k, a in enumerate(args) if a in into}
            if any(isinstance(n, ast.Return) and isinstance(n.value, ast.Name) and n.value.id in into for n in ast.walk(fn)):
                mine[-1] = ""  # it returns one of them
            if mine.keys() - found.get(fn.name, {}).keys():
                found[fn.name] = {**found.get(fn.name, {}), **mine}
                changing = True
    return found


def _stores(fn: Any) -> bool:
    return any(isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store) for n in ast.walk(fn))


def stored_into(fn: Any, stored: dict[str, dict[int, str]]) -> set[str]:
    """The names of a function's that it stores into itself, by aliases, or through what it calls."""
    parameters = {a.arg for a in (*fn.args.posonlyargs, *fn.args.args, *fn.args.kwonlyargs)}
    first = frozenset(frozenset({a, f".{a}"}) for a in parameters)
    flow = Aliases(fn, stored, first)
    touched = {q for others in (*flow.stores.values(), *flow.shared.values()) for q in others}
    return {a for a in parameters if f".{a}" in touched}
