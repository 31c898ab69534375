"""What the trace of a function has changed of the objects in reach, described without holding them."""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence
from types import FunctionType, MethodType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from autograph.runtime.arrays.array_aliasing import NeedsTags
from autograph.runtime.arrays.variable_ref import VariableRef
from autograph.runtime.errors.errors import AttributeStateError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.indexing.class_patching import changed_outside
from autograph.runtime.indexing.inplace_arguments import check_stored_back
from autograph.runtime.jaxapi import trees
from autograph.runtime.jaxapi.tracers import Array, content
from autograph.runtime.sequences.bounded_list import BoundedList
from autograph.runtime.sequences.escaped_lists import EscapedList, bring_back, contents_left
from autograph.runtime.state.call_inputs import mutable_parts
from autograph.runtime.state.container_aliasing import is_spoiled, keep_twins, refuse_chosen, refuse_stale, settle
from autograph.runtime.state.escape_analysis import forget_local
from autograph.runtime.state.fresh_objects import Made
from autograph.runtime.state.object_graph import ObjectWalk, is_state, lasts, places_in
from autograph.runtime.state.retrace import NeedsState
from autograph.runtime.state.state_refs import ContainerItems, EntryRef, StateRef, entries
from autograph.runtime.state.unsupported_escapes import cannot_keep, holds_variables, made_places
from autograph.runtime.state.variable_reads import Created, unknown
from autograph.runtime.tracing.garbage import collect_recent
from autograph.runtime.tracing.trace_context import TraceContext
from autograph.runtime.values.abstract_values import AbstractValue, Static, is_container, leaves, spec_of
from autograph.runtime.values.flatten import as_is, flatten
from autograph.runtime.values.values import LASTING, NUMBERS, Found, Maybe, Unset, is_value, parts, traced

LASTING.add(__name__)


class Known:
    """What a place is given and the caller has already: `which` of a kind.

    "same": a part of what the place held.  "object": one of the objects that the function reached.  "input": an array that was an input.
    "new": a new array that another place gets as well.  "outside": a container of the code around, which is a constant of the function.
    """

    def __init__(self, kind: str, which: Any) -> None:
        self.kind, self.which = kind, which


class Reached:
    """One of the objects that the function reached, as a part of its result."""

    def __init__(self, number: int) -> None:
        self.number = number


jax.tree_util.register_pytree_node(Reached, lambda r: ((), r.number), lambda number, _: Reached(number))


class SideEffect(NamedTuple):
    """What a call leaves in a place: of which object (of the arguments or of those reached), under which name, and the spec of the value.

    Of an "input": what an array holds that changes in place wherever it is.  Of a "home": which input the place holds itself, if any; the new
    arrays that another place gets as well are numbered after the inputs.  Of "made" the name is the place itself, in an object that the call has
    made: its program is for one call.

    `late` are specs of what it leaves instead if an error has occurred by then; the code at that time goes before the arrays.
    """

    where: str
    number: int
    name: Any
    spec: AbstractValue
    late: tuple[AbstractValue, ...] = ()


class Changes:
    """What a trace changed: descriptions that hold no object, and the arrays of the new values."""

    def __init__(self, found: Sequence[SideEffect], arrays: Sequence[Any]) -> None:
        self.found, self.arrays = found, arrays


jax.tree_util.register_pytree_node(Changes, lambda c: (c.arrays, Found(c.found)), lambda found, arrays: Changes(found.found, arrays))


