"""Put what a call has changed into the objects that it reached, and these into its result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograph.runtime.arrays.variable_ref import VariableRef
from autograph.runtime.calls.side_effects import Changes, Known, Reached, SideEffect
from autograph.runtime.effects.output_values import settled
from autograph.runtime.errors.errors import ArrayStoreError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.indexing.stores import replace_whole
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi import trees
from autograph.runtime.jaxapi.tracers import Array
from autograph.runtime.sequences.escaped_lists import EscapedList, longer, whole_list
from autograph.runtime.state.captured_state import reachable, record_write
from autograph.runtime.state.fresh_objects import Made
from autograph.runtime.state.object_graph import ObjectWalk
from autograph.runtime.state.state_refs import AttributeRef, ContentsRef, StateRef
from autograph.runtime.state.variable_reads import would_keep
from autograph.runtime.values.flatten import unflatten
from autograph.runtime.values.values import DynamicLength, Maybe, is_value, traced


def reached(value: Any, objects: Sequence[Any], made: dict[int, Any]) -> Any:
    """A result, with the objects themselves."""
    if type(value) is _jax.ArrayImpl:
        return value

    def known(x: Any) -> Any:
        if isinstance(x, Made):
            return x.build(made, lambda part: reached(part, objects, made))
        return objects[x.number] if type(x) is Reached else x

    return trees.map(known, value, is_leaf=lambda x: is_value(x) or isinstance(x, (Reached, Made)))


def commit(changes: Changes, walk: ObjectWalk, parts: Sequence[Any], failed: Any) -> dict[int, Any]:
    """Put what a call has computed into the places that it changes; after an error, of which `failed` is the code, what they held then.

    Gives the new containers that are in several of them, by their numbers.
    """
    made: dict[int, Any] = {}
    became: dict[int, Any] = {}
    arrays = iter(changes.arrays)
    for change in changes.found:
        if change.where == "input":  # they come first
            value, array = unflatten(change.spec, arrays), walk.arrays[change.number]
            if isinstance(array, np.ndarray):
                if not _jax.concrete(value):
                    raise ArrayStoreError(
                        f"{walk.name_of(change.number)} is a NumPy array that this call stores into, inside of another trace: it would not change",
                        here(), "make it a `jnp` array, or call the function outside",
                    )  # fmt: skip
                np.copyto(array, np.asarray(value))
            elif isinstance(array, Array):  # of a trace around
                replace_whole(array, value)
            else:  # the call that was traced had one of NumPy's there
                became[change.number] = value
    for change in changes.found:
        if change.where == "input":
            continue
        if change.where == "home":
            if (
                tag := _jax.number(unflatten(change.spec, arrays))
            ) >= 0:  # it holds one of the arrays that are there already, and not another like it
                new = tag - len(walk.arrays)
                _put_home(change, _array(("input", tag) if new < 0 else ("new", new), changes, walk, became), walk)
            continue
        if change.where == "made":
            change.name.put(unflatten(change.spec, arrays))
            continue
        if change.where == "place":
            place: StateRef = walk.places[change.number]
        else:
            obj = (parts if change.where == "argument" else walk.objects)[change.number]
            place = ContentsRef(obj) if change.name is None else AttributeRef(obj, change.name)
        value = whole_list(unflatten(change.spec, arrays))
        for code, held in reversed([(next(arrays), unflatten(spec, arrays)) for spec in change.late]):
            if _jax.concrete(code) and _jax.number(code):
                value = held
        new = _Whole(changes, walk, made, became, place).of(value)
        if isinstance(place.obj, VariableRef) and traced(new) and not reachable():
            raise would_keep(place.name, here(), compiled=True)
        record_write(place)
        place.put(new)
    return made


class _Whole:
    """What a place is given: its parts are those of the call, or objects that are there.  No closures: they would hold each other and the arrays."""

    def __init__(self, changes: Changes, walk: ObjectWalk, made: dict[int, Any], became: dict[int, Any], place: StateRef) -> None:
        self.changes, self.walk, self.made, self.became, self.place, self.before = changes, walk, made, became, place, place.get()

    def of(self, value: Any) -> Any:
        return trees.map(self._part, value, is_leaf=lambda x: x is None or isinstance(x, (Maybe, DynamicLength, EscapedList, Made)))

    def _part(self, x: Any) -> Any:
        if isinstance(x, Made):
            return x.build(self.made, self.of)
        if isinstance(x, EscapedList):
            return longer(x, self.walk.objects, self.place)
        if isinstance(x, (Maybe, DynamicLength)):
            return settled(x)
        if not isinstance(x, Known):
            return x
        if x.kind in ("input", "new"):
            return _array((x.kind, x.which), self.changes, self.walk, self.became)
        return self.before.values[x.which] if x.kind == "same" else self.walk.objects[x.which] if x.kind == "object" else x.which


def _put_home(change: SideEffect, array: Any, walk: ObjectWalk) -> None:
    """Let a place hold an array itself."""
    if change.name is None:
        walk.places[change.number].put(array)
        return
    kind, key = change.name
    obj = walk.objects[change.number]
    if kind == "attribute":
        AttributeRef(obj, key).put(array)
    else:
        obj[key] = array


def _array(key: Any, changes: Changes, walk: ObjectWalk, became: dict[int, Any]) -> Any:
    """An array that a call was given or leaves: an input or what it `became`, a new one, or that of a global variable."""
    if isinstance(key, str):
        return walk.variables[key]
    kind, k = key
    return changes.arrays[k] if kind == "new" else became[k] if k in became else walk.arrays[k]
