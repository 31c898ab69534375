"""Loops over arrays that their body stores into: each row is read when its turn comes, as NumPy's iterators do.

    for x in a: a[0] += x             =>   for k in ag.indices(a): x = ag.row(a, k); ...
    for i, x in zip(r, a): a[i] = x   =>   for k, k_2 in zip(r, ag.indices(a)): i, x = (k, ag.row(a, k_2)); ...

The trees are those of `ast` or of gast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from autograph.aliases import Update
from autograph.paths import UNKNOWN, chain, path_of

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
        if type(node).__name__ == "Assign" and (value := path_of(node.value)):
            for path in filter(None, map(path_of, node.targets)):
                both = found.get(path, {path}) | found.get(value, {value})
                found.update(dict.fromkeys(both, both))
    return found


def changing(loop: Any, calls: Mapping[Any, Update], names: Mapping[str, set[str]]) -> dict[str, int]:
    """The paths that a loop stores into in each turn, and does not bind itself; and how many indices the shortest of these stores has.

    `calls`: what a call at a place may store into; `names`: paths that may be one array.
    """
    stored: dict[str, int] = {}
    bound: set[str] = set()
    moved: set[str] = set()  # whose items may be replaced

    def store(path: str, depth: int) -> None:
        for p in names.get(path, {path}):
            stored[p] = min(depth, stored.get(p, depth))

    for node in _own([loop.target, *loop.body]):
        context, kind = type(getattr(node, "ctx", None)).__name__, type(node).__name__
        at = (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
        if kind == "Subscript" and context == "Store":
            root, indices = chain(node)
            store(path_of(root), len(indices))
        elif kind == "Call":
            for path in calls[at].paths if at in calls else ():
                store(path, 0)
            handed = [node.func.value] if type(node.func).__name__ == "Attribute" else []
            moved.update(map(path_of, [*handed, *node.args, *(k.value for k in node.keywords)]))
        elif kind == "Subscript" and context == "Del":
            moved.add(path_of(chain(node)[0]))
        elif context in ("Store", "Del") and (path := path_of(node)):
            bound.add(path)
    keep = [p for p in stored.keys() - {"", UNKNOWN} if p[0] != "=" and not any(p == b or p.startswith(f"{b}.") for b in bound)]
    moved = {p for m in moved for p in names.get(m, {m})}
    return {p: 0 if p in moved else stored[p] for p in keep}


def gone_over(iterable: Any, paths: Mapping[str, int], trees: Trees) -> frozenset[Any]:
    """The nodes of what a loop goes over that give it rows of these arrays."""
    made: list[Any] = []
    _turns(iterable, paths, trees, made)
    return frozenset(made)


def turns(iterable: Any, paths: Mapping[str, int], trees: Trees) -> Turns | None:
    """A loop whose items are rows of these arrays; None if there are none."""
    made: list[Any] = []
    found = _turns(iterable, paths, trees, made)
    return found if made else None


def _turns(node: Any, paths: Mapping[str, int], trees: Trees, made: list[Any]) -> Turns:
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
    if _array_of(node, paths):
        made.append(node)
        return Turns(trees.call("indices", [node]), trees.name(k, True), trees.call("row", [node, here]))
    return Turns(node, trees.name(k, True), here)


def _array_of(node: Any, paths: Mapping[str, int]) -> str:
    """The path of these whose rows an expression gives: the array itself, a part with fixed ends, or an item that no store replaces."""
    root, indices = chain(node)
    if (path := path_of(root)) not in paths or not all(map(_fixed, indices)):
        return ""
    places = sum(type(i).__name__ != "Slice" for i in indices)
    return path if not places or places < paths[path] else ""


def _fixed(node: Any) -> bool:
    """Whether an index, or the end of a slice, is the same in every turn."""
    match type(node).__name__:
        case "Constant":
            return True
        case "UnaryOp":
            return _fixed(node.operand)
        case "Slice":
            return all(end is None or _fixed(end) for end in (node.lower, node.upper, node.step))
    return False


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
