"""Paths: a name, or an attribute of a path (`self.items`); and which of them the value of an expression may be, or may hold."""

from __future__ import annotations

import ast
from typing import Any

_DEEP = 2  # attributes of attributes, of which a getter gives another
UNKNOWN = "?"  # a container that has no path
KEEPING = frozenset({"append", "appendleft", "insert", "add", "setdefault", "extend"})  # methods that keep an argument

_OF_DICTS = frozenset({"values", "items", "keys", "get", "popitem"})
_OF_ITEMS = frozenset({"enumerate", "filter", "iter", "map", "max", "min", "next", "reversed", "sorted", "zip"})

# What gives parts of arrays: views of NumPy's.
VIEW_ATTRIBUTES = frozenset({"T", "mT", "real", "imag", "flat"})
VIEWS = frozenset(
    "reshape ravel transpose swapaxes squeeze view moveaxis rollaxis expand_dims atleast_1d atleast_2d atleast_3d flip fliplr flipud rot90 "
    "split array_split hsplit vsplit dsplit matrix_transpose permute_dims unstack".split()
)


class Stored(dict[str, dict[int, str]]):
    """The functions of a file, by name, that may store into an array they are given: which of their parameters.

    Those that a function may return have the positions -2, -3, ... for the first, the second parameter, and so on.  `places`: for the functions
    that may return an array which an attribute of a parameter or a name from outside holds, these paths, with the position of the parameter;
    `properties` are those of them that are properties.
    """

    def __init__(self) -> None:
        self.places: dict[str, frozenset[tuple[int | None, str]]] = {}
        self.properties: set[str] = set()


def path_of(node: Any) -> str:
    """The path that an expression of `ast` or of gast names; nothing for any other."""
    if (kind := type(node).__name__) == "Name":
        return str(node.id)
    owner = path_of(node.value) if kind == "Attribute" else ""
    return f"{owner}.{node.attr}" if owner else ""


def called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def chain(target: Any) -> tuple[Any, list[Any]]:
    """`m[i][j]`: m, and its indices; of a tree of `ast` or of gast."""
    indices: list[Any] = []
    while hasattr(target, "slice"):
        indices.insert(0, target.slice)
        target = target.value
    return target, indices


def arguments_of(node: ast.Call, parameters: dict[int, str], method: bool) -> list[tuple[int | str, str]]:
    """The arguments of a call that are paths, for some parameters of the callee; those at negative positions are no parameters."""
    if any(isinstance(a, ast.Starred) for a in node.args):
        return []
    found: list[tuple[int | str, str]] = []
    for k, name in parameters.items():
        if k < 0:
            continue
        position = k - method
        if 0 <= position < len(node.args):
            path = path_of(node.args[position])
            if path:
                found.append((position, path))
        else:
            found += [(name, path) for keyword in node.keywords if keyword.arg == name and (path := path_of(keyword.value))]
    return found


def containers_of(node: Any) -> frozenset[str]:
    """The names that a function gives a list or dict of its own, or uses as one."""
    found: set[str] = set()
    for n in ast.walk(node):
        if isinstance(n, ast.Assign) and isinstance(n.value, (ast.List, ast.Dict, ast.ListComp, ast.DictComp, ast.BinOp, ast.Call)):
            value: Any = n.value.left if isinstance(n.value, ast.BinOp) else n.value
            if isinstance(value, ast.Call):
                if not (isinstance(value.func, ast.Name) and value.func.id in ("list", "dict", "deque", "defaultdict")):
                    continue
            elif not isinstance(value, (ast.List, ast.Dict, ast.ListComp, ast.DictComp)):
                continue
            found |= {p for t in n.targets if (p := path_of(t))}
        elif isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in KEEPING | _OF_DICTS and (p := path_of(n.func.value)):
            found.add(p)
        elif isinstance(n, ast.Subscript) and isinstance(n.slice, ast.Constant) and type(n.slice.value) is str and (p := path_of(n.value)):
            found.add(p)
    return frozenset(found)


