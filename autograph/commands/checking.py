"""`autograph check`: what the text of a file tells that will stay Python or be refused, without running anything."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from typing import Any

from autograph.forms.lowering import listing
from autograph.forms.module import chosen_functions, functions, is_decorated, parsed
from autograph.passes.stageable import WHY_PYTHON, obstacle
from autograph.source.errors import AutographError
from autograph.source.source import File

LIMITS = (
    "# The text is read, nothing runs: which values are traced, their types and shapes, and what callees in other files do is not seen; "
    "`ag.explain(f, *args)` traces a function."
)
_GROWING = frozenset({"append", "extend", "insert", "appendleft"})
_ASKED_ONCE = {"random": "jax.random", "time": "ag.progress, or measure outside"}


def findings(text: str, name: str, everything: bool = False) -> Iterator[str]:
    """`file:line:col: ID text` for each function and call that would be refused where that is data-dependent.

    Raises:
      SourceUnavailable: (AG101) the file does not parse.
    """
    file = parsed(text, name)
    for node in chosen_functions(file, everything):
        if reason := obstacle(node):
            yield _staying(node, reason, name)
            continue
        try:
            listing(node, file)
        except AutographError as error:
            yield _line(name, node, error.id, error.message)
            continue
        found = [*_effects(node, file, name), *_growth(node, file, name), *_caught(node, name), *_recursion(node, name), *_yields(node, name)]
        yield from sorted(found, key=_position)


def _position(finding: str) -> tuple[int, int]:
    line, column = finding.rpartition(": AG")[0].split(":")[-2:]
    return int(line), int(column)


def _growth(fn: Any, file: File, name: str) -> Iterator[str]:
    """Lists that become longer in a `while` without a bound."""
    assigned = [n for n in _own(fn, ast.Assign) if "deque(" in ast.unparse(n.value)]
    deques = {t.id for n in assigned for t in n.targets if isinstance(t, ast.Name)}
    for loop in _own(fn, ast.While):
        bounded = set(re.findall(r"len\(([\w.]+)\) <", ast.unparse(loop.test)))
        if any(isinstance(w, ast.With) and "max_steps" in ast.unparse(w.items[0]) and loop in ast.walk(w) for w in _own(fn, ast.With)):
            continue
        for n in ast.walk(loop):
            match n:
                case ast.Call(func=ast.Attribute(value=ast.Name(id=held) | ast.Attribute(attr=held), attr=method)) if method in _GROWING:
                    owner = ast.unparse(n.func.value) if isinstance(n.func, ast.Attribute) else ""
                    if owner in deques:
                        yield _line(name, n, "AG405", f"`{held}` is a deque and becomes longer in a `while`: if that is data-dependent, use a list")
                    elif owner not in bounded and owner not in file.modules:
                        yield _line(
                            name, n, "AG405", f"`{held}` becomes longer in a `while`: if its trip count is data-dependent, it raises AG405 without a "
                            "bound; put the loop into `with ag.loop(max_steps=n):`",
                        )  # fmt: skip


def _caught(fn: Any, name: str) -> Iterator[str]:
    """Errors that a branch raises and an `except` around it may catch."""
    for tried in _own(fn, ast.Try):
        for branch in (n for b in tried.body for n in ast.walk(b) if isinstance(n, (ast.If, ast.While))):
            for n in ast.walk(branch):
                if isinstance(n, (ast.Raise, ast.Assert)) and (caught := _caught_by(n, tried)):
                    word = "raise" if isinstance(n, ast.Raise) else "assert"
                    yield _line(
                        name, n, "AG404", f"the `except` of line {caught} may catch this `{word}`: if that is data-dependent, it is an error; "
                        "test before, and do without the `try`",
                    )  # fmt: skip


def _caught_by(n: Any, tried: ast.Try) -> int:
    """The line of the `except` that catches what a statement raises; 0 if there is none."""
    raised = n.exc.func if isinstance(n, ast.Raise) and isinstance(n.exc, ast.Call) else n.exc if isinstance(n, ast.Raise) else None
    kind = "AssertionError" if isinstance(n, ast.Assert) else ast.unparse(raised) if raised is not None else ""
    for handler in tried.handlers:
        types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type] if handler.type is not None else []
        if not types or any(_is_kind(kind, ast.unparse(t)) for t in types):
            return handler.lineno
    return 0


def _is_kind(kind: str, caught: str) -> bool:
    a, b = getattr(builtins, kind, None), getattr(builtins, caught, None)
    if isinstance(a, type) and isinstance(b, type):
        return issubclass(a, b)
    return kind == caught or caught in ("Exception", "BaseException")


def _recursion(fn: Any, name: str) -> Iterator[str]:
    """Calls of the function itself in a branch of it."""
    for block in _blocks(fn):
        for n in ast.walk(block):
            own = isinstance(n, ast.Call) and (isinstance(n.func, ast.Name) and n.func.id == fn.name)
            if own or isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and ast.unparse(n.func) == f"self.{fn.name}":
                yield _line(
                    name, n, "AG501", f"`{fn.name}` calls itself in a branch: if that is data-dependent, both branches are traced, "
                    "so the recursion does not end; write it as a loop",
                )  # fmt: skip


def _yields(fn: Any, name: str) -> Iterator[str]:
    """Yields in a branch."""
    for branch in _own(fn, ast.If):
        for n in ast.walk(branch):
            if isinstance(n, (ast.Yield, ast.YieldFrom)):
                yield _line(
                    name, n, "AG501", "a `yield` in a branch stays Python: traced values cannot decide in it; yield in all cases, and let the "
                    "loop that takes the values decide",
                )  # fmt: skip


def _own(fn: Any, kind: type) -> Iterator[Any]:
    """The outermost statements of a kind in a function, without those of functions in it."""
    stack = list(reversed(fn.body))
    while stack:
        n = stack.pop()
        if isinstance(n, kind):
            yield n
        elif not isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            stack += [c for c in ast.iter_child_nodes(n) if isinstance(c, (ast.stmt, ast.ExceptHandler, ast.match_case))]


def staying(text: str, name: str) -> Iterator[str]:
    """`file:line:col: ID text` for each decorated function that has no staged form."""
    file = parsed(text, name)
    for _, node in functions(file.tree):
        if is_decorated(node, file) and (reason := obstacle(node)):
            yield _staying(node, reason, name)


def _staying(node: Any, reason: str, name: str) -> str:
    return _line(name, node, "AG501", f"`{node.name}` {WHY_PYTHON[reason]}")


def _effects(fn: Any, file: File, name: str) -> Iterator[str]:
    """Calls in a loop or branch that would be made once, while it is traced."""
    for block in _blocks(fn):
        for n in ast.walk(block):
            if isinstance(n, ast.Call) and (called := _module_call(n.func, file)):
                module = called.split(".")[0]
                yield _line(name, n, "AG405", f"`{called}` in a loop or branch: if that is data-dependent, it is an error; use {_ASKED_ONCE[module]}")
            elif isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in ("input", "open") and file.is_builtin(n.func.id):
                yield _line(name, n, "AG405", f"`{n.func.id}` in a loop or branch: if that is data-dependent, it is an error; do it outside")


def _blocks(fn: Any) -> Iterator[Any]:
    """The outermost loops and branches of a function."""
    stack = list(reversed(fn.body))
    while stack:
        n = stack.pop()
        if isinstance(n, (ast.If, ast.While, ast.For)):
            yield n
        else:
            stack += [c for c in ast.iter_child_nodes(n) if isinstance(c, (ast.stmt, ast.ExceptHandler))]


def _module_call(func: Any, file: File) -> str:
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and file.modules.get(func.value.id) in _ASKED_ONCE:
        return f"{func.value.id}.{func.attr}"
    return ""


def _line(name: str, node: Any, id: str, text: str) -> str:
    return f"{name}:{node.lineno}:{node.col_offset + 1}: {id} {text}"
