"""`autograph check`: what the text of a file tells that will stay Python or be refused, without running anything."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from autograph.errors import AutographError
from autograph.listing import listing
from autograph.module import chosen_functions, functions, is_decorated, parsed
from autograph.passes.stageable import WHY_PYTHON, obstacle
from autograph.source import File

_ASKED_ONCE = {"random": "jax.random", "time": "ag.progress, or measure outside"}


def findings(text: str, name: str, everything: bool = False) -> Iterator[str]:
    """`file:line:col: ID text` for each function and call that would be refused where traced values decide.

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
        yield from _effects(node, file, name)


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
                yield _line(name, n, "AG405", f"`{called}` in a loop or branch: if traced values decide it is refused; use {_ASKED_ONCE[module]}")
            elif isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in ("input", "open") and file.is_builtin(n.func.id):
                yield _line(name, n, "AG405", f"`{n.func.id}` in a loop or branch: if traced values decide it is refused; do it outside")


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
