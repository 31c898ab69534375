"""What the text of a function shows to be a number or an array: variables, attributes and items that take part in arithmetic, and the like.

A comparison of two things of which it shows nothing may be one of tuples or lists, whose items traced values may decide: Python's own would ask each
for its truth.  `numeric` holds variables by name, attributes by `.name`, and the items of a variable by `name[]`.  Where it is wrong, the comparison
stays Python's, and a traced item is AG501: nothing is silently another.
"""

from __future__ import annotations

from typing import Any

from autograph.trees import syntax as s

_ARITHMETIC = frozenset("Sub Mult Div FloorDiv Mod Pow MatMult BitAnd BitOr BitXor LShift RShift".split())
_OF_ARRAYS = frozenset("shape dtype ndim size T at sum mean max min any all astype reshape item ravel flatten".split())
_NUMBERS = frozenset("len range int float abs round sum bool ord hash id divmod pow".split())
_TELLING = frozenset({s.BinOp, s.UnaryOp, s.AugAssign, s.Compare, s.Assign, s.For, s.Subscript, s.Attribute, s.Call})
_ROWS = frozenset("tuple list sorted zip".split())


def numeric(fn: Any) -> frozenset[str]:
    """What is a number or an array by the text of a function."""
    found: set[str] = set()
    links: list[tuple[str, Any]] = []  # what is assigned to what
    for node in (n for n in s.walk(fn) if type(n) in _TELLING):
        match node:
            case s.BinOp(left=left, op=op, right=right):
                if _is_arithmetic(op) and not _is_repeated(node):
                    _add(found, left, right)
                elif _is_number(left) or _is_number(right):
                    _add(found, left, right)
            case s.UnaryOp(op=op, operand=operand) if not isinstance(op, s.Not):
                _add(found, operand)
            case s.AugAssign(target=target, op=op, value=value):
                if _is_arithmetic(op) or _is_number(value):
                    _add(found, target, value)
            case s.Compare(left=left, comparators=comparators):
                operands = [left, *comparators]
                if any(map(_is_number, operands)):
                    _add(found, *operands)
            case s.Assign(targets=[s.Tuple(elts=targets)], value=s.Tuple(elts=values)) if len(targets) == len(values):
                links += [(key, value) for t, value in zip(targets, values, strict=True) if (key := key_of(t))]
            case s.Assign(targets=targets, value=value):
                links += [(key, value) for t in targets if (key := key_of(t))]
            case s.For(target=target, iter=s.Call(func=f)) if _name(f) == "range":
                _add(found, target)
            case s.Subscript(value=value, slice=index):
                if isinstance(index, s.Tuple) and any(not isinstance(i, s.Constant) for i in index.elts):
                    _add(found, value)
                if isinstance(index, s.Slice):
                    _add(found, *(i for i in (index.lower, index.upper, index.step) if i is not None))
            case s.Attribute(value=value, attr=attr) if attr in _OF_ARRAYS:
                _add(found, value)
            case s.Call(func=f, args=args) if _name(f) in ("range", "abs", "float", "int", "round"):
                _add(found, *args)
    going = True
    while going:  # what is assigned a number is one
        going = False
        for key, value in links:
            if key not in found and (_is_number(value) or key_of(value) in found):
                found.add(key)
                going = True
    return frozenset(found)


def may_be_rows(left: Any, right: Any, numbers: frozenset[str]) -> bool:
    """Whether a comparison may be one of tuples or lists, by its text."""
    if any(isinstance(side, (s.Tuple, s.List)) for side in (left, right)):
        return True
    sides = [_may_be_row(left, numbers), _may_be_row(right, numbers)]
    return any(sides) and all(side is not False for side in sides)


def _may_be_row(node: Any, numbers: frozenset[str]) -> bool | None:
    """Whether an operand may be a tuple or list; None where it may, and most are not."""
    if _is_number(node) or isinstance(node, (s.Constant, s.JoinedStr, s.Dict, s.BinOp)) or (key := key_of(node)) in numbers:
        return False
    if isinstance(node, (s.Name, s.Attribute)):
        return True
    if isinstance(node, s.Call):
        name = _name(node.func)
        return name in _ROWS or name[:1].isupper() or None
    return None if key or isinstance(node, (s.Call, s.Subscript, s.IfExp)) else False


def key_of(node: Any) -> str:
    """What stands for a variable, an attribute, or the items of a variable; empty for anything else."""
    match node:
        case s.Name(id=id):
            return str(id)
        case s.Attribute(attr=attr):
            return f".{attr}"
        case s.Subscript(value=value):
            return f"{key}[]" if (key := key_of(value)) else ""
        case s.Call(func=s.Attribute(attr="get_item", value=s.Name(id=s.RUNTIME)), args=[value, _]):
            return f"{key}[]" if (key := key_of(value)) else ""
    return ""


def _add(found: set[str], *nodes: Any) -> None:
    found.update(key for node in nodes if (key := key_of(node)))


def _is_number(node: Any) -> bool:
    match node:
        case s.Constant(value=value):
            return isinstance(value, (int, float, complex))
        case s.BinOp(op=op):
            return _is_arithmetic(op) and not _is_repeated(node) or _is_number(node.left) or _is_number(node.right)
        case s.UnaryOp(op=op):
            return not isinstance(op, s.Not)
        case s.Call(func=f):
            return _name(f) in _NUMBERS
    return False


def _is_arithmetic(op: Any) -> bool:
    return type(op).__name__ in _ARITHMETIC


def _is_repeated(node: Any) -> bool:
    """`[0] * n`, and `"..." % x`."""
    return any(isinstance(side, (s.List, s.Tuple, s.JoinedStr)) or isinstance(getattr(side, "value", None), str) for side in (node.left, node.right))


def _name(f: Any) -> str:
    """The name of what is called; of `ag.call(f)(x)` that of `f`."""
    if isinstance(f, s.Call) and f.args and getattr(f.func, "attr", "") == "call":
        f = f.args[0]
    return str(getattr(f, "id", getattr(f, "attr", "")))
