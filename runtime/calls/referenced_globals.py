"""Objects that a function reaches by its names: Python calls their classes' properties and special methods, which are replaced before it runs."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import FunctionType, ModuleType
from typing import Any

from autograph.runtime.calls.callees import adopt
from autograph.runtime.state.attribute_reads import note_names, unseen
from autograph.runtime.state.cells import held_in_cells
from autograph.runtime.values.values import ARRAYS


def adopt_mentioned(names: frozenset[str], fn: FunctionType) -> None:
    """Replace what Python calls of the classes of objects that `fn` reaches: by its globals and closure, then by attributes of these names."""
    note_names(names)
    held = [*_known(fn.__globals__, names), *held_in_cells(fn)]
    seen: set[int] = set()
    while held:
        x = held.pop()
        cls = type(x)
        if id(x) in seen or isinstance(x, ARRAYS) or cls is not ModuleType and cls.__module__.partition(".")[0] in sys.stdlib_module_names:
            continue
        seen.add(id(x))
        if cls is not ModuleType:
            adopt(cls)
        with unseen():
            held += _known(getattr(x, "__dict__", {}), names)


def _known(space: dict[str, Any], names: Iterable[str]) -> list[Any]:
    return [space[n] for n in names if n in space]
