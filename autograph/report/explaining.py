"""`ag.explain`: which variables each statement of a function carries, and why; and, from a trace, what each became."""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Iterator, Sequence
from typing import Any

from autograph import runtime
from autograph.analysis.names import NONE, surely_binds
from autograph.api import convert, form_for
from autograph.forms.lowering import context_of
from autograph.passes import run_passes
from autograph.passes.block_signatures import Plans
from autograph.passes.stageable import WHY_PYTHON, obstacle
from autograph.report.report import Call, Loop, Report, Statement, StatementVariable
from autograph.runtime.calls.function import Method
from autograph.runtime.errors.errors import without_comment
from autograph.runtime.state.decisions import Decision, decisions
from autograph.source.errors import AutographError
from autograph.source.source import File
from autograph.trees import syntax as s

_KINDS = {s.If: "if", s.While: "while", s.For: "for", s.Match: "match"}


def report_of(node: Any, file: File, free: frozenset[str] = frozenset()) -> Report:
    """What the text of a function tells: its statements, their variables, and why each is carried."""
    name = getattr(node, "name", "<lambda>")
    if reason := obstacle(node):
        return Report(name, file.name, node.lineno, node.end_lineno, [], [], traced=False, python=f"it {WHY_PYTHON[reason]}")
    tree = s.read(node)
    context = context_of(node, tree, file, free)
    run_passes(tree, context, "facts")  # stores have become assignments of their variables; the statements are the user's
    statements: list[Statement] = []
    functions = [tree, *(fn for fn, around in context.fresh.functions if around and isinstance(fn, s.FunctionDef))]
    for fn in functions:
        if isinstance(fn, s.Lambda):
            continue
        plans = Plans(fn, context)
        statements += _Statements(fn, plans, file).found
    statements.sort(key=lambda x: (x.line, len(x.path)))
    return Report(name, file.name, node.lineno, node.end_lineno, statements, [], traced=False)


class _Statements:
    """The statements of one function."""

    def __init__(self, fn: Any, plans: Plans, file: File) -> None:
        self.fn, self.plans, self.file = fn, plans, file
        self.found: list[Statement] = []
        self._block(fn.body, (), None)

    def _block(self, block: list[Any], path: tuple[tuple[int, str], ...], loop: Any) -> None:
        for stmt in block:
            if isinstance(stmt, s.SCOPES):
                continue
            kind = _KINDS.get(type(stmt), "")
            if kind:
                line = self._line(stmt)
                self.found.append(Statement(line, _last(stmt), self._kind(stmt, line), self._text(line), path, variables=self._variables(stmt, loop)))
            inner = stmt if isinstance(stmt, (s.While, s.For)) else loop
            parts = [(c.pattern.lineno, c.body) for c in stmt.cases] if isinstance(stmt, s.Match) else []
            if parts:
                for k, (_, body) in enumerate(parts):
                    self._block(body, (*path, (stmt.lineno, f"case {k + 1}")), loop)
                continue
            for name in ("body", "orelse", "handlers", "finalbody"):
                for part in getattr(stmt, name, []):
                    below = (*path, (stmt.lineno, name)) if kind else path
                    self._block(part.body if isinstance(part, s.ExceptHandler) else [part], below, inner if name == "body" else loop)

    def _line(self, stmt: Any) -> int:
        return int(stmt.test.lineno if isinstance(stmt, s.If) and "elif" in self._text(stmt.lineno) else stmt.lineno)

    def _kind(self, stmt: Any, line: int) -> str:
        return "elif" if self._text(line).startswith("elif") else _KINDS[type(stmt)]

    def _text(self, line: int) -> str:
        return without_comment(self.file.lines[line - 1].strip()) if 0 < line <= len(self.file.lines) else ""

    def _variables(self, stmt: Any, loop: Any) -> list[StatementVariable]:
        plan = self.plans.of.get(stmt)
        if plan is None:
            return []
        live, memo = self.plans.live, self.plans.context.memo
        changed = memo.binds_all([*stmt.body, *stmt.orelse])
        after = live.after[stmt]
        is_loop = not isinstance(stmt, s.If)
        carried = plan.ins if is_loop else plan.outs
        head = NONE
        if isinstance(stmt, s.While):
            head = live.before[stmt]
        elif isinstance(stmt, s.For):
            changed |= surely_binds(stmt.target)
            head = live.before[stmt.body[0]] - surely_binds(stmt.target)
        found: list[StatementVariable] = []
        for name in self.plans.scope.ordered(changed | carried):
            if name not in self.file.identifiers:
                continue
            written = _lines(stores(stmt, name))
            if name not in carried:
                where = "set in every iteration, and not read after the loop" if is_loop else "not read after it"
                found.append(StatementVariable(name, "local", f"{written}: {where}" if written else where))
                continue
            reasons = []
            if is_loop and name in head:
                reasons.append(f"read by the next iteration{self._first(name, [stmt])}")
            if name in after:
                reasons.append(f"read after it{self._after(name, stmt, loop)}")
            if not reasons:
                reasons.append("what handles an exception may read it")
            found.append(StatementVariable(name, "loop variable" if is_loop else "result", "; ".join([*([written] if written else []), *reasons])))
        return found

    def _first(self, name: str, nodes: Sequence[Any]) -> str:
        lines = [n.lineno for n in loads(nodes, name)]
        return f" in line {min(lines)}" if lines else ""

    def _after(self, name: str, stmt: Any, loop: Any) -> str:
        end = _last(stmt)
        lines = [n.lineno for n in loads(self.fn.body, name) if n.lineno > end]
        if lines:
            return f" in line {min(lines)}"
        return " by the next iteration of the loop around" if loop is not None else ""


