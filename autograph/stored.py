"""Which functions of a file store into arrays that they are given, found by their aliases, through what they call."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, NamedTuple

from autograph.aliases import Aliases, State, outside
from autograph.paths import Stored, called, path_of


def stores_or_calls(node: Any, stored: Stored) -> bool:
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


def stored_parameters(functions: Sequence[Any]) -> tuple[Stored, Given]:
    """The functions of a file that may store into an array they are given; and for each which names from outside that it uses its callers give it."""
    found = Stored()
    given: Given = {}
    defined = [fn for fn in functions if not isinstance(fn, ast.Lambda)]
    storing = [fn for fn in defined if _stores(fn)]
    if not storing:
        return found, given
    calls = {id(fn): {called(n) for n in ast.walk(fn) if isinstance(n, ast.Call)} for fn in defined}
    named = _named(defined)
    names = {fn.name for fn in storing}
    giving = {id(fn) for fn in defined if _may_return(fn, {f.name for f in defined})}
    changing = True
    while changing:
        changing = False
        for fn in {id(f): f for f in (*storing, *(f for f in defined if id(f) in giving or calls[id(f)] & (found.keys() | names)))}.values():
            args = _parameters(fn)
            into, returned, places, handed = stored_into(fn, found, given.get(fn.name, frozenset()))
            if places - found.places.get(fn.name, frozenset()):
                found.places[fn.name] = found.places.get(fn.name, frozenset()) | places
                found.properties |= {fn.name} if any(path_of(d).endswith("property") for d in fn.decorator_list) else set()
                changing = True
            mine = {k: a for k, a in enumerate(args) if a in into}
            mine |= {-2 - k: a for k, a in enumerate(args) if a in returned}
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


def _may_return(fn: Any, functions: set[str]) -> bool:
    """Whether a function may return what it was given, or reaches by it or by a name from outside, going by names alone: its flow tells."""
    moved: list[tuple[set[str], set[str]]] = []
    given: set[str] = set()
    for n in ast.walk(fn):
        if isinstance(n, ast.Return) and n.value is not None:
            given |= _handed(n.value, functions)
        elif isinstance(n, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and n.value is not None:
            targets = n.targets if isinstance(n, ast.Assign) else [n.target]
            moved.append(({m.id for t in targets for m in ast.walk(t) if isinstance(m, ast.Name)}, _handed(n.value, functions)))
    while new := {name for to, names in moved if to & given for name in names} - given:
        given |= new
    return not given.isdisjoint({*_parameters(fn), *outside(fn)} - functions)


def _handed(value: Any, functions: set[str]) -> set[str]:
    """The names whose value an expression may give, or hold."""
    found: set[str] = set()
    stack = [value]
    while stack:
        n = stack.pop()
        if isinstance(n, ast.Name):
            found.add(n.id)
        elif isinstance(n, ast.Attribute):
            stack.append(n.value)
        elif isinstance(n, (ast.IfExp, ast.BoolOp, ast.Tuple, ast.List, ast.Dict, ast.NamedExpr, ast.Subscript, ast.Starred)):
            stack += [c for c in ast.iter_child_nodes(n) if isinstance(c, ast.expr)]
        elif isinstance(n, ast.Call) and called(n) in functions:
            stack += [*n.args, *(k.value for k in n.keywords)]
    return found


class Flow(NamedTuple):
    """What a function does to arrays: the parameters that it stores into, those it may return, what else it may return; what it hands to callees."""

    into: set[str]
    returned: set[str]
    places: set[tuple[int | None, str]]
    handed: set[tuple[str, int | str, str]]


def stored_into(fn: Any, stored: Stored, given: State = frozenset()) -> Flow:
    """Follow a function's moves: it may store itself, by aliases, or through what it calls."""
    parameters = set(_parameters(fn))
    first = {frozenset({a, f".{a}"}) for a in parameters}
    first |= {frozenset({q, f".{a}"}) for pair in given for a in pair & parameters for q in pair - {a}}
    flow = Aliases(fn, stored, given | first)
    touched = {q for others in (*flow.stores.values(), *flow.shared.values()) for q in others}
    own = {a: f".{a}" for a in parameters}
    into, returned = ({a for a, mark in own.items() if mark in paths} for paths in (touched, flow.returned))
    position, around = {a: k for k, a in enumerate(_parameters(fn))}, outside(fn)
    places: set[tuple[int | None, str]] = set()
    for path in flow.returned:
        root, _, attribute = path.partition(".")
        if attribute.count("."):  # followed no further: `self.next.next`
            continue
        if root in position and attribute:
            places.add((position[root], f".{attribute}"))
        elif root in around:
            places.add((None, path))
    return Flow(into, returned, places, flow.handed)
