"""Functions that stay Python inside a trace: what they change outside is found when they return or yield, and recorded by `state_writes.noticed`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Generator, Iterable, Iterator
from types import FunctionType
from typing import Any

from autograph.runtime.branches.state_writes import noticed
from autograph.runtime.state.object_graph import is_state, own_attributes, places_in
from autograph.runtime.state.snapshot_diff import Watch
from autograph.runtime.state.state_refs import AttributeRef, CellRef, ContainerItems, ContentsRef, NameRef, StateRef
from autograph.runtime.tracing.trace_context import frames, lifting, watched
from autograph.runtime.values.abstract_values import is_container
from autograph.runtime.values.values import ARRAYS, ATOMS, Unset

_STACK = {"_getframe", "currentframe", "stack"}


def noticing(fn: FunctionType, names: Iterable[str]) -> Callable[..., Any]:
    """A function or generator of the user's that stays Python; `names` are the globals and attributes that its code names.

    One that looks at the frames around its own is left as it is.
    """
    if _STACK & set(names):
        return fn

    @functools.wraps(fn)
    def whole(*args: Any, **kwargs: Any) -> Any:
        with _reached(fn, names, [*args, *kwargs.values()]):
            return fn(*args, **kwargs)

    @functools.wraps(fn)
    def step_by_step(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        made, given, error = fn(*args, **kwargs), None, None
        while True:
            with _reached(fn, names, [*args, *kwargs.values(), given]):
                try:
                    out = made.send(given) if error is None else made.throw(error)
                except StopIteration as end:
                    return end.value
            try:
                given, error = (yield out), None
            except BaseException as thrown:  # also when it is closed
                given, error = None, thrown

    return step_by_step if fn.__code__.co_flags & inspect.CO_GENERATOR else whole


def _reached(fn: FunctionType, names: Iterable[str], values: list[Any]) -> Noticed:
    """Notice changes of the variables of a function, and of what they and its arguments hold."""
    if not watched():
        return Noticed([], [])
    cells = [CellRef(cell, name) for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True)]
    variables = [*cells, *(NameRef(fn.__globals__, name) for name in sorted(names))]
    return Noticed(variables, list(_objects([*values, *(place.get() for place in variables)])))


class Noticed:
    """While this runs, changes are noticed that no operator tells of: of variables, and of the contents and attributes of objects."""

    def __init__(self, variables: list[Any], objects: list[Any]) -> None:
        self.variables, self.values = variables, objects

    def __enter__(self) -> None:
        self.watch = Watch(x for x in self.values if is_container(x))
        self.objects = [(x, set(own_attributes(x))) for x in self.values]
        places = [*self.variables, *(place for x, _ in self.objects for place in places_in(x) if not isinstance(place, ContentsRef))]
        self.before: list[tuple[StateRef, Any]] = [(place, place.get()) for place in places]
        self.known = [(frame, set(frame.saved)) for frame in frames()] if self.before or self.watch.before else []

    def __exit__(self, *_: object) -> None:
        """Tell of the changes, each as if it had just been made."""
        for x, names in self.objects:
            self.before += [(place, Unset(place.name)) for place in (AttributeRef(x, name) for name in own_attributes(x) if name not in names)]
        for frame, known in self.known:  # of a place that code has told of since, after a change that it did not tell of
            frame.saved.update((place, before) for place, before in (*self.before, *self.watch.before) if place in frame.saved and place not in known)
        around = lifting()
        told = around[-1].written if around else {}
        for place, before in self.before:
            now = place.get()
            if now is before or isinstance(now, Unset) and isinstance(before, Unset) or place in told:
                continue
            place.put(before)
            place.put(noticed(place, now))
        self.watch.notice()


def _objects(values: list[Any]) -> Iterator[Any]:
    """The containers and objects that some values are or hold."""
    seen: set[int] = set()
    while values:
        x = values.pop()
        if type(x) in ATOMS or isinstance(x, ARRAYS) or id(x) in seen:
            continue
        seen.add(id(x))
        if is_container(x) or is_state(x):
            yield x
            for place in places_in(x):
                held = place.get()
                values += held.values if isinstance(held, ContainerItems) else [held]
        elif isinstance(x, tuple):
            values += x
