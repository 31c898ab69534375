"""`cond`: a branch whose predicate may be traced.

    if x > 0: y = x              the user's text
    else: y = 0.0

    y = ag.cond(x > 0, lambda: x, lambda: 0.0)                  converted
    cond_p[branches=(..., ...)]  or  select_n                   in the jaxpr

A static predicate calls one of the two functions.  Otherwise:

1. `_Sides` traces each branch as a `TracedRegion`, with what its predicate implies (path conditions).
2. `_finish` joins the results leaf by leaf to the least common type (`values/joins.py`), and the state that either branch has changed.
3. `_converted` casts each branch to the joint types.  A branch that certainly fails gives zeros of these types.
4. `bind` moves stores of one branch behind the conditional (`sinking.sunk`), and binds `lax.cond_p`, or a select where that can be seen neither in
   values nor in gradients (`cond_lowering.py`).
5. `_given` makes the results objects again, and says which arrays each may be (`array_aliasing.tie`).

Always: each branch's Python runs once per trace; what only one branch writes has its old value in the other; the user's cells hold no tracer.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax import lax

from autograph.runtime.arrays.array_aliasing import NeedsTags, described, lasting, tie
from autograph.runtime.arrays.numpy_array import as_kind
from autograph.runtime.arrays.variable_ref import VariableRef
from autograph.runtime.branches.cond_lowering import bind_cond, select, selectable
from autograph.runtime.branches.disagreement import BranchSpan, disagree, remember
from autograph.runtime.branches.object_phi import given_before, note_choice
from autograph.runtime.branches.sinking import sunk
from autograph.runtime.branches.traced_region import TracedRegion
from autograph.runtime.effects.error_codes import PathEnds
from autograph.runtime.errors.errors import AutographError
from autograph.runtime.errors.source_spans import caller, handed_to, here, parameter_names, result_names
from autograph.runtime.indexing.class_patching import taken_in
from autograph.runtime.indexing.stores import Value
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi.tracers import Array, as_object, content
from autograph.runtime.sequences.bounded_list import Grow, joint_of
from autograph.runtime.sequences.list_capacity import refuse_or_grow, retry_with_capacity
from autograph.runtime.sequences.list_holders import is_unread
from autograph.runtime.sequences.list_joins import Meetings
from autograph.runtime.sequences.truth import truth
from autograph.runtime.state.captured_state import (
    Location,
    Tag,
    goes_with_block,
    joined,
    left_spec,
    load,
    may_be_missing,
    outer_spec,
    spec_out,
    store,
    taken,
)
from autograph.runtime.state.cast_to_types import SIDES, cast_to_types, does_not_fit
from autograph.runtime.state.container_aliasing import chosen, looked_into, reopened, replaced, twins, unlike
from autograph.runtime.state.copies import copies_in, note_copies_at
from autograph.runtime.state.decisions import decided, given_names, watching
from autograph.runtime.state.fresh_objects import new_objects
from autograph.runtime.state.length_bounds import join_marks, marks, other_side
from autograph.runtime.state.state_refs import AttributeRef, ContainerItems, ContentsRef, StateRef, one_way_only
from autograph.runtime.state.type_text import instead_of_change, two, where_to_begin
from autograph.runtime.state.variable_reads import Held
from autograph.runtime.tracing.trace_context import CallSite, condition, frames, innermost, lifting, refuse_or_decide
from autograph.runtime.values.abstract_values import BLANK, AbstractValue, ArrayType, generalize, of_aval, over, spec_of, types
from autograph.runtime.values.flatten import as_is, flatten, unflatten, unpack_variables
from autograph.runtime.values.joins import Mismatch, join
from autograph.runtime.values.path_conditions import facts_of, known
from autograph.runtime.values.value_objects import closed, is_value_object, opened
from autograph.runtime.values.values import CONTAINERS, blank, map_maybe, nothing, parts


def cond(pred: Any, then: Callable[..., Any], orelse: Callable[..., Any], *state: Any) -> Any:
    """`then(*state)` if `pred` else `orelse(*state)`; one staged branch if `pred` is traced.

    Args:
      pred: a Python object, or an array with one element.
      then, orelse: functions of the state; they return what the branch assigns (one value, or a tuple).
      state: the values that the branches may rebind.

    Raises:
      BranchTypeError: (AG202) the two sides give values that no type covers.

    >>> import jax, autograph.runtime as ag
    >>> jax.jit(lambda x: ag.cond(x > 0, lambda: x, lambda: 0))(-3.0)
    Array(0., dtype=float32, weak_type=True)
    """
    p = truth(pred)
    if p is True or p is False:
        if watching():
            decided("branch", "Python", f"the condition is static: {p}")
        return then(*state) if p is True else orelse(*state)
    return staged_cond(p, then, orelse, state)


def going_on(before: tuple[Any, Any], rest: Callable[[], tuple[Any, Any]]) -> Any:
    """The next group of a long chain of conditional expressions: `before` says whether no test has held so far, and what has been given."""
    pending, value = before
    return cond(pending, rest, lambda: (False, value))


def continued(before: tuple[Any, Any], rest: Callable[[], Any]) -> Any:
    """What a long chain of conditional expressions gives, of which `rest` is the last group.

    >>> import autograph.runtime as ag
    >>> ag.continued((True, ag.blank), lambda: 3), ag.continued((False, 2), lambda: 3)
    (3, 2)
    """
    pending, value = before
    return cond(pending, rest, lambda: value)


def switch(subject: Any, cases: dict[Any, Callable[..., Any]], default: Callable[..., Any], *state: Any) -> Any:
    """The case whose key (an integer, or a tuple of them) equals the subject, or the default; one staged branch if the subject is traced.

    >>> import jax, autograph.runtime as ag
    >>> jax.jit(lambda k, x: ag.switch(k, {0: lambda x: x, (1, 2): lambda x: -x}, lambda x: x * 10, x))(2, 3)
    Array(-3, dtype=int32, weak_type=True)
    """
    open_: list[tuple[Any, Callable[..., Any]]] = []
    for keys, fn in cases.items():
        tests = [truth(subject == key) for key in (keys if type(keys) is tuple else (keys,))]
        if any(p is True for p in tests):
            default = fn
            break
        traced = [p for p in tests if p is not False]
        if traced:
            open_.append((functools.reduce(lax.bitwise_or, traced), fn))
    if not open_:
        return default(*state)
    if len(open_) == 1:
        return staged_cond(open_[0][0], open_[0][1], default, state)
    index: Any = np.int32(len(open_))
    for k in reversed(range(len(open_))):
        index = lax.select(open_[k][0], np.int32(k), index)
    meetings = Meetings()
    return _roomy(lambda state: _Sides([*(fn for _, fn in open_), default], state, (), (), index, meetings).bind(index), state, default)


def keep(*state: Any) -> Any:
    """The side of a branch that changes nothing."""
    return state[0] if len(state) == 1 else state or None


def staged_cond(
    p: Any, then: Callable[..., Any], orelse: Callable[..., Any], state: Sequence[Any], sources: Sequence[Callable[..., Any]] = ()
) -> Any:
    """`cond` with a traced predicate; `sources` are the user's blocks, where the sides are wrappers around them."""
    with condition(p) as found:
        if found is None:
            meetings = Meetings()
            return _roomy(lambda state: _Sides([then, orelse], state, sources, facts_of(p), p, meetings).bind(p), state, then)
    if watching():
        decided("branch", "Python", f"its branches leave other keys or attributes, and its condition was computed first: {found}")
    return (then if found else orelse)(*state)


