"""Chains of `if` that compare one variable with integer constants: `ag.switch` chooses among all sides at once.

if op == 0: x = a                        x = ag.switch(op, {0: lambda: a, (1, 2): lambda: b, 3: lambda: c}, lambda: x)
elif op == 1 or op == 2: x = b     =>
elif op == 3: x = c
"""

from __future__ import annotations

from typing import Any, NamedTuple

from autograph.trees import syntax as s

SHORTEST = 3


class Switch(NamedTuple):
    """The sides of a chain, each with its keys, and what runs if no key matches."""

    subject: str
    sides: list[tuple[list[Any], Any]]  # the keys' nodes, and the `if` whose body it is
    default: list[Any]


def switch_of(stmt: Any) -> Switch | None:
    """The switch that an `if` with its `elif`s amounts to, if it has at least three sides."""
    subject, sides, rest = "", [], [stmt]
    while len(rest) == 1 and isinstance(rest[0], s.If):
        keys: list[Any] = []
        name = compared(rest[0].test, keys)
        if not name or (subject and name != subject):
            break
        subject = name
        sides.append((keys, rest[0]))
        rest = rest[0].orelse
    values = [_value(k) for keys, _ in sides for k in keys]
    return Switch(subject, sides, rest) if len(sides) >= SHORTEST and len(set(values)) == len(values) else None


def _value(key: Any) -> int:
    return -key.operand.value if isinstance(key, s.UnaryOp) else int(key.value)


def compared(test: Any, keys: list[Any]) -> str:
    """The variable that a test compares with integers, which are added to `keys`; empty if it is another test."""
    match test:
        case s.Compare(left=s.Name(id=name), ops=[op], comparators=[key]) if isinstance(op, s.Eq) and _is_integer(key):
            keys.append(key)
            return str(name)
        case s.BoolOp(op=s.Or(), values=values):
            names = {compared(v, keys) for v in values}
            return names.pop() if len(names) == 1 else ""
    return ""


def _is_integer(key: Any) -> bool:
    match key:
        case s.Constant(value=value):
            return type(value) is int
        case s.UnaryOp(op=s.USub(), operand=s.Constant(value=value)):
            return type(value) is int
    return False
