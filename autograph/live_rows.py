"""Loops over arrays that their body stores into: each row is read when its turn comes, as NumPy's iterators do.

    for x in a: a[0] += x             =>   for k in ag.indices(a): x = ag.row(a, k); ...
    for i, x in zip(r, a): a[i] = x   =>   for k, k_2 in zip(r, ag.indices(a)): i, x = (k, ag.row(a, k_2)); ...

The trees are those of `ast` or of gast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from autograph.aliases import Update
from autograph.paths import UNKNOWN, chain

_SCOPES = ("FunctionDef", "AsyncFunctionDef", "Lambda", "ClassDef", "ListComp", "SetComp", "DictComp", "GeneratorExp")


class Trees(NamedTuple):
    """How nodes are made."""

    name: Callable[[str, bool], Any]  # with its name, and whether it is stored into
    call: Callable[[str, list[Any]], Any]  # of one of our functions
    tuple: Callable[[list[Any], bool], Any]
    fresh: Callable[[], str]
    is_builtin: Callable[[Any], bool]


class Turns(NamedTuple):
    """What a loop goes over, what it binds in each turn, and the value of its target then."""

    iter: Any
    target: Any
    value: Any


def same_names(body: list[Any]) -> dict[str, set[str]]:
    """The paths that a function's text gives the value of another (`b = a`), each with all of its own."""
    found: dict[str, set[str]] = {}
    for node in _own(body):
        if type(node).__name__ == "Assign" and (value := _path(node.value)):
            for path in filter(None, map(_path, node.targets)):
                both = found.get(path, {path}) | found.get(value, {value})
                found.update(dict.fromkeys(both, both))
    return found


def changing(loop: Any, calls: Mapping[Any, Update], names: Mapping[str, set[str]]) -> frozenset[str]:
    """The paths that a loop stores into in each turn, and does not bind itself.

    `calls`: what a call at a place may store into; `names`: paths that may be one array.
    """
    stored: set[str] = set()
    bound: set[str] = set()
    for node in _own([loop.target, *loop.body]):
        context, kind = type(getattr(node, "ctx", None)).__name__, type(node).__name__
        at = (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
        if kind == "Subscript" and context == "Store":
            stored.add(_path(chain(node)[0]))
        elif kind == "Call" and at in calls:
            stored.update(calls[at].paths)
        elif context in ("Store", "Del") and (path := _path(node)):
            bound.add(path)
    stored = set().union(*(names.get(p, {p}) for p in stored))
    return frozenset(p for p in stored - {"", UNKNOWN} if p[0] != "=" and not any(p == b or p.startswith(f"{b}.") for b in bound))


def turns(iterable: Any, paths: frozenset[str], trees: Trees) -> Turns | None:
    """A loop whose items are rows of these arrays; None if there are none."""
    made: list[str] = []
    found = _turns(iterable, paths, trees, made)
    return found if made else None


def _turns(node: Any, paths: frozenset[str], trees: Trees, made: list[str]) -> Turns:
    kind = type(node).__name__
    called = node.func if kind == "Call" and type(node.func).__name__ == "Name" and trees.is_builtin(node.func) else None
    if called is not None and node.args and not any(type(a).__name__ == "Starred" for a in node.args):
        match called.id:
            case "zip":
                parts = [_turns(a, paths, trees, made) for a in node.args]
                names, values = (trees.tuple([getattr(p, f) for p in parts], f == "target") for f in ("target", "value"))
                return Turns(_with(node, [p.iter for p in parts]), names, values)
            case "enumerate":
                k, part = trees.fresh(), _turns(node.args[0], paths, trees, made)
                return Turns(
                    _with(node, [part.iter, *node.args[1:]]), trees.tuple([trees.name(k, True), part.target], True),
                    trees.tuple([trees.name(k, False), part.value], False),
                )  # fmt: skip
            case "reversed" if _array_of(node.args[0], paths):
                part = _turns(node.args[0], paths, trees, made)
                return Turns(_with(node, [part.iter]), part.target, part.value)
    k = trees.fresh()
    here = trees.name(k, False)
    if array := _array_of(node, paths):
        made.append(array)
        return Turns(trees.call("indices", [node]), trees.name(k, True), trees.call("row", [node, here]))
    return Turns(node, trees.name(k, True), here)


def _array_of(node: Any, paths: frozenset[str]) -> str:
    """The path of these whose rows an expression gives: the array itself, or a part with fixed ends."""
    if type(node).__name__ == "Subscript" and type(node.slice).__name__ == "Slice":
        ends = (node.slice.lower, node.slice.upper, node.slice.step)
        return _array_of(node.value, paths) if all(e is None or _fixed(e) for e in ends) else ""
    return path if (path := _path(node)) in paths else ""


def _fixed(node: Any) -> bool:
    return type(node).__name__ == "Constant" or (type(node).__name__ == "UnaryOp" and _fixed(node.operand))


def _path(node: Any) -> str:
    if type(node).__name__ == "Name":
        return str(node.id)
    owner = _path(node.value) if type(node).__name__ == "Attribute" else ""
    return f"{owner}.{node.attr}" if owner else ""


def _with(call: Any, args: list[Any]) -> Any:
    new = type(call)(call.func, args, call.keywords)
    for field in call._attributes:
        setattr(new, field, getattr(call, field, None))
    return new


def _own(nodes: list[Any]) -> Iterator[Any]:
    """The nodes below some, but for those of functions, classes and comprehensions inside."""
    todo = list(nodes)
    while todo:
        node = todo.pop()
        yield node
        if type(node).__name__ not in _SCOPES:
            for field in node._fields:
                value = getattr(node, field, None)
                todo += [v for v in (value if isinstance(value, list) else [value]) if hasattr(v, "_fields")]