def stores(node: Any, name: str) -> Iterator[int]:
    """The lines in which a statement assigns a name."""
    for n in s.own(node):
        if isinstance(n, s.Name) and n.id == name and not isinstance(n.ctx, s.Load) and hasattr(n, "lineno"):
            yield n.lineno


def loads(nodes: Sequence[Any], name: str) -> Iterator[Any]:
    for node in nodes:
        for n in s.walk(node):
            if isinstance(n, s.Name) and n.id == name and isinstance(n.ctx, s.Load) and hasattr(n, "lineno"):
                yield n


def _lines(found: Iterator[int]) -> str:
    lines = sorted(set(found))
    if not lines:
        return ""
    shown = [str(x) for x in lines[:4]] + (["..."] if len(lines) > 4 else [])
    return f"written in line{'s' * (len(lines) > 1)} {', '.join(shown)}"


def _last(stmt: Any) -> int:
    ends = [n.end_lineno for n in s.walk(stmt) if getattr(n, "end_lineno", None)]
    return int(max(ends, default=stmt.lineno))


def traced(report: Report, fn: Any, args: Sequence[Any], kwargs: Any) -> Report:
    """The report with what a trace on example arguments decides; arrays and numbers are traced, everything else is not."""
    log, report.error = _decisions(fn, args, kwargs)
    own = getattr(fn, "__func__", fn)
    report.retraces = own.traces.changes() if isinstance(own, runtime.Function) else []
    report.traced = True
    by_line = {(x.line, "loop" if x.kind in ("while", "for") else "branch"): x for x in report.statements}
    calls: dict[tuple[int, str], Call] = {}
    loops: dict[tuple[str, int], Loop] = {}
    lines = range(report.line, report.end_line + 1)
    for d in log:
        if d.file != report.file or d.line not in lines:
            if d.kind == "loop":
                text = without_comment(str(linecache.getline(d.file, d.line)).strip())
                loops[d.file, d.line] = Loop(d.file, d.line, text, d.became, d.why)
            continue
        if d.kind == "call" and d.line == report.line:
            continue
        if d.kind == "call":
            name = d.types[0][0] if d.types else ""
            calls[d.line, name] = Call(d.line, name, d.became, d.why)
            continue
        statement = by_line.get((d.line, d.kind))
        if statement is None and any(x.line == d.line for x in report.statements):
            continue  # a part of a statement's own test
        if statement is None:
            statement = Statement(d.line, d.line, "expression", _line_of(report, d.line), _around(report, d.line))
            by_line[d.line, d.kind] = statement
            report.statements.append(statement)
        if statement is None:
            continue
        statement.became, statement.why = d.became, d.why
        known = {v.name: v for v in statement.variables}
        for name, *types in d.types:
            before, after = map(_short, types)
            if name in known:
                known[name].before, known[name].after = before, after
            elif len(d.types) == 1 and len(statement.carried()) == 1:
                only = statement.carried()[0]
                only.before, only.after = before or only.before, after
        for name, after in d.places:
            if name not in known:
                known[name] = StatementVariable(name, "place", "changed in its iterations" if d.kind == "loop" else "changed in a branch")
                statement.variables.append(known[name])
            known[name].after = _short(after)
    for statement in report.statements:
        if not statement.became and not report.error:
            statement.became, statement.why = "not reached", "the trace on these arguments does not come here"
    report.statements.sort(key=lambda x: (x.line, len(x.path)))
    report.loops = list(loops.values())
    report.calls = sorted(calls.values(), key=lambda c: (c.line, c.name))
    return report


