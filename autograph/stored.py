"""Which functions of a file store into arrays that they are given, found by their aliases, through what they call."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from autograph.aliases import Aliases, State, outside
from autograph.paths import called


def stores_or_calls(node: Any, stored: dict[str, dict[int, str]]) -> bool:
    """Whether a function stores into subscripts, has an operator act in place on what may be an array, or calls a function that stores."""
    for n in ast.walk(node):
        if isinstance(n, ast.AugAssign):
            return True
        if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store):
            return True
        if isinstance(n, ast.Call) and called(n) in stored:
            return True
    return False


Given = dict[str, State]  # for functions by name: pairs of a parameter and a name from outside that callers give for it


def stored_parameters(functions: Sequence[Any]) -> tuple[dict[str, dict[int, str]], Given]:
    """The functions of a file, by name, that may store into an array they are given: which of their parameters.

    Also, for each, which names from outside that it uses its callers give it.
    """
    found: dict[str, dict[int, str]] = {}
    given: Given = {}
    defined = [fn for fn in functions if not isinstance(fn, ast.Lambda)]
    storing = [fn for fn in defined if _stores(fn)]
    if not storing:
        return found, given
    calls = {id(fn): {called(n) for n in ast.walk(fn) if isinstance(n, ast.Call)} for fn in defined}
    named = _named(defined)
    names = {fn.name for fn in storing}
    changing = True
    while changing:
        changing = False
        for fn in {id(f): f for f in (*storing, *(f for f in defined if calls[id(f)] & (found.keys() | names)))}.values():
            args = _parameters(fn)
            into, handed = stored_into(fn, found, given.get(fn.name, frozenset()))
            mine = {k: a for k, a in enumerate(args) if a in into}
            if any(isinstance(n, ast.Return) and isinstance(n.value, ast.Name) and n.value.id in into for n in ast.walk(fn)):
                mine[-1] = ""  # it returns one of them
            if mine.keys() - found.get(fn.name, {}).keys():
                found[fn.name] = {**found.get(fn.name, {}), **mine}
                changing = True
            for callee, argument, name in handed:
                pairs = {frozenset({p, name}) for p in named.get((callee, name), {}).get(argument, ())}
                if pairs - given.get(callee, frozenset()):
                    given[callee] = given.get(callee, frozenset()) | pairs
                    changing = True
    return found, given


def _named(functions: Sequence[Any]) -> dict[tuple[str, str], dict[int | str, set[str]]]:
    """For functions by name, and a name from outside that they use: their parameters by position and name."""
    found: dict[tuple[str, str], dict[int | str, set[str]]] = {}
    for fn in functions:
        for name in outside(fn):
            into = found.setdefault((fn.name, name), {})
            for k, a in enumerate(_parameters(fn)):
                into.setdefault(k, set()).add(a)
                into.setdefault(a, set()).add(a)
    return found


def _parameters(fn: Any) -> list[str]:
    return [a.arg for a in (*fn.args.posonlyargs, *fn.args.args, *fn.args.kwonlyargs)]


def _stores(fn: Any) -> bool:
    return any(isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store) for n in ast.walk(fn))


def stored_into(fn: Any, stored: dict[str, dict[int, str]], given: State = frozenset()) -> tuple[set[str], set[tuple[str, int | str, str]]]:
    """The names of a function's that it stores into itself, by aliases, or through what it calls; and what it hands to these."""
    parameters = set(_parameters(fn))
    first = {frozenset({a, f".{a}"}) for a in parameters}
    first |= {frozenset({q, f".{a}"}) for pair in given for a in pair & parameters for q in pair - {a}}
    flow = Aliases(fn, stored, given | first)
    touched = {q for others in (*flow.stores.values(), *flow.shared.values()) for q in others}
    return {a for a in parameters if f".{a}" in touched}, flow.handed
