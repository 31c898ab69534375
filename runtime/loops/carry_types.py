"""The types of a loop's carry: the body is traced until they no longer change, mostly once.

    x, n = 0, 0                                   x: int → float32[]   (promoted: the body is traced again)
    while n < k: x, n = x + y, n + 1       =>     n: int → int32[]     (weak, as JAX has it)

`CarryTypeFixpoint._settle` is the loop `while reason: trace the body again`.  Data:

- `state`, `entry`, `specs`: the variables before the loop, their abstract values, and those of the carry so far.
- `preset`, `left`: state outside (attributes, items, globals) that an iteration changes: its type at the start of an iteration, and what one leaves.
- `block`: the last trace of the body (`TracedRegion`).
- `tagged`, `extra`: whether the carry says which array is which, and in how many variables (`loop_aliasing.py`).

Reasons to trace the body again: a type was promoted; a state location turned out to change; which array a variable is has to be carried; a view was
lost; a copy has to be told; a number became an array.  The lattice of types is finite and low, so this ends; `_MOST_RUNS` is for what does not
settle.

Always: a trace of the body stands only if nothing that it has read has changed since (types, identity, aliases, lengths, the error state).
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NoReturn

from jax import lax

from autograph.runtime.arrays.array_aliasing import NeedsTags
from autograph.runtime.arrays.numpy_array import View
from autograph.runtime.branches.traced_region import TracedRegion
from autograph.runtime.effects.error_codes import fine
from autograph.runtime.errors import errors
from autograph.runtime.errors.errors import LoopTypeError
from autograph.runtime.errors.source_spans import caller, last_store, parameter_names, place_of, transformation
from autograph.runtime.indexing.class_patching import taken_in
from autograph.runtime.indexing.stores import Value
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi import trees
from autograph.runtime.jaxapi.tracers import Array
from autograph.runtime.jaxapi.traces import Var
from autograph.runtime.loops.broadcasts import tells
from autograph.runtime.loops.loop_aliasing import LoopAliases, Unbound
from autograph.runtime.loops.trip_count_bounds import limits_of
from autograph.runtime.sequences.bounded_list import repeated
from autograph.runtime.sequences.list_capacity import refuse_or_grow
from autograph.runtime.sequences.truth import truth
from autograph.runtime.state.captured_state import (
    CODE,
    ERROR,
    Location,
    at_begin,
    goes_with_block,
    joined,
    left_spec,
    load,
    may_be_missing,
    may_have_failed,
    outer_spec,
    spec_out,
)  # fmt: skip
from autograph.runtime.state.cast_to_types import LOOP, cast_to_types, unsettled
from autograph.runtime.state.container_aliasing import reopened, replaced, twins
from autograph.runtime.state.copies import copies_in, note_copies_at
from autograph.runtime.state.escape_analysis import forget_dead
from autograph.runtime.state.length_bounds import marks, reset
from autograph.runtime.state.state_refs import ContentsRef, StateRef, under_vmap
from autograph.runtime.state.type_text import describe, described, for_iterations, instead, instead_of_change, pair, two, where_to_begin
from autograph.runtime.tracing.trace_context import CallSite, Peel, Retrace, frames, lifting, peeling
from autograph.runtime.values.abstract_values import (
    AbstractValue,
    ArrayType,
    ByReference,
    Option,
    Static,
    children,
    generalize,
    has_option,
    is_container,
    is_leaf,
    leaves,
    spec_in_block,
    spec_of,
    types,
)
from autograph.runtime.values.flatten import as_is, blank_uses, flatten
from autograph.runtime.values.intervals import note_interval
from autograph.runtime.values.joins import Mismatch, join
from autograph.runtime.values.path_conditions import Fact, PathFacts, facts_of, known, note
from autograph.runtime.values.value_objects import closed, opened
from autograph.runtime.values.values import CONTAINERS, NUMBERS, Blank, Maybe, Unset, is_value, map_maybe, nothing

_MOST_RUNS = 30  # the lattice of types is finite and low: this is never reached by types that settle
ROTATED = "the test is part of the iteration"


class Rotate(Retrace):
    """The test of a loop may fail: it has to be part of the iteration."""


def unless_failed(p: Any) -> Any:
    return fine() if p is True else note(lax.bitwise_and(p, fine()), PathFacts(true=facts_of(p).true))


def as_list(out: Any, count: int) -> list[Any]:
    """What a body returned, as a list of `count` values."""
    return [out] if count == 1 else list(out or ())


def as_result(state: Sequence[Any]) -> Any:
    """A state as the operator returns it: one value, or a tuple."""
    return state[0] if len(state) == 1 else tuple(state) or None


class CarryTypeFixpoint:
    """The types of a loop's carry, and the trace of the body with these types: `block`."""

    def __init__(
        self, body: Callable[..., Any], state: list[Any], source: Callable[..., Any], place: CallSite,
        begin: Sequence[AbstractValue] | None = None, items: Sequence[AbstractValue] = (), test: Callable[..., Any] | None = None,
        hidden: tuple[str, ...] = (), iterations: int | None = None, all_made: bool = False, stored: Sequence[Array] = (), token: object = None,
        indices: builtins.range | None = None,
    ) -> None:  # fmt: skip
        """`token`: whoever stages it can trace the first iteration apart, if `Peel` with this is raised.

        `indices`: the range of which the first item of an iteration is one.
        """
        given_state = [taken_in(x) for x in state]
        state = [opened(x) for x in given_state]
        self.opens = any(a is not b for a, b in zip(state, given_state, strict=True))  # does it carry the fields of objects?
        body = self._of_fields(body) if self.opens else body
        self.body, self.state, self.source, self.place, self.items = body, state, source, place, list(items)
        self.untagged, self.hidden, self.test = body, hidden, test and self.asking(test)
        self.copies: dict[Any, Any] = {}  # where variables hold what is a copy, or has one, when an iteration ends
        self.more_copies = False
        self.by_object: set[int] = set()  # identities of arrays that are the same objects in each iteration
        self.tagged, self.extra = False, 0  # does it carry which array is which, and as how many variables?
        self.apart: set[tuple[int, int]] = set()
        self.more, self.lost = list[Any](), dict[int, Any]()  # what iterations give of the arrays outside, and leave of views
        entry = [generalize(spec_in_block(x)) for x in state]
        self.opened = [generalize(spec_of(x)) for x in state]  # with what lists and dicts hold before the loop
        self.preset: dict[Location, AbstractValue] = {}
        self.entry, self.left = entry, dict[Location, AbstractValue]()  # what the loop begins with, and what an iteration leaves in places
        self.specs = self._from_memory(entry)
        if begin is not None:
            self.specs = self.joined(self.specs, [generalize(s) for s in begin])
        self._foresee(stored)
        self.remembered, self.iterations, self.all_made = marks(), iterations, all_made
        self.token, self.indices = token, indices
        self._settle()
        own = self.specs[: len(entry)]
        kept = {k: self.preset.get(Value(s.value)) for k, s in enumerate(own) if isinstance(s, ByReference) and isinstance(s.value, Array)}
        specs = [
            e if any(isinstance(x, ByReference) and isinstance(x.value, Array) for x in leaves(s)) else s for s, e in zip(own, entry, strict=True)
        ]
        place.remember((entry, specs, self.preset, kept))
        self.guarded = ERROR in self.block.wrote or may_have_failed()

    def _of_fields(self, body: Callable[..., Any]) -> Callable[..., Any]:
        """The body as one that takes and gives fields of objects."""
        return lambda *args: as_result([opened(x) for x in as_list(body(*map(closed, args)), len(self.state) - self.extra)])

    def asking(self, test: Callable[..., Any]) -> Callable[..., Any]:
        """The test as one of what the loop carries."""
        return functools.wraps(test)(lambda *args: test(*map(closed, args))) if self.opens else test

    def _settle(self) -> None:
        """Trace the body until the types of the state no longer change."""
        test, place = self.test, self.place
        old, moved = self.specs, list[Location]()
        for _ in range(_MOST_RUNS):
            reset(self.remembered)
            self.uses = blank_uses.count
            facts = self._facts(test) if test is not None and any(map(has_option, self.specs)) else []
            known_of = functools.partial(_of_state, facts)
            self.places = [location for location in self.preset if isinstance(location, StateRef) and not isinstance(location, Value)]
            self.loop = LoopAliases(self._held()[: self._own()] + self._held_outside(), self.tagged, self.apart, self.more, self.lost)
            if self.tagged and len(self.loop.arrays) != self.extra:  # a place has been found since that holds one
                self._tag()
                continue
            try:
                with peeling(self.token, {id(x) for x in self.state if isinstance(x, Unset)}):
                    self.block = TracedRegion(
                        self.body, [*self.items, *self.specs], place, "body", self._finish, [self.source], known_of, self.preset,
                        like=self.state, begins=self._begin,
                    )  # fmt: skip
            except NeedsTags as need:
                if self.tagged or not self.loop.arrays or need.entry is not None and not any(x is need.entry for x in self.loop.before):
                    raise
                if need.entry is None or id(need.entry) in self.by_object or not any(x is need.entry for x in self._before()):
                    self._tag()
                else:
                    self._foresee([need.entry])
                continue
            if self.settled and self.more_copies:  # the next iteration begins with them
                continue
            if not self.tagged and (self.by_object and not self.stays or self._moves_what_is_stored()):
                self._tag()
                continue
            if self.settled and self.loop.more_lost:
                self.lost = self.loop.lost
                continue
            if not self.tagged and self.settled and frames()[0].tagging and self.loop.chooses():
                self._tag()
                continue
            if self.tagged and self.settled and (more := self.loop.given()):
                self.more = [*self.more, *more]
                continue
            if self.tagged and self.settled and not self.apart and (apart := self.loop.never_one()):
                self.apart = apart
                continue
            old, self.specs = self.specs, self.joint
            if self.settled:
                self._add_inputs(old)
                self._check_broadcasts()
                break
            moved = [location for location, spec in self.block.wrote.items() if location is not ERROR and self.preset.get(location) != spec]
            self.preset.update((location, spec) for location, spec in self.block.wrote.items() if location is not ERROR)
        else:
            at = [(location.name, self._place(location, self.block)) for location in moved]
            raise unsettled(self.names(), old, self.specs, _MOST_RUNS, at)
        repeated(self.remembered, self.state, *limits_of(self, self.remembered), self.all_made)

    def _check_broadcasts(self) -> None:
        """A number before the loop that is an array after an iteration is one from the start where no iteration can tell, and nowhere else.

        Raises Peel, if the first iteration can be traced apart; else LoopTypeError (AG201) or the error of the place.
        """
        taken = iter(self.block.invars[len(types(self.items)) :])
        self.numbers_at: list[int] = []  # of the inputs: those that are such numbers
        at, broadcast = 0, list[Any]()
        first: int | None = None
        for k, (entry, joint) in enumerate(zip(self.entry, self.specs, strict=False)):
            variables = [next(taken) for _ in types([joint])]
            ends = _alone(entry, joint, self.raw[k])
            if _WHOLE in ends:
                self._peel(self._changes(k, Mismatch("", entry, self.raw[k])))
            broadcast += [variables[n] for n in ends]
            self.numbers_at += [at + n for n in ends]
            first = k if first is None and ends else first
            at += len(variables)
        place: Any = None
        for location, joint in self.block.wrote.items():
            if isinstance(location, StateRef) and not isinstance(location, Value) and location in self.left:
                ends = _alone(generalize(outer_spec(location, lifting())), joint, self.left[location])
                if _WHOLE in ends or ends and place is None:
                    place = location
                variables = self.block.reads[location][1] if location in self.block.reads else []
                if _WHOLE in ends:
                    self._peel(self._place_changes(location))
                broadcast += [variables[n] for n in ends if variables]
        self.first_number = place if first is None else first
        if broadcast and tells(self.block.eqns, broadcast):
            self.refuse_number()

    def refuse_number(self) -> NoReturn:
        """A number before the loop cannot be carried as the array that it becomes."""
        k = self.first_number
        self._peel(self._changes(k, Mismatch("", self.entry[k], self.raw[k])) if isinstance(k, int) else self._place_changes(k))

    def _peel(self, error: Exception) -> NoReturn:
        if self.token is not None:
            raise Peel(self.token)
        raise error from None

    def _place_changes(self, location: StateRef) -> Exception:
        m, place = Mismatch("", generalize(outer_spec(location, lifting())), self.left[location]), self._place(location, self.block)
        why = two(m, "before the loop", "after one iteration")
        return location.refusal(why, place, instead_of_change(m, location, place, for_iterations(m, location.bare)))

    def _foresee(self, stored: Iterable[Array]) -> None:
        """Arrays from outside into which iterations store: variables that hold them hold the same objects in each iteration."""
        for x in stored:
            if not isinstance(x, View) and Value(x) not in self.preset:
                self.preset[Value(x)] = spec_of(x)
            self.by_object |= {id(x)} & {id(y) for y in self._before()}
        self.specs = [self._kept(x, s) for x, s in zip(self.state, self.specs, strict=True)] if self.by_object else self.specs

    def _begin(self, args: list[Any]) -> None:
        if self.indices:
            note_interval(args[0], min(self.indices[0], self.indices[-1]), max(self.indices[0], self.indices[-1]))
        note_copies_at(args[len(self.items) :], self.copies)
        begun = [x for a, s in zip(args[len(self.items) :], self.specs, strict=True) for x in flatten(a, s, as_is)]
        frame = lifting()[-1]
        outside = [x for location in self.places for x in flatten(at_begin(location, frame), self.preset[location], as_is)]
        self.loop.begin([*begun[: self._own()], *outside], begun[self._own() :] if self.tagged else ())

    def _moves_what_is_stored(self) -> bool:
        """Whether an iteration gives a variable an array from outside into which iterations store."""
        stored = {id(location.obj) for location in self.block.wrote if isinstance(location, Value)}
        return self.settled and any(end is not None and end.array is not None and id(end.array) in stored for end in self.loop.ends)

    def stores_into(self, arrays: Iterable[Any]) -> bool:
        """Whether an iteration stores into one of some arrays of outside."""
        stored = {id(location.obj) for location in self.block.wrote if isinstance(location, Value)}
        return any(id(x.root if isinstance(x, View) else x) in stored for x in arrays)

    def _own(self) -> int:
        """How many arrays the variables of the user's have; the tags of these follow."""
        return len(types(self.specs[: len(self.specs) - self.extra]))

    def _tag(self) -> None:
        """Let the loop carry which array each of its variables holds."""
        if self.tagged:
            own = len(self.state) - self.extra
            self.body, self.state, self.opened = self.untagged, self.state[:own], self.opened[:own]
            self.specs = self.specs[:own]  # what has been found of lists stays: it says how many arrays there are
        else:
            self.specs = [generalize(spec_in_block(x)) for x in self.state]
        self.by_object, self.tagged, self.untagged = set(), True, self.body
        tags = LoopAliases(self._held() + self._held_outside()).first()
        self.extra, body, count = len(tags), self.body, len(self.state)

        def tagging(*args: Any) -> Any:
            outs = as_list(body(*args[: len(args) - len(tags)]), count)
            flat = [x for o, s in zip(outs, self.specs, strict=False) for x in flatten(o, s, as_is)]
            flat += [x for location in self.places for x in flatten(location.get(), self.preset[location], as_is)]
            return as_result([*outs, *self.loop.numbers(flat)])

        self.body = tagging
        self.state = [*self.state, *tags]
        self.specs += [CODE] * len(tags)
        self.opened += [CODE] * len(tags)

    def _kept(self, x: Any, spec: AbstractValue) -> AbstractValue:
        """The spec of a variable, some arrays of which are the same objects in each iteration."""
        kept = spec_in_block(x, lambda container: True, lambda array: id(array) in self.by_object)
        return _with_kept(spec, kept)

    def _before(self) -> list[Any]:
        """The arrays of the state before the loop."""
        return [x for s, t in zip(self.state, self.specs, strict=True) for x in flatten(s, t, as_is)]

    def _held(self) -> list[Any]:
        """The same, with what stands for the array of a variable that holds none."""
        return [x for s, spec in zip(self.state, self.specs, strict=True) for x in flatten(s, spec, _or_unbound)]

    def _held_outside(self) -> list[Any]:
        """The arrays in places outside, before the loop."""
        return [x for location in self.places for x in flatten(location.get(), self.preset[location], _or_unbound)]

    def _add_inputs(self, old: list[AbstractValue]) -> None:
        """Inputs that the body does not use, for variables that got their type in its run."""
        taken = iter(self.block.invars)
        invars = [next(taken) for _ in types(self.items)]
        for a, b in zip(old, self.specs, strict=True):
            invars += [next(taken) for _ in types([b])] if a == b else [Var(t.aval()) for t in types([b])]
        self.block.invars = invars

    def _from_memory(self, entry: list[AbstractValue]) -> list[AbstractValue]:
        """The remembered types, if the entry is at least as wide as the one they were found from."""
        if not self.place.remembers or self.place.remembered == ROTATED:
            return entry
        old_entry, found, preset, kept = self.place.remembered
        forget_dead(preset)
        try:
            wide = [join(e, o) for e, o in zip(entry, old_entry, strict=True)]
            if wide != entry:
                return entry
            lasting = {location: spec for location, spec in preset.items() if not isinstance(location, Value) or location.lasts()}
            self.preset = {location: joined(location, spec, outer_spec(location, lifting())) for location, spec in lasting.items()}
            specs = [join(e, f) for e, f in zip(entry, found, strict=True)]
            for k, stored in kept.items():
                if isinstance(x := self.state[k], Array):
                    self.by_object.add(id(x))
                    specs[k] = ByReference(x)
                    if stored is not None and not isinstance(x, View):
                        self.preset[Value(x)] = join(stored, spec_of(x))
            return specs
        except (Mismatch, ValueError):
            return entry

    def _facts(self, test: Callable[..., Any]) -> list[tuple[int, int]]:
        """What the test proves of the tags in the state: their positions, and the bits that they do not have."""
        found: list[tuple[int, int]] = []

        def finish(block: TracedRegion, p: Any) -> list[Any]:
            tags = [id(tag) for tag in _tags(block.args)]
            found.extend((tags.index(id(tag)), bits) for tag, bits in facts_of(p).true if id(tag) in tags)
            return []

        TracedRegion(lambda *s: truth(test(*s)), self.specs, self.place, "facts", finish, [test], preset=self.preset)
        return found

    def _finish(self, block: TracedRegion, out: Any) -> list[Any]:
        try:
            return self._finished(block, out)
        finally:
            self.loop.params, self.loop.held = [], {}  # no tracer outlives its trace

    def _finished(self, block: TracedRegion, out: Any) -> list[Any]:
        count = len(self.state)
        names = self.names() if block.left else []
        outs = [_known(opened(block.kept.get(n, nothing))) for n in names] if block.left else [_known(x) for x in as_list(out, count)]
        args = block.args[len(self.items) :]
        self.raw = [spec_out(x) for x in outs]
        found = copies_in(outs)
        self.more_copies, self.copies = not found.keys() <= self.copies.keys(), {**found, **self.copies}
        self.numbers = [x if type(x) in NUMBERS else None for x in outs]  # that an iteration gives, whatever the index
        held = block.held()
        block.given = twins({**dict(enumerate(outs)), **held}, goes_with_block)
        begun = {location: at_begin(location, block.frame) for location in held}
        self.iteration = {t[0].key: path for path, t in twins({**dict(enumerate(args)), **begun}).items()}
        self.stays = all(_stays(a, o) for a, o in zip(args, outs, strict=True))
        moved = {id(a): k for k, a in enumerate(args)}
        specs = self.raw
        joint = list(self.specs)
        for _ in range(_MOST_RUNS):  # what an iteration only moves from one variable to another is promoted in the same run
            old, joint = joint, self.joined(joint, [joint[moved[id(x)]] if id(x) in moved else s for x, s in zip(outs, specs, strict=True)])
            if joint == old:
                break
        else:
            raise unsettled(self.names(), old, joint, _MOST_RUNS)
        before = lifting()[:-1]
        for location, value in held.items():
            was = self.preset[location] if location in self.preset else outer_spec(location, before)
            self.left[location] = left_spec(location, value, block.frame)
            block.wrote[location] = self._joined_state(location, was, self.left[location], block)
        for location, spec in block.wrote.items():
            if may_be_missing(spec):
                assert isinstance(location, StateRef)
                raise location.refusal("it does not exist before", self._place(location, block), where_to_begin(location, "loop"))
        foreseen = all(
            block.frame.reads[loc][0] == spec if loc in block.frame.reads else not isinstance(loc, StateRef) for loc, spec in block.wrote.items()
        )  # fmt: skip
        self.joint, self.settled = joint, joint == self.specs and foreseen
        new = [k for k, (a, b) in enumerate(zip(self.specs, joint, strict=True)) if a != b]
        if not foreseen or not all(_bare(self.specs[k]) for k in new):
            return []
        packed = cast_to_types(outs, joint, self.names, LOOP)
        packed += cast_to_types(list(held.values()), [block.wrote[loc] for loc in held], lambda: [loc.bare for loc in held], LOOP)
        ends = [x for o, s in zip(outs, joint, strict=True) for x in flatten(o, s, as_is)][: self._own()]
        self._check_appended(block)
        order = [*self.places, *(loc for loc in held if loc not in self.places)]
        left = [(held[loc], block.wrote[loc]) if loc in held else (load(loc), self.preset[loc]) for loc in order]
        self.loop.end(ends + [x for value, spec in left for x in flatten(value, spec, as_is)], block.left)
        self.order = order
        # A variable that an iteration sets and never takes from the iteration before only gets its type: the run stands.
        self.settled = self.settled or blank_uses.count == self.uses
        return packed if self.settled else []

    def _check_appended(self, block: TracedRegion) -> None:
        """An array that an iteration appends to a list, which keeps a copy, is one that it has made, or into which no iteration stores."""
        for copy in block.frame.copied.values():
            x = copy.value
            place = Value(x) if isinstance(x, Array) else ContentsRef(x) if is_container(x) else None
            if place is not None and (place in block.wrote or isinstance(x, Array) and self.loop.has_stored_into(x)):
                raise place.error(f"{place.name} is changed in a loop: {copy.why}", copy.place, copy.advice)

    def joined(self, before: Sequence[AbstractValue], after: Sequence[AbstractValue]) -> list[AbstractValue]:
        out = []
        for k, (a, b) in enumerate(zip(before, after, strict=True)):
            try:
                if a is not b and (other := replaced(a, b)):
                    a = reopened(a, self.opened[k], other)
                out.append(a if a is b else join(a, b))
            except Mismatch as m:
                raise self._changes(k, m) from None
        return out

    def _place(self, location: Location, block: TracedRegion) -> errors.SourceSpan | None:
        """Where an iteration first changes it."""
        return block.frame.places.get(location) or place_of(caller())

    def _joined_state(self, location: Location, before: AbstractValue, after: AbstractValue, block: TracedRegion) -> AbstractValue:
        """The spec that covers what iterations leave in a place outside."""
        place = self._place(location, block)
        try:
            joint = joined(location, before, after)
        except Mismatch as m:
            assert isinstance(location, StateRef)
            refuse_or_grow(location, (before, after), [block.frame])
            if "vmap" in transformation() and described(m.a) == described(m.b):
                raise under_vmap(location, place) from None
            why = two(m, "before the loop", "after one iteration")
            raise location.refusal(why, place, instead_of_change(m, location, place, for_iterations(m, location.bare))) from None
        return joint

    def _changes(self, k: int, m: Mismatch) -> LoopTypeError:
        name = self.names()[k]
        at = last_store(getattr(self.source, "__code__", None), name)
        why = f"; {m.why}" if m.why else ""
        where = f" (line {at.line})" if at else ""
        before, after = pair(describe(m.a), describe(m.b))
        return LoopTypeError(
            f"loop variable `{name}{m.path}` is {before} before the loop and {after} after one iteration{where}{why}",
            place_of(caller()), instead(m.a, m.b, for_iterations(m, name)), [(at, after)],
        )  # fmt: skip

    def names(self) -> list[str]:
        names = parameter_names(self.source, len(self.state) - len(self.hidden) - self.extra)
        return [*self.hidden, *names, *["a tag"] * self.extra]