class EntryState:
    """The beginning of a trace: the arguments, and what the objects in reach hold."""

    def __init__(
        self, args: Any, kwargs: Any, walk: ObjectWalk | None = None, inputs: Sequence[Any] = (), given: Sequence[tuple[StateRef, Any]] = ()
    ) -> None:
        self.walk, self._given = walk, given
        self.inputs = {id(x): k for k, x in reversed(list(enumerate(inputs)))}
        self.outputs: dict[int, int] = {}
        self.args, self.kwargs = args, kwargs
        self.parts = mutable_parts(args, kwargs, containers=walk is None)
        self.unread = walk.unread if walk is not None else {}
        self.before = {("argument", k): self._snapshot(x) for k, x in enumerate(self.parts)} | {
            ("object", k): self._snapshot(x) for k, x in enumerate(walk.objects if walk else ())
        }
        self.leaves = [trees.leaves(x) for x in self.parts]
        self.own: dict[int, int] = {}
        self.changed_at: dict[StateRef, Any] = {}
        self.created = Created()
        self.makes = False  # does a place keep a Variable that the trace has made, or what holds one?
        self.kept: list[Any] = []  # the objects with Variables that places keep
        self.containers = {id(x) for x in (*self.parts, *(walk.objects if walk else ())) if is_container(x)}
        self.places = {("place", k): p.get() for k, p in enumerate(walk.places if walk else ())}
        held = inputs if walk is not None else [x for leaves in self.leaves for x in leaves]
        self.held = [(k, x, content(x)) for k, x in enumerate(held) if isinstance(x, Array)]
        for _, x, _ in self.held:
            x.lasts = True

    def _snapshot(self, x: Any) -> dict[StateRef, Any]:
        """What the places of an object hold, but for attributes that the function does not read: who sets those is no matter of it."""
        unread = self.unread.get(id(x), frozenset())
        return {place: place.get() for place in places_in(x) if getattr(place, "attribute", None) not in unread}

    def stored(self) -> bool:
        """Whether an array that was there before has been stored into."""
        return any(x.now is not before for _, x, before in self.held)

    def changes(self, frame: TraceContext, out: list[Any], direct: bool, variables: dict[str, Any], seen: frozenset[str] = frozenset()) -> Changes:
        """What has changed when the trace ends; `out` holds the result, and nothing else does; `variables` are the function's globals.

        Raises NeedsState if it is not known to be an input, or if attributes were `seen` read that are not looked at.
        """
        try:
            changes = self._changes(frame, out, direct, variables)
        except NeedsState as need:
            need.names = seen
            raise
        stores = self.walk is not None and bool(self.walk.unread) and not self.walk.view.stores and self._stores_into_values(changes)
        keeps = self.walk is not None and not self.walk.view.identical and any(map(_keeps_function, changes.found))
        if seen or stores or keeps:
            raise NeedsState(names=seen, stores=stores, identical=keeps)
        return changes

    def _stores_into_values(self, changes: Changes) -> bool:
        """Whether an array of JAX's is stored into that was there before the call: others that hold it see that, and must be looked at."""
        assert self.walk is not None
        return any(c.where == "input" and not isinstance(self.walk.arrays[c.number], np.ndarray) for c in changes.found)

    def _changes(self, frame: TraceContext, out: list[Any], direct: bool, variables: dict[str, Any]) -> Changes:
        settle(frame, out)
        bring_back({place: held for snapshot in self.before.values() for place, held in snapshot.items()})
        objects = {("argument", k): x for k, x in enumerate(self.parts)} | {
            ("object", k): x for k, x in enumerate(self.walk.objects if self.walk else ())
        }
        found: list[SideEffect] = []
        arrays: list[Any] = []
        needed: list[StateRef] = []
        dynamic: set[Any] = set()

        keep_twins(frame, self._lasts)
        forget_local(frame, out)
        self.own, self.changed_at, self.created = frame.own, frame.places, frame.created or self.created
        stored = {id(x): (k, x) for k, x, before in reversed(self.held) if x.now is not before}
        if self.walk is not None:
            for k, x in stored.values():
                if isinstance(array := self.walk.arrays[k], np.ndarray):
                    check_stored_back(array, self.walk.name_of(k))
                found.append(SideEffect("input", k, None, spec_of(x)))
                arrays.append(x.now)

        chosen: list[tuple[StateRef, Any]] = []

        def note(where: str, number: int, place: StateRef, before: Any, after: Any) -> None:
            if where != "argument":
                name = ("place", number) if where == "place" else (number, getattr(place, "attribute", None))
                changed = {number for now in _ends(frame, place, after) for number in _numbers(before, now, name)}
                dynamic.update(changed - (self.walk.dynamic | self.walk.pinned if self.walk else set()))
            if is_spoiled(after):
                refuse_stale(after.values)
            if self.walk is not None:
                refuse_chosen(frame, after, place, self._lasts, self._is_shared)
            after = EscapedList.of(Made.of(after, frame.own), self._number)
            spec = self._spec(before, after, place, stored)
            for x in flatten(after, spec, as_is):
                self.outputs.setdefault(id(x), len(arrays))
                arrays.append(x)
            late: list[AbstractValue] = []
            for code, held in frame.late.get(place, ()):
                held = EscapedList.of(Made.of(held, frame.own), self._number)
                late.append(self._spec(before, held, place, stored))
                arrays.extend([code, *flatten(held, late[-1], as_is)])
            found.append(SideEffect(where, number, getattr(place, "attribute", None), spec, tuple(late)))
            chosen.extend([(place, after)] if not isinstance(after, ContainerItems) else _items(place, after))

        covered: set[StateRef] = set()

        def look(where: str, number: int, place: StateRef, before: Any, after: Any) -> None:
            covered.add(place)
            after = contents_left(after)
            ends = _ends(frame, place, after)
            if not all(_unchanged(before, now) for now in ends) or any(id(x) in stored for now in ends for x in parts_of(now)):
                note(where, number, place, before, after)

        for (where, number), x in objects.items():
            before = self.before[where, number]
            for place in dict.fromkeys([*before, *self._snapshot(x)]):
                look(where, number, place, before.get(place, Unset(place.name)), place.get())
        for k, place in enumerate(self.walk.places if self.walk else ()):
            if place not in covered:
                look("place", k, place, self.places["place", k], place.get())

        for place in made_places(self.kept):
            found.append(SideEffect("made", 0, place, spec := self._spec(None, place.get(), place, stored)))
            arrays.extend(flatten(place.get(), spec, as_is))
        new = {x.who.possible[0].number: k for k, x in reversed(list(enumerate(arrays))) if isinstance(x, Array) and _is_one(x)}
        for held_at, x in chosen:
            if (tag := self._which(x, new)) is not None:
                found.append(self._home(held_at, spec_of(tag)))
                arrays.append(tag)

        def made(place: StateRef) -> bool:
            return self.walk is not None and isinstance(place.obj, FunctionType) and place.obj.__code__ in self.walk.made

        def outside() -> list[StateRef]:
            new = [p for p in frame.written if isinstance(p, StateRef) and p not in covered and not made(p)]
            return [p for p in new if not all(_unchanged(frame.saved[p], now) for now in _ends(frame, p, p.get()))]

        if stored_into := changed_outside(frame):
            raise NeedsState(stored_into)
        needed = outside() + unknown(frame, covered, out)
        if needed:  # recursive closures and cyclic objects of the function itself are still there
            collect_recent()
            forget_local(frame, out)
            self.own |= frame.own
            needed = outside() + unknown(frame, covered, out)
        if (found or needed) and direct:
            first = next(iter(frame.places), None)
            raise AttributeStateError(
                f"{first.name if first else 'an argument'} changes in this call, and earlier ones changed nothing", here(),
                "use two functions, or let every call change it",
            )  # fmt: skip
        if needed or dynamic or (found and self.walk is None):
            raise NeedsState(needed, dynamic)
        if not any(change.where == "argument" for change in found):
            self._refuse_hidden()
        return Changes(found, list(map(content, arrays)))

    def put_back(self, frame: TraceContext) -> None:
        """At the end of the trace: what code changed without telling (`vars(x)`, `functools.cached_property`) is what it was.

        So is what the inputs stood in, of objects too that are forgotten.
        """
        for place, held in self._given:
            if place not in frame.saved:  # of an object that nothing holds any more but the function, of which it is a place
                place.put(held)
        objects = [("argument", x) for x in self.parts] + [("object", x) for x in (self.walk.objects if self.walk else ())]
        for (_, x), before in zip(objects, self.before.values(), strict=True):
            now = self._snapshot(x)
            for place in dict.fromkeys([*before, *now]):
                old = before.get(place, Unset(place.name))
                if place not in frame.saved and not _unchanged(old, now.get(place, Unset(place.name))) and not lasts(place):
                    place.put(old)

    def _which(self, x: Any, new: dict[int, int]) -> Any:
        """Which of the inputs, or of the `new` arrays, an array is that traced values choose; -1 if none."""
        if not isinstance(x, Array) or x.who is None or len(x.who.possible) < 2 or self.walk is None:
            return None
        known = {n: len(self.walk.arrays) + k for n, k in new.items()} | {
            y.who.possible[0].number: k for k, y, _ in reversed(self.held) if _is_one(y)
        }
        numbers = [(i.number, known[i.number]) for i in x.who.possible if i.number in known]
        if not numbers:
            return None
        try:
            tag, which = x.who.tag(), jnp.int32(-1)
        except NeedsTags:
            return None
        for number, k in numbers:
            which = jnp.where(tag == number, k, which)
        return which

    def _home(self, place: StateRef, spec: AbstractValue) -> SideEffect:
        assert self.walk is not None
        if place in self.walk.places:
            return SideEffect("home", self.walk.places.index(place), None, spec)
        number = self._number(place.obj)
        assert number is not None, f"{place.name} is none of the places that were looked at"
        return SideEffect("home", number, ("item", place.item) if isinstance(place, EntryRef) else ("attribute", place.key[-1]), spec)

    def _number(self, x: Any) -> int | None:
        """Which of the objects in reach it is."""
        return self.walk.number(x.base if isinstance(x, BoundedList) else x) if self.walk is not None else None

    def _lasts(self, x: Any) -> bool:
        """Whether an object is there before the call."""
        return self.walk is not None and self.walk.number(x) is not None

    def _is_shared(self, x: Any) -> bool:
        """Whether more than one place in reach held a container when the call began."""
        held = [v for places in self.before.values() for v in places.values()]
        return sum((v is x) + (isinstance(v, ContainerItems) and sum(item is x for item in v.values)) for v in held) > 1

    def given(self, out: Any) -> Any:
        """The result, with what stands for the objects in reach in their place: they are put back before JAX looks at it."""
        if self.walk is None:
            return out

        def whole(x: Any) -> bool:
            return is_value(x) or is_container(x) and id(x) in self.own or self.own.get(id(x), 0) > 1 or self._number(x) is not None

        def known(x: Any) -> Any:
            if isinstance(x, Maybe):
                return Maybe(self.given(x.value), x.tag, x.bits, x.name)
            return Made.of(x, self.own) if id(x) in self.own else x if (n := self._number(x)) is None else Reached(n)

        return trees.map(known, out, is_leaf=whole)

    def _refuse_hidden(self) -> None:
        """An argument whose class keeps what it holds in a way of its own, and that has changed: nobody would put it back."""
        for x, before in zip(self.parts, self.leaves, strict=True):
            now = [] if is_container(x) else trees.leaves(x)
            if not is_container(x) and (len(now) != len(before) or any(a is not b for a, b in zip(now, before, strict=True))):
                raise AttributeStateError(
                    f"a `{type(x).__name__}` among the arguments is changed by code of its library, and the caller's would not change", here(),
                    "use the library's own `jit` on a function with `@ag.convert` (`nnx.jit`), or return what changes",
                )  # fmt: skip

    def _spec(self, before: Any, after: Any, place: StateRef, stored: Collection[int]) -> AbstractValue:
        if not isinstance(after, ContainerItems):
            return self._leaf(after, place)
        same = {id(v): k for k, v in reversed(list(enumerate(before.values)))} if isinstance(before, ContainerItems) else {}
        return ContainerItems(
            after.keys,
            [
                Static(Known("same", same[id(v)])) if id(v) in same and not isinstance(v, NUMBERS) and id(v) not in stored else self._leaf(v, place)
                for v in after.values
            ],
        )

    def _leaf(self, value: Any, place: StateRef) -> AbstractValue:
        if isinstance(value, Made):
            held = value.items
            inside = spec_of(held) if value.like is None else ContainerItems(held.keys, [self._leaf(v, place) for v in held.values])
            return Made(inside, value.like, value.number)
        if isinstance(value, jax.Array) and traced(value):
            if (k := self.inputs.get(id(value))) is not None and value.ndim:
                return Static(Known("input", k))
            if (k := self.outputs.get(id(value))) is not None and value.ndim:
                return Static(Known("new", k))
        if (number := self._number(value)) is not None:
            return Static(Known("object", number))
        if is_container(value) and not traced(value):
            return Static(Known("outside", value))
        if self.created and holds_variables(held := value.value if isinstance(value, Maybe) else value, self.created):
            self.makes = True
            if is_state(held) and not isinstance(held, VariableRef):
                self.kept.append(held)
                return spec_of(value)
        if (what := cannot_keep(value, self.own)) is not None:
            raise place.error(
                f"{place.name} would keep a `{type(value).__name__}` {what}", self.changed_at.get(place) or here(),
                "register its class as a pytree (`jax.tree_util.register_dataclass`), or make the object outside",
            )  # fmt: skip
        return spec_of(value)


