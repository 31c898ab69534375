"""The expression that a branch amounts to, if it does nothing but compute what it gives: then a lambda is enough.

y = x                     =>   x
done, result = True, x    =>   (True, x)
return f(x)               =>   f(x)
"""

from __future__ import annotations

from typing import Any

from autograph.analysis.names import reads
from autograph.trees import syntax as s


def value_of(block: list[Any], outs: list[str], at: Any) -> Any | None:
    """An expression for the values of `outs` after `block` (or for what it returns); None if it takes statements."""
    match block:
        case [s.Return(value=value)] if value is not None:
            return None if _unmovable(value) else value
    given = _assignments(block)
    if given is None or not outs or not given.keys() <= set(outs) or _unmovable(*given.values()):
        return None
    order = [outs.index(name) for name, value in given.items() if not _plain(value)]
    if order != sorted(order):
        return None
    seen: set[str] = set()
    for name, value in given.items():
        if reads(value) & seen:  # needs an earlier assignment of the branch
            return None
        seen.add(name)
    elements = [given.get(n) or s.at(s.name(n), at) for n in outs]
    return elements[0] if len(elements) == 1 else s.at(s.Tuple(elements, s.Load()), elements[0])


def _assignments(block: list[Any]) -> dict[str, Any] | None:
    """The values of a block of nothing but assignments to names, each assigned once."""
    given: dict[str, Any] = {}
    for stmt in block:
        match stmt:
            case s.Assign(targets=[s.Name(id=id)], value=value):
                pairs = [(id, value)]
            case s.Assign(targets=[s.Tuple(elts=targets)], value=s.Tuple(elts=values)) if (
                len(targets) == len(values) and all(isinstance(t, s.Name) for t in targets) and not any(isinstance(v, s.Starred) for v in values)
            ):
                pairs = [(t.id, v) for t, v in zip(targets, values, strict=True)]
            case s.Pass():
                continue
            case _:
                return None
        for id, value in pairs:
            if id in given:
                return None
            given[id] = value
        if len(pairs) > 1 and any(reads(v) & {t for t, _ in pairs} for _, v in pairs):
            return None  # `a, b = b, a`
    return given


def _plain(value: Any) -> bool:
    return isinstance(value, (s.Constant, s.Name))


def _unmovable(*values: Any) -> bool:
    """What a lambda cannot hold: it would bind or yield in the wrong function."""
    return any(s.contains(v, s.NamedExpr, *s.YIELDS) for v in values)
