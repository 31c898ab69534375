"""String literals that `repr` does not write: docstrings, f-strings, and strings in their fields.

Before Python 3.12 a replacement field could hold neither a backslash nor the quotes of the
f-string around it.  Text that keeps to those rules also reads best, so it is tried first on
every version; what cannot be said that way uses the freedom of 3.12, where there is one.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator

Quotes = tuple[str, ...]
# Text of a field's expression whose strings use only the given quotes (None: any, and backslashes).
Render = Callable[[ast.expr, Quotes | None], str]

QUOTES: Quotes = ("'", '"', '"""', "'''")
NESTS_FREELY = sys.version_info >= (3, 12)


class Unquotable(ValueError):
    """No quotes are left to write a string with."""


def fstring(node: ast.JoinedStr, quotes: Quotes | None, render: Render) -> str:
    """Text of an f-string, itself written with one of `quotes` where it stands in another's field."""
    for plan in _plans(QUOTES if quotes is None else quotes, quotes is None):
        found: list[tuple[int, str]] = []
        for quote, inner in plan:
            try:
                found.append(_FStringWriter(quote, inner, quotes is None, render).text(node))
            except Unquotable:
                continue
        if found:
            return min(found, key=lambda pair: pair[0])[1]
    raise Unquotable("f-strings are nested too deeply to find quotes for them")


def nested(value: str | bytes, quotes: Quotes) -> str:
    """Text of a plain string without backslashes, quoted with one of `quotes`."""
    prefix, text = ("", value) if isinstance(value, str) else ("b", value.decode("latin-1"))
    if NESTS_FREELY and not _is_plain(text):
        raise Unquotable("an escape reads better than the character itself")
    for quote in quotes:
        if _is_verbatim(text, quote) and (not prefix or text.isascii()):
            return f"{prefix}{quote}{text}{quote}"
    if NESTS_FREELY or not quotes:
        raise Unquotable("no quotes are left for a string inside an f-string")
    # A character that needs a backslash is formatted in: the value is the same, with no name looked up.
    written = {c for c in text if _is_plain(c) and c != quotes[0][0] and (not prefix or c.isascii())}
    spare = [char for char in text if char not in written]
    shape = "".join(char if char in written else "%c" for char in text.replace("%", "%%"))
    codes = ", ".join(str(ord(char)) for char in spare)
    return f"({prefix}{quotes[0]}{shape}{quotes[0]} % ({codes}{',' if len(spare) == 1 else ''}))"


def docstring(node: ast.Constant) -> str:
    """A triple-quoted literal with exactly the value of `node`."""
    value = str(node.value)
    ragged = any(line != line.rstrip() for line in value.split("\n")[:-1])
    plain = value.replace("\n", "").replace("\t", "").isprintable() and not ragged
    if "\\" in value and plain and '"""' not in value and value[-1] not in '\\"' and not node.kind:
        return f'r"""{value}"""'
    text = value.rstrip('"').replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    text += '\\"' * (len(value) - len(value.rstrip('"')))
    lines = []
    for line in text.split("\n"):
        lines.append("".join(c if c.isprintable() or c == "\t" else repr(c)[1:-1] for c in line))
    for row, line in enumerate(lines[:-1]):
        if line != line.rstrip():  # kept in the value, but not as blanks at the end of a line
            lines[row] = f"{line[:-1]}\\x{ord(line[-1]):02x}"
    return f'{node.kind or ""}"""' + "\n".join(lines) + '"""'


def _plans(allowed: Quotes, free: bool) -> Iterator[list[tuple[str, Quotes | None]]]:
    """Pairs of an f-string's own quote and the quotes its fields may use, the nicest first."""
    yield [(quote, allowed) for quote in allowed]
    for quote in allowed:
        yield [(quote, tuple(q for q in allowed if quote not in q))]
    if free and NESTS_FREELY:
        yield [(quote, None) for quote in allowed]


def _is_plain(text: str) -> bool:
    return text.isprintable() and "\\" not in text


def _is_verbatim(text: str, quote: str) -> bool:
    """Whether `text` between these quotes, with nothing escaped, is that text again."""
    if quote in text or text.endswith(quote[0]) or ("\n" in text and len(quote) == 1):
        return False
    return not any(char in "\\\r\0" or "\ud800" <= char <= "\udfff" for char in text)


class _FStringWriter:
    """Writes one f-string with one choice of quotes, or raises `Unquotable`."""

    def __init__(self, quote: str, inner: Quotes | None, escapes: bool, render: Render) -> None:
        self.quote, self.inner, self.escapes, self.render = quote, inner, escapes, render
        self.cost = 0

    def text(self, node: ast.JoinedStr) -> tuple[int, str]:
        """How many quotes stand in the way of reading it, and the text."""
        body = self.values(node, in_spec=False)
        return self.cost, f"f{self.quote}{body}{self.quote}"

    def values(self, node: ast.JoinedStr, in_spec: bool) -> str:
        parts = []
        for value in node.values:
            if isinstance(value, ast.Constant):
                literal = self.literal(str(value.value), in_spec)
                if literal is not None:
                    parts.append(literal)
                    continue
                value = ast.FormattedValue(value, -1, None)
            assert isinstance(value, ast.FormattedValue)
            parts.append(self.field(value))
        return "".join(parts)

    def literal(self, text: str, in_spec: bool) -> str | None:
        """A stretch of plain text, or None where it has to become a field of its own."""
        braced = in_spec and ("{" in text or "}" in text)
        if not self.escapes:
            if NESTS_FREELY and (braced or not _is_plain(text) or not _is_verbatim(text, self.quote)):
                raise Unquotable("the text needs escapes")
            if braced or not _is_verbatim(text, self.quote):
                return None
            return text.replace("{", "{{").replace("}", "}}")
        # Doubled braces mean nothing in a format specification.
        special = {"{": "\\x7b", "}": "\\x7d"} if in_spec else {"{": "{{", "}": "}}"}
        special |= {"\\": "\\\\", self.quote[0]: "\\" + self.quote[0]}
        self.cost += text.count(self.quote[0])
        return "".join(special.get(char) or repr(char)[1:-1] for char in text)

    def field(self, node: ast.FormattedValue) -> str:
        text = self.render(node.value, self.inner)
        if self.inner is None:
            self.cost += text.count(self.quote)
        elif self.quote in text or "\\" in text or ("\n" in text and len(self.quote) == 1):
            raise Unquotable("the field would end the f-string around it")
        if text.startswith("{"):
            text = " " + text  # two braces in a row are an escaped one
        if node.conversion != -1:
            text += "!" + chr(node.conversion)
        if node.format_spec is not None:
            spec = node.format_spec
            values = spec if isinstance(spec, ast.JoinedStr) else ast.JoinedStr([spec])
            text += ":" + self.values(values, in_spec=True)
        return "{" + text + "}"