def _keeps_function(change: SideEffect) -> bool:
    """Whether a place holds a function from then on: it must be the one that was given, and not one like it."""
    return any(isinstance(x, Static) and isinstance(x.value, (FunctionType, MethodType, functools.partial)) for x in leaves(change.spec))


def _ends(frame: TraceContext, place: StateRef, after: Any) -> list[Any]:
    """What a place may hold at the end: what the whole call leaves, or what it was when an error occurred."""
    return [after, *(held for _, held in frame.late.get(place, ()))]


def _unchanged(before: Any, after: Any) -> bool:
    if isinstance(before, ContainerItems):
        return isinstance(after, ContainerItems) and before.same(after)
    if before is after or (isinstance(before, Unset) and isinstance(after, Unset)):
        return True
    return type(before) is type(after) and isinstance(before, (*NUMBERS, str)) and repr(before) == repr(after)


def _is_one(x: Array) -> bool:
    """Whether it is known which array it is."""
    return x.who is not None and len(x.who.possible) == 1


def _items(place: StateRef, items: ContainerItems) -> list[tuple[Any, Any]]:
    """The items of a list or dict, and what they hold."""
    if not isinstance(place.obj, (list, dict)):
        return []
    return list(zip(entries(place.obj, items), items.values, strict=True))


def parts_of(held: Any) -> list[Any]:
    """What a place holds, each of its parts."""
    return [x for v in (held.values if isinstance(held, ContainerItems) else [held]) for x in parts(v)]


def _numbers(before: Any, after: Any, name: Any) -> set[Any]:
    """The names of numbers that have changed: they have to be inputs.

    A flag that is known before and after the call stays a constant (`if not self.ready: ...; self.ready = True`): there are two programs.
    """
    if isinstance(before, ContainerItems):
        if not isinstance(after, ContainerItems) or not before.alike(after):
            return set()
        pairs = zip(before.values, after.values, strict=True)
        return {(*name, k) for k, (a, b) in enumerate(pairs) if isinstance(a, NUMBERS) and not _unchanged(a, b)}
    return {name} if isinstance(before, NUMBERS) and not (type(before) is type(after) is bool) else set()
