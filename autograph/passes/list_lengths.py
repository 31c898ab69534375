"""The length of a slice whose bounds differ by less than they hold: `i:i + k` has k items, whatever i is.

Bounds are polynomials in names, as `+`, `-`, `*` and integers make them, and in parts of another kind that give the same whenever they are evaluated
(`a // 2`, `starts[k]`, `int(x)`): these have to cancel.  What cancels in the difference may be traced.  An object whose `__getitem__` gives another
value each time is taken for one that does not.
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
    if any(name.startswith(_OPAQUE) for names in length for name in names):
        return None
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
    return Counter({(_OPAQUE + key,): 1}) if (key := _key(node)) else None


_OPAQUE = "="  # begins no name
_PURE = frozenset("get_item int len min max abs round".split())


def _key(node: Any) -> str:
    """The text of an expression that gives the same each time, and does nothing; empty of any other."""
    match node:
        case s.Name(id=id):
            return str(id)
        case s.Constant(value=value):
            return repr(value)
        case s.Attribute(value=value, attr=attr):
            return _joined(f".{attr}", value)
        case s.UnaryOp(op=op, operand=operand):
            return _joined(type(op).__name__, operand)
        case s.BinOp(left=left, op=op, right=right):
            return _joined(type(op).__name__, left, right)
        case s.Subscript(value=value, slice=index):
            return _joined("[]", value, index)
        case s.Call(func=s.Name(id=name) | s.Attribute(value=s.Name(id=s.RUNTIME), attr=name), args=args, keywords=[]) if name in _PURE:
            return _joined(name, *args)
    return ""


def _joined(name: str, *parts: Any) -> str:
    keys = [_key(p) for p in parts]
    return f"{name}({', '.join(keys)})" if all(keys) else ""


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
