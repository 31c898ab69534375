"""Source lookup: a file is parsed once, and a function is found in it by its code object's position.

Notebooks, doctest and `exec` work where `linecache` has their text.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import io
import linecache
from collections import Counter, defaultdict
from types import CellType, CodeType, FunctionType
from typing import Any, NamedTuple

from autograph.source.errors import SourceSpan, SourceUnavailable


class FoundFunction(NamedTuple):
    """A function in a file: its node, and the class whose body it stands in."""

    node: Any
    cls: str


def lines_of(text: str) -> list[str]:
    """The lines of a text as Python counts them: a form feed, say, ends none."""
    return list(io.StringIO(text, newline=""))


def not_python(error: SyntaxError, name: str) -> SourceUnavailable:
    """The error for a text that Python does not accept."""
    line = error.text or ""
    column = len(line[: max((error.offset or 1) - 1, 0)].encode())
    end = len(line[: error.end_offset - 1].encode()) if error.end_offset and error.end_lineno == error.lineno else 0
    return SourceUnavailable(f"the source does not parse: {error.msg}", SourceSpan(name, error.lineno or 1, column, max(end, column + 1)))


class File:
    """One parsed file: its functions by first line, what it imports once, the names that it binds."""

    def __init__(self, name: str, lines: list[str]) -> None:
        self.name, self.lines = name, lines
        self.newline = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
        self.functions: defaultdict[int, list[FoundFunction]] = defaultdict(list)
        try:
            self.tree = ast.parse("".join(lines), name)
        except SyntaxError as error:
            raise not_python(error, name) from None
        except (RecursionError, ValueError) as error:
            raise SourceUnavailable(f"the source does not parse: {error}", SourceSpan(name, 1)) from None
        self.identifiers: set[str] = set()  # every name in the file
        self.inside: set[str] = set()  # names that functions bind: parameters and locals
        self.stores = False  # does anything in it store into an item?
        wrapping: list[ast.expr] = []  # all decorators
        counts: Counter[str] = Counter()  # how often the module itself binds a name
        stack: list[tuple[ast.AST, str, bool]] = [(self.tree, "", True)]
        while stack:
            node, cls, top = stack.pop()
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                    decorators = getattr(node, "decorator_list", [])
                    wrapping += decorators
                    self.functions[decorators[0].lineno if decorators else node.lineno].append(FoundFunction(node, cls))
                    name = getattr(node, "name", "")
                    self.identifiers.add(name)
                    counts[name] += top
                    top = False
                case ast.ClassDef():
                    self.identifiers.add(node.name)
                    counts[node.name] += top
                    wrapping += node.decorator_list
                    cls, top = node.name, False
                case ast.Subscript(ctx=ast.Store()):
                    self.stores = True
                case ast.Name():
                    self.identifiers.add(node.id)
                    stored = not isinstance(node.ctx, ast.Load)
                    counts[node.id] += top and stored
                    if stored and not top:
                        self.inside.add(node.id)
                case ast.arg():
                    self.identifiers.add(node.arg)
                    self.inside.add(node.arg)
                case ast.alias():
                    name = node.asname or node.name.split(".")[0]
                    self.identifiers.add(name)
                    counts[name] += top
                case ast.ExceptHandler(name=str(bound)) | ast.MatchAs(name=str(bound)) | ast.MatchStar(name=str(bound)):
                    counts[bound] += top
                    self.identifiers.add(bound)
                case ast.MatchMapping(rest=str(bound)):
                    counts[bound] += top
                    self.identifiers.add(bound)
                case ast.Global() | ast.Nonlocal():
                    self.identifiers.update(node.names)
                    if isinstance(node, ast.Global):
                        counts.update(dict.fromkeys(node.names, 2))
            stack += [(child, cls, top) for child in ast.iter_child_nodes(node)]
        self.bound = frozenset(name for name, count in counts.items() if count)  # at module level, by the module or by `global`
        self.modules = {k: v for k, v in _imports(self.tree).items() if counts[k] == 1}
        self.converted = frozenset(_decorated(self.tree, self.modules, counts))
        self.defined = {n.name: n for n in self.tree.body if isinstance(n, ast.FunctionDef) and counts[n.name] == 1}
        self.written = any(_is_written(d, self.modules) for d in wrapping)
        self.alias = next(a for a in ("ag", "ag_", "ag__", "autograph_runtime") if self._alias_is_free(a))

    def _alias_is_free(self, alias: str) -> bool:
        """`ag` may be the file's own name for this package; any other use of it takes the name."""
        if alias not in self.identifiers:
            return True
        return self.modules.get(alias) in ("autograph", "autograph.runtime") and alias not in self.inside

    def is_builtin(self, name: str) -> bool:
        """Whether a global name is Python's builtin."""
        return name not in self.bound and hasattr(builtins, name)

    @property
    def transpiled(self) -> bool:
        """Whether the file was written by the transpiler, by the decorators that only it writes: its functions are converted already."""
        return self.written and not self.converted

    def class_of(self, node: Any) -> str:
        """The innermost class that a function stands in, by the function's place."""
        at_line = self.functions.get(node.decorator_list[0].lineno if getattr(node, "decorator_list", None) else node.lineno, ())
        return next((f.cls for f in at_line if (f.node.lineno, f.node.col_offset) == (node.lineno, node.col_offset)), "")

    def find(self, code: CodeType) -> FoundFunction:
        """The node of a code object: by first line and name; a lambda by the columns that its instructions come from."""
        candidates = self.functions.get(code.co_firstlineno, [])
        if code.co_name == "<lambda>":
            candidates = [f for f in candidates if isinstance(f.node, ast.Lambda)]
            if len(candidates) > 1:
                candidates = self._lambda_at(code, candidates)
        else:
            candidates = [f for f in candidates if getattr(f.node, "name", None) == code.co_name]
        if len(candidates) != 1:
            raise SourceUnavailable(
                f"no source for `{code.co_qualname}` at this line: the file has changed since it was imported",
                SourceSpan(self.name, code.co_firstlineno),
                "restart Python, or reload the module",
            )  # fmt: skip
        return candidates[0]

    def _lambda_at(self, code: CodeType, candidates: list[FoundFunction]) -> list[FoundFunction]:
        spots = [((a, c), (b, d)) for a, b, c, d in code.co_positions() if None not in (a, b, c, d) and (a, c) != (b, d)]

        def span(f: FoundFunction) -> tuple[Any, Any]:
            body = f.node.body
            return (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)

        inside = [f for f in candidates if spots and all(span(f)[0] <= a and b <= span(f)[1] for a, b in spots)]
        return sorted(inside, key=lambda f: span(f)[0], reverse=True)[:1]  # the innermost


