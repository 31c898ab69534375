"""Objects that places outside a compiled function are given, and of which no array inside becomes an output."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import FunctionType, GeneratorType
from typing import Any

from autograph.runtime.arrays.handles import Handle
from autograph.runtime.jaxapi import trees
from autograph.runtime.state.cells import held_in_cells
from autograph.runtime.state.objects import is_state
from autograph.runtime.values.values import ITERATORS, Maybe, traced


def cannot_keep(value: Any, own: Mapping[int, int]) -> str | None:
    """What is wrong with an object that a place keeps after the call; `own` are the containers and objects that the function has made."""
    made = "that is made when this function is compiled"
    holding = "that holds traced values, after this function has been compiled"
    if isinstance(value, ITERATORS):
        return holding if isinstance(value, GeneratorType) and traced(_held(value)) else made
    if isinstance(value, (FunctionType, functools.partial, BaseException)):
        return holding if traced(_held(value)) else None
    if isinstance(value, (Maybe, Handle)) or not (is_state(value) and not trees.is_node(value)):
        return None
    return holding if traced(*vars(value).values() if hasattr(value, "__dict__") else ()) else made if id(value) in own else None


def _held(x: Any) -> list[Any]:
    if isinstance(x, GeneratorType):
        return [*x.gi_frame.f_locals.values()] if x.gi_frame is not None else []
    if isinstance(x, functools.partial):
        return [*x.args, *x.keywords.values()]
    if isinstance(x, BaseException):
        return [*x.args, *vars(x).values()]
    return [*held_in_cells(x), *(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values()]
