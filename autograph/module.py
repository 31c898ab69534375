"""A whole file: the text of the functions that are converted is replaced, every other line stays byte for byte as it was.

Converted are the functions with a decorator of ours and what they call by name in the same file, transitively.  `@ag.function` becomes
`@ag.jit`, `@ag.convert` disappears, `import autograph as ag` becomes `import autograph.runtime as ag`.  Nothing of the file is executed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

from autograph.listing import converted
from autograph.passes.stageable import stageable
from autograph.printing import source
from autograph.runtime import public_names
from autograph.source import File, mark_of


class Edit(NamedTuple):
    """Lines `first` to `last` (from 1, inclusive) become `text`; an insertion before `first` if `last` is less."""

    first: int
    last: int
    text: str


def transpile(text: str, name: str = "<string>", everything: bool = False) -> str:
    """The text of a file with its functions converted.

    Raises:
      SourceUnavailable: (AG101) it does not parse.
    """
    file = File(name, text.splitlines(keepends=True))
    if file.transpiled:
        return text
    chosen = list(_chosen(file, everything))
    if not chosen:
        return text
    edits = [edit for node in chosen for edit in _converted(node, file)]
    edits += _imports(file, chosen)
    return _apply(file.lines, edits)


def functions(tree: ast.AST) -> Iterator[tuple[str, Any]]:
    """The functions of a file by qualified name; functions inside functions belong to these."""

    def visit(node: ast.AST, prefix: str) -> Iterator[tuple[str, Any]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef):
                yield prefix + child.name, child
            elif isinstance(child, ast.ClassDef):
                yield from visit(child, f"{prefix}{child.name}.")
            elif isinstance(child, (ast.If, ast.Try, ast.With)):
                yield from visit(child, prefix)

    yield from visit(tree, "")


def _marks(node: Any, file: File) -> list[str]:
    return [mark_of(d, file.modules) for d in node.decorator_list]


def _chosen(file: File, everything: bool) -> list[Any]:
    every = dict(functions(file.tree))
    wanted = [node for node in every.values() if everything or any(_marks(node, file))]
    chosen: list[Any] = []
    while wanted:
        node = wanted.pop()
        if node in chosen or not stageable(node):
            continue
        chosen.append(node)
        for name in {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}:
            callee = every.get(name)
            if callee is not None and not callee.decorator_list:
                wanted.append(callee)
    return sorted(chosen, key=lambda n: n.lineno)


def _converted(node: Any, file: File) -> list[Edit]:
    """The edits of one function: its decorators and its body; the lines of its header and docstring stay."""
    edits = [edit for d in node.decorator_list for edit in _decorator(d, file)]
    new = converted(node, file)
    if ast.dump(ast.Module(new.body, [])) == ast.dump(ast.Module(node.body, [])):
        return edits
    doc = ast.get_docstring(node, clean=False) is not None
    old = node.body[doc:]
    header = node.body[0].end_lineno if doc else _header_end(node, file)
    if not old or old[0].lineno <= header:  # a body on the line of its header
        new.decorator_list = []
        return [*edits, Edit(node.lineno, node.end_lineno, source([new], node.col_offset))]
    indent = old[0].col_offset
    return [*edits, Edit(old[0].lineno, node.end_lineno, source(new.body[doc:], indent))]


def _header_end(node: Any, file: File) -> int:
    """The last line of `def f(...):`, as far as the tree knows."""
    parts = [n for part in (node.args, node.returns) if part is not None for n in ast.walk(part) if hasattr(n, "end_lineno")]
    return int(max([node.lineno, *(n.end_lineno for n in parts)]))


def _decorator(decorator: ast.expr, file: File) -> list[Edit]:
    """A decorator in the converted file: `function` becomes `jit`, `convert` disappears with its line."""
    mark = mark_of(decorator, file.modules)
    if not mark:
        return []
    (node,) = _mark_nodes(decorator, file)
    if mark == "convert" or mark_of(node, file.modules) == "convert":
        return [Edit(decorator.lineno, decorator.end_lineno or decorator.lineno, "")]
    line = file.lines[node.lineno - 1].encode()
    new = line[: node.col_offset] + f"{file.alias}.jit".encode() + line[node.end_col_offset :]
    return [Edit(node.lineno, node.lineno, new.decode())]


def _imports(file: File, chosen: list[Any]) -> list[Edit]:
    """`import autograph.runtime as ag` in the place of what it replaces, or after the other imports."""
    used = _other_uses(file, chosen)
    new = f"import autograph.runtime as {file.alias}"
    placed = False
    edits: list[Edit] = []
    last = 0
    for node in file.tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            last = node.end_lineno or node.lineno
        if isinstance(node, ast.Import) and len(node.names) == 1 and node.names[0].name == "autograph":
            bound = node.names[0].asname or "autograph"
            if bound == file.alias:
                placed = True
                if used.get(bound, frozenset()) <= public_names():
                    edits.append(_in_place(node, new, file))
            elif not used.get(bound):
                edits.append(_in_place(node, "" if placed else new, file))
                placed = True
        elif isinstance(node, ast.ImportFrom) and node.module == "autograph" and not node.level:
            left = [a for a in node.names if (a.asname or a.name) in used]
            if not left:
                edits.append(_in_place(node, "" if placed else new, file))
                placed = True
    if placed:
        return edits
    at = last + 1 if last else _after_docstring(file.tree)
    blank = at > len(file.lines) or not file.lines[at - 1].strip()
    return [*edits, Edit(at, 0, f"{new}\n" if blank else f"{new}\n\n\n")]


def _in_place(node: Any, new: str, file: File) -> Edit:
    """A statement replaced on its lines, with the comment behind it; a statement that disappears takes its lines along."""
    if not new:
        return Edit(node.lineno, node.end_lineno, "")
    before, after = file.lines[node.lineno - 1].encode()[: node.col_offset], file.lines[node.end_lineno - 1].encode()[node.end_col_offset :]
    return Edit(node.lineno, node.end_lineno, before.decode() + new + after.decode())


def _other_uses(file: File, chosen: list[Any]) -> dict[str, frozenset[str]]:
    """The attributes (or "" for the name alone) by which the rest of the file uses each name."""
    marks = {n for node in chosen for d in node.decorator_list if mark_of(d, file.modules) for n in _mark_nodes(d, file)}
    found: dict[str, set[str]] = {}
    stack: list[ast.AST] = [file.tree]
    while stack:
        node = stack.pop()
        if node in marks:
            continue
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found.setdefault(node.value.id, set()).add(node.attr)
            continue
        if isinstance(node, ast.Name):
            found.setdefault(node.id, set()).add("")
        stack += ast.iter_child_nodes(node)
    return {name: frozenset(attributes) for name, attributes in found.items()}


def _mark_nodes(decorator: ast.expr, file: File) -> list[ast.expr]:
    """The node of a decorator that names one of ours."""
    if isinstance(decorator, ast.Call):
        if mark_of(decorator, file.modules) == "partial":
            return [decorator.args[0]]
        return [decorator.func]
    return [decorator]


def _after_docstring(tree: ast.Module) -> int:
    match tree.body:
        case [ast.Expr(value=ast.Constant(value=str())) as doc, *_]:
            return (doc.end_lineno or doc.lineno) + 1
    return 1


def _apply(lines: list[str], edits: list[Edit]) -> str:
    out = list(lines)
    for edit in sorted(edits, key=lambda e: e.first, reverse=True):
        if edit.last < edit.first and edit.last != 0:
            continue
        last = edit.last if edit.last else edit.first - 1
        out[edit.first - 1 : last] = edit.text.splitlines(keepends=True)
    return "".join(out)
