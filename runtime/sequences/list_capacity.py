"""Loops and branches in which a list becomes longer or shorter: they begin again with room for its items.

A list that a variable of the block holds is replaced there.  Where an object, a dict or the code around holds it (its *home*), the home is given a
`BoundedList`, which is then state like any other, and the list itself is filled with what cannot be read until the home holds it again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from autograph.runtime.errors import errors
from autograph.runtime.errors.advice import changed_object
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.sequences.bounded_list import BoundedList, Grow, Hidden, enlarged, grown, grown_at_home, hide, joint_of, key_of
from autograph.runtime.sequences.list_holders import held_in, other_names
from autograph.runtime.sequences.list_joins import Meet
from autograph.runtime.sequences.stacked_lists import note_column
from autograph.runtime.state.captured_state import may_have_failed, record_write
from autograph.runtime.state.length_bounds import Holder, ListOwner, expected, stack
from autograph.runtime.state.speculation import Speculation
from autograph.runtime.state.state_refs import CellRef, ContainerItems, ContentsRef, NameRef
from autograph.runtime.state.variable_reads import recorders
from autograph.runtime.tracing.trace_context import CallSite, TraceContext, frames, lifting
from autograph.runtime.values.abstract_values import AbstractValue, ArrayType, Static, generalize, spec_of, types
from autograph.runtime.values.flatten import unflatten
from autograph.runtime.values.value_objects import closed, opened
from autograph.runtime.values.values import Poison, parts

_MOST_GROWN = 64  # each gives room for twice as many items, or for a wider kind


def retry_with_capacity(attempt: Callable[[list[Any]], Any], state: list[Any], place: CallSite, room: int, loop: bool = True) -> Any:
    """`attempt(state)`, which stages a block; where a list has to grow in it, it is tried again with a `BoundedList` in its place.

    That has `room` for more items, or for one in each iteration of a loop around that Python makes.  Such an iteration is never thrown away for it:
    it may have done what cannot be undone.  `place` is the operator's own; what it gives is one value or several.
    """
    keys, room = _keys(state), max(room, expected())
    for again in range(_MOST_GROWN):
        speculation, around = Speculation(), len(stack.holders)
        stack.holders.append(Holder(keys, len(frames()), loop))
        iteration: TraceContext | None = None
        try:
            with place.scope("grown") as iteration:
                out = attempt(state)
            del stack.holders[around:]
            several = type(out) is tuple or (loop and type(out) is list and out is not state)  # of a branch a list is one value
            out = type(out)(map(_settled, out)) if several else _settled(out)
            _settle_homes()
            return out
        except Meet as meet:
            assert iteration is not None
            speculation.roll_back(iteration)
            meet.note()
        except Grow as grow:
            del stack.holders[around:]
            positions = [k for k, x in enumerate(state) if key_of(x) == grow.key]
            new = type(grow.items) is list and grow.home is not None
            if not (positions or new or grow.key in keys) or any(grow.key in h.keys for h in stack.holders):
                raise
            if again == _MOST_GROWN - 1:
                raise errors.EffectError(
                    f"a list becomes longer in compiled code, and has not enough room after {_MOST_GROWN} trials", grow.place,
                    "say how many iterations are made at most: `with ag.loop(max_steps=n):`",
                ) from None  # fmt: skip
            assert iteration is not None
            speculation.roll_back(iteration)
            if grow.home is not None and not (positions and isinstance(grow.home.location, (CellRef, NameRef))):  # which the block carries itself
                more = _at_home(grow, grow.home, room)
            else:
                refuse_outside(state[positions[0]], grow.place)
                _refuse_holders(state[positions[0]], grow.place)
                more = _roomier(state[positions[0]], grow, room)
                state = [more if k in positions else x for k, x in enumerate(state)]
            keys = _keys(state)
        finally:
            del stack.holders[around:]
    raise AssertionError("the last trial returns or raises")


def _keys(state: Sequence[Any]) -> frozenset[int]:
    """The lists among the variables of a block, and those that have grown at home."""
    return frozenset(key_of(x) for x in state if type(x) is list or isinstance(x, BoundedList)) | {id(b) for b in stack.bounds if grown_at_home(b)}


def _roomier(x: Any, grow: Grow, room: int) -> BoundedList:
    """A list or a `BoundedList` with more room, or for wider items."""
    if not isinstance(x, BoundedList):
        return grown(x, grow, max(len(x) + max(room, 1), grow.capacity))
    spec = x.kind.spec if grow.spec is None else joint_of([x.kind.spec, grow.spec], grow.place)
    return enlarged(x, spec, max(grow.capacity, x.kind.capacity if grow.capacity == 0 else 2 * x.kind.capacity))


def _at_home(grow: Grow, home: ListOwner, room: int) -> BoundedList:
    """Give the home of a list a `BoundedList`, or one with more room."""
    items = home.get()
    if not isinstance(items, BoundedList):
        if id(items) != grow.key:
            raise errors.AliasError(
                f"the list {home.name} becomes longer or shorter in compiled code, and this name was assigned inside the loop or branch", grow.place,
                "use the name that it had before",
            )  # fmt: skip
        refuse_other_names(items, home, grow.place)
    more = _roomier(items, grow, room)
    if not isinstance(items, BoundedList):
        more = _as_errors_left_it(more, grow)
        hide(more.kind.bound)
    home.put(more)
    return more


def _as_errors_left_it(more: BoundedList, grow: Grow) -> BoundedList:
    """What takes the place of a list at home that has changed since errors may have occurred: then it is what it was before."""
    bound = more.kind.bound
    for code, held in reversed([x for f in lifting() for x in f.late.pop(ContentsRef(bound.base), ())]):
        before = grown(list(held.values), Grow(bound.base, more.kind.spec, place=grow.place), max(more.kind.capacity, len(held.values)))
        more, fine = enlarged(more, before.kind.spec, before.kind.capacity), jax.lax.eq(code, jnp.int32(0))
        more = BoundedList(
            more.kind, jnp.where(fine, more.length, before.length), map(functools.partial(jnp.where, fine), more.buffers, before.buffers)
        )
        bound.top = bound.peak = max(bound.top, len(held.values))
        bound.exact, bound.shrunk = None, True
    return more


def refuse_outside(items: Any, place: errors.SourceSpan | None) -> None:
    """Raise EffectError (AG405) if a variable of the function holds a list of the code around, which would not change."""
    if any(id(items) in frame.outside for frame in frames()):
        raise errors.EffectError(
            f"the list {changed_object(place)} comes from outside of the function and becomes longer or shorter in compiled code, "
            "and only a local variable refers to it here", place, "let an object hold it (`self.items.append(x)`), or return a new list",
        )  # fmt: skip


def refuse_other_names(items: list[Any], home: ListOwner, place: errors.SourceSpan | None) -> None:
    """Raise AliasError (AG407) if anything in reach of the functions around holds a list whose home is given another in its place."""
    name = next(other_names(items, home), None)
    if name is not None:
        written = changed_object(place)
        written = home.name if written == "a list" else written
        raise errors.AliasError(
            f"the list {written} becomes longer or shorter in compiled code, and `{name}` is another name of it",
            place,
            f"use one name only: {written}",
        )


def _refuse_holders(items: Any, place: errors.SourceSpan | None) -> None:
    """Raise AliasError (AG407) if a container or object that a variable holds has a list which a variable holds, too, and that is given another."""
    if type(items) is list and (name := next(held_in(items), None)) is not None:
        raise errors.AliasError(
            f"the list {changed_object(place)} becomes longer or shorter in compiled code, and `{name}` is another name of it", place,
            f"use one name only: `{name}`",
        )  # fmt: skip


def refuse_or_grow(location: Any, specs: Sequence[AbstractValue], around: Sequence[TraceContext]) -> None:
    """Called where the specs of a place outside have nothing in common: raises Grow if that is a list whose home is known."""
    place = next((f.places[location] for f in around if location in f.places), None)
    parts = [x for spec in specs for x in (spec.values if isinstance(spec, ContainerItems) else [spec])]
    if isinstance(location, ContentsRef) and type(location.obj) is list:
        for x in parts:
            if isinstance(x, Static) and type(x.value) is Poison and isinstance(x.value.make, Hidden):
                bound = x.value.make.bound
                raise Grow(bound.base, bound.spec, home=bound.home, place=bound.place) from None
        home = next((f.grows[id(location.obj)] for f in around if f.grows.get(id(location.obj))), None)
        if home is not None and home.get() is location.obj:
            raise Grow(location.obj, joint_of([type_of_item(x) for x in parts], place), home=home, place=place) from None
        if any(id(location.obj) in f.grows for f in around) and any(id(location.obj) in h.keys for h in stack.holders):  # a variable holds it
            raise Grow(location.obj, joint_of([type_of_item(x) for x in parts], place), place=place) from None
    lists = [x.value for x in parts if isinstance(x, Static)]
    for x in parts:
        if isinstance(x, BoundedList) and (bound := x.kind.bound).home is not None and any(items is bound.base for items in lists):
            raise Grow(bound.base, x.kind.spec, home=bound.home, place=bound.place) from None
    begun = [x for x in parts if isinstance(x, BoundedList) and x.kind.bound.home is not None]
    if len({id(x.kind.bound) for x in begun}) > 1 and len({id(x.kind.bound.base) for x in begun}) == 1:  # each side has begun on its own
        bound = begun[0].kind.bound
        raise Grow(bound.base, joint_of([x.kind.spec for x in begun], bound.place), home=bound.home, place=bound.place) from None
    sizes = {x.kind.capacity for x in parts if isinstance(x, BoundedList)}
    for x in parts if len(sizes) > 1 else ():
        if isinstance(x, BoundedList) and any(id(x.kind.bound) in h.keys for h in stack.holders):
            raise Grow(x, None, max(sizes)) from None


def type_of_item(spec: AbstractValue) -> AbstractValue:
    """The type of an item, also of one that is said to stay the object that it is."""
    return generalize(spec_of(opened(spec.value)) if isinstance(spec, Static) else spec)


def _settled(x: Any) -> Any:
    """A list again, if it is known how many items there are."""
    if not isinstance(x, BoundedList) or x.kind.bound.exact is None:
        return x
    if any(id(x.kind.bound) in h.keys for h in stack.holders):  # a loop around goes on with it
        return x
    bound, length = x.kind.bound, max(x.kind.bound.exact, 0)  # less only after an error
    if bound.home is not None and may_have_failed():  # which is seen where an object holds the list
        return x
    record_write(ContentsRef(bound.base), late=False)
    start = 0 if bound.shrunk else len(bound.items)
    bound.base[:] = [*bound.items[:start], *_rows(x, start, length)]
    for tape in recorders.active:
        tape.hide(part for row in bound.base[start:] for part in parts(row))
    if isinstance(x.kind.spec, ArrayType) and length > start:
        note_column(bound.base, start, x.buffers[0])
    return bound.base


def _settle_homes() -> None:
    """Let homes hold lists again of which it is known how many items they have."""
    for bound in list(stack.bounds):
        if (home := bound.home) is not None and grown_at_home(bound) and (items := _settled(home.get())) is bound.base:
            home.put(items)


def _rows(x: BoundedList, start: int, stop: int) -> list[Any]:
    wanted = types([x.kind.spec])
    columns = [[b[k] for k in range(start, stop)] for b in x.buffers]
    typed = [[_jax.convert_type(r, t.dtype, True) if t.weak else r for r in c] for c, t in zip(columns, wanted, strict=True)]
    return [closed(unflatten(x.kind.spec, iter([c[k] for c in typed]))) for k in range(stop - start)]
