"""Where in the user's source the sides of a branch make their values, for the error that their types disagree.

The value of a side may come from a branch inside it, or from a `return` in a loop before it: then the line is the one that gave it its type.
"""

from __future__ import annotations

import dis
import linecache
import re
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FrameType
from typing import Any, NamedTuple

from autograph.runtime.errors.errors import BranchTypeError, SourceSpan
from autograph.runtime.errors.source_spans import is_block, is_generated, last_store, place_of, returning, value_of, visible
from autograph.runtime.state.type_text import describe, instead, pair
from autograph.runtime.tracing.trace_context import frames
from autograph.runtime.values.abstract_values import AbstractValue, ArrayType, Static
from autograph.runtime.values.joins import Mismatch
from autograph.runtime.values.values import ATOMS


class Join(NamedTuple):
    """The sides of a branch that has been traced, and what each gave.  It holds no object of the user's: those live as long as in Python."""

    sides: tuple[CodeType | None, ...]
    specs: tuple[AbstractValue, ...]


class BranchSpan:
    """The branches that have been traced since it was made, in the run of a function that is going on."""

    def __init__(self) -> None:
        self.start = len(frames()[0].joins) if frames() else 0
        self.joins: list[Join] = []

    def end(self) -> BranchSpan:
        self.joins = frames()[0].joins[self.start :] if frames() else []
        return self


def remember(fns: Sequence[Callable[..., Any]], specs: Sequence[AbstractValue]) -> None:
    if frames():
        frames()[0].joins.append(Join(tuple(map(_code, fns)), tuple(map(_types_alone, specs))))


def _code(fn: Callable[..., Any]) -> CodeType | None:
    return getattr(fn, "__code__", None)


def _types_alone(spec: AbstractValue) -> AbstractValue:
    """A spec without what is neither array nor atom."""
    if type(spec) is tuple:
        return tuple(map(_types_alone, spec))
    return spec if isinstance(spec, ArrayType) or isinstance(spec, Static) and type(spec.value) in ATOMS else None


def disagree(
    m: Mismatch, fns: Sequence[Callable[..., Any]], spans: Sequence[BranchSpan], frame: FrameType | None, names: Sequence[str] = (), k: int = 0
) -> BranchTypeError:
    """The error for two sides whose values (of the k-th of the variables, if they have names) no type covers."""
    function = returning(frame)
    what = f"`{names[k]}{m.path}`" if names else f"what `{function}` returns" if function else "what this branch gives"
    specs = (m.a, m.b)
    lines = [
        (_before(frame, names[k]) if names and _only_reads(_code(fn), names[k]) else None) or _line(names, k, s, _code(fn), span.joins)
        for s, fn, span in zip(specs, fns, spans, strict=True)
    ]
    texts = pair(describe(m.a), describe(m.b))
    sides = [f"{text}{f' (line {at.line})' if at else ''}" for text, at in zip(texts, lines, strict=True)]
    why = f"; {m.why}" if m.why else ""
    also = list(zip(lines, texts, strict=True))
    return BranchTypeError(
        f"{what} is {sides[0]} where the test is true and {sides[1]} where it is false{why}", place_of(frame),
        instead(m.a, m.b, _usual(names[k] if names else "", lines)), also,
    )  # fmt: skip


_LONGER = re.compile(r"\b(append|concatenate|hstack|vstack|stack)\(")


def _usual(name: str, lines: Sequence[SourceSpan | None]) -> str:
    """What to write where the sides differ in type or shape."""
    if name and any(at is not None and _LONGER.search(linecache.getline(at.file, at.line)) for at in lines):
        return f"an array keeps its shape: make `{name}` a list and append to it (`{name} = []`), or store into an array of fixed size and count"
    return "give both branches the same type and shape"


def _only_reads(code: CodeType | None, name: str) -> bool:
    """Whether a side gives a variable as it was before the branch."""
    if code is None or code.co_name != "<lambda>":
        return False
    loads = [i for i in dis.get_instructions(code) if i.opname.startswith(("LOAD", "CALL", "BINARY"))]
    return len(loads) == 1 and loads[0].argval == name


def _before(frame: FrameType | None, name: str) -> SourceSpan | None:
    """The last assignment to a variable above the line that a function, or the block in it that runs, has come to."""
    line = frame.f_lineno if frame is not None else 0
    while frame is not None:
        if (last := last_store(frame.f_code, name, line)) is not None:
            text = linecache.getline(last.file, last.line).encode()[last.column : last.end]
            if text == name.encode():
                return last
            line = last.line  # what a loop or branch gives, which is no assignment of the user's
        elif is_block(frame.f_code):
            frame = visible(frame.f_back)
        else:
            break
    return None


def _line(names: Sequence[str], k: int, spec: AbstractValue, side: CodeType | None, inside: Sequence[Join]) -> SourceSpan | None:
    """Where a side has made a value of this spec."""
    name, count = names[k] if names else "", max(len(names), 1)
    if name and (last := last_store(side, name)) is not None:
        nested = [(s, at) for code, s in _newest_first(inside) if (at := last_store(code, name)) is not None]
        if not any(at == last for _, at in nested):  # the last assignment stands in no branch
            return last
        return next((at for s, at in nested if _holds(s, spec)), last)
    if _hands_on(side) and frames():
        inside = frames()[0].joins
    found = (value_of(code, k, count) for code, s in _newest_first(inside) if _holds(s, spec) and not _hands_on(code))
    return next((at for at in found if at is not None), value_of(side, k, count) or value_of(side))


def _newest_first(joins: Sequence[Join]) -> Iterator[tuple[CodeType | None, AbstractValue]]:
    return ((code, spec) for join in reversed(joins) for code, spec in zip(reversed(join.sides), reversed(join.specs), strict=True))


def _holds(whole: AbstractValue, part: AbstractValue) -> bool:
    """Whether a spec is another, or has it as a part."""
    return type(whole) is type(part) and whole == part or type(whole) is tuple and any(_holds(child, part) for child in whole)


def _hands_on(code: CodeType | None) -> bool:
    """Whether a side only gives variables of ours: what a loop has returned, and whether it has."""
    return code is not None and code.co_name == "<lambda>" and bool(code.co_freevars) and all(is_generated(code, n) for n in code.co_freevars)
