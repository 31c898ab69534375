"""What the trace of a whole function finds that it lacks: the function is traced again with it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from autograph.runtime.arrays.variable_ref import VariableRef
from autograph.runtime.state.state_refs import StateRef
from autograph.runtime.tracing.trace_context import Retrace, frames


class NeedsState(Retrace):
    """A trace has found that the function changes places that are not among its inputs.

    `pinned` are places whose numbers have to be constants, or else the trace is refused with `refusal`.  `names`: attributes that it has read and
    that were not looked at; `stores`: it stores into an array, which others may hold; `identical`: it keeps a function.
    """

    def __init__(
        self, places: Sequence[StateRef] = (), dynamic: Collection[Any] = (),
        pinned: Sequence[StateRef] = (), refusal: Exception | None = None,
        names: frozenset[str] = frozenset(), stores: bool = False, identical: bool = False,
    ) -> None:  # fmt: skip
        self.places, self.dynamic, self.pinned, self.refusal = places, set(dynamic), pinned, refusal
        self.names, self.stores, self.identical = names, stores, identical


class StopTracing(Retrace):
    """A trace that is made again has seen what the function changes: the iterations of a long loop would be made for nothing."""


def end_if_made_again() -> None:
    """Called after some iterations of a long loop.

    Raises:
      StopTracing: the function changes Variables that are not among its inputs, so that it is traced again.
    """
    if any(f.changed for f in frames()):  # what Python has done would be done once more
        return
    frame = next((f for f in reversed(frames()) if f.root), None)
    if (
        frame is not None
        and frame.rehearsal is not None
        and any(isinstance(p.obj, VariableRef) and p not in frame.rehearsal for p in frame.written if isinstance(p, StateRef))
    ):
        raise StopTracing