class Sources:
    """What the values of a function's expressions may be.

    `containers` are its own lists and dicts, `stored` the functions that store, and `names` what it names.
    """

    def __init__(self, containers: frozenset[str], stored: Stored, names: frozenset[str]) -> None:
        self.containers, self.stored, self.names = containers, stored, names

    def of(self, value: Any) -> frozenset[str]:
        """The paths whose array the value of an expression may be, or may hold."""
        match value:
            case ast.Name() | ast.Attribute():
                return frozenset({path} if (path := path_of(value)) else ()) | self._given_by(value)
            case ast.Subscript(value=base):  # of a list or dict; a row of an array is a value, as is known when it runs
                return self.of(base)
            case ast.IfExp(body=a, orelse=b):
                return self.of(a) | self.of(b)
            case ast.BoolOp(values=values) | ast.Tuple(elts=values) | ast.List(elts=values) | ast.Dict(values=values):
                return frozenset().union(*map(self.of, values))
            case ast.Call() if called(value) in self.stored or called(value) in self.stored.places:  # it may return them
                given = {-2 - k: a for k, a in self.stored.get(called(value), {}).items() if k < 0}
                return frozenset(p for _, p in arguments_of(value, given, isinstance(value.func, ast.Attribute))) | self._given_by(value)
            case ast.NamedExpr(target=target, value=inner):
                return self.of(target) | self.of(inner)
            case ast.Starred(value=inner):
                return self.of(inner)
            case ast.ListComp(elt=inner) | ast.GeneratorExp(elt=inner) | ast.DictComp(value=inner):
                own = {n.id for c in value.generators for n in ast.walk(c.target) if isinstance(n, ast.Name)}
                items = frozenset().union(*(self._items(c.iter) for c in value.generators))
                return frozenset(p for p in self.of(inner) if p.split(".")[0] not in own) | (items if own & _names_in(inner) else frozenset())
            case ast.BinOp(left=left, op=ast.Mult() | ast.Add(), right=right):  # of lists
                return frozenset().union(*(self.of(v) for v in (left, right) if _makes_list(v) or path_of(v) in self.containers))
            case ast.Call(func=ast.Name(id="list" | "tuple" | "dict" | "deque"), args=[a]):
                return self.of(a)
            case ast.Call(func=ast.Name(id=id), args=args) if id in _OF_ITEMS:
                return frozenset().union(*map(self._items, args))
            case ast.Call(func=ast.Attribute(value=owner, attr="values" | "items" | "get" | "pop" | "popitem" | "popleft" | "copy")) if (
                path_of(owner) in self.containers
            ):
                return self.of(owner)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="copy"), attr="copy"), args=[a]):
                return self.of(a)
        return frozenset()

    def _items(self, value: Any) -> frozenset[str]:
        """The paths whose array one of the items of an expression may be."""
        path = path_of(value)
        return self.of(value) if not path or path in self.containers else frozenset()

    def _given_by(self, value: Any) -> frozenset[str]:
        """The paths whose array a call may give, or an attribute that is a property."""
        name = called(value) if isinstance(value, ast.Call) else getattr(value, "attr", "")
        found: set[str] = set()
        for k, path in self.stored.places.get(name, ()) if isinstance(value, ast.Call) or name in self.stored.properties else ():
            if k is None:
                found |= {path} if path.split(".")[0] in self.names else set()
            elif (owner := _argument(value, k)) and f"{owner}{path}" != path_of(value) and owner.count(".") < _DEEP:
                found.add(f"{owner}{path}")
        return frozenset(found)


def _argument(value: Any, k: int) -> str:
    """The path that a call, or the look at a property, gives as the k-th parameter."""
    func = value.func if isinstance(value, ast.Call) else value
    args = [*([func.value] if isinstance(func, ast.Attribute) else []), *(value.args if isinstance(value, ast.Call) else [])]
    return path_of(args[k]) if k < len(args) and not any(isinstance(a, ast.Starred) for a in args) else ""


def _names_in(node: Any) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _makes_list(node: Any) -> bool:
    sides = [node.left, node.right] if isinstance(node, ast.BinOp) else []
    return isinstance(node, (ast.List, ast.Tuple, ast.ListComp)) or any(map(_makes_list, sides))