_WHOLE = -1


def _alone(entry: AbstractValue, joint: AbstractValue, end: AbstractValue) -> list[int]:
    """Which of the arrays of a state are numbers before the loop, and arrays in it; `_WHOLE`, if one is a number after each iteration only."""
    before, carried, after = types([entry]), types([joint]), types([generalize(end)])
    if not len(before) == len(carried) == len(after):
        return []
    if any(t.shape and not a.shape for t, a in zip(carried, after, strict=True)):
        return [_WHOLE]
    return [n for n, (b, t) in enumerate(zip(before, carried, strict=True)) if t.shape and not b.shape]


def _or_unbound(x: Any, t: ArrayType) -> Any:
    return Unbound(t.shape) if isinstance(x, Blank) and t.shape else x


def _of_state(facts: Iterable[tuple[int, int]], args: list[Any]) -> list[Fact]:
    tags = _tags(args)
    return [(tags[k], bits) for k, bits in facts]


def _known(value: Any) -> Any:
    return map_maybe(known, value, CONTAINERS)


def _stays(begun: Any, ended: Any) -> bool:
    """Whether arrays that an iteration was given by object are what it ends with."""
    if isinstance(begun, Array) and begun.home() is not _jax.current_trace():
        return ended is begun
    if is_leaf(begun) or not isinstance(begun, (tuple, list, dict)) or type(begun) is not type(ended) or len(begun) != len(ended):
        return True
    mine = children(begun)[0]
    return any(v is begun for v in mine) or all(map(_stays, mine, children(ended)[0]))  # JAX knows nothing of what is in a `deque`


def _with_kept(spec: AbstractValue, kept: AbstractValue) -> AbstractValue:
    """The first spec, with the arrays that the second keeps."""
    if isinstance(kept, ByReference):
        return kept if isinstance(kept.value, Array) else spec
    if is_leaf(kept) or is_leaf(spec):
        return spec
    if isinstance(spec, Option):
        return replace(spec, value=_with_kept(spec.value, kept.value if isinstance(kept, Option) else kept))
    parts, tree = children(spec)
    return tree.unflatten([_with_kept(a, b) for a, b in zip(parts, children(kept)[0], strict=True)])


def _bare(spec: AbstractValue) -> bool:
    """Whether a variable has no value yet."""
    return isinstance(spec, Static) and isinstance(spec.value, (Blank, Unset))


def _tags(values: Any) -> list[Any]:
    """The tags in some values, in order."""
    return [m.tag for m in trees.leaves(values, is_leaf=is_value) if isinstance(m, Maybe)]
