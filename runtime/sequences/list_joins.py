"""Lists of different lengths that the branches of a conditional assign to one variable: afterwards the length is data-dependent.

Such a conditional is retraced, and each branch returns a `BoundedList` with the capacity of the longest list.  This is sound for a list with no other
reference, because a second name would keep the old list.  (`a = []; b = a; if p: b = [x]`, then `a.append(x)`: the append would not reach `b`.)
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from autograph.runtime.errors.source_spans import here
from autograph.runtime.sequences.bounded_list import BoundedList, Grow, enlarged, grown, join_items
from autograph.runtime.sequences.list_holders import is_held_beside
from autograph.runtime.state.length_bounds import ItemKind, LengthBound, stack
from autograph.runtime.tracing.trace_context import Retrace
from autograph.runtime.values.abstract_values import AbstractValue, ByReference, generalize, spec_of, types
from autograph.runtime.values.joins import Mismatch

_HELD = 2  # references to a list that a branch returns alone: the box and the argument of `getrefcount`; one of several is also in their tuple


class Meet(Retrace):
    """Not an error: the branches return lists of different lengths."""

    def __init__(self, meetings: Meetings, position: int, spec: AbstractValue, capacity: int) -> None:
        self.meetings, self.position, self.spec, self.capacity = meetings, position, spec, capacity

    def note(self) -> None:
        """Let the branches return a list of that capacity."""
        bound = LengthBound([], self.spec, here())
        stack.bounds.add(bound)
        self.meetings.found[self.position] = ItemKind(self.spec, self.capacity, bound)


class Meetings:
    """The lists of one conditional: what they have in common, by position among its results."""

    def __init__(self) -> None:
        self.found: dict[int, ItemKind] = {}
        self.alone: dict[int, Any] = {}  # lists from before that only the assigned variable holds

    def met(self, box: list[Any]) -> Any:
        """The result of a branch, which the box holds, with these lists in place of its own."""
        if not self.found:
            return box[0]
        several = type(box[0]) is tuple
        parts = [*box[0]] if several else box
        for k, kind in self.found.items():
            if isinstance(parts[k], BoundedList) and parts[k].kind.bound.home is None:
                parts[k] = _given_room(parts[k], kind)
            elif type(parts[k]) is list and (id(parts[k]) in self.alone or sys.getrefcount(parts[k]) <= _HELD + several):
                parts[k] = _as_growing(parts[k], kind)
        return tuple(parts) if several else parts[0]

    def check(self, a: AbstractValue, b: AbstractValue, kept: Sequence[AbstractValue], state: Sequence[Any], names: Sequence[str]) -> None:
        """Compare the results of two branches, which are assigned to `names`; `kept` are the specs of all, with lists from before as they are.

        Raises:
          Meet: two lists of one kind differ in their lengths.
          Grow: one of them is an argument of the branch.
        """
        sides = list(zip(a, b, strict=True)) if type(a) is tuple and type(b) is tuple and len(a) == len(b) else [(a, b)]
        for k, side in enumerate(sides):
            x, y = (spec_of(s.value) if isinstance(s, ByReference) else s for s in side)
            if not (_is_list(x) and _is_list(y)) or type(x) is list and type(y) is list and len(x) == len(y):
                continue
            kind = self.found.get(k)
            items = [*_items(x), *_items(y), *([kind.spec] if kind is not None else ())]
            joint, capacity = _joint(items) if items else None, max(_most(x), _most(y), kind.capacity if kind is not None else 0)
            if joint is None:
                continue
            given = [x for spec in kept if isinstance(x := spec[k] if type(spec) is tuple else spec, ByReference)]
            for box in [[x.value] for x in given]:
                if any(box[0] is v for v in state):
                    raise Grow(box[0], joint, capacity)
                if id(box[0]) not in self.alone and not is_held_beside(box, names, sum(x.value is box[0] for x in given)):
                    self.alone[id(box[0])] = box[0]
            if kind is None or kind.capacity < capacity or kind.spec != joint:
                raise Meet(self, k, joint, capacity)


def _is_list(spec: Any) -> bool:
    return type(spec) is list or isinstance(spec, BoundedList)


def _items(spec: Any) -> list[AbstractValue]:
    return [spec.kind.spec] if isinstance(spec, BoundedList) else [*map(generalize, spec)]


def _most(spec: Any) -> int:
    return int(spec.kind.capacity) if isinstance(spec, BoundedList) else len(spec)


def _joint(specs: Sequence[AbstractValue]) -> AbstractValue | None:
    """The spec that covers all items; None where none does, where it has no array, and of PRNG keys."""
    try:
        joint = join_items(specs)
    except Mismatch:
        return None
    dtypes = [t.dtype for t in types([joint])]
    return joint if dtypes and not any(jnp.issubdtype(t, jax.dtypes.extended) for t in dtypes) else None


def _given_room(x: BoundedList, kind: ItemKind) -> BoundedList:
    most, exact = x.most(), x.kind.bound.exact
    x = enlarged(x, kind.spec, kind.capacity)
    _note(kind.bound, most, exact)
    return BoundedList(kind, x.length, x.buffers)


def _as_growing(items: list[Any], kind: ItemKind) -> BoundedList:
    return _given_room(grown(items, Grow(items, kind.spec), kind.capacity), kind)


def _note(bound: LengthBound, most: int, exact: int | None) -> None:
    bound.top, bound.exact = most, exact
    bound.peak = max(bound.peak, most)
