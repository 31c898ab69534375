"""Who has to know that a Variable is read: the tapes that record, and the `ag.function` that is being traced, of which its value is an input."""

from __future__ import annotations

import sys
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Container, Iterable
from typing import Any, Protocol

from autograph.runtime.frames import Frame, frames, watched
from autograph.runtime.messages.errors import Place, TapeError, VariableStateError
from autograph.runtime.messages.places import here, transformation
from autograph.runtime.state.forgetting import occurrences
from autograph.runtime.values.heap import Attribute, HeapLocation
from autograph.runtime.values.values import ours, traced


class Recorder(Protocol):
    """What a tape offers to Variables."""

    def note_read(self, variable: Any, value: Any) -> Any: ...

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


class Held(Attribute):
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


def note_place(place: Attribute) -> None:
    """The place is read in which a Variable, or what stands for one in another library, holds its array."""
    around = frames()
    for frame in around:
        if frame.checked:
            frame.variables[place] = None
    for recorder in recorders.active if isinstance(place, Held) else ():
        place.put(recorder.note_read(place.obj, place.get()))
        for frame in around:
            if place in frame.saved:  # what a block around sees in it
                frame.saved[place] = recorder.note_read(place.obj, frame.saved[place])


def refuse_assigned(frame: Frame) -> None:
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


def would_keep(name: str, place: Place | None, compiled: bool = False) -> VariableStateError:
    """The error of an assignment under a transformation of JAX's own, which `compiled` code is called by."""
    return VariableStateError(
        f"{name} is assigned in a function under {transformation()} of JAX, and would keep a value of its trace", place,
        "take derivatives with `ag.GradientTape`, call the function outside of the transformation, or return the new value"
        if compiled else "compile with `@ag.function`, and write loops and branches as `for`, `while` and `if`; or return the new value",
    )  # fmt: skip


def unknown(frame: Frame, known: Container[Any], out: list[Any]) -> list[HeapLocation]:
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


def outermost(variable: Any) -> Any:
    """What a Variable held when the outermost trace began."""
    place = Held(variable)
    return next((frame.saved[place] for frame in frames() if place in frame.saved), variable._array)


def creating() -> Created | None:
    """Those of the call that is being traced."""
    return next((f.created for f in reversed(frames()) if f.checked), None)
