"""The Variables that objects hold, by the path of attributes, keys and numbers that leads to each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from autograph.runtime.eager.variables import Variable
from autograph.runtime.sequences.rows import Stream
from autograph.runtime.state.object_graph import Unseen, is_state, own_attributes
from autograph.runtime.state.state_refs import AttributeRef


class Named:
    """Something that holds objects by names, and is nothing more: a checkpoint."""

    def named(self) -> dict[str, Any]:
        """What it holds."""
        raise NotImplementedError


def paths_in(objects: Mapping[str, Any]) -> dict[str, Variable]:
    """The same for each of the objects by itself: a Variable in two of them has a path in each."""
    found = variables_in(objects)
    for name, x in objects.items():
        found.update((path, v) for path, v in variables_in({name: x}).items() if path not in found)
    return found


def variables_in(objects: Mapping[str, Any]) -> dict[str, Variable]:
    """Each Variable once, by its first path: `model/layers/0/kernel`.

    What an optimizer remembers of a Variable has the Variable's path in its own: `optimizer/slots/model/w/0`.
    """
    found: dict[str, Variable] = {}
    seen: set[int] = set()
    optimizers: list[tuple[str, Any]] = []
    for path, x in _walk(objects, seen):
        if isinstance(x, Variable):
            while path in found:  # keys as "a/b" beside "a" and "b", or 1 beside "1"
                path += "'"
            found[path] = x
        else:
            optimizers.append((path, x))
    paths = {id(v): path for path, v in found.items()}
    for path, optimizer in optimizers:
        found[f"{path}/iterations"] = optimizer.iterations
        if isinstance(rate := getattr(optimizer, "learning_rate", None), Variable) and id(rate) not in paths:
            found[f"{path}/learning_rate"] = rate
        for of, slots in optimizer.slots():
            if all(id(v) in paths for v in of):
                owner = paths[id(of[0])] if len(of) == 1 else "all"
                found.update((f"{path}/slots/{owner}/{k}", slot) for k, slot in enumerate(slots))
    return found


def _walk(objects: Mapping[str, Any], seen: set[int]) -> Iterator[tuple[str, Any]]:
    todo = [(str(name), x) for name, x in reversed([*objects.items()])]
    while todo:
        path, x = todo.pop()
        if id(x) in seen:
            continue
        seen.add(id(x))
        if isinstance(x, Variable) or _is_optimizer(x):
            yield path, x
            continue
        parts: list[tuple[str, Any]] = []
        if isinstance(x, Stream):  # its arrays are no state
            parts = x.saved_parts()
        elif isinstance(x, Named):
            parts = list(x.named().items())
        elif isinstance(x, dict):
            parts = [(str(key), v) for key, v in x.items()]
        elif isinstance(x, tuple) and hasattr(x, "_fields"):
            parts = list(zip(x._fields, x, strict=True))
        elif isinstance(x, (list, tuple)):
            parts = [(str(k), v) for k, v in enumerate(x)]
        elif is_state(x):
            parts = [(name, AttributeRef(x, name).get()) for name in own_attributes(x)]
            parts = [part for name, v in parts for part in (vars(v).items() if type(v) is Unseen else [(name, v)])]
        todo += [(f"{path}/{name}", v) for name, v in reversed(parts)]


def _is_optimizer(x: Any) -> bool:
    return callable(getattr(type(x), "slots", None)) and isinstance(getattr(x, "iterations", None), Variable)
