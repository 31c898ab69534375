"""The variant of a function that stores into arrays it is given: beside its result it gives what its parameters hold in the end.

def push(a, i, x):            def push(a, i, x):
    a[i] = x           =>         a[i] = x
    return i                      return i, a
"""

from __future__ import annotations

import ast
import copy
from typing import Any

from autograph.source import File
from autograph.stored import stored_into

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def variant_of(node: Any, file: File) -> tuple[Any, tuple[str, ...]] | None:
    """The rewritten function and the names of the parameters that it gives; None if it stores into none."""
    if not isinstance(node, ast.FunctionDef) or node.name not in file.stored:
        return None
    stored = stored_into(node, file.stored, file.given(node)).into
    if not stored or any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in ast.walk(node)):
        return None
    args = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    names = [a for a in args if a in stored]
    new = copy.deepcopy(node)
    bound = {n.id for n in ast.walk(new) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    finals = []
    first: list[ast.stmt] = []
    where = new.body[0]
    for name in names:
        final = name
        if name in bound:
            while final in file.identifiers:
                final += "_"
            first.append(ast.copy_location(ast.Assign([ast.Name(final, ast.Store())], ast.Name(name, ast.Load())), where))
        finals.append(final)
    new.body = [_Returns(finals).visit(stmt) if not isinstance(stmt, _SCOPES) else stmt for stmt in new.body]
    doc = 1 if ast.get_docstring(new, clean=False) is not None else 0
    while doc < len(new.body) and isinstance(new.body[doc], (ast.Global, ast.Nonlocal)):
        doc += 1
    new.body[doc:doc] = first
    end = new.body[-1]
    if not isinstance(end, ast.Return):
        new.body.append(_Returns(finals).visit(ast.copy_location(ast.Return(None), end)))
    return ast.fix_missing_locations(new), tuple(names)


class _Returns(ast.NodeTransformer):
    def __init__(self, finals: list[str]) -> None:
        self.finals = finals

    def visit_Return(self, node: ast.Return) -> ast.Return:
        value = node.value or ast.Constant(None)
        values = ast.Tuple([value, *(ast.Name(n, ast.Load()) for n in self.finals)], ast.Load())
        return ast.copy_location(ast.Return(ast.copy_location(values, node)), node)

    def _scope(self, node: Any) -> Any:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = _scope
