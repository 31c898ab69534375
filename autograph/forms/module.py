"""A whole file: the bodies of the functions that are converted are replaced, every other line stays byte for byte as it was.

Converted are the functions with a decorator of ours and what they call in the same file, transitively: functions by their names, methods by
theirs, whatever the object, and the special methods of the classes that they name.  `@ag.function` becomes `@ag.jit`, `@ag.convert` becomes
`@ag.converted`, which a function without a decorator is given where every function is converted: code that stays Python may hand it to JAX.
`import autograph as ag` becomes `import autograph.runtime as ag`.  Nothing of the file is executed.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from typing import Any

from autograph.forms.lowering import converted
from autograph.passes.stageable import stageable
from autograph.printing.printing import source
from autograph.runtime import public_names
from autograph.source.edits import Edit, alone, apply
from autograph.source.source import File, lines_of, mark_of, not_python


def transpile(text: str, name: str = "<string>", everything: bool = False) -> str:
    """The text of a file with its functions converted.

    Raises:
      SourceUnavailable: (AG101) it does not parse.
    """
    file = parsed(text, name)
    chosen = [] if file.transpiled else [node for node in chosen_functions(file, everything) if stageable(node)]
    edits = [edit for node in chosen for edit in _converted(node, file, everything)]
    return apply(file.lines, _imports(file, chosen) + edits) if chosen else text


def parsed(text: str, name: str) -> File:
    """A file, of which Python would accept the whole text.

    Raises:
      SourceUnavailable: (AG101) it does not parse, or has a statement where Python has none (`nonlocal` of no variable, `return` in a class).
    """
    file = File(name, lines_of(text))
    try:
        compile(file.tree, name, "exec", dont_inherit=True)
    except SyntaxError as error:
        raise not_python(error, name) from None
    return file


def functions(tree: ast.AST) -> Iterator[tuple[str, Any]]:
    """The functions of a file by qualified name; functions inside functions belong to these."""

    def visit(node: ast.AST, prefix: str) -> Iterator[tuple[str, Any]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield prefix + child.name, child
            elif isinstance(child, ast.ClassDef):
                yield from visit(child, f"{prefix}{child.name}.")
            elif isinstance(child, (ast.stmt, ast.excepthandler, ast.match_case)):
                yield from visit(child, prefix)

    yield from visit(tree, "")


def chosen_functions(file: File, everything: bool) -> list[Any]:
    """The functions to convert, and those among them that have no staged form, in the order of the file."""
    named: dict[str, list[Any]] = {}  # functions by their names; methods by theirs, and special ones by the names of their classes
    every: list[Any] = []
    for name, node in functions(file.tree):
        around, _, own = name.rpartition(".")
        special = own.startswith("__") and own.endswith("__")
        named.setdefault(around.rpartition(".")[2] if special and around else f".{own}" if around else own, []).append(node)
        every.append(node)
    wanted = [n for n in every if is_decorated(n, file) or (everything and not _stays(n, file))]
    chosen: set[Any] = set()
    while wanted:
        node = wanted.pop()
        if node in chosen:
            continue
        chosen.add(node)
        if not stageable(node):
            continue
        used = {n.id if isinstance(n, ast.Name) else f".{n.attr}" for n in ast.walk(node) if isinstance(n, (ast.Name, ast.Attribute))}
        wanted += [callee for name in used for callee in named.get(name, []) if all(_is_pythons(d, file) for d in callee.decorator_list)]
    return sorted(chosen, key=lambda n: int(n.lineno))


def _is_pythons(decorator: ast.expr, file: File) -> bool:
    """Whether a decorator says only how a method is called, or makes a context manager of a generator."""
    if isinstance(decorator, ast.Attribute) and decorator.attr in ("setter", "getter", "deleter"):
        return True
    return _path(decorator, file) in ("property", "staticmethod", "classmethod", "contextlib.contextmanager")


def _path(decorator: ast.expr, file: File) -> str:
    """Where what a decorator names is from, by the imports of the file."""
    name, _, rest = ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator).partition(".")
    return f"{file.modules.get(name, name)}.{rest}".rstrip(".")


def _stays(node: Any, file: File) -> bool:
    """Whether a function is not to be converted, or was by this transpiler."""
    done = {f"autograph.{room}{name}" for room in ("", "runtime.") for name in ("converted", "jit")}
    return "do_not_convert" in _marks(node, file) or any(_path(d, file) in done for d in node.decorator_list)


def is_decorated(node: Any, file: File) -> bool:
    """Whether a function has a decorator of ours that converts it."""
    marks = _marks(node, file)
    return bool(marks) and "do_not_convert" not in marks


def _marks(node: Any, file: File) -> set[str]:
    return {mark_of(d, file.modules) for d in node.decorator_list} - {""}


def _converted(node: Any, file: File, everything: bool) -> list[Edit]:
    """The edits of one function: its decorators and its body; the lines of its header and docstring stay."""
    marks = _marks(node, file)
    edits = [edit for d in node.decorator_list for edit in _decorator(d, "function" in marks, file)]
    if everything and not is_left(node, file):
        edits.append(Edit(node.lineno, node.lineno - 1, f"{_indent(file.lines[node.lineno - 1])}@{file.alias}.converted{file.newline}"))
    new = converted(node, file)
    if ast.dump(ast.Module(new.body, [])) == ast.dump(ast.Module(node.body, [])):
        return edits
    doc = ast.get_docstring(node, clean=False) is not None
    old = node.body[doc:]
    first = min([old[0].lineno, *(d.lineno for d in getattr(old[0], "decorator_list", []))]) if old else 0
    lead = file.lines[first - 1].encode()[: old[0].col_offset].decode() if old else ""
    if not old or (lead.strip(" \t\f@") and first == old[0].lineno):  # a body on the line of its header
        new.decorator_list = []
        return [*edits, Edit(node.lineno, node.end_lineno, _text([new], _indent(file.lines[node.lineno - 1]), file))]
    return [*edits, Edit(first, node.end_lineno, _text(new.body[doc:], _indent(file.lines[first - 1]), file))]


def is_left(node: Any, file: File) -> bool:
    """Whether a function is no one to decorate: it is so, or special, and called by Python alone."""
    return bool(_marks(node, file)) or _stays(node, file) or (node.name.startswith("__") and node.name != "__call__")


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t\f"))]


def _text(nodes: list[Any], indent: str, file: File) -> str:
    """Statements as text, indented and with line ends as the file has them."""
    width = max(len(indent), 1)  # not zero: that would be the layout of a module
    text = source(nodes, width)
    if set(indent) - {" "} or not indent:
        inside = _inside_strings(text, width)
        rows = text.splitlines(keepends=True)
        text = "".join(row if k in inside or not row.startswith(" " * width) else indent + row[width:] for k, row in enumerate(rows, 1))
    return text.replace("\n", file.newline) if file.newline != "\n" else text


def _inside_strings(text: str, width: int) -> set[int]:
    """The rows that begin inside a string of several lines."""
    inside: set[int] = set()
    block = f"if 1:\n{text}" if width else text
    starts: list[int] = []
    for token in tokenize.generate_tokens(io.StringIO(block).readline):
        kind = tokenize.tok_name[token.type]
        if kind == "STRING":
            inside |= set(range(token.start[0] + 1, token.end[0] + 1))
        elif kind == "FSTRING_START":
            starts.append(token.start[0])
        elif kind == "FSTRING_END":
            inside |= set(range(starts.pop() + 1, token.end[0] + 1))
    return {row - bool(width) for row in inside}


def _decorator(decorator: ast.expr, needless: bool, file: File) -> list[Edit]:
    """A decorator in the converted file: `function` becomes `jit`; `convert` becomes `converted`, or disappears where that is needless."""
    mark = mark_of(decorator, file.modules)
    if not mark:
        return []
    named = _marked(decorator, file)
    compiled = "function" in (mark, mark_of(named, file.modules))
    if not compiled and needless:
        return [Edit(decorator.lineno, decorator.end_lineno or decorator.lineno, "")]
    node = named if compiled else decorator
    last = node.end_lineno or node.lineno
    begin, end = file.lines[node.lineno - 1].encode(), file.lines[last - 1].encode()
    new = begin[: node.col_offset] + f"{file.alias}.{'jit' if compiled else 'converted'}".encode() + end[node.end_col_offset :]
    return [Edit(node.lineno, last, new.decode())]


def _marked(decorator: ast.expr, file: File) -> ast.expr:
    """The node of a decorator that names one of ours."""
    if isinstance(decorator, ast.Call):
        return decorator.args[0] if mark_of(decorator, file.modules) == "partial" else decorator.func
    return decorator


def _imports(file: File, chosen: list[Any]) -> list[Edit]:
    """`import autograph.runtime as ag` in the place of what it replaces, or after the imports before the first converted function."""
    used = _other_uses(file, chosen)
    new = f"import autograph.runtime as {file.alias}"
    before = min(min([n.lineno, *(d.lineno for d in n.decorator_list)]) for n in chosen)
    edits: list[Edit] = []
    last, placed = 0, False
    for node in file.tree.body:
        if not isinstance(node, (ast.Import, ast.ImportFrom)):
            continue
        if node.lineno < before:
            last = max(last, node.end_lineno or node.lineno)
        kept = [a for a in node.names if not _replaced(node, a, used, file)]
        if len(kept) == len(node.names):
            placed = placed or _gives_the_runtime(node, file)
            continue
        text = ast.unparse(type(node)(**{**dict(ast.iter_fields(node)), "names": kept})) if kept else ""
        if not placed and node.lineno < before:
            text, placed = (f"{text}; {new}" if text and not alone(node, file.lines) else f"{text}{file.newline}{new}" if text else new), True
        edits.append(_in_place(node, text, file))
    if placed:
        return edits
    at = last + 1 if last else _first_place(file)
    blank = at <= len(file.lines) and not file.lines[at - 1].strip()
    return [*edits, Edit(at, at - 1, new + file.newline * (1 if blank or last else 3))]


def _replaced(node: ast.Import | ast.ImportFrom, alias: ast.alias, used: dict[str, frozenset[str]], file: File) -> bool:
    """Whether an import served the decorators only, or gives names that the runtime has too."""
    if isinstance(node, ast.ImportFrom):
        ours = not node.level and node.module in ("autograph", "autograph.api")
        return ours and (alias.asname or alias.name) not in used
    if alias.name not in ("autograph", "autograph.api"):
        return False
    name = alias.asname or "autograph"
    return used.get(name, frozenset()) <= (public_names() if name == file.alias and alias.name == "autograph" else frozenset())


def _gives_the_runtime(node: ast.Import | ast.ImportFrom, file: File) -> bool:
    """Whether an import that stays gives the runtime's names under the alias: `import autograph as ag` does."""
    return isinstance(node, ast.Import) and any(
        a.name in ("autograph", "autograph.runtime") and (a.asname or "autograph") == file.alias for a in node.names
    )


def _in_place(node: Any, new: str, file: File) -> Edit:
    """A statement replaced on its lines, with what stands beside it; one that disappears alone takes its lines along."""
    if not new and alone(node, file.lines):
        return Edit(node.lineno, node.end_lineno, "")
    before, after = file.lines[node.lineno - 1].encode()[: node.col_offset], file.lines[node.end_lineno - 1].encode()[node.end_col_offset :]
    return Edit(node.lineno, node.end_lineno, before.decode() + (new or "pass") + after.decode())


def _other_uses(file: File, chosen: list[Any]) -> dict[str, frozenset[str]]:
    """The attributes (or "" for the name alone) by which the rest of the file uses each name."""
    marks = {_marked(d, file) for node in chosen for d in node.decorator_list if mark_of(d, file.modules)}
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


def _first_place(file: File) -> int:
    """The line where a file without imports takes one: after the docstring, else after the first comments."""
    match file.tree.body:
        case [ast.Expr(value=ast.Constant(value=str())) as doc, *_]:
            return (doc.end_lineno or doc.lineno) + 1
    at = 1
    while at <= len(file.lines) and file.lines[at - 1].startswith("#"):
        at += 1
    return at
