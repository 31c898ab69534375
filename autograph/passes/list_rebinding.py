"""Where a branch gives a name another list, of a name that blocks make longer or shorter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autograph.passes.new_lists import is_each_named, makes_list
from autograph.trees import syntax as s


def resets(block: list[Any], names: set[str]) -> set[int]:
    """The statements `items = [...]` in branches, by identity, where `items` has been made before the branch."""
    return {id(stmt) for stmt in _resets(block, names, frozenset(), set())}


def _resets(block: list[Any], names: set[str], before: frozenset[str], made: set[str]) -> Iterator[Any]:
    """`before`: the names that were made outside of the innermost branch; `made` gets all that have been made where the block ends."""
    for stmt in block:
        match stmt:
            case s.Assign() | s.AnnAssign():
                if (new := _made(stmt)) & before & names and isinstance(stmt, s.Assign) and isinstance(stmt.targets[0], s.Name):
                    yield stmt
                made |= new
            case s.If():
                sides = [stmt.body, stmt.orelse]
                both = set.intersection(*({id for part in side for id in _made(part)} for side in sides))
                for side in sides:
                    yield from _resets(side, names, (before | made) - both, set(made))
                made |= both
            case s.Match():
                for case in stmt.cases:
                    yield from _resets(case.body, names, before | made, set(made))
            case s.For() | s.While():
                yield from _resets(stmt.body, names, before, set(made))
                yield from _resets(stmt.orelse, names, before, set(made))
            case s.With():
                yield from _resets(stmt.body, names, before, made)


def _made(stmt: Any) -> set[str]:
    """The names that a statement gives new lists."""
    match stmt:
        case s.Assign(targets=[s.Name(id=id)], value=value):
            pairs = [(id, value)]
        case s.Assign(targets=[s.Tuple(elts=targets)], value=s.Tuple(elts=values)) if is_each_named(targets, values):
            pairs = [(target.id, value) for target, value in zip(targets, values, strict=True)]
        case s.AnnAssign(target=s.Name(id=id), value=value) if value is not None:
            pairs = [(id, value)]
        case _:
            return set()
    return {id for id, value in pairs if makes_list(value)}
