"""Who has to know that a Variable is read: the tapes that record, and the `ag.function` that is being traced, of which its value is an input."""

from __future__ import annotations

import sys
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any, Protocol

from autograph.runtime.errors.errors import SourceSpan, TapeError, VariableStateError
from autograph.runtime.errors.source_spans import here, transformation
from autograph.runtime.jaxapi.tracers import content
from autograph.runtime.jaxapi.traces import Tracer
from autograph.runtime.state.escape_analysis import occurrences
from autograph.runtime.state.state_refs import AttributeRef, StateRef
from autograph.runtime.tracing.trace_context import TraceContext, frames, watched
from autograph.runtime.values.values import ours, traced


class Recorder(Protocol):
    """What a tape offers to Variables; `home` is the trace in which it records."""

    @property
    def home(self) -> Any: ...

    def records(self, variable: Any, value: Any) -> bool: ...

    def knows(self, variable: Any, value: Any) -> bool: ...

    def note_read(self, variable: Any, value: Any) -> None: ...

    def alias(self, value: Any) -> Any: ...

    def watches(self, variable: Any) -> bool: ...

    def sees(self, value: Any) -> bool: ...

    def hide(self, values: Iterable[Any]) -> None: ...

    def count(self) -> int: ...

    def take(self, first: int, last: int, made: Container[Any], given: Container[Any]) -> Any: ...

    def put_back(self, taken: Any, standing: Callable[[Any], Any]) -> None: ...

    def record_loop(self, taken: Any, loop: Any) -> list[Any]: ...


class _Recorders(threading.local):
    active: tuple[Recorder, ...] = ()


recorders = _Recorders()  # the tapes that this thread is in


restorations: list[Any] = []  # of checkpoints, those with values for Variables that are not there yet


class Held(AttributeRef):
    """The place in which a Variable holds its array."""

    def __init__(self, variable: Any, attribute: str = "_array") -> None:
        super().__init__(variable, attribute)
        self.name = f"the Variable `{variable.name}`" if variable.name else "a Variable"


def restore_what_is_there() -> None:
    """Give the Variables that have been made since a checkpoint was restored what it says of them."""
    for restoration in tuple(restorations):
        restoration.apply()


def note_read(variable: Any) -> None:
    """A Variable is read."""
    if restorations:
        restore_what_is_there()
    if recorders.active or watched():
        note_place(Held(variable))


def note_place(place: AttributeRef) -> None:
    """The place is read in which a Variable, or what stands for one in another library, holds its array."""
    around = frames()
    for frame in around:
        if frame.checked:
            frame.variables[place] = None
    if recorders.active and isinstance(place, Held):
        before = place.get()
        after, level = _noted(place.obj, before, around)
        if after is not before:
            for frame in around[max(level, 0) :] if level >= 0 else ():  # it is a value of this block's
                frame.saved.setdefault(place, before)
            place.put(after)
        for k, frame in enumerate(around):
            if place in frame.saved:  # what the block's surroundings see in it, of a tape there
                inside = _level(frame.trace, around[: k + 1])
                _note(place.obj, frame.saved[place], [r for r in recorders.active if _level(r.home, around) < inside])


def _noted(variable: Any, value: Any, around: Sequence[TraceContext]) -> tuple[Any, int]:
    """What a Variable holds from now on, of which the tapes around note that it is read; and the block in which that was made, if it is new.

    It is another array where somebody may have taken the value before this tape, or a tape has seen it computed, which an assignment has cut.
    It is made where the outermost such tape stands, which sees a block in its own as one operation of what that takes.
    """
    recording = [r for r in recorders.active if r.records(variable, value)]
    new = [r for r in recording if not r.knows(variable, value)]
    own, level = content(value), -1
    if new and (getattr(variable, "_taken_by_user", None) in (None, id(own)) or any(r.sees(value) for r in new)):
        least = _level(own._trace, around) if isinstance(own, Tracer) else -1
        if makers := [r for r in new if _level(r.home, around) >= least]:
            value, level = makers[0].alias(value), _level(makers[0].home, around)
    if new:
        _note(variable, value, recording)
    return value, level


