"""An attempt to trace something that may have to be undone: one owner of all that tracing changes beside JAX's values.

A list that has to grow, a loop that is tried as one compiled iteration, a first iteration that shows which types a loop has: what such an attempt
has changed is undone when it is thrown away.  That is sound because all that converted code changes goes through what is restored here:

- places in Python's objects, as the frame of the attempt has them (`restore`);
- what the regions around have noted: of their state, of aliases, of lists that grow or were copied;
- what is known of the lengths of lists, and which loops and branches hold them;
- effects that JAX orders (`print`), by the equations that have them.

What cannot be undone (an item that an iterator has given, a line in a file) makes an attempt *final*: `has_moved`
and `changed` of its region tell, and the caller keeps it.
"""

from __future__ import annotations

import copy
import operator
from typing import Any

from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.state.captured_state import restore
from autograph.runtime.state.iterators import Positions
from autograph.runtime.state.length_bounds import marks, reset, stack
from autograph.runtime.state.recorded_writes import forget_told
from autograph.runtime.tracing.trace_context import TraceContext, frames, innermost, lifting

_OF_STATE = ("values", "written", "saved", "twins", "spoiled")  # what the innermost region around has noted of the state outside
_OF_OBJECTS = ("copied", "grows", "choices", "fresh", "columns")  # what every frame around has noted of objects
_of_objects = operator.attrgetter(*_OF_OBJECTS)


class Speculation:
    """What tracing may change, as it is now.  With `positions` it is noticed where iterators stand that variables hold."""

    def __init__(self, positions: bool = False) -> None:
        around = lifting()
        self._region = around[-1] if around else None
        self._state: dict[str, Any] = {}
        if self._region is not None:
            self._state = {name: copy.copy(getattr(self._region, name)) for name in _OF_STATE}
            self._state["late"] = {place: list(held) for place, held in self._region.late.items()}
        self._notes = [(f, [copy.copy(held) if held else None for held in _of_objects(f)]) for f in frames()]
        self._equations, self._lengths, self._holders = _jax.equations(), marks(), len(stack.holders)
        self._positions = Positions() if positions else None

    @property
    def equations(self) -> int:
        """How many equations had been recorded."""
        return self._equations

    def has_moved(self) -> bool:
        """Whether an iterator has given items since."""
        return self._positions is not None and self._positions.moved()

    def roll_back(self, run: TraceContext) -> None:
        """Undo the attempt; what it has recorded is dead, as nothing uses it."""
        del stack.holders[self._holders :]
        _jax.drop_effects(self._equations)
        restore(run)
        if (around := innermost()) is not None:
            around.discarded = True
        forget_told()
        if self._region is not None:
            for name, held in self._state.items():
                setattr(self._region, name, copy.copy(held))
            self._region.values = self._region.marked | self._region.values
        for frame, notes in self._notes:
            for name, held in zip(_OF_OBJECTS, notes, strict=True):
                if held is not None or getattr(frame, name):
                    setattr(frame, name, type(getattr(frame, name))() if held is None else copy.copy(held))
        reset(self._lengths)
