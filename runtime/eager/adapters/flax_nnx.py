"""`flax.nnx`: modules are objects, and their Variables hold arrays in `_raw_value`, which flax's own code changes.

Flax lets a Variable or module be changed only in the trace that made it (https://flax.readthedocs.io/en/latest/api_reference/flax.errors.html): the
blocks of a converted function hand on what they change, so that for flax they are in the trace of the function; an `ag.function` does the same, and
is in the trace that it is called in.
"""

from __future__ import annotations

from typing import Any

import flax  # type: ignore[import-not-found,import-untyped]
from flax import nnx  # type: ignore[import-not-found,import-untyped]
from flax.nnx import tracers  # type: ignore[import-not-found,import-untyped]

from autograph.runtime.eager.adapters.intercepted import Intercepted
from autograph.runtime.errors.source_spans import hide
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi import trees
from autograph.runtime.tracing.class_members import everywhere
from autograph.runtime.tracing.trace_context import lifting

_innermost: Any = tracers.current_jax_trace


class _Traces(type(_innermost())):  # type: ignore[misc]
    """Several traces that are one for flax: each that stands for one of them is equal."""

    def __init__(self, states: list[Any]) -> None:
        self._trace_ref, self.refs = states[-1]._trace_ref, [state._trace_ref for state in states]

    def __eq__(self, other: object) -> bool:
        return any(ref in self.refs for ref in getattr(other, "refs", [getattr(other, "_trace_ref", None)]))

    __hash__ = None  # type: ignore[assignment]


def _current() -> Any:
    """What flax takes for the trace that runs."""
    traces = [_jax.current_trace()]  # that tapes are in
    for frame in reversed(lifting()):
        if frame.trace is not traces[-1] or frame.around is None:  # a function that is given to JAX
            break
        traces.append(frame.around)
    return _Traces(list(map(_state, traces))) if len(traces) > 1 else _state(traces[0])


def _state(trace: Any) -> Any:
    if trace is _jax.innermost_trace():
        return _innermost()
    with _jax.set_current_trace(trace):
        return _innermost()


everywhere(tracers, "current_jax_trace", _current)
trees.objects(nnx.Pytree)
hide(flax)
Intercepted(nnx.Variable, "_raw_value")