def _note(variable: Any, value: Any, tapes: Iterable[Recorder]) -> None:
    for recorder in tapes:
        if recorder.records(variable, value) and not recorder.knows(variable, value):
            recorder.note_read(variable, value)


def _level(trace: Any, around: Sequence[TraceContext]) -> int:
    """How deep the block is that a trace traces, and -1 of what is outside of all; a block without a trace of its own is part of the one around."""
    if trace is None:
        return next((k for k in reversed(range(len(around))) if around[k].trace is not None), -1)
    return next((k for k in reversed(range(len(around))) if around[k].trace is trace), -1)


def refuse_assigned(frame: TraceContext) -> None:
    """At the end of the trace of a function that is not an `ag.function`: a Variable would keep a value of the trace.

    Raises:
      VariableStateError: (AG702)
    """
    lost = [place for place in frame.written if isinstance(place, Held) and traced(place.get())]
    for place in lost:
        place.put(frame.saved[place])
    if lost:
        raise would_keep(lost[0].name, frame.places.get(lost[0]))


def refuse_watched(changes: Iterable[Any], walk: Any) -> None:
    """After a call that tapes have recorded as one operation: they do not see which of its values came after an assignment.

    Raises:
      TapeError: (AG703) it assigns a Variable that one of them watches.
    """
    for change in changes:
        owner = walk.places[change.number] if change.where == "place" else walk.objects[change.number] if change.where == "object" else None
        variable = getattr(owner, "obj", owner)
        if any(recorder.watches(variable) for recorder in recorders.active):
            raise TapeError(
                f"a tape around the call of a compiled function watches {Held(variable).name}, which the function assigns", here(),
                "put the tape into the function, assign after the tape's block, or make the Variable with `trainable=False`",
            )  # fmt: skip


def would_keep(name: str, place: SourceSpan | None, compiled: bool = False) -> VariableStateError:
    """The error of an assignment under a transformation of JAX's own, which `compiled` code is called by."""
    return VariableStateError(
        f"{name} is assigned in a function under {transformation()} of JAX, and would keep a traced value", place,
        "take derivatives with `ag.GradientTape`, call the function outside of the transformation, or return the new value"
        if compiled else "compile with `@ag.function`, and write loops and branches as `for`, `while` and `if`; or return the new value",
    )  # fmt: skip


def unknown(frame: TraceContext, known: Container[Any], out: list[Any]) -> list[StateRef]:
    """The Variables that the trace of a function has read and that are no inputs of it, but for those that go away with it; `out` is its result."""
    read = [place for place in frame.variables if place not in known and not traced(place.get())]
    inside = occurrences(out) if read else {}
    return [place for place in read if sys.getrefcount(place.obj) > ours(place.obj) + inside.get(id(place.obj), 0) + 1]


class Created:
    """The Variables that the traces of one call have made: a function that has to be traced again gets those that it made before."""

    def __init__(self) -> None:
        self._made: dict[tuple[Any, int], weakref.ref[Any]] = {}  # by the code that made it, and how often that had made one
        self._counts: Counter[Any] = Counter()
        self._key: tuple[Any, int]

    def begin(self) -> None:
        """A trace begins."""
        self._counts.clear()

    def next(self, code: Any) -> Any:
        """The one that an earlier trace has made here, if it is still there."""
        self._key = code, self._counts[code]
        self._counts[code] += 1
        found = self._made.get(self._key)
        return found() if found is not None else None

    def add(self, variable: Any) -> None:
        self._made[self._key] = weakref.ref(variable)

    def __bool__(self) -> bool:
        return bool(self._made)

    def __contains__(self, variable: Any) -> bool:
        return any(made() is variable for made in self._made.values())


def outermost(variable: Any) -> Any:
    """What a Variable held when the outermost trace began."""
    place = Held(variable)
    return next((frame.saved[place] for frame in frames() if place in frame.saved), variable._array)


def creating() -> Created | None:
    """Those of the call that is being traced."""
    return next((f.created for f in reversed(frames()) if f.checked), None)
