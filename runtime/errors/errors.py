"""Every error this project raises: one hierarchy, a stable id each, and the builtin that Python would have raised.

`AutographError` is the root.  `docs/errors/<id>.md` has a page for each id.
"""

from __future__ import annotations

import linecache
import re
import sys
import tokenize
from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple


class SourceSpan(NamedTuple):
    """A place in the user's source; where they are known, the columns of what runs there (bytes from 0, the end exclusive)."""

    file: str
    line: int
    column: int = 0
    end: int = 0

    def __str__(self) -> str:
        return f"{file_name(self.file)}:{self.line}"

    def shown(self, label: str = "") -> list[str]:
        """The line of the source with a caret under the columns; nothing where there is no source."""
        text = linecache.getline(self.file, self.line).rstrip()
        if not text.strip():
            return []
        data = text.encode()
        start = len(data[: self.column].decode(errors="replace"))
        end = len(data[: self.end].decode(errors="replace")) if self.end > self.column else start
        if not self.end:
            start, end = len(text) - len(text.lstrip()), len(without_comment(text))
        number = f"{self.line:>6}"
        marks = "^" * max(1, min(end, len(without_comment(text))) - start)
        return [f"{number} | {text}", f"{' ' * len(number)} | {' ' * start}{marks}{' ' + label if label else ''}"]


def without_comment(line: str) -> str:
    """A line of source without the comment at its end."""
    try:
        for token in tokenize.generate_tokens(iter([line]).__next__):
            if token.type == tokenize.COMMENT:
                return line[: token.start[1]].rstrip()
    except (tokenize.TokenError, SyntaxError):  # the statement goes on in the next line
        pass
    return line


def file_name(file: str) -> str:
    """A file as the user knows it: IPython's cells have numbers."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    named = getattr(getattr(shell, "compile", None), "format_code_name", lambda _: None)(file)
    return " ".join(named) if named else file


class AutographError(Exception):
    """Root of all errors of this project.

    `id` names the page of documentation; `place` is where in the user's source; `advice` is what to write instead.  `also` are other places, each
    with what there is to see.
    """

    id: ClassVar[str] = "AG000"

    def __init__(self, message: str, place: SourceSpan | None = None, advice: str = "", also: Sequence[tuple[SourceSpan | None, str]] = ()) -> None:
        message, advice = (re.sub(r"\ba (`[AEIOaeio])", r"an \1", text) for text in (message, advice))
        also = [(p, re.sub(r"\ba (`[AEIOaeio])", r"an \1", label)) for p, label in also]
        self.message, self.place, self.advice, self.also = message, place, advice, tuple(also)
        where = f"{place}: " if place else ""
        self.summary = f"{where}{self.id} {message}"
        spots = [(place, ""), *((p, label) for p, label in also if p is not None)] if place else []
        lines = [line for spot, label in sorted(spots, key=lambda s: (s[0] is None, s[0])) if spot for line in spot.shown(label)]
        super().__init__("\n".join([self.summary, *lines, *([f"  help: {advice}"] if advice else [])]))

    def add_note(self, note: str) -> None:
        """A note, but for JAX's that it has left frames out: `AUTOGRAPH_TRACEBACK=full` shows them."""
        if "JAX has removed its internal frames" not in note:
            super().add_note(note)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.message, self.place, self.advice, self.also)


class ConversionError(AutographError):
    """The source of a function could not be converted."""

    id = "AG100"


class SourceUnavailable(ConversionError, OSError):
    """There is no source text for a function."""

    id = "AG101"


class NotAFunction(ConversionError, TypeError):
    """The object has no Python code of its own to convert."""

    id = "AG103"


class WrappedFunction(ConversionError, TypeError):
    """A library's wrapper around a user function: converting it would do nothing."""

    id = "AG104"


class StagingError(AutographError):
    """A statement could not be staged faithfully on traced values.

    An `except` of the function that is being traced does not stop it: the error is raised again when the trace ends.
    """

    id = "AG200"
    noticed: ClassVar[Callable[[StagingError], None]] = staticmethod(lambda error: None)

    def __init__(self, message: str, place: SourceSpan | None = None, advice: str = "", also: Sequence[tuple[SourceSpan | None, str]] = ()) -> None:
        super().__init__(message, place, advice, also)
        StagingError.noticed(self)


