"""Calls of a function that changes nothing but Variables, and is given arrays: what they hold goes straight into one jitted function, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from autograph.runtime.arrays.variable_ref import VariableRef
from autograph.runtime.calls.side_effects import Changes
from autograph.runtime.effects.error_codes import Checked
from autograph.runtime.jaxapi import trees
from autograph.runtime.jaxapi.traces import ArrayImpl, eval_trace, recording, trace_state
from autograph.runtime.state.call_inputs import CallInputs
from autograph.runtime.state.locking import LOCK, within
from autograph.runtime.state.object_graph import ObjectWalk
from autograph.runtime.state.retrace import NeedsState
from autograph.runtime.state.variable_reads import recorders, restorations
from autograph.runtime.values.abstract_values import ArrayType
from autograph.runtime.values.values import ARRAYS, NUMBERS, is_value

_PLAIN = frozenset({ArrayImpl, *NUMBERS, np.float32, np.int32, np.float64, np.int64})


class _Eagerly(Exception):
    """Nothing is compiled now."""


class _NotPlain(Exception):
    """A trace has found something that these calls cannot do."""


class Shortcut:
    """Called as the function.  What it cannot do, and each error of a trace, goes the long way (`instead`)."""

    def __init__(self, state: Any, instead: Callable[..., Any]) -> None:
        self._state, self._instead, self._given_up, self._tracing = state, instead, False, False
        self._places = list(state.places)
        self._variables = [place.obj for place in self._places]
        self._jitted = jax.jit(self._flat)
        self.call = self._made()

    def _made(self) -> Callable[..., Any]:
        """The function that is called: it is short, as it is called for every step of a training."""
        variables, jitted, instead = self._variables, self._jitted, self._instead
        acquire, release = LOCK.acquire, LOCK.release

        def call(*args: Any, **kwargs: Any) -> Any:
            if kwargs or trace_state.value is not eval_trace or recorders.active or restorations or self._given_up:
                return instead(*args, **kwargs)
            for a in args:
                if type(a) is not ArrayImpl and type(a) not in _PLAIN:
                    return instead(*args)
            failed = False
            free = acquire(False) or not within.depth and acquire()  # what the program calls on the host has the lock already
            try:
                value, changed = jitted([v._array for v in variables], *args)
                for k in changed:
                    variables[k]._array = changed[k]
                return value
            except _Eagerly:
                pass
            except (_NotPlain, NeedsState):
                self._given_up, self._tracing = True, False
            except Exception:
                if not self._tracing:
                    raise
                self._tracing, failed = False, True
            finally:
                if free:
                    release()
            value = instead(*args)
            self._given_up = self._given_up or failed  # the long way has not failed: this one would be traced again each time
            return value

        return call

    def _flat(self, arrays: Sequence[Any], *args: Any) -> Any:
        if not recording():  # `jax.disable_jit`
            raise _Eagerly
        self._tracing = True
        state = self._state
        walk = ObjectWalk([], self._places, set(), state.variables)
        walk.guards += [None, "unused"]
        out = state.traced_with(walk, CallInputs(arrays, tuple(walk.guards)), args)
        if (
            type(out) is not Checked
            or out.code is not None
            or out.decides is not None
            or out.holds is not None
            or out.finals
            or not _is_plain(out.value)
        ):
            raise _NotPlain
        found = out.changes.found if isinstance(out.changes, Changes) else []
        if any(c.where != "place" or not isinstance(c.spec, ArrayType) or c.late for c in found):
            raise _NotPlain
        self._tracing = False
        return out.value, {c.number: array for c, array in zip(found, out.changes.arrays if found else (), strict=True)}


def takes(args: Sequence[Any], kwargs: Any) -> bool:
    """Whether a call is one of these."""
    return trace_state.value is eval_trace and not recorders.active and not restorations and are_plain(args, kwargs)


def are_plain(args: Sequence[Any], kwargs: Any) -> bool:
    """Whether a call is given arrays of JAX's and numbers, by position; it is asked in each call: no generator."""
    if kwargs:
        return False
    for a in args:
        if type(a) not in _PLAIN:
            return False
    return True


def shortcut(state: Any, options: Any, instead: Callable[..., Any]) -> Shortcut | None:
    """One for a function of which a trace has found the state, if all of that are Variables."""
    if options or not state.places or state.dynamic or state.pinned or state.made:
        return None
    return Shortcut(state, instead) if all(isinstance(place.obj, VariableRef) for place in state.places) else None


def _is_plain(value: Any) -> bool:
    leaves = trees.leaves(value, is_leaf=lambda x: is_value(x) or type(x).__module__.startswith("autograph."))
    return all(x is None or isinstance(x, (*ARRAYS, *NUMBERS)) for x in leaves) and trees.is_sortable(value)