def _as_value(x: Any) -> Any:
    """Of a Variable that a side has made with a value of its trace, the value: no other side has the Variable."""
    return x.value if isinstance(x, VariableRef) and _jax.made_here(x.value) and not any(Held(x) in frame.saved for frame in frames()) else x


def _roomy(bind: Callable[[Sequence[Any]], Any], state: Sequence[Any], source: Any) -> Any:
    """A branch, whose lists may become longer on some side."""
    return retry_with_capacity(bind, list(state), CallSite(getattr(source, "__code__", None)), 1, loop=False)


_LARGE = 64  # items of a store that a branch keeps to itself


class _Sides:
    """The sides of a branch, each traced once; their results are brought to joint types."""

    def __init__(
        self, fns: Sequence[Callable[..., Any]], state: Sequence[Any], sources: Sequence[Callable[..., Any]], facts: Sequence[Any], chosen: Any,
        meetings: Meetings,
    ) -> None:  # fmt: skip
        self.fns, self.state, self.chosen, self.meetings = fns, state, content(chosen), meetings
        self.axes = _jax.axes_of(_jax.aval_of(chosen))  # devices of a mesh that choose differently hold different results
        self.joint: AbstractValue = BLANK
        self.wrote: dict[Location, AbstractValue] = {}  # what some side sets outside, with its joint type
        self.before = lifting()
        self.blocks: list[TracedRegion] = []
        self.found: dict[Location, Any] = {}  # the tags that a side has given
        self.new: set[Location] = set()  # attributes of objects that one side makes: on the others there is no such object
        self.spans: list[BranchSpan] = []  # the branches in each side
        self.copies: dict[Any, Any] = {}  # where a side gives what is a copy, or has one
        self.whole: dict[int, Any] = {}  # by its number: an object of which the fields are results, if all sides give the same
        self.specs: list[AbstractValue] = []  # of what each side gives
        self.kept: list[AbstractValue] = []  # the same, in which lists and dicts from outside are what they are
        place = CallSite(getattr(fns[0], "__code__", None))
        known, ends = marks(), []
        for k, fn in enumerate(fns):
            other_side(known)
            self.spans.append(BranchSpan())
            run, learnt = functools.partial(_called, fn, state, meetings), facts[k] if k < len(facts) else ()
            block = TracedRegion(
                run, (), place, k, self._finish, sources or (fn,), facts=functools.partial(_given_facts, learnt), state=state, chosen=(chosen, k)
            )
            block.connect()
            self.blocks.append(block)
            ends.append(marks())
        join_marks(known, ends)
        remember(fns, self.specs)
        outs = [self._converted(block, spec) for block, spec in zip(self.blocks[:-1], self.specs, strict=False)]
        for block, out in zip(self.blocks, outs, strict=False):
            block.outvars = out
        for block in self.blocks:
            assert [of_aval(v.aval) for v in block.outvars] == self.types, (block.outvars, self.joint)
            block.merge_constants()

    @property
    def types(self) -> list[ArrayType]:
        return types([self.joint, *self.wrote.values()])

    def _finish(self, block: TracedRegion, out: Any) -> list[Any]:
        if block.left and block.kept:  # shared variables keep what they hold
            names = handed_to(caller())
            values = [block.kept.get(name, nothing) for name in names]
            out = values[0] if len(values) == 1 else tuple(values) or nothing
        out = self._opened(map_maybe(known, out, CONTAINERS))
        out = tuple(map(_as_value, out)) if type(out) is tuple else _as_value(out)
        self.new.update(new_objects(block.frame, [out, *block.held().values()]))
        held = block.held()
        tags = note_tags([out, *held.values()])
        held = block.held()
        block.given = twins({"": out, **held}, goes_with_block)
        self.spans[-1].end()
        self.copies.update(copies_in(out))
        block.before = given_before(out, self.fns[len(self.blocks)], self.state)
        self.specs.append(spec_of(out))
        self._join(block, spec_out(out))
        block.wrote = {location: left_spec(location, value, block.frame) for location, value in held.items()}
        given = {None: (self.specs[-1], out)} | {location: (block.wrote[location], value) for location, value in held.items()}
        flat = iter(described([x for spec, value in given.values() for x in flatten(value, spec, as_is)], tags))
        block.gives = {key: unpack_variables(spec, flat) for key, (spec, _) in given.items()}
        if len(self.blocks) < len(self.fns) - 1:
            return [
                *flatten(out, self.specs[-1], as_is),
                *(x for location, value in held.items() for x in flatten(value, block.wrote[location], as_is)),
            ]
        every = dict.fromkeys([*(w for b in self.blocks for w in b.wrote), *held])
        held = {location: blank if location in self.new and location not in held else load(location) for location in every}
        for location in [*held]:
            specs = self._sides_left(location, [block, *self.blocks])
            if isinstance(location, (ContentsRef, AttributeRef)) and not _have_joint(location, specs) and self._is_unread(location):
                del held[location]
                continue
            joint, *others = specs
            for other in others:
                joint = self._joined_state(location, joint, other, block)
            self.wrote[location] = over(joint, self.axes)
        one_way_only(self.wrote, [(b.wrote, b.places) for b in self.blocks] + [(block.wrote, block.frame.places)])
        unread: list[Location] = []
        for location, joint in self.wrote.items():  # after all others: the attributes of a new object are missing, and it is its place that changes
            if may_be_missing(joint):
                assert isinstance(location, StateRef)
                if isinstance(location, AttributeRef) and self._is_unread(location):
                    unread.append(location)
                    continue
                refuse_or_decide(location.refusal("it does not exist before", self._place(location, block), where_to_begin(location, "branch")))
        for location in unread:
            del held[location], self.wrote[location]
        self.joint = over(self.joint, self.axes)
        return _packed(out, self.joint) + [x for location, value in held.items() for x in flatten(value, self.wrote[location])]

    def _opened(self, out: Any) -> Any:
        """What a side gives, with the fields of objects; `whole` takes an object that all sides give so far."""
        single = type(out) is not tuple
        parts = [out] if single else [*out]
        for k, x in enumerate(parts):
            if is_value_object(x):
                parts[k] = opened(x)
                if self.whole.setdefault(k, x) is not x:
                    self.whole[k] = None
        return parts[0] if single else tuple(parts)

    def _closed(self, out: Any) -> Any:
        """What the branch gives, with the objects: one that all sides give is the object that it is."""
        if type(out) is not tuple:
            return closed(out) if self.whole.get(0) is None else self.whole[0]
        return tuple(closed(x) if self.whole.get(k) is None else self.whole[k] for k, x in enumerate(out))

    def _left(self, block: TracedRegion, location: Location) -> AbstractValue:
        """What a side leaves in a place outside."""
        return block.wrote[location] if location in block.wrote else BLANK if location in self.new else outer_spec(location, self.before)

    def _sides_left(self, location: Location, blocks: Sequence[TracedRegion]) -> list[AbstractValue]:
        """What sides leave in a place outside: where they leave different lists or dicts, what those hold at the end of each."""
        specs = [self._left(b, location) for b in blocks]
        if not (differ := {x for a in specs for b in specs for x in replaced(a, b)}):
            return specs

        def contents(block: TracedRegion, container: Any) -> AbstractValue:
            place = ContentsRef(container)
            return block.wrote[place] if place in block.wrote else outer_spec(place, self.before)

        return [looked_into(spec, differ, functools.partial(contents, b)) for spec, b in zip(specs, blocks, strict=True)]

    def _join(self, block: TracedRegion, spec: AbstractValue) -> None:
        """Find the joint type of the results: a list or dict that all sides give stays the object that it is."""
        self.kept.append(spec)
        sides = [*(b.given for b in self.blocks), block.given]
        if not any(sides):
            self.joint = self._joined(spec, len(self.blocks))
            return
        differ = unlike(sides)
        self.joint = BLANK
        for k, (kept, inside) in enumerate(zip(self.kept, self.specs, strict=True)):
            self.joint = self._joined(reopened(kept, inside, differ), k)

    def _joined(self, spec: AbstractValue, k: int) -> AbstractValue:
        """The joint type with what the k-th side gives."""
        a = self.joint
        try:
            return join(a, spec)
        except Mismatch as m:
            frame = caller()
            names = result_names(frame, len(a) if isinstance(a, tuple) else 1)
            fns, spans = (self.fns[0], self.fns[k]), (self.spans[0], self.spans[k])
            self._grow_instead(a, spec, names, k)
            self.meetings.check(a, spec, self.kept, self.state, names)
            if isinstance(a, tuple) and isinstance(spec, tuple) and len(names) == len(a) == len(spec) and len(names) > 1:
                for i, (x, y) in enumerate(zip(a, spec, strict=True)):
                    try:
                        join(x, y)
                    except Mismatch as inner:
                        raise disagree(inner, fns, spans, frame, names, i) from None
            raise disagree(m, fns, spans, frame, names if len(names) == 1 else ()) from None

    def _grow_instead(self, a: Any, b: Any, names: Sequence[str], k: int) -> None:
        """Raise Grow if a list of two lengths is what becomes of one that the branch was given, and that a side makes longer or shorter."""
        given = {name: x for fn in (self.fns[0], self.fns[k]) for name, x in zip(parameter_names(fn, len(self.state)), self.state, strict=True)}
        sides = zip(names, a, b, strict=True) if len(names) > 1 else [(*names, a, b)] if names else []
        for name, x, y in sides:
            if type(items := given.get(name)) is list and type(x) is list and type(y) is list and len(x) != len(y):
                if any(id(items) in f.grows for f in (innermost(), *(b.frame for b in self.blocks)) if f is not None):
                    raise Grow(items, joint_of([generalize(s) for s in (*x, *y)])) from None

    def _joined_state(self, location: Location, a: AbstractValue, b: AbstractValue, block: TracedRegion) -> AbstractValue:
        """The spec that covers what two sides leave in a place outside."""
        try:
            joint = joined(location, a, b)
        except Mismatch as m:
            assert isinstance(location, StateRef)
            around = (block.frame, *(b.frame for b in self.blocks))
            refuse_or_grow(location, (a, b), around)
            why = two(m, "in one branch", "in the other")
            place = self._place(location, block)
            error = location.refusal(why, place, instead_of_change(m, location, place, "give it the same type and shape in both branches"))
            if isinstance(m.a, ContainerItems) and isinstance(m.b, ContainerItems) and m.a.keys is not None and m.a.keys != m.b.keys:
                refuse_or_decide(error)
            raise error from None
        return joint

    def _is_unread(self, place: ContentsRef | AttributeRef) -> bool:
        """Whether what a container or object holds matters to nobody after the branch; its state is held by the operator and by its attempt."""
        around = itertools.takewhile(lambda f: f.chosen is not None, reversed(frames()))
        held = 2 * (sum(x is place.obj for x in self.state) + sum(id(place.obj) in f.passed for f in around))
        return is_unread(place, held, {fn.__code__ for fn in self.fns if hasattr(fn, "__code__")})

    def _place(self, location: Location, block: TracedRegion) -> Any:
        """Where a side first changes it."""
        places = [*(b.places for b in self.blocks), block.frame.places]
        return next((p[location] for p in places if location in p), None) or here()

    def _converted(self, block: TracedRegion, spec: AbstractValue) -> list[Any]:
        """The results of a side that was traced before the joint types were known."""
        flat = iter(block.outvars)
        try:
            out = unpack_variables(spec, flat)
            wrote = {location: unpack_variables(left, flat) for location, left in block.wrote.items()}  # in the order of this side
            stored: dict[StateRef, Any] = {location: v for location, v in wrote.items() if isinstance(location, Value)}
            outer = {x: outer_spec(x, self.before) for x in self.wrote if x not in wrote and x not in self.new}
            outside = {x: unpack_variables(spec, iter(block.fresh(spec, flatten(load(x), spec)))) for x, spec in outer.items()}
            with _as_left(wrote):
                outs = block.emit(out, self.joint)
                for location, joint in self.wrote.items():
                    value = wrote[location] if location in wrote else outside.get(location, blank)
                    outs += block.emit(value, joint, stored)
        except OverflowError as error:
            raise does_not_fit(error, SIDES, _only_name(caller())) from None
        return outs

    def bind(self, p: Any) -> Any:
        """The result of the branch that a traced truth value (of two sides) or index chooses."""
        effects = any(e.effects for side in self.blocks for e in side.eqns)
        if not self.types and not effects:
            return self._given(iter(()))
        without = sunk(self.blocks)
        if without is not None and without.one_sided and without.largest() > _LARGE and not selectable(without.blocks):
            without = None  # XLA makes the store of one branch in place; made behind it, the other branch would fill as many items
        blocks = self.blocks if without is None else without.blocks
        selected = selectable(blocks) and not (without is not None and without.would_copy())
        if watching():
            self._tell(selected)
        outs = [x if x is y else select(p, x, y) for x, y in zip(*(b.inline() for b in blocks), strict=True)] if selected else bind_cond(p, blocks)
        return self._given(iter(outs if without is None else without.stored(outs)))

    def _arrays(self, block: TracedRegion) -> list[Any]:
        """Which array a side gives for each of the results."""

        def left(location: Location) -> Any:
            if location in block.gives:
                return block.gives[location]
            if location in self.new:
                return blank
            outer = outer_spec(location, self.before)
            return unpack_variables(outer, map(lasting, flatten(load(location), outer, as_is)))

        given = {"": block.gives[None]} | {location: left(location) for location in self.wrote}
        flat = [x for value, spec in zip(given.values(), (self.joint, *self.wrote.values()), strict=True) for x in flatten(value, spec, as_is)]
        return [lasting(x) for x in flat]  # of a place that stays what it was

    def _tell(self, selected: bool) -> None:
        """Tell `ag.explain` what the branch becomes."""
        if selected:
            became, why = "select", "both branches are a few cheap operations, which cannot be seen in values or gradients: both are computed"
        elif len(self.blocks) == 2:
            became, why = "cond", "the condition is traced: only the branch that is taken runs"
        else:
            became, why = f"switch of {len(self.blocks)}", "what is compared with the keys is traced: only the case that is taken runs"
        outs = list(self.joint) if type(self.joint) is tuple else [self.joint]
        decided("branch", became, why, given_names(len(outs)), (), outs, self.wrote)

    def _given(self, flat: Iterator[Any]) -> Any:
        results = [as_kind(as_object(content(x)), t.numpys) for x, t in zip(flat, self.types, strict=True)]
        first = len(types([self.joint]))
        for location, spec in self.wrote.items():
            count = len(types([spec]))
            if isinstance(location, Tag):
                self.found[location] = content(results[first])
                lifting()[-1].selectors.append(getattr(self.found[location], "val", None))
            first += count
        tie(results, [self._arrays(b) for b in self.blocks], functools.partial(_choose, self.chosen), self.found)
        flat = iter(results)
        new: dict[Any, Any] = {"": unflatten(self.joint, flat)}
        for location, spec in self.wrote.items():
            new[location] = unflatten(spec, flat)
        sides = [b.given for b in self.blocks]
        if any(sides):
            around = twins({location: load(location) for location in self.wrote})
            sides = [{**around, **given} for given in sides]
        for location in self.wrote:
            store(location, new[location])
        taken(self.wrote)
        chosen(new, sides)
        note_copies_at(new[""], self.copies)
        out = self._closed(new[""]) if self.whole else new[""]
        note_choice(out, [b.before for b in self.blocks])
        if all(b.left for b in self.blocks):
            raise PathEnds
        return out


