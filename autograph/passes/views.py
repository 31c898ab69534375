"""Names that are stored into get parts of arrays by functions that remember which array it is: NumPy's would change with them.

row = m[0]; row[1] = v        =>   row = ag.get_item(m, 0); ...
flat = m.ravel(); flat += 1   =>   flat = ag.part(m.ravel(), m); ...
a, b = m; a[0] = v            =>   a, b = ag.parts(m); ...
for v in m.T: m[0, 1] = v     =>   for v in ag.part(m.T, m): ...
clear(m[0])                   =>   clear(ag.get_item(m, 0))          (if `clear` stores into its parameter)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autograph import syntax as s
from autograph.passes.context import Context
from autograph.passes.indices import index_of
from autograph.paths import VIEW_ATTRIBUTES, VIEWS, chain, path_of
from autograph.quote import quote_expr
from autograph.scopes import Scope
from autograph.targets import leaves

_GO_OVER = frozenset({"enumerate", "filter", "iter", "map", "reversed", "zip"})


def note_views(fn: Any, context: Context) -> None:
    own = [n for stmt in fn.body for n in s.own(stmt)]
    views = _Views({*_changed(own, context)} - Scope(fn).globals)
    for n in own:
        match n:
            case s.Call() if _called(n) in context.storing:
                n.args = [views.part(a) for a in n.args]
                for keyword in n.keywords:
                    keyword.value = views.part(keyword.value)
            case s.Call(func=s.Name(id=id)) if id in _GO_OVER:
                n.args = [views.given(None, a) for a in n.args]
            case s.For():
                n.iter = views.given(None, n.iter)
            case s.Assign(targets=[target], value=value):
                n.value = views.given(target, value)
            case s.AnnAssign(target=target, value=value) if value is not None:
                n.value = views.given(target, value)
            case s.NamedExpr(target=target, value=value):
                n.value = views.given(target, value)


def _changed(own: list[Any], context: Context) -> Iterator[str]:
    """The paths that a function stores into, or hands to functions that do."""
    for n in own:
        match n:
            case s.Subscript(ctx=s.Store() | s.Del()):
                yield path_of(chain(n)[0])
            case s.AugAssign(target=target):
                yield path_of(chain(target)[0])
            case s.Call() if (update := context.updates.get((n.lineno, n.col_offset))) is not None:
                yield from update.paths


class _Views:
    """`changed` are the paths that the function stores into: what they get, and what is taken of them."""

    def __init__(self, changed: set[str]) -> None:
        self.changed = changed

    def given(self, target: Any, value: Any) -> Any:
        """The value that a target is given."""
        targets = target.elts if isinstance(target, (s.Tuple, s.List)) else [target]
        if isinstance(value, (s.Tuple, s.List)):
            parts = targets if len(targets) == len(value.elts) and not any(isinstance(t, s.Starred) for t in targets) else [None] * len(value.elts)
            value.elts = [self.given(t, v) for t, v in zip(parts, value.elts)]
            return value
        changed = self.changed.intersection(map(path_of, leaves(target) if target is not None else ()))
        if targets == [target]:
            return self.part(value) if changed or _whole(value) in self.changed else value
        if isinstance(value, (s.Name, s.Attribute, s.Subscript)) and (changed or _whole(value) in self.changed):
            return quote_expr("ag.parts($x)", value, x=self.part(value))
        return value

    def part(self, value: Any) -> Any:
        """A value that may be part of an array, with the array remembered."""
        match value:
            case s.Subscript(value=x, slice=index) if not isinstance(getattr(index, "value", None), str):
                return quote_expr("ag.get_item($x, $i)", value, x=self.part(x), i=index_of(index))
            case s.IfExp():
                value.body, value.orelse = self.part(value.body), self.part(value.orelse)
            case s.Attribute() | s.Call() if (whole := _viewed(value)) is not None:
                return quote_expr("ag.part($value, $x)", value, value=value, x=s.copy(whole))
        return value


def _viewed(value: Any) -> Any:
    """What a method, function or attribute gives a view of, if that is a variable or an attribute of one."""
    found: Any = None
    match value:
        case s.Attribute(value=x, attr=attr) if attr in VIEW_ATTRIBUTES:
            found = x
        case s.Call(func=s.Attribute(value=s.Name(id="np" | "numpy" | "jnp")) | s.Name(), args=[first, *_]) if _called(value) in VIEWS:
            found = first
        case s.Call(func=s.Attribute(value=x)) if _called(value) in VIEWS:
            found = x
    return found if path_of(found) else None


def _whole(value: Any) -> str:
    """The path that a value is taken from."""
    viewed = _viewed(value)
    return path_of(viewed if viewed is not None else chain(value)[0])


def _called(node: Any) -> str:
    return str(getattr(node.func, "id", "") or getattr(node.func, "attr", ""))


def _is_module(x: Any) -> bool:
    return isinstance(x, s.Name) and x.id in ("np", "numpy", "jnp")
