"""Expressions and patterns as source text, with the parentheses that precedence asks for and no others.

`astunparse` supplies the walk; its `Unparser` is subclassed here, and `printing` adds the statements.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from enum import IntEnum
from typing import Any, NamedTuple

from astunparse.unparser import Unparser  # type: ignore[import-untyped]

from autograph.printing import fstrings

WIDTH = 100
INFINITY = "1e309"  # the shortest literal that overflows to it


class Printed(NamedTuple):
    """Text, and for each of its lines (from 1) the source line of the statement printed there."""

    text: str
    lines: dict[int, int]


class Level(IntEnum):
    """How tightly an expression binds, and how tightly the place it is printed in requires."""

    YIELD = 0  # the right side of an assignment
    TUPLE = 1
    NAMED = 2  # the test of an `if`: takes `:=`, though neither a bare tuple nor a yield
    TEST = 3
    OR = 4
    AND = 5
    NOT = 6
    COMPARE = 7
    BIT_OR = 8
    BIT_XOR = 9
    BIT_AND = 10
    SHIFT = 11
    ARITH = 12
    TERM = 13
    FACTOR = 14
    POWER = 15
    AWAIT = 16
    ATOM = 17

    def next(self) -> Level:
        return Level(self + 1)


_BINARY = {
    ast.BitOr: Level.BIT_OR, ast.BitXor: Level.BIT_XOR, ast.BitAnd: Level.BIT_AND,
    ast.LShift: Level.SHIFT, ast.RShift: Level.SHIFT, ast.Add: Level.ARITH, ast.Sub: Level.ARITH,
    ast.Mult: Level.TERM, ast.MatMult: Level.TERM, ast.Div: Level.TERM, ast.Mod: Level.TERM,
    ast.FloorDiv: Level.TERM, ast.Pow: Level.POWER,
}  # fmt: skip


class _Group:
    """Parentheses."""

    def __init__(self, printer: Expressions) -> None:
        self.write = printer.write

    def __enter__(self) -> None:
        self.write("(")

    def __exit__(self, *error: object) -> None:
        self.write(")")


_NO_GROUP: nullcontext[None] = nullcontext()


class Expressions(Unparser):  # type: ignore[misc]
    """One method per node class, as `Unparser` wants them; `_level` is what its place requires."""

    def __init__(self, tree: ast.AST | Sequence[ast.stmt], indent: int = 0) -> None:
        self.future_imports: list[str] = []  # the base class keeps it up to date
        self._margin = " " * indent
        self._indent = 0
        self._level = Level.TEST
        self._methods: dict[type, Callable[[Any], None]] = {}
        self._quotes: fstrings.Quotes | None = None
        self._rows: list[str] = []
        self._map: dict[int, int] = {}
        self._line: list[str] = []  # pieces of the statement header being written
        self._origin: int | None = None  # source line of the statement being printed
        self._line_origin: int | None = None
        self.dispatch(tree if isinstance(tree, ast.AST) else list(tree))
        if isinstance(tree, ast.AST) and not isinstance(tree, (ast.Module, ast.stmt, ast.excepthandler)):
            self.printed = Printed("".join(self._line), {})
            return
        self._flush()
        self.printed = Printed("".join(f"{row}\n" for row in self._rows), self._map)

    # Text

    def write(self, text: str) -> None:
        self._line.append(text)

    def fill(self, text: str = "") -> None:
        """Start a new line with `text`."""
        self._flush()
        self._line = [self._pad(), text]
        self._line_origin = self._origin

    def _pad(self) -> str:
        return self._margin + "    " * self._indent

    def _flush(self) -> None:
        if not self._line:
            return
        for row in "".join(self._line).split("\n"):
            self._rows.append(row)
            if self._line_origin is not None:
                self._map[len(self._rows)] = self._line_origin
        self._line = []

    def _blank(self, count: int) -> None:
        self._flush()
        self._rows.extend([""] * count)

    def dispatch(self, tree: ast.AST | list[ast.stmt], level: Level = Level.TEST) -> None:
        if isinstance(tree, list):
            self._block(tree)
            return
        if isinstance(tree, (ast.stmt, ast.excepthandler)):
            self._origin = getattr(tree, "lineno", None)
        self._level = level
        kind = type(tree)
        method = self._methods.get(kind)
        if method is None:
            method = self._methods[kind] = getattr(self, "_" + kind.__name__)
        method(tree)

    def _text(self, node: ast.AST, level: Level = Level.TEST) -> str:
        """The text of an expression, not yet written."""
        if type(node) is ast.Name:
            return node.id
        line, self._line = self._line, []
        try:
            self.dispatch(node, level)
            return "".join(self._line)
        finally:
            self._line = line

    def _list(self, nodes: Sequence[ast.AST], level: Level = Level.TEST) -> str:
        return ", ".join(self._text(node, level) for node in nodes)

    def _group(self, needed: bool) -> _Group | nullcontext[None]:
        return _Group(self) if needed else _NO_GROUP

    def _value(self, node: ast.expr, level: Level = Level.YIELD) -> None:
        """The last expression of a statement, its outermost call broken where the line is too long."""
        flat = self._text(node, level)
        call = node.value if isinstance(node, ast.Await) else node
        long = len("".join(self._line)) + len(flat) > WIDTH and "\n" not in flat
        if not long or not isinstance(call, ast.Call) or not (call.args or call.keywords):
            self.write(flat)
            return
        items = self._arguments_of(call)
        # A comma after a generator expression would require parentheses around it.
        lone = len(items) == 1 and isinstance((call.args or call.keywords)[0], ast.GeneratorExp)
        self.write("await " if call is not node else "")
        self.write(f"{self._text(call.func, Level.ATOM)}({self._spread(items, '' if lone else ',')})")

    def _spread(self, items: Sequence[str], comma: str = ",") -> str:
        """Items between brackets on lines of their own: on one, or else one for each."""
        pad = self._pad()
        line = f"{pad}    {', '.join(items)}"
        if len(line) > WIDTH:
            line = "\n".join(f"{pad}    {item}{comma}" for item in items)
        return f"\n{line}\n{pad}"

    # Blocks

    def _parameters(self, t: ast.arguments) -> list[str]:
        """Each parameter as text, and the bare `/` and `*`."""

        def one(stars: str, arg: ast.arg, default: ast.expr | None = None) -> str:
            text = stars + arg.arg
            if arg.annotation:
                text += ": " + self._text(arg.annotation)
            if default:
                text += (" = " if arg.annotation else "=") + self._text(default)
            return text

        plain = [*t.posonlyargs, *t.args]
        defaults = [None] * (len(plain) - len(t.defaults)) + [*t.defaults]
        items = [one("", arg, default) for arg, default in zip(plain, defaults, strict=True)]
        if t.posonlyargs:
            items.insert(len(t.posonlyargs), "/")
        if t.vararg:
            items.append(one("*", t.vararg))
        elif t.kwonlyargs:
            items.append("*")
        pairs = zip(t.kwonlyargs, t.kw_defaults, strict=True)
        items += [one("", arg, default) for arg, default in pairs]
        return items + ([one("**", t.kwarg)] if t.kwarg else [])

    def _arguments(self, t: ast.arguments) -> None:
        self.write(", ".join(self._parameters(t)))

    # Patterns

    def _MatchValue(self, t: ast.MatchValue) -> None:
        self.dispatch(t.value)

    def _MatchSingleton(self, t: ast.MatchSingleton) -> None:
        self.write(repr(t.value))

    def _MatchSequence(self, t: ast.MatchSequence) -> None:
        self.write(f"[{self._list(t.patterns)}]")

    def _MatchStar(self, t: ast.MatchStar) -> None:
        self.write(f"*{t.name or '_'}")

    def _MatchMapping(self, t: ast.MatchMapping) -> None:
        pairs = zip(t.keys, t.patterns, strict=True)
        items = [f"{self._text(key)}: {self._text(pattern)}" for key, pattern in pairs]
        self.write("{" + ", ".join(items + ([f"**{t.rest}"] if t.rest else [])) + "}")

    def _MatchClass(self, t: ast.MatchClass) -> None:
        items = [self._text(pattern) for pattern in t.patterns]
        for name, pattern in zip(t.kwd_attrs, t.kwd_patterns, strict=True):
            items.append(f"{name}={self._text(pattern)}")
        self.write(f"{self._text(t.cls, Level.ATOM)}({', '.join(items)})")

    def _MatchAs(self, t: ast.MatchAs) -> None:
        if t.pattern is None:
            self.write(t.name or "_")
            return
        with self._group(self._level > Level.TEST):
            self.write(f"{self._text(t.pattern, Level.OR)} as {t.name}")

    def _MatchOr(self, t: ast.MatchOr) -> None:
        with self._group(self._level > Level.OR):
            self.write(" | ".join(self._text(pattern, Level.AND) for pattern in t.patterns))

    # Expressions

    def _NamedExpr(self, t: ast.NamedExpr) -> None:
        with self._group(self._level != Level.NAMED):
            self.write(f"{self._text(t.target)} := {self._text(t.value)}")

    def _Yield(self, t: ast.Yield) -> None:
        with self._group(self._level > Level.YIELD):
            self.write("yield" + (f" {self._text(t.value, Level.TUPLE)}" if t.value else ""))

    def _YieldFrom(self, t: ast.YieldFrom) -> None:
        with self._group(self._level > Level.YIELD):
            self.write(f"yield from {self._text(t.value)}")

    def _Await(self, t: ast.Await) -> None:
        with self._group(self._level > Level.AWAIT):
            self.write(f"await {self._text(t.value, Level.ATOM)}")

    def _Lambda(self, t: ast.Lambda) -> None:
        with self._group(self._level > Level.TEST):
            self.write(f"lambda {self._text(t.args)}".rstrip() + f": {self._text(t.body)}")

    def _IfExp(self, t: ast.IfExp) -> None:
        with self._group(self._level > Level.TEST):
            self.write(f"{self._text(t.body, Level.OR)} if {self._text(t.test, Level.OR)}")
            self.write(f" else {self._text(t.orelse)}")

    def _BoolOp(self, t: ast.BoolOp) -> None:
        own = Level.OR if isinstance(t.op, ast.Or) else Level.AND
        with self._group(self._level > own):
            word = f" {self.boolops[type(t.op)]} "
            self.write(word.join(self._text(value, own.next()) for value in t.values))

    def _UnaryOp(self, t: ast.UnaryOp) -> None:
        own = Level.NOT if isinstance(t.op, ast.Not) else Level.FACTOR
        with self._group(self._level > own):
            self.write(self.unop[type(t.op).__name__] + (" " if own is Level.NOT else ""))
            self.dispatch(t.operand, own)

    def _BinOp(self, t: ast.BinOp) -> None:
        own = _BINARY[type(t.op)]
        left, right = own, own.next()
        if own is Level.POWER:  # binds to the right, where a sign may stand
            left, right = Level.AWAIT, Level.FACTOR
        with self._group(self._level > own):
            self.dispatch(t.left, left)
            self.write(f" {self.binop[type(t.op).__name__]} ")
            self.dispatch(t.right, right)

    def _Compare(self, t: ast.Compare) -> None:
        with self._group(self._level > Level.COMPARE):
            self.dispatch(t.left, Level.BIT_OR)
            for op, operand in zip(t.ops, t.comparators, strict=True):
                self.write(f" {self.cmpops[type(op).__name__]} ")
                self.dispatch(operand, Level.BIT_OR)

    def _Starred(self, t: ast.Starred) -> None:
        self.write("*")
        self.dispatch(t.value, Level.BIT_OR)

    def _Tuple(self, t: ast.Tuple) -> None:
        with self._group(self._level > Level.TUPLE or len(t.elts) < 2):
            self.write(self._list(t.elts) + ("," if len(t.elts) == 1 else ""))

    def _Dict(self, t: ast.Dict) -> None:
        items = []
        for key, value in zip(t.keys, t.values, strict=True):
            pair = f"{self._text(key)}: {self._text(value)}" if key else None
            items.append(pair or f"**{self._text(value, Level.BIT_OR)}")
        self.write("{" + ", ".join(items) + "}")

    def _comprehension(self, t: ast.comprehension) -> None:
        self.write(" async for " if t.is_async else " for ")
        self.write(f"{self._text(t.target, Level.TUPLE)} in {self._text(t.iter, Level.OR)}")
        for test in t.ifs:
            self.write(f" if {self._text(test, Level.OR)}")

    def _Attribute(self, t: ast.Attribute) -> None:
        # The dot after a bare integer would be its decimal point.
        with self._group(isinstance(t.value, ast.Constant) and type(t.value.value) is int):
            self.dispatch(t.value, Level.ATOM)
        self.write(f".{t.attr}")

    def _Subscript(self, t: ast.Subscript) -> None:
        self.dispatch(t.value, Level.ATOM)
        index = self._text(t.slice)
        if isinstance(t.slice, ast.Tuple) and t.slice.elts:
            index = self._list(t.slice.elts)
            if len(t.slice.elts) == 1 and not isinstance(t.slice.elts[0], ast.Starred):
                index += ","
        self.write(f"[{index}]")

    def _Call(self, t: ast.Call) -> None:
        self.dispatch(t.func, Level.ATOM)
        self.write(f"({', '.join(self._arguments_of(t))})")

    def _arguments_of(self, t: ast.Call) -> list[str]:
        if len(t.args) == 1 and not t.keywords and isinstance(t.args[0], ast.GeneratorExp):
            return [self._text(t.args[0])[1:-1]]
        items = [self._text(arg, Level.NAMED) for arg in t.args]
        return items + [self._text(keyword) for keyword in t.keywords]

    def _Constant(self, t: ast.Constant) -> None:
        value = t.value
        if isinstance(value, (str, bytes)):
            text = repr(value) if self._quotes is None else fstrings.nested(value, self._quotes)
            self.write((t.kind or "") + text)
        elif isinstance(value, tuple):
            items = ", ".join(self._text(ast.Constant(item)) for item in value)
            self.write(f"({items}{',' if len(value) == 1 else ''})")
        elif value is Ellipsis:
            self.write("...")
        else:
            text = self._number(value) if isinstance(value, (int, float, complex)) else repr(value)
            with self._group(text.startswith("-") and self._level > Level.FACTOR):
                self.write(text)

    @staticmethod
    def _number(value: complex) -> str:
        try:
            text = repr(value)
        except ValueError:  # too many digits to write in decimal
            return hex(value)  # type: ignore[arg-type]
        return text.replace("inf", INFINITY).replace("nan", f"({INFINITY} - {INFINITY})")

    def _JoinedStr(self, t: ast.JoinedStr) -> None:
        self.write(fstrings.fstring(t, self._quotes, self._field))

    def _FormattedValue(self, t: ast.FormattedValue) -> None:
        self._JoinedStr(ast.JoinedStr([t]))

    def _field(self, node: ast.expr, quotes: fstrings.Quotes | None) -> str:
        """The expression of a replacement field, where the colon of a bare lambda would end it."""
        saved, self._quotes = self._quotes, quotes
        try:
            bare = not any(isinstance(child, ast.Lambda) for child in ast.walk(node))
            return self._text(node, Level.TEST if bare else Level.OR)
        finally:
            self._quotes = saved