class LoopTypeError(StagingError, TypeError):
    """A loop variable changes its type, shape or structure in a way that no joint type covers."""

    id = "AG201"


class BranchTypeError(StagingError, TypeError):
    """The two sides of a branch give values that no joint type covers."""

    id = "AG202"


class IntegerRangeError(StagingError, OverflowError):
    """A Python integer does not fit the array type it becomes."""

    id = "AG203"


class PredicateError(StagingError, ValueError):
    """The truth of an array that does not have exactly one element."""

    id = "AG204"


class UnsetError(StagingError, UnboundLocalError):
    """A variable may be unset where it is read, depending on traced values."""

    id = "AG301"


class OptionalError(StagingError, TypeError):
    """A value that may be None is used as a value, depending on traced values."""

    id = "AG302"


class AttributeStateError(StagingError, AttributeError):
    """An attribute is stored where the store cannot be staged, or a traced value would outlive its trace in it."""

    id = "AG401"


class GlobalStateError(StagingError, NameError):
    """A global or nonlocal variable would keep a traced value after its trace."""

    id = "AG402"


class ArrayStoreError(StagingError, TypeError):
    """A traced value cannot be stored into this array in place."""

    id = "AG403"


class StagedRaiseError(StagingError, RuntimeError):
    """`raise` or `assert` where it is data-dependent whether it happens."""

    id = "AG404"


class EffectError(StagingError, RuntimeError):
    """A host effect in a block that is staged."""

    id = "AG405"


class NumpyError(StagingError, NotImplementedError):
    """A function or option of NumPy that traced values cannot have."""

    id = "AG406"


class AliasError(StagingError, RuntimeError):
    """An array is stored into, and another name that may hold it would keep the old one."""

    id = "AG407"


class NotStagedError(StagingError, TypeError):
    """Traced values decide in a construct that stays Python."""

    id = "AG501"


class ConcreteValueError(StagingError, TypeError):
    """A Python number, size or index is needed where a traced value was given."""

    id = "AG502"


class StepLimitError(StagingError, RuntimeError):
    """A staged loop makes more iterations than `ag.loop(max_steps=...)` allows."""

    id = "AG503"


class LargeUnrollWarning(UserWarning):
    """A loop stays unrolled into more than 2,000 operations."""


class RetraceWarning(UserWarning):
    """One function has been traced and compiled many times."""


class ReverseModeError(StagingError, ValueError):
    """Reverse-mode differentiation through a loop whose number of iterations is not known."""

    id = "AG601"


class NotDifferentiableError(StagingError, TypeError):
    """Something in a loop that is differentiated has no derivative."""

    id = "AG602"


class VariableError(AutographError, ValueError):
    """A Variable is given a value that it cannot hold: another shape, or a type that it would have to be rounded to."""

    id = "AG701"


class VariableStateError(StagingError, RuntimeError):
    """A Variable is assigned where the new value would be lost: in a function under a transformation of JAX's own."""

    id = "AG702"


class TapeError(AutographError, RuntimeError):
    """A tape is asked for gradients that it cannot give."""

    id = "AG703"


class OptimizerError(AutographError, ValueError):
    """An optimizer has nothing to change, or gradients that do not belong to its Variables."""

    id = "AG704"


class CheckpointError(AutographError, ValueError):
    """A checkpoint cannot be read, or does not belong to the objects that it is restored into."""

    id = "AG705"


class DeviceError(AutographError, RuntimeError):
    """A device is named that is not there."""

    id = "AG706"


class DatasetError(AutographError, ValueError):
    """A dataset is made of what has no items, or is gone over by a compiled loop, which needs to know how many there are."""

    id = "AG707"


class LayerError(AutographError, ValueError):
    """A layer is given inputs or arguments that it does not take."""

    id = "AG708"


class SummaryError(AutographError, ValueError):
    """A summary is given what it cannot show, or its folder cannot be written to."""

    id = "AG709"


class GraphError(AutographError, RuntimeError):
    """A node of a static graph is used as a value, or is fed or fetched as it cannot be."""

    id = "AG710"


class ServerError(AutographError, ConnectionError):
    """A parameter server is not there, is busy, or refuses what it is sent."""

    id = "AG711"
