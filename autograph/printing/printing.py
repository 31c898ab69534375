"""Source text of a standard `ast` tree, laid out as one would write it by hand.

Here are the statements: blank lines, docstrings, everything the grammar has gained since `astunparse`, and the map from printed lines
back to the lines the statements came from.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from autograph.printing import fstrings, printed_expressions
from autograph.printing.printed_expressions import Expressions, Level, Printed


def unparse(tree: ast.AST | Sequence[ast.stmt], indent: int = 0) -> Printed:
    """Print a module, a statement, a list of statements or an expression, `indent` columns in.

    Statements that are not indented are laid out as those of a module.
    """
    return _Printer(tree, indent).printed


def source(tree: ast.AST | Sequence[ast.stmt], indent: int = 0) -> str:
    """Only the text of `unparse`."""
    return unparse(tree, indent).text


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


class _Printer(Expressions):
    """Statements."""

    def _block(self, body: Sequence[ast.stmt], documented: bool = False) -> None:
        """Statements; the first may be a docstring where the block is `documented`."""
        top = not self._pad()
        before: ast.stmt | None = None
        for node in body:
            if before is not None:
                after_definition = top and isinstance(before, _DEFINITIONS)
                if isinstance(node, _DEFINITIONS) or after_definition:
                    self._blank(2 if top else 1)
                elif top and documented and before is body[0] and _is_docstring(before):
                    self._blank(1)
            if documented and before is None and _is_docstring(node):
                self._origin = getattr(node, "lineno", None)
                self.fill(fstrings.docstring(node.value))  # type: ignore[attr-defined]
            else:
                self.dispatch(node)
            before = node
        self._origin = None  # an `else` that follows has no line of its own

    def _suite(self, body: Sequence[ast.stmt], documented: bool = False) -> None:
        self.enter()
        self._block(body, documented)
        self.leave()

    def _otherwise(self, word: str, body: Sequence[ast.stmt]) -> None:
        if body:
            self.fill(word)
            self._suite(body)

    def _Module(self, t: ast.Module) -> None:
        self._block(t.body, documented=True)

    def _FunctionDef(self, t: ast.FunctionDef | ast.AsyncFunctionDef, word: str = "def") -> None:
        self._decorators(t)
        self.fill(f"{word} {t.name}{self._type_params(t)}(")
        items = self._parameters(t.args)
        tail = ")" + (f" -> {self._text(t.returns)}" if t.returns else "")
        flat = ", ".join(items) + tail
        long = len("".join(self._line)) + len(flat) + 1 > printed_expressions.WIDTH
        self.write(self._spread(items) + tail if long and items and "\n" not in flat else flat)
        self._suite(t.body, documented=True)

    def _AsyncFunctionDef(self, t: ast.AsyncFunctionDef) -> None:
        self._FunctionDef(t, "async def")

    def _ClassDef(self, t: ast.ClassDef) -> None:
        self._decorators(t)
        bases = self._list([*t.bases, *t.keywords])
        self.fill(f"class {t.name}{self._type_params(t)}" + (f"({bases})" if bases else ""))
        self._suite(t.body, documented=True)

    def _decorators(self, t: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        origin = self._origin
        for node in t.decorator_list:
            self._origin = getattr(node, "lineno", None)
            self.fill("@" + self._text(node))
        self._origin = origin

    def _type_params(self, t: ast.AST) -> str:
        params = getattr(t, "type_params", None)  # absent before 3.12
        return f"[{self._list(params)}]" if params else ""

    def _For(self, t: ast.For | ast.AsyncFor, word: str = "for") -> None:
        self.fill(f"{word} {self._text(t.target, Level.TUPLE)} in {self._text(t.iter, Level.TUPLE)}")
        self._suite(t.body)
        self._otherwise("else", t.orelse)

    def _AsyncFor(self, t: ast.AsyncFor) -> None:
        self._For(t, "async for")

    def _While(self, t: ast.While) -> None:
        self.fill("while " + self._text(t.test, Level.NAMED))
        self._suite(t.body)
        self._otherwise("else", t.orelse)

    def _If(self, t: ast.If, word: str = "if") -> None:
        self.fill(f"{word} {self._text(t.test, Level.NAMED)}")
        self._suite(t.body)
        while len(t.orelse) == 1 and isinstance(t.orelse[0], ast.If):
            t = t.orelse[0]
            self._origin = getattr(t, "lineno", None)
            self.fill("elif " + self._text(t.test, Level.NAMED))
            self._suite(t.body)
        self._otherwise("else", t.orelse)

    def _With(self, t: ast.With | ast.AsyncWith, word: str = "with") -> None:
        items = self._list(t.items)
        if len(t.items) == 1 and isinstance(t.items[0].context_expr, ast.Tuple):
            if not t.items[0].optional_vars:
                items = f"({items})"  # one pair of parentheses would be those of the `with`
        self.fill(f"{word} {items}")
        self._suite(t.body)

    def _AsyncWith(self, t: ast.AsyncWith) -> None:
        self._With(t, "async with")

    def _Try(self, t: ast.Try | ast.TryStar, word: str = "except") -> None:
        self.fill("try")
        self._suite(t.body)
        for handler in t.handlers:
            self._origin = getattr(handler, "lineno", None)
            self.fill(word + (f" {self._text(handler.type)}" if handler.type else ""))
            self.write(f" as {handler.name}" if handler.name else "")
            self._suite(handler.body)
        self._otherwise("else", t.orelse)
        self._otherwise("finally", t.finalbody)

    def _TryStar(self, t: ast.TryStar) -> None:
        self._Try(t, "except*")

    def _Match(self, t: ast.Match) -> None:
        self.fill("match " + self._text(t.subject, Level.TUPLE))
        self.enter()
        for case in t.cases:
            self._origin = getattr(case.pattern, "lineno", None)
            self.fill("case " + self._text(case.pattern))
            self.write(f" if {self._text(case.guard, Level.NAMED)}" if case.guard else "")
            self._suite(case.body)
        self.leave()

    # Simple statements

    def _Expr(self, t: ast.Expr) -> None:
        self.fill()
        self._value(t.value)

    def _Return(self, t: ast.Return) -> None:
        self.fill("return")
        if t.value:
            self.write(" ")
            self._value(t.value, Level.TUPLE)

    def _Assign(self, t: ast.Assign) -> None:
        self.fill("".join(self._text(target, Level.TUPLE) + " = " for target in t.targets))
        self._value(t.value)

    def _AugAssign(self, t: ast.AugAssign) -> None:
        self.fill(f"{self._text(t.target)} {self.binop[type(t.op).__name__]}= ")
        self._value(t.value)

    def _AnnAssign(self, t: ast.AnnAssign) -> None:
        target = self._text(t.target)
        if not t.simple and isinstance(t.target, ast.Name):
            target = f"({target})"
        self.fill(f"{target}: {self._text(t.annotation)}")
        if t.value:
            self.write(" = ")
            self._value(t.value)

    def _TypeAlias(self, t: ast.AST) -> None:
        name, value = (self._text(getattr(t, field)) for field in ("name", "value"))
        self.fill(f"type {name}{self._type_params(t)} = {value}")

    def _TypeVar(self, t: ast.AST, stars: str = "") -> None:
        bound, default = getattr(t, "bound", None), getattr(t, "default_value", None)
        self.write(stars + getattr(t, "name", ""))
        self.write(f": {self._text(bound)}" if bound else "")
        self.write(f" = {self._text(default)}" if default else "")

    def _TypeVarTuple(self, t: ast.AST) -> None:
        self._TypeVar(t, "*")

    def _ParamSpec(self, t: ast.AST) -> None:
        self._TypeVar(t, "**")