def _imports(tree: ast.Module) -> dict[str, str]:
    """What the names imported at module level stand for."""
    found: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.Import):
            for a in node.names:
                found[a.asname or a.name.split(".")[0]] = a.name if a.asname else a.name.split(".")[0]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for a in node.names:
                found[a.asname or a.name] = f"{node.module}.{a.name}"
    return found


MARKS = frozenset(f"{module}.{name}" for module in ("autograph", "autograph.api") for name in ("convert", "function", "do_not_convert"))


WRITTEN = frozenset(f"{module}.{name}" for module in ("autograph", "autograph.runtime") for name in ("converted", "jit"))


def _path(decorator: ast.expr, modules: dict[str, str]) -> str:
    """Where what a decorator names is from, by the imports of the file; nothing if it is none of them."""
    node = decorator.func if isinstance(decorator, ast.Call) else decorator
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([modules[node.id], *reversed(parts)]) if isinstance(node, ast.Name) and node.id in modules else ""


def _is_written(decorator: ast.expr, modules: dict[str, str]) -> bool:
    path = _path(decorator, modules)
    return path in WRITTEN or (
        path == "functools.partial" and isinstance(decorator, ast.Call) and bool(decorator.args) and _is_written(decorator.args[0], modules)
    )


def mark_of(decorator: ast.expr, modules: dict[str, str]) -> str:
    """`convert`, `function` or `do_not_convert` if a decorator is one of ours by the file's text; `partial` of one; else nothing."""
    path = _path(decorator, modules)
    if path in MARKS:
        return path.rsplit(".", 1)[1]
    return (
        "partial"
        if path == "functools.partial" and isinstance(decorator, ast.Call) and decorator.args and mark_of(decorator.args[0], modules)
        else ""
    )


def _decorated(tree: ast.Module, modules: dict[str, str], counts: Counter[str]) -> list[str]:
    """Module-level functions, bound once, that a decorator of ours converts."""
    return [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and counts[node.name] == 1
        and any(mark_of(d, modules) not in ("", "do_not_convert") for d in node.decorator_list)
    ]


_files: dict[str, File] = {}


def file_of(name: str, module_globals: dict[str, Any] | None = None, code: CodeType | None = None) -> File:
    """The parsed file of that name, or of a code object that has been typed.  Raises SourceUnavailable (AG101) where there is no text."""
    if name in _files and not name.startswith("<"):
        linecache.checkcache(name)  # a module that has been loaded again
    lines = linecache.getlines(name, module_globals) or (_typed(code) if code is not None and name.startswith("<") else [])
    if not lines:
        raise SourceUnavailable(
            f"there is no source text for {name}", None,
            "define the function in a file or a notebook cell, register its text in `linecache`, or convert ahead with `autograph transpile`",
        )  # fmt: skip
    file = _files.get(name)
    if file is None or file.lines is not lines:
        file = _files[name] = File(name, lines)
    return file


def _typed(code: CodeType) -> list[str]:
    """The text of what has been typed: from Python 3.14 on it is known by the code object."""
    try:
        return inspect.findsource(FunctionType(code, {"__name__": "__main__"}, None, None, tuple(CellType() for _ in code.co_freevars)))[0]
    except (OSError, TypeError):
        return []
