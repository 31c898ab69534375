"""A script, converted and compiled with the positions of its own text: tracebacks and errors show the user's file, lines and columns.

What is compiled is the transpiled text.  Lines that stay know where they come from; the nodes of a converted function are those that its text
was printed from, one by one, and take their places.
"""

from __future__ import annotations

import ast
from types import CodeType
from typing import Any

from autograph.forms.listing import converted
from autograph.forms.module import edits_of, functions
from autograph.source.edits import Edit, apply, ordered
from autograph.source.source import File, converted_ahead


def script_code(text: str, name: str, everything: bool, namespace: dict[str, Any]) -> CodeType:
    """The code of a script with its functions converted, under the file's name, to run in this namespace.

    Raises:
      SourceUnavailable: (AG101) it does not parse.
    """
    file, chosen, edits = edits_of(text, name, everything)
    if not edits:
        return compile(text, name, "exec", dont_inherit=True)
    tree = ast.parse(apply(file.lines, edits))
    _move(tree, _origins(len(file.lines), edits))
    new = dict(functions(tree))
    names = {node: qualified for qualified, node in functions(file.tree)}
    for node in chosen:
        _place(new[names[node]], node, file)
    converted_ahead.append(namespace)
    return compile(tree, name, "exec", dont_inherit=True)


def _origins(count: int, edits: list[Edit]) -> list[int]:
    """For each line of the new text the line of the file that it comes from; of an edit the first that it replaces."""
    origins, at = [0], 1
    for edit in ordered(edits):
        origins += range(at, edit.first)
        first = min(edit.first, count)
        rows = max(edit.text.count("\n"), 1) if edit.text else 0
        origins += [min(first + k, max(edit.last, first)) for k in range(rows)]
        at = max(edit.last + 1, edit.first)
    return [*origins, *range(at, count + 2)]


def _move(tree: ast.AST, origins: list[int]) -> None:
    for node in ast.walk(tree):
        if (line := getattr(node, "lineno", None)) is not None:
            stays: Any = node
            stays.lineno = origins[min(line, len(origins) - 1)]
            stays.end_lineno = max(origins[min(stays.end_lineno, len(origins) - 1)], stays.lineno)
            if stays.end_lineno == stays.lineno:
                stays.end_col_offset = max(stays.end_col_offset, stays.col_offset)


def _place(new: Any, node: Any, file: File) -> None:
    """Give the body of a converted function the places of what it was printed from."""
    printed = [*ast.walk(ast.Module(new.body, []))]
    known = [*ast.walk(ast.Module(converted(node, file).body, []))]
    if [type(n) for n in printed] != [type(n) for n in known]:
        return
    for n, k in zip(printed, known, strict=True):
        if getattr(k, "lineno", None) is not None:
            ast.copy_location(n, k)
        elif "lineno" in n._attributes:
            ast.copy_location(n, node)
