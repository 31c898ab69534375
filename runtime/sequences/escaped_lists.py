"""Lists at home that a call leaves longer or shorter than they were: described without holding them, and given back to their homes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

from autograph.runtime.effects.output_values import settled
from autograph.runtime.errors.advice import changed_object
from autograph.runtime.errors.errors import EffectError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.sequences.bounded_list import BoundedList, Hidden, grown_at_home, hide
from autograph.runtime.state.captured_state import record_write, restore
from autograph.runtime.state.escape_analysis import forget_local
from autograph.runtime.state.length_bounds import ItemKind, LengthBound, ListOwner, stack
from autograph.runtime.state.state_refs import ContainerItems, ContentsRef, StateRef
from autograph.runtime.tracing.trace_context import TraceContext
from autograph.runtime.values.values import Poison


class EscapedList:
    """A `BoundedList` that a call leaves in a place: for the list with this number, or for none.  It holds no list of the user's.

    `key`: of what the place held in a trace around the call, if that is a `BoundedList` as well, and the place is in a dict or list.
    """

    def __init__(self, items: BoundedList, number: Any, key: Any = None) -> None:
        self.items, self.number, self.key = items, number, key

    @staticmethod
    def of(x: Any, number: Callable[[Any], int | None], key: Any = None) -> Any:
        """What is left of a value."""
        if isinstance(x, ContainerItems):
            keys = range(len(x.values)) if x.keys is None else x.keys
            return ContainerItems(x.keys, [EscapedList.of(v, number, k) for k, v in zip(keys, x.values, strict=False)])
        if not isinstance(x, BoundedList):
            return x
        return EscapedList(BoundedList(ItemKind(x.kind.spec, x.kind.capacity, None), x.length, x.buffers), number(x.base), key)

    def again(self, base: list[Any], home: ListOwner) -> BoundedList:
        """In a trace around the call: what the home holds for the list."""
        bound = LengthBound(base, self.items.kind.spec, here(), home)
        stack.bounds.add(bound)
        bound.top = bound.peak = self.items.kind.capacity
        bound.exact, bound.shrunk = None, True
        return BoundedList(ItemKind(self.items.kind.spec, self.items.kind.capacity, bound), self.items.length, self.items.buffers)


jax.tree_util.register_pytree_node(EscapedList, lambda x: ((x.items,), (x.number, x.key)), lambda aux, children: EscapedList(children[0], *aux))


def bring_back(before: dict[StateRef, Any]) -> None:
    """At the end of the trace of a function: lists whose homes have others in their place hold what they held when it began."""
    for bound in stack.bounds:
        if grown_at_home(bound) and (place := ContentsRef(bound.base)) in before:
            place.put(before[place])


CONTENTS = "contents"


def contents_left(held: Any) -> Any:
    """What a list holds at the end whose home was given something else in the meantime."""
    make = held.values[0].make if isinstance(held, ContainerItems) and held.values and type(held.values[0]) is Poison else None
    if not isinstance(make, Hidden) or make.bound.left is None:
        return held
    return ContainerItems(None, [EscapedList(EscapedList.of(make.bound.left, lambda x: None).items, CONTENTS)])


def whole_list(held: Any) -> Any:
    """The same when the call ends."""
    if not (isinstance(held, ContainerItems) and held.keys is None and len(held.values) == 1 and isinstance(held.values[0], EscapedList)):
        return held
    if held.values[0].number != CONTENTS:
        return held
    if not _jax.concrete(held.values[0].items.length):
        raise EffectError("a called function makes a list longer, and the attribute that held it was replaced", here(), "clear it")
    return ContainerItems(None, held.values[0].items.known())


def longer(left: EscapedList, numbered: Sequence[Any], place: StateRef) -> Any:
    """A list that a call has made longer or shorter, as its home holds it when the call ends; `numbered` are the objects that the call reached."""
    before = ListOwner(place, left.key).get()
    if isinstance(before, BoundedList) and before.kind.bound.home is not None:  # in a trace around
        return left.again(before.kind.bound.base, before.kind.bound.home)
    if left.number is None:
        return settled(left.items)
    items = numbered[left.number]
    if _jax.concrete(left.items.length):
        record_write(ContentsRef(items))
        items[:] = left.items.known()
        return items
    home = ListOwner(place, left.key)
    again = left.again(items, home)
    hide(again.kind.bound)
    return again


def refuse_left(frame: TraceContext, out: Any) -> None:
    """At the end of a trace that nobody reads what it has changed from.

    Raises EffectError (AG405) if a list of the code around has a length that is data-dependent.
    """
    if not any(map(grown_at_home, stack.bounds)):
        return
    forget_local(frame, [out])
    for place in [p for p in frame.written if isinstance(p, StateRef)]:
        held = place.get()
        grown = next((x for x in (held.values if isinstance(held, ContainerItems) else [held]) if isinstance(x, BoundedList)), None)
        if grown is not None:
            restore(frame)
            at = grown.kind.bound.place
            raise EffectError(
                f"it is data-dependent how long {changed_object(at)} becomes, and plain `jax.jit` cannot give it the items", at,
                "use `@ag.function`, or return the list",
            )  # fmt: skip