def _short(type: str) -> str:
    """A type without what matters only where it is promoted."""
    return type.replace(" (weak)", "").replace("the number ", "")


def _decisions(fn: Any, args: Sequence[Any], kwargs: Any) -> tuple[list[Decision], str]:
    """What operators decide in a trace of a function, and the error that ends it."""
    if isinstance(fn, Method):
        args, fn = (fn.__self__, *args), fn.__func__
    new = runtime.jit(fn._fn, **fn._options) if isinstance(fn, runtime.Function) else runtime.jit(convert(fn))
    with decisions() as log:
        try:
            new.eval_shape(*args, **kwargs)
        except Exception as error:  # of the user's program: it is part of the report
            return log, str(error) if isinstance(error, AutographError) else f"{type(error).__name__}: {error}"
    return log, ""


def _line_of(report: Report, line: int) -> str:
    return without_comment(str(linecache.getline(report.file, line)).strip())


def _around(report: Report, line: int) -> tuple[tuple[int, str], ...]:
    inside = [x for x in report.statements if x.kind != "expression" and x.line < line <= x.end_line]
    innermost = max(inside, key=lambda x: x.line, default=None)
    return (*innermost.path, (innermost.line, "body")) if innermost is not None else ()


def explain(fn: Any, /, *args: Any, **kwargs: Any) -> Report:
    """What became of each statement of a function, and why.

    Args:
      fn: what `convert` takes, or what a decorator of ours has returned.
      args, kwargs: example arguments, or none.  Arrays and numbers are traced, as under `jax.jit`; nothing is computed.

    Returns:
      A `Report`: each `if`, `while`, `for` and `match` with its lines, its loop variables or results and why each is one, types before and after,
      what it became (Python, cond, select, switch, scan, while_loop, unrolled) and why, which callees were converted, and what their loops became.

    Raises:
      ConversionError: as `convert`.  An error of the trace is part of the report.

    >>> import autograph as ag
    >>> def halve(x):
    ...     while x > 1:
    ...         x = x / 2
    ...     return x
    >>> print(ag.explain(halve, 8.0).statements[0].became)
    while_loop
    """
    form = form_for(fn)
    report = report_of(form.node, form.file, frozenset(form.code.co_freevars))
    needs = _required(fn) if not (args or kwargs) else True
    if not args and not kwargs and needs:
        return report
    return traced(report, fn, args, kwargs)


def _required(fn: Any) -> bool:
    """Whether a function cannot be called without arguments."""
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return True
    return any(p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters)
