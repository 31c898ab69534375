"""Containers and objects that a function has made and left in places that outlive it: what has happened to them since is what the places hold.

A list that two places hold, or a place and the result, is one list for the caller as well (`Made`).
"""

from __future__ import annotations

import copy
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import jax

from autograph.runtime.arrays.variable_ref import VariableRef
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi import trees
from autograph.runtime.state.object_graph import attributes, is_state
from autograph.runtime.state.state_refs import AttributeRef, ContainerItems, ContentsRef, StateRef
from autograph.runtime.tracing.trace_context import TraceContext
from autograph.runtime.values.abstract_values import is_container
from autograph.runtime.values.values import ARRAYS, DynamicLength, Maybe, Unset, is_value, ours, parts


def made_for(frame: TraceContext, result: Counter[int]) -> dict[int, int]:
    """By identity: containers and objects that nothing holds but the places that a block changes, each other and a result, and how often.

    `result` counts how often a result holds things.  What a place held before is none of them.
    """
    before = held_before(frame)
    held = Counter(result)
    found: dict[int, Any] = {}
    made: set[int] = set()
    for place in frame.written:
        if isinstance(place, StateRef):
            _note(_held_in(place), held, found)
    going = True
    while going:
        going = False
        for key in [key for key in found if key not in made and key not in before]:
            # References beside those: the dict here, and the argument.
            if sys.getrefcount(found[key]) <= ours(found[key]) + held[key] + 2:
                made.add(key)
                _note(_inside(found[key]), held, found)
                going = True
    return {key: held[key] for key in made}


def held_before(frame: TraceContext) -> set[int]:
    """By identity: what the places that a block changes held before."""
    return {
        id(x) for held in frame.saved.values() for x in (held.values if isinstance(held, ContainerItems) else held if type(held) is tuple else [held])
    }


def new_objects(frame: TraceContext, values: Iterable[Any]) -> list[AttributeRef]:
    """The attributes of objects in some values that a block has made, which hold values of its trace: the objects have none when it ends."""
    found: list[AttributeRef] = []
    todo, seen = list(values), set[int]()
    while todo:
        for x in trees.leaves(todo.pop(), is_leaf=is_value):
            if isinstance(x, Maybe):
                todo.append(x.value)
            elif id(x) not in seen and not isinstance(x, (*ARRAYS, DynamicLength)) and is_state(x):
                seen.add(id(x))
                for place in (AttributeRef(x, name) for name in attributes(x)):
                    value = place.get()
                    todo.append(value)
                    if place not in frame.saved and place not in frame.preset and _is_of_trace(frame, value):
                        frame.saved[place], frame.written[place] = Unset(place.name), None
                        found.append(place)
    return found


def _is_of_trace(frame: TraceContext, value: Any) -> bool:
    """Whether a value of the trace is in a value, but for containers from outside: what they hold is a change of theirs."""
    for x in trees.leaves(value, is_leaf=lambda x: is_value(x) or is_container(x)):
        if is_container(x):
            outside = ContentsRef(x) in frame.saved or ContentsRef(x) in frame.preset
            if not outside and any(_is_of_trace(frame, v) for v in (x.values() if isinstance(x, dict) else x)):
                return True
        elif any(map(_jax.made_here, parts(x) if isinstance(x, Maybe) else (x,))):
            return True
    return False


def codes_before(frame: TraceContext) -> set[int]:
    """The error codes, by identity, of the time at which the containers that the block has made were given to places: to all of them."""
    places = [p for p in frame.written if isinstance(p, StateRef) and id(p.obj) not in frame.own and any(id(x) in frame.own for x in _held_in(p))]
    codes = [{id(code) for code, _ in frame.late.get(p, ())} for p in places]
    return set.intersection(*codes) if codes else set()


def _held_in(place: StateRef) -> list[Any]:
    value = place.get()
    return value.values if isinstance(value, ContainerItems) else [value]


def _note(values: Iterable[Any], held: Counter[int], found: dict[int, Any]) -> None:
    for x in values:
        if is_container(x) or type(x) is tuple or is_state(x) and not isinstance(x, (Maybe, DynamicLength, VariableRef)):
            held[id(x)] += 1
            found[id(x)] = x


def _inside(x: Any) -> list[Any]:
    if isinstance(x, dict):
        return list(x.values())
    if isinstance(x, (list, tuple)):
        return list(x)
    return [AttributeRef(x, name).get() for name in attributes(x)] if is_state(x) else []


def reached(values: Iterable[Any]) -> dict[int, Any]:
    """By identity: the containers and objects that some values are and hold."""
    found: dict[int, Any] = {}
    todo = list(values)
    while todo:
        x = todo.pop()
        if id(x) not in found and (is_container(x) or type(x) is tuple or is_state(x)):
            found[id(x)] = x
            todo += _inside(x)
    return found


class Made:
    """A new container on its way out: an empty one like it, what it holds, and a number if it is in several places.

    Of an object that is a pytree, and is in several, it holds the object, and nothing is like it.
    """

    def __init__(self, items: Any, like: Any, number: int | None) -> None:
        self.items, self.like, self.number = items, like, number

    @staticmethod
    def of(x: Any, own: dict[int, int]) -> Any:
        """A value with these in the place of the containers that the function has made; `own` says how often each is held."""
        if isinstance(x, ContainerItems):
            return ContainerItems(x.keys, [Made.of(v, own) for v in x.values])
        if type(x) is tuple:
            return tuple(Made.of(v, own) for v in x)
        if id(x) not in own:
            return x
        if not is_container(x):
            several = own[id(x)] > 1 and is_state(x) and trees.is_node(x)
            return Made(x, None, id(x)) if several else x
        like = copy.copy(x)
        ContentsRef(like).put(ContainerItems(type(x)() if isinstance(x, (set, bytearray)) else () if isinstance(x, dict) else None, []))
        return Made(Made.of(ContentsRef(x).get(), own), like, id(x) if own[id(x)] > 1 else None)

    def build(self, known: dict[int, Any], part: Callable[[Any], Any]) -> Any:
        """The container, made anew for each call; `known` are those of this call by their numbers."""
        if self.number in known:
            return known[self.number]
        new = part(self.items) if self.like is None else copy.copy(self.like)
        if self.number is not None:
            known[self.number] = new
        if self.like is not None:
            ContentsRef(new).put(ContainerItems(self.items.keys, [part(v) for v in self.items.values]))
        return new


jax.tree_util.register_pytree_node(Made, lambda x: ((x.items,), (x.like, x.number)), lambda aux, children: Made(children[0], *aux))
