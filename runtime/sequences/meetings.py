"""Lists of several lengths that the sides of a branch give for one variable: after the branch traced values decide how long the list is.

A branch whose sides disagree so is traced again, and each side gives a `Growing` with room for the longest.  It is sound for a list that nothing
else holds: a second name would keep the list that it was.  (`a = []; b = a`, and a branch that gives `b` or another list: `a` is not `b` any more.)
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from autograph.runtime.frames import Retrace
from autograph.runtime.messages.places import here
from autograph.runtime.sequences.growing import Grow, Growing, enlarged
from autograph.runtime.sequences.holders import is_held_beside
from autograph.runtime.sequences.lengths import Bound, Kind, stack
from autograph.runtime.values.joining import Mismatch, join
from autograph.runtime.values.packing import pack
from autograph.runtime.values.specs import Kept, Spec, spec_of, types, widen
from autograph.runtime.values.value_objects import opened

_HELD = 2  # a list that a side gives alone is held by the box and the question; one of several also by their tuple


class Meet(Retrace):
    """Not an error: the sides of a branch give lists of several lengths."""

    def __init__(self, meetings: Meetings, position: int, spec: Spec, capacity: int) -> None:
        self.meetings, self.position, self.spec, self.capacity = meetings, position, spec, capacity

    def note(self) -> None:
        """Let the sides give a list with so much room."""
        bound = Bound([], self.spec, here())
        stack.bounds.add(bound)
        self.meetings.found[self.position] = Kind(self.spec, self.capacity, bound)


class Meetings:
    """The lists of one branch: by the position among what it gives, what they have in common."""

    def __init__(self) -> None:
        self.found: dict[int, Kind] = {}
        self.alone: dict[int, Any] = {}  # lists from before the branch that only the variable holds which is given another

    def met(self, box: list[Any]) -> Any:
        """What a side gives, which the box holds, with these lists in the place of its own."""
        if not self.found:
            return box[0]
        several = type(box[0]) is tuple
        parts = [*box[0]] if several else box
        for k, kind in self.found.items():
            if isinstance(parts[k], Growing) and parts[k].kind.bound.home is None:
                parts[k] = _given_room(parts[k], kind)
            elif type(parts[k]) is list and (id(parts[k]) in self.alone or sys.getrefcount(parts[k]) <= _HELD + several):
                parts[k] = _as_growing(parts[k], kind)
        return tuple(parts) if several else parts[0]

    def check(self, a: Spec, b: Spec, kept: Sequence[Spec], state: Sequence[Any], names: Sequence[str]) -> None:
        """`names` are the variables that are given what the sides give; `kept` says of which sides that is a list from before.

        Raise Meet if what two sides give differs in the lengths of lists of one kind; Grow if one of them is a list that the branch was given."""
        sides = list(zip(a, b, strict=True)) if type(a) is tuple and type(b) is tuple and len(a) == len(b) else [(a, b)]
        for k, side in enumerate(sides):
            x, y = (spec_of(s.value) if isinstance(s, Kept) else s for s in side)
            if not (_is_list(x) and _is_list(y)) or type(x) is list and type(y) is list and len(x) == len(y):
                continue
            kind = self.found.get(k)
            items = [*_items(x), *_items(y), *([kind.spec] if kind is not None else ())]
            joint, capacity = _joint(items) if items else None, max(_most(x), _most(y), kind.capacity if kind is not None else 0)
            if joint is None:
                continue
            given = [x for spec in kept if isinstance(x := spec[k] if type(spec) is tuple else spec, Kept)]
            for box in [[x.value] for x in given]:
                if any(box[0] is v for v in state):
                    raise Grow(box[0], joint, capacity)
                if id(box[0]) not in self.alone and not is_held_beside(box, names, sum(x.value is box[0] for x in given)):
                    self.alone[id(box[0])] = box[0]
            if kind is None or kind.capacity < capacity or kind.spec != joint:
                raise Meet(self, k, joint, capacity)


def _is_list(spec: Any) -> bool:
    return type(spec) is list or isinstance(spec, Growing)


def _items(spec: Any) -> list[Spec]:
    return [spec.kind.spec] if isinstance(spec, Growing) else [*map(widen, spec)]


def _most(spec: Any) -> int:
    return int(spec.kind.capacity) if isinstance(spec, Growing) else len(spec)


def _joint(specs: Sequence[Spec]) -> Spec | None:
    """What covers all items, which have one shape; None where nothing does, or there is no array in it."""
    try:
        joint = specs[0]
        for spec in specs[1:]:
            joint = join(joint, spec)
    except Mismatch:
        return None
    shapes = [[t.shape for t in types([s])] for s in (joint, *specs)]
    keys = any(jax.numpy.issubdtype(t.dtype, jax.dtypes.extended) for t in types([joint]))
    return joint if shapes[0] and all(s == shapes[0] for s in shapes) and not keys else None


def _given_room(x: Growing, kind: Kind) -> Growing:
    most, exact = x.most(), x.kind.bound.exact
    x = enlarged(x, kind.spec, kind.capacity)
    _note(kind.bound, most, exact)
    return Growing(kind, x.length, x.buffers)


def _as_growing(items: list[Any], kind: Kind) -> Growing:
    flat = [pack(opened(item), kind.spec) for item in items]
    buffers = []
    for k, t in enumerate(types([kind.spec])):
        empty = jnp.zeros((kind.capacity, *t.shape), t.dtype)
        buffers.append(empty.at[: len(items)].set(jnp.stack([jnp.asarray(row[k], t.dtype) for row in flat])) if items else empty)
    _note(kind.bound, len(items), len(items))
    return Growing(kind, len(items), buffers)


def _note(bound: Bound, most: int, exact: int | None) -> None:
    bound.top, bound.exact = most, exact
    bound.peak = max(bound.peak, most)
