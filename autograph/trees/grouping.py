"""Long chains of `and`, `or` and conditional expressions in groups: branches nest as deep as one group."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograph.trees import syntax as s
from autograph.trees.quote import quote_expr


def links(node: Any) -> list[Any]:
    """The conditional expressions of a chain: `a if p else b if q else c`."""
    found = [node]
    while isinstance(found[-1].orelse, s.IfExp):
        found.append(found[-1].orelse)
    return found


def in_groups(chain: list[Any], truth: Callable[[Any], Any], visit: Callable[[Any], Any], most: int) -> Any:
    """A chain of conditional expressions in groups of `most`, each evaluated if none before it has given a value."""
    last, out = chain[-1].orelse, None
    for begin in range(0, len(chain), most):
        group, ends = chain[begin : begin + most], begin + most >= len(chain)
        value = visit(last) if ends else quote_expr("(True, ag.blank)", group[-1])
        for link in reversed(group):
            body = visit(link.body) if ends else quote_expr("(False, $value)", link.body, value=visit(link.body))
            value = quote_expr("ag.cond($test, lambda: $body, lambda: $orelse)", link, test=truth(link.test), body=body, orelse=value)
        if out is None:
            out = value
        else:
            name = "ag.continued" if ends else "ag.going_on"
            out = quote_expr(f"{name}($before, lambda: $rest)", group[0], before=out, rest=value)
    return out


def folded(values: list[Any], operator: str, at: Any, most: int) -> Any:
    """The operator between values, of which each but the first is evaluated where those before it decide so.

    More than may nest are taken in groups from the left, which is the same: `a and b and c` is `(a and b) and c`.
    """
    out = None
    for begin in range(0, len(values), most):
        *rest, group = values[begin : begin + most]
        for left in reversed(rest):
            group = quote_expr(f"{operator}($left, lambda: $right)", at, left=left, right=group)
        out = group if out is None else quote_expr(f"{operator}($left, lambda: $right)", at, left=out, right=group)
    return out