def _have_joint(location: Location, specs: Sequence[AbstractValue]) -> bool:
    """Whether something covers what all sides leave in a place."""
    try:
        functools.reduce(functools.partial(joined, location), specs)
    except (Mismatch, AutographError):
        return False
    return True


def parts_of(value: Any) -> list[Any]:
    return [x for v in (value.values if isinstance(value, ContainerItems) else [value]) for x in parts(v)]


def note_tags(values: Sequence[Any]) -> dict[int, Tag]:
    """At the end of a side: let it give the tags of arrays that are chosen in it, by their identities."""
    here = _jax.current_trace()
    found: dict[int, Tag] = {}
    for x in [x for v in values for x in parts_of(v)]:
        if isinstance(x, Array) and x.who is not None and len(x.who.possible) > 1 and x.home() is here and id(x) not in found:
            try:
                tag = x.who.tag()
            except NeedsTags:
                continue
            found[id(x)] = Tag(next(_tags))
            store(found[id(x)], tag)
    return found


_tags = itertools.count()


def _choose(which: Any, tags: Sequence[Any]) -> Any:
    """The tag that the side which is taken has."""
    flat = [jax.numpy.asarray(t, np.int32) for t in tags]
    return lax.select_n(which, *(flat[::-1] if len(flat) == 2 else flat))


@contextlib.contextmanager
def _as_left(wrote: Mapping[Location, Any]) -> Iterator[None]:
    """Objects from outside hold what a side has left in them: one that the other side replaces by another is looked into here."""
    before = [(x, x.get()) for x in wrote if isinstance(x, StateRef) and not isinstance(x, Value)]
    try:
        for x, _ in before:
            x.put(wrote[x])
        yield
    finally:
        for x, held in reversed(before):
            x.put(held)


def _called(fn: Callable[..., Any], state: Sequence[Any], meetings: Meetings) -> Any:
    return meetings.met([fn(*[map_maybe(known, taken_in(x), CONTAINERS) for x in state])])


def _given_facts(facts: Any, _: Any) -> Any:
    return facts


def _packed(out: Any, joint: AbstractValue) -> list[Any]:
    frame = caller()
    if type(out) is tuple and type(joint) is tuple and len(out) == len(joint):
        return cast_to_types(out, joint, lambda: result_names(frame, len(out)), SIDES)
    return cast_to_types([out], [joint], lambda: result_names(frame, 1), SIDES)


def _only_name(frame: Any) -> str:
    names = result_names(frame, 1)
    return names[0] if len(names) == 1 else ""
