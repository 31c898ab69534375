"""Objects that places outside a compiled function are given, and of which no array inside becomes an output."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from types import FunctionType, GeneratorType
from typing import Any

from autograph.runtime.arrays.variable_ref import VariableRef
from autograph.runtime.jaxapi import trees
from autograph.runtime.state.cells import held_in_cells
from autograph.runtime.state.fresh_objects import reached
from autograph.runtime.state.object_graph import Unseen, is_state, places_in
from autograph.runtime.state.state_refs import ContainerItems, StateRef
from autograph.runtime.state.variable_reads import Created
from autograph.runtime.values.values import ITERATORS, Maybe, traced


def cannot_keep(value: Any, own: Mapping[int, int]) -> str | None:
    """What is wrong with an object that a place keeps after the call; `own` are the containers and objects that the function has made."""
    made = "that is made when this function is compiled"
    holding = "that holds traced values, after this function has been compiled"
    if isinstance(value, ITERATORS):
        return holding if isinstance(value, GeneratorType) and traced(_held(value)) else made
    if isinstance(value, (FunctionType, functools.partial, BaseException)):
        return holding if traced(_held(value)) else None
    if isinstance(value, (Maybe, VariableRef)) or not (is_state(value) and not trees.is_node(value)):
        return None
    return holding if traced(*vars(value).values() if hasattr(value, "__dict__") else ()) else made if id(value) in own else None


def holds_variables(value: Any, created: Created) -> bool:
    """Whether a value is a Variable that the function has `created`, or holds some, as a layer or an optimizer does.

    It may be kept: such a function is traced at each call that makes one.
    """
    held = [value, *(v for x in reached([value]).values() for v in _attributes(x))]
    return any(isinstance(v, VariableRef) and v in created for v in held)


def made_places(objects: Iterable[Any]) -> list[StateRef]:
    """The places in some objects, and in what they hold, with values of the trace."""
    return [place for x in reached(objects).values() if not isinstance(x, VariableRef) for place in places_in(x) if traced(_values(place))]


def _values(place: StateRef) -> Any:
    held = place.get()
    return [*held.values] if isinstance(held, ContainerItems) else held


def _attributes(x: Any) -> list[Any]:
    """What an object holds, also what is no state."""
    held = [*x.values()] if isinstance(x, dict) else [*x] if isinstance(x, (list, tuple)) else [*vars(x).values()] if hasattr(x, "__dict__") else []
    return [v for y in held for v in (vars(y).values() if isinstance(y, Unseen) else [y])]


def _held(x: Any) -> list[Any]:
    if isinstance(x, GeneratorType):
        return [*x.gi_frame.f_locals.values()] if x.gi_frame is not None else []
    if isinstance(x, functools.partial):
        return [*x.args, *x.keywords.values()]
    if isinstance(x, BaseException):
        return [*x.args, *vars(x).values()]
    return [*held_in_cells(x), *(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values()]
