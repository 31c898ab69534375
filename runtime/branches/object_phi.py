"""Objects of registered classes that a branch chooses: what it gives is a new one, whose changes would not show in the one that it stands for.

Which objects were there before is told by identity, among those that the side's function reaches; an object that the side makes is its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from autograph.runtime.errors.errors import AttributeStateError
from autograph.runtime.errors.source_spans import here, read_after
from autograph.runtime.errors.users_variables import users_variables
from autograph.runtime.jaxapi import trees
from autograph.runtime.state.cells import held_in_cells
from autograph.runtime.state.object_graph import is_state, plain_attributes
from autograph.runtime.state.state_refs import AttributeRef, StateRef
from autograph.runtime.tracing.trace_context import frames, of_block
from autograph.runtime.values.abstract_values import children
from autograph.runtime.values.values import ARRAYS, ATOMS, Copied, Maybe, Record

Path = tuple[int, ...]
_DEEP = 4
_WHY = "it is data-dependent which object this is, so it is a new object, and a change would not reach the originals"
_ADVICE = "change it in each branch, where it is known which one it is (`if p: a.x = v`), or keep the objects' numbers in arrays"


def _objects(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The objects in a value whose attributes can be set, each with the numbers of the parts that lead to it."""
    if isinstance(value, Maybe):
        value = value.value
    if type(value) in ATOMS or isinstance(value, ARRAYS) or not trees.is_node(value):
        return
    if trees.is_own_node(value) and plain_attributes(type(value)):
        yield path, value
    for k, part in enumerate(children(value)[0]):
        yield from _objects(part, (*path, k))


class ChosenObject(Record):
    """The objects in what a side gives that were there before it, by the numbers of the parts that lead to them."""

    __slots__ = ("found",)

    def __init__(self, found: dict[Path, Any]) -> None:
        self.found = found
        self.holds(*found.values())


class Choice(Record):
    """An object, and what a branch has given that may stand for it."""

    __slots__ = ("source", "value")

    def __init__(self, source: Any, value: Any) -> None:
        self.source, self.value = source, value
        self.holds(source, value)


def given_before(out: Any, fn: Callable[..., Any] | None, state: Sequence[Any]) -> ChosenObject | None:
    """The objects in what a side gives that were there before it; None where there are none."""
    if not any(True for _ in _objects(out)):
        return None
    known = _reached([*state, *held_in_cells(fn), *held_in_cells(getattr(fn, "func", None))])
    found = {path: x for path, x in _objects(out) if id(x) in known}
    return ChosenObject(found) if found else None


def _reached(values: Iterable[Any]) -> set[int]:
    """The identities of what values hold, a few steps deep."""
    known: set[int] = set()
    level = list(values)
    for _ in range(_DEEP):
        inside: list[Any] = []
        for x in level:
            if id(x) in known or type(x) in ATOMS or isinstance(x, ARRAYS):
                continue
            known.add(id(x))
            if isinstance(x, Maybe):
                inside.append(x.value)
            elif isinstance(x, dict):
                inside += x.values()
            elif isinstance(x, (list, tuple)):
                inside += x
            elif trees.is_own_node(x):
                inside += children(x)[0]
            elif is_state(x) and hasattr(x, "__dict__"):
                inside += vars(x).values()
        level = inside
    return known


def note_choice(out: Any, sides: Sequence[ChosenObject | None]) -> None:
    """A branch has given `out`; `sides` are the objects of before that each side gave in its place."""
    frame = of_block()
    if frame is None or not any(sides):
        return
    for path, x in _objects(out):
        for side in sides:
            if side is not None and path in side.found:
                frame.copied[id(x)] = Copied(x, _WHY, _ADVICE)
                frame.choices.setdefault(id(side.found[path]), []).append(Choice(side.found[path], x))


def refuse_changed(location: StateRef) -> None:
    """Raise AttributeStateError (AG401) if an attribute changes of an object for which a choice stands that is read afterwards."""
    if not isinstance(location, AttributeRef):
        return
    choices = [c for f in frames() for c in f.choices.get(id(location.obj), ()) if c.source is location.obj]
    for frame, name, value in users_variables() if choices else ():
        if any(value is c.value for c in choices) and read_after(frame, name):
            raise AttributeStateError(
                f"{location.name} is changed, and `{name}`, which may be the same object (data-dependent), is read later",
                here(),
                _ADVICE,
            )
