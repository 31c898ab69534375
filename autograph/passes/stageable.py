"""Which functions have a staged form.  Looks at the kinds of nodes by name, so that it reads the trees of `ast` and of `gast` alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autograph.trees.fields import children

# Functions that look at their own frame run their plain form inside a trace too.
FRAMES = frozenset({"locals", "vars", "dir", "eval", "exec", "_getframe", "currentframe"})
_OF_OBJECTS = frozenset({"vars", "dir"})  # of an object, if one is given
_YIELDS = frozenset({"Yield", "YieldFrom"})
_PYTHON = frozenset({*_YIELDS, "Await", "AsyncFor", "AsyncWith"})
_SCOPES = frozenset({"FunctionDef", "AsyncFunctionDef", "Lambda", "ClassDef"})
_LOOPS = frozenset({"While", "For", "AsyncFor"})


def _kind(node: Any) -> str:
    return type(node).__name__


WHY_PYTHON = {
    "generator": "yields inside of an expression, and stays Python: traced values cannot decide in it; write `x = yield y` as a statement",
    "coroutine": "is a coroutine, and stays Python: traced values cannot decide in it; return a list, or loop where it is used",
    "frame": "looks at its own frame (`locals`, `eval`, ...), and stays Python: traced values cannot decide in it",
    "finally": "is a generator that jumps out of a `finally`, and stays Python: traced values cannot decide in it",
}


def stageable(fn: Any) -> bool:
    """Whether a function has a staged form."""
    return not obstacle(fn)


def obstacle(fn: Any) -> str:
    """Why a function has none.

    A "coroutine", a "generator" that yields inside of an expression, a look at its "frame", a jump of a generator out of a "finally".
    """
    if _kind(fn) == "AsyncFunctionDef":
        return "coroutine"
    allowed: set[int] = set()
    yielding, jumping = False, False
    for node in _own([fn.body] if _kind(fn) == "Lambda" else fn.body):
        kind = _kind(node)
        if kind == "Name" or kind == "Attribute":
            if (node.id if kind == "Name" else node.attr) in FRAMES and id(node) not in allowed:
                return "frame"
            continue
        if kind in ("Expr", "Assign", "Return") and _kind(node.value) in _YIELDS and all(_kind(t) == "Name" for t in getattr(node, "targets", ())):
            allowed.add(id(node.value))
        elif kind in _PYTHON and id(node) not in allowed:
            return "generator"
        if kind == "Call" and _kind(node.func) == "Name" and node.func.id in _OF_OBJECTS and node.args and _kind(node.args[0]) != "Starred":
            allowed.add(id(node.func))
        yielding = yielding or kind in _YIELDS
        jumping = jumping or (kind in ("Try", "TryStar") and bool(node.finalbody) and _jumps_out(node.finalbody))
    return "finally" if yielding and jumping else ""


def _own(body: list[Any]) -> Iterator[Any]:
    """The nodes of a scope itself."""
    stack = list(body)
    while stack:
        node = stack.pop()
        yield node
        kind = _kind(node)
        if kind == "ClassDef":
            stack += [*node.decorator_list, *node.bases, *node.keywords]
        elif kind in _SCOPES:
            stack += [*getattr(node, "decorator_list", []), *node.args.defaults, *(d for d in node.args.kw_defaults if d)]
        elif kind != "Name" and kind != "Constant":
            stack += children(node)


def _jumps_out(block: list[Any], in_loop: bool = False) -> bool:
    for stmt in block:
        kind = _kind(stmt)
        if kind == "Return" or (kind in ("Break", "Continue") and not in_loop):
            return True
        if kind in _SCOPES:
            continue
        parts = (stmt, *getattr(stmt, "handlers", []), *getattr(stmt, "cases", []))
        if any(_jumps_out(getattr(p, field, []), in_loop or kind in _LOOPS) for p in parts for field in ("body", "orelse", "finalbody")):
            return True
    return False
