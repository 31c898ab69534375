"""The report of `ag.explain`: what each statement of a function is, which variables it carries and why, and what it became."""

from __future__ import annotations

import dataclasses
import html
import json
from dataclasses import dataclass, field

from autograph.report.drawing import drawn
from autograph.report.statements import Statement as Statement
from autograph.report.statements import StatementVariable as StatementVariable
from autograph.runtime.errors.errors import file_name


@dataclass
class Call:
    """A function that is called: "converted", "as it is" or "replaced", and why."""

    line: int
    name: str
    became: str
    why: str


@dataclass
class Loop:
    """A loop of a function that is called: where it stands, what it became, and why."""

    file: str
    line: int
    text: str
    became: str
    why: str


@dataclass
class Report:
    """What `ag.explain` found: print it, show it in a notebook, or ask for `to_json()` or `svg()`.

    `traced` says whether example arguments were given: without them nobody knows what is traced, and statements have no types.
    `python` says why a function is not converted, and stays Python; nothing of one that is.
    """

    name: str
    file: str
    line: int
    end_line: int
    statements: list[Statement]
    calls: list[Call]
    traced: bool
    retraces: list[str] = field(default_factory=list)
    error: str = ""
    python: str = ""
    loops: list[Loop] = field(default_factory=list)  # of the functions that it calls

    def to_json(self) -> str:
        """The report as JSON: an object with the fields of this class."""
        return json.dumps(dataclasses.asdict(self), ensure_ascii=False, indent=2)

    def svg(self) -> str:
        """The control flow as a picture: boxes for statements, and the variables that they carry on the arrows."""
        return drawn(self.statements, self.name, self.file, self.line)

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__  # what a console shows

    def text(self, colour: bool = False) -> str:
        """The report as text; with ANSI colours for a terminal."""

        def paint(text: str, code: str) -> str:
            return f"\x1b[{code}m{text}\x1b[0m" if colour and text else text

        out = [f"{paint(self.name, '1')}  {file_name(self.file)}:{self.line}"]
        width = max([len(_header(s)) for s in self.statements] + [0])
        for s in self.statements:
            became = f"{paint(s.became, '1;32')}: {s.why}" if s.became else ""
            out.append(f"  {paint(f'{s.line:>4}', '2')}  {paint(f'{_header(s):<{width}}', '36')}  {became}".rstrip())
            names, types = (max([len(t) for t in texts] + [0]) for texts in ([v.name for v in s.variables], [v.type for v in s.variables]))
            for v in s.variables:
                role = paint(f"{v.role:<13}", "33" if v.role != "local" else "2")
                out.append(f"        {_indent(s)}  {v.name:<{names}}  {role}  {v.type:<{types}}{'  ' if types else ''}{v.why}".rstrip())
        if self.python:
            out.append(f"  {self.python}")
        elif not self.statements:
            out.append("  no control flow")
        if self.calls:
            out.append(paint("calls", "1"))
            width = max(len(c.name) for c in self.calls)
            out += [f"  {paint(f'{c.line:>4}', '2')}  {c.name:<{width}}  {paint(c.became, '32')}{': ' if c.why else ''}{c.why}" for c in self.calls]
        if self.loops:
            out.append(paint("loops of what is called", "1"))
            places = [f"{file_name(x.file)}:{x.line}" for x in self.loops]
            out += [f"  {paint(p, '2')}  {x.text}  {paint(x.became, '1;32')}: {x.why}" for p, x in zip(places, self.loops, strict=True)]
        if self.retraces:
            out += [paint("traced again", "1"), *(f"  {r}" for r in self.retraces)]
        if self.error:
            out.append(f"{paint('error', '1;31')}: {self.error}")
        elif not self.traced and not self.python:
            out.append("give example arguments to see what is traced, what each statement becomes, and the types")
        return "\n".join(out) + "\n"

    def _repr_html_(self) -> str:
        rows = []
        for s in self.statements:
            became = f"<b>{html.escape(s.became)}</b>: {html.escape(s.why)}" if s.became else ""
            header = html.escape(_header(s)).replace(" ", "&nbsp;")
            rows.append(f"<tr><td>{s.line}</td><td><code>{header}</code></td><td colspan=3>{became}</td></tr>")
            rows += [
                f"<tr><td></td><td style='text-align:right'><code>{html.escape(v.name)}</code></td><td>{v.role}</td>"
                f"<td><code>{html.escape(v.type)}</code></td><td>{html.escape(v.why)}</td></tr>"
                for v in s.variables
            ]
        rows += [
            f"<tr><td>{c.line}</td><td><code>{html.escape(c.name)}()</code></td><td>{c.became}</td><td colspan=2>{html.escape(c.why)}</td></tr>"
            for c in self.calls
        ]
        rows += [
            f"<tr><td>{html.escape(file_name(x.file))}:{x.line}</td><td><code>{html.escape(x.text)}</code></td>"
            f"<td colspan=3><b>{html.escape(x.became)}</b>: {html.escape(x.why)}</td></tr>"
            for x in self.loops
        ]
        refused = f"<p><b>error</b>: {html.escape(self.error)}</p>" if self.error else ""
        notes = "".join(f"<p>{html.escape(text)}</p>" for text in (self.python, *self.retraces) if text)
        place = f"{html.escape(file_name(self.file))}:{self.line}"
        return f"<p><b>{html.escape(self.name)}</b> {place}</p><table>{''.join(rows)}</table>{notes}{refused}"


def _indent(s: Statement) -> str:
    return "  " * len(s.path)


def _header(s: Statement) -> str:
    text = s.text if len(s.text) <= 60 else f"{s.text[:57]}..."
    return f"{_indent(s)}{text}"
