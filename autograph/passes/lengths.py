"""The length of a slice whose bounds differ by less than they hold: `i:i + k` has k items, whatever i is.

Bounds are polynomials in names, as `+`, `-`, `*` and integers make them; what cancels in their difference may be traced.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from autograph.trees import syntax as s

Monomial = tuple[str, ...]
Polynomial = Counter[Monomial]


def span_of(node: Any) -> Any:
    """The length of a slice as an expression, if some of its bounds cancel in it; else None."""
    if node.lower is None or node.upper is None or node.step is not None:
        return None
    lower, upper = _polynomial(node.lower), _polynomial(node.upper)
    if lower is None or upper is None:
        return None
    length = _sum(upper, lower, -1)
    held = {name for p in (lower, upper) for names in p for name in names}
    return _expression(length, node) if {name for names in length for name in names} < held else None


def _polynomial(node: Any) -> Polynomial | None:
    match node:
        case s.Constant(value=int() as value) if not isinstance(value, bool):
            return Counter({(): value})
        case s.Name(id=id):
            return Counter({(id,): 1})
        case s.Attribute(value=s.Name(id=id), attr=attr):
            return Counter({(f"{id}.{attr}",): 1})
        case s.UnaryOp(op=s.USub(), operand=operand) if (p := _polynomial(operand)) is not None:
            return _sum(Counter(), p, -1)
        case s.BinOp(left=left, op=op, right=right):
            a, b = _polynomial(left), _polynomial(right)
            if a is None or b is None:
                return None
            if isinstance(op, (s.Add, s.Sub)):
                return _sum(a, b, 1 if isinstance(op, s.Add) else -1)
            if isinstance(op, s.Mult):
                out: Polynomial = Counter()
                for x, m in a.items():
                    for y, n in b.items():
                        out[tuple(sorted(x + y))] += m * n
                return out
    return None


def _sum(a: Polynomial, b: Polynomial, sign: int) -> Polynomial:
    out = Counter(a)
    for key, n in b.items():
        out[key] += sign * n
    return Counter({key: n for key, n in out.items() if n})


def _expression(p: Polynomial, at: Any) -> Any:
    out: Any = None
    for names, n in sorted(p.items(), key=lambda item: (item[1] < 0, item[0] == (), item[0])):
        factors = [_named(name, at) for name in names]
        if abs(n) != 1 or not factors:
            factors.insert(0, s.constant(abs(n)))
        term = factors[0]
        for factor in factors[1:]:
            term = s.BinOp(term, s.Mult(), factor)
        if out is None:
            out = term if n > 0 else s.UnaryOp(s.USub(), term)
        else:
            out = s.BinOp(out, s.Add() if n > 0 else s.Sub(), term)
    return s.at(out if out is not None else s.constant(0), at)


def _named(name: str, at: Any) -> Any:
    owner, _, attribute = name.partition(".")
    base = s.name(owner)
    return s.at(s.Attribute(base, attribute, s.Load()) if attribute else base, at)
