"""State outside the parameter list of a block: the error code of deferred errors, and locations in Python's objects.

    for v in xs: self.total += v        =>        scan over (v) with  `self.total`  in the carry, though no parameter names it

One trace of a block finds what it reads and writes outside:

- `record_write(ref)` is called before an operator changes a `StateRef`.  It notes the old value in the undo log of each region around
  (`TraceContext.saved`), and the location in its write set (`written`).
- A location that is read needs nothing: what stands there is used.  In an iteration of a loop that changes it, it begins as a marker (`marker_p`),
  which becomes an input of the jaxpr (`enter`, `load`).
- The error code has no object.  It is a location of its own (`ERROR`), and is read by a marker, too.

`restore(frame)` puts back what stood there when the trace of the block ends; `store` writes what the bound primitive has given.

Always: outside of a trace the user's objects hold values of the trace around, never those of one that has ended.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import replace
from typing import Any

import jax

from autograph.runtime.errors.source_spans import here, transformation
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi import trees
from autograph.runtime.jaxapi.tracers import Array
from autograph.runtime.jaxapi.traces import Primitive
from autograph.runtime.state.container_aliasing import invalidate, is_spoiled, spoil_twins
from autograph.runtime.state.state_refs import AttributeRef, ContainerItems, ContentsRef, StateRef
from autograph.runtime.tracing.trace_context import TraceContext, frames, lifting, refuse_or_decide, trace_again
from autograph.runtime.values.abstract_values import (
    BLANK,
    AbstractValue,
    ArrayType,
    ByReference,
    Option,
    Static,
    generalize,
    is_container,
    leaves,
    spec_in_block,
    spec_of,
    types,
)
from autograph.runtime.values.flatten import flatten, unflatten
from autograph.runtime.values.joins import Mismatch, join
from autograph.runtime.values.values import NUMBERS, UNSET, Maybe, Unset, blank, is_value, parts

marker_p = Primitive("marker")
marker_p.def_abstract_eval(lambda *, slot, type: type.aval())
_slots = itertools.count()


class ErrorCode:
    """The error code, which is no place in an object.  `leave` takes it where no trace of a function of ours is around."""

    name = "the error code"
    leave: Callable[[Any], None]

    @property
    def bare(self) -> str:
        return self.name


class ErrorValues(ErrorCode):
    """The traced values that are part of an error: its message and attributes."""

    def __init__(self, number: int) -> None:
        self.number, self.name = number, f"the values of error {number}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ErrorValues) and self.number == other.number

    def __hash__(self) -> int:
        return hash(("error", self.number))


class Tag(ErrorCode):
    """Which array one is that a side of a branch gives, as traced values in it decide: it goes no further than the branch."""

    def __init__(self, number: int) -> None:
        self.number, self.name = number, f"tag {number}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tag) and self.number == other.number

    def __hash__(self) -> int:
        return hash(("tag", self.number))


Location = ErrorCode | StateRef
ERROR = ErrorCode()
CODE = ArrayType((), _jax.INT32, False)


def outer_spec(location: Location, around: Sequence[TraceContext]) -> AbstractValue:
    """The spec of a location as the innermost of these frames sees it."""
    if isinstance(location, StateRef):
        value = location.get()
        for frame in lifting()[: len(around) - 1 if around else None : -1]:
            value = frame.saved.get(location, value)
        return _against(value, value)
    for frame in reversed(around):
        if location in frame.values:
            return spec_of(frame.values[location])
        if location in frame.preset:
            return frame.preset[location]
    return Static(0) if location is ERROR else BLANK


def left_spec(location: Location, value: Any, frame: TraceContext) -> AbstractValue:
    """The spec of what a block leaves in a location, as it ends."""
    return _against(value, frame.saved[location]) if isinstance(location, StateRef) else spec_of(value)


def _against(value: Any, outer: Any) -> AbstractValue:
    """A spec in which what is the very object that the block around has there stays that object."""
    if not isinstance(value, ContainerItems):
        return _leaf(value, outer)
    same = isinstance(outer, ContainerItems) and outer.alike(value)
    return ContainerItems(value.keys, [_leaf(v, outer.values[k] if same else None) for k, v in enumerate(value.values)])


def _leaf(value: Any, outer: Any) -> AbstractValue:
    if value is outer and not isinstance(value, Maybe):
        return Static(value)
    changed = {id(x.obj) for x in lifting()[-1].written if isinstance(x, StateRef) and isinstance(x.obj, Array)} if lifting() else set()
    return spec_out(value, changed)  # what an array from outside holds here goes no other way, if it has changed


def spec_out(value: Any, but: Container[int] = ()) -> AbstractValue:
    """The spec of what comes out of the block that is being traced: a container that it made is looked into, any other stays what it is.

    So does an array of the blocks around, `but` for some.
    """
    here = _jax.current_trace()
    return spec_in_block(value, _made_here, lambda array: array.ndim and array.home() is not here and id(array) not in but)


def _made_here(container: Any) -> bool:
    """Whether the block that is being traced has made a container, going by what it holds."""
    around = lifting()
    if around and (ContentsRef(container) in around[-1].saved or id(container) in around[-1].own):
        return id(container) in around[-1].own
    own = trees.leaves(container, is_leaf=lambda x: x is not container and (is_value(x) or is_container(x)))
    if len(own) == 1 and own[0] is container:  # a `deque`, of which JAX knows nothing
        held = ContentsRef(container).get()
        own = held.values if isinstance(held, ContainerItems) else []
    return any(_made_here(v) if is_container(v) else any(map(_jax.made_here, parts(v))) for v in own)  # a list in it may have changed by itself


def goes_with_block(container: Any) -> bool:
    """Whether a container is one of the block's that is being traced, and holds its values."""
    return id(container) in lifting()[-1].given or _made_here(container)


def joined(location: Location, a: AbstractValue, b: AbstractValue) -> AbstractValue:
    """The spec that covers what a location may hold; raises Mismatch, or the error of an attribute that may be missing."""
    spec = join(a, b)
    return replace(CODE, axes=wide.axes) if location is ERROR and isinstance(wide := generalize(spec), ArrayType) else spec


def may_be_missing(spec: AbstractValue) -> bool:
    """Whether a place may have nothing in it."""
    return any(isinstance(x, Option) and x.bits & UNSET for x in trees.leaves(spec, is_leaf=lambda x: isinstance(x, (Option, Static, ArrayType))))


def load(location: Location) -> Any:
    """The value of a location in the block that is being traced."""
    if isinstance(location, StateRef):
        return location.get()
    around = lifting()
    if not around:
        return 0 if location is ERROR else blank
    frame = around[-1]
    if location not in frame.values:
        _mark(location, frame.preset[location] if location in frame.preset else outer_spec(location, around[:-1]), frame)
    return frame.values[location]


def _mark(location: Location, spec: AbstractValue, frame: TraceContext) -> None:
    """Let the block begin with markers in a location."""
    slots = [next(_slots) for _ in types([spec])]
    frame.reads[location] = spec, slots
    markers = [_jax.bind_in(frame.trace, marker_p, slot=k, type=t) for k, t in zip(slots, types([spec]), strict=True)]
    frame.values[location] = frame.marked[location] = unflatten(spec, iter(markers))


def store(location: Location, value: Any) -> None:
    """Set a location in the block that is being traced."""
    if isinstance(location, StateRef):
        if is_spoiled(value):
            invalidate(location.obj, value)
            return
        record_write(location, late=False)  # the block itself has seen whether an error had occurred
        location.put(value)
        return
    around = lifting()
    if not reachable():
        location.leave(value)
        return
    around[-1].values[location] = value
    around[-1].written[location] = None


def taken(locations: Iterable[Location]) -> dict[Location, Any]:
    """The tags among some locations that a branch has set: nobody else asks for them."""
    frame = lifting()[-1] if lifting() else None
    found: dict[Location, Any] = {}
    for location in [x for x in locations if isinstance(x, Tag)]:
        if frame is not None:
            found[location] = frame.values.pop(location)
            frame.written.pop(location, None)
    return found


def record_write(location: StateRef, late: bool = True, beneath: bool = False) -> None:
    """Called before a place changes: the blocks around remember what it held; `beneath` another trace, it is given nothing of that one.

    Raises the location's error (AG401, AG405) if the object is a copy that a loop or branch carries: others may hold the original.
    """
    if isinstance(location, ContentsRef):
        if late:
            note_late(location)
        spoil_twins(location.obj)
    for frame in frames():
        if id(location.obj) in frame.copied:  # also one of the blocks around
            copy = frame.copied[id(location.obj)]
            raise location.error(f"{location.name} is changed: {copy.why}", here(), copy.advice)
    for frame in reversed(frames()):
        if frame.lifting and location.is_made_in(frame.trace):
            return
        if location not in frame.saved:
            frame.saved[location] = before = location.get()
            if type(before) is Unset and isinstance(location, AttributeRef) and location.is_first():
                frame.born.add(id(location.obj))
        if location not in frame.places:
            frame.places[location] = here()
        if frame.lifting:
            if not beneath and frame.trace is not None and frame.trace is not _jax.current_trace() and _jax.recording():
                frame.beneath.setdefault(location, (transformation(), here()))
            if location.shared in frame.protected:  # the block carries this variable, and puts the outer value back itself
                frame.saved.pop(location)
                frame.rebound = True
                return
            if frame.staged and any(id(location.obj) in f.given for f in frames()):
                raise location.refusal("it is part of a value that the loop carries, and others may hold the original", here())
            frame.written[location] = None
            return


def enter(frame: TraceContext) -> None:
    """At the start of an iteration: the places that iterations change hold what the iteration before left."""
    for location, spec in frame.preset.items():
        if isinstance(location, StateRef):
            frame.saved[location] = location.get()
            _mark(location, spec, frame)
            frame.begun[location] = new = frame.values.pop(location)
            del frame.marked[location]
            location.put(new)
            held = [x for v in (new.values if isinstance(new, ContainerItems) else [new]) for x in parts(v)]
            mine = [x for x in held if isinstance(x, Array) and x.home() is frame.trace]
            for x in mine:
                x.lasts = True
            frame.arrived += [(location, x, x.now) for x in mine]


def note_stored(frame: TraceContext) -> None:
    """At the end of an iteration: the places that hold arrays into which it has stored."""
    for location, x, before in frame.arrived:
        if x.now is not before and not isinstance(location.get(), Array) or location.get() is x and x.now is not before:
            frame.written.setdefault(location, None)


def at_begin(location: Location, frame: TraceContext) -> Any:
    """What a place holds when an iteration begins."""
    if not isinstance(location, StateRef):
        return frame.marked.get(location, 0 if location is ERROR else blank)
    return frame.begun.get(location, frame.saved[location])


def restore(frame: TraceContext) -> None:
    """At the end of a block's trace: every place holds what it held before.

    The last change goes first: an attribute is an item of the object's `__dict__` too.
    """
    for location, value in reversed(frame.saved.items()):
        location.put(value)
    if frame.handed:  # what is traced again makes those changes again
        frame.handed = False
        trace_again(_jax.another_attempt)


def note_late(location: StateRef) -> None:
    """Called before a change that an error before it prevents, and that no select can express: the call that commits it looks at the error."""
    around = lifting()
    if around and may_have_failed():
        held, code = around[-1].late.setdefault(location, []), load(ERROR)
        if not held or held[-1][0] is not code:
            held.append((code, location.get()))


def settle_late(frame: TraceContext, conflict: Callable[[StateRef, tuple[AbstractValue, ...]], None]) -> None:
    """At the end of a block: what has changed since an error is what it was then.

    Raises the location's error (AG401, AG405) if no select can express it, and `conflict` knows no way.
    """
    for location, held in frame.late.items():
        if location in frame.written:
            _settle(location, held, conflict)


def _settle(location: StateRef, late: Iterable[tuple[Any, Any]], conflict: Callable[..., None]) -> None:
    now = location.get()
    for code, before in reversed(list(late)):
        now = _if_fine(code, now, before, location, conflict)
    location.put(now)


def _if_fine(code: Any, now: Any, before: Any, location: StateRef, conflict: Callable[..., None]) -> Any:
    if isinstance(now, ContainerItems) and isinstance(before, ContainerItems) and now.alike(before):
        return ContainerItems(now.keys, [_if_fine(code, a, b, location, conflict) for a, b in zip(now.values, before.values, strict=True)])
    if now is before or type(now) is type(before) and isinstance(now, (*NUMBERS, str)) and repr(now) == repr(before):
        return now
    try:
        joint = generalize(join(spec_of(now), spec_of(before)))
        if isinstance(now, ContainerItems) or is_container(now) or any(isinstance(leaf, Static) for leaf in leaves(joint)):
            raise Mismatch("", joint, joint)
    except Mismatch:
        conflict(location, (spec_of(before), spec_of(now)))
        other = isinstance(now, ContainerItems) and isinstance(before, ContainerItems) and not now.alike(before)
        change = "that it becomes longer or shorter, or gets other keys" if other else "this change"
        error = location.refusal(f"a data-dependent error before it (an index out of range, an `assert`, a `raise`) would prevent {change}", here())
        if other and now.keys is not None:
            refuse_or_decide(error)
        raise error from None
    fine = jax.lax.eq(code, jax.numpy.int32(0))
    flat = zip(flatten(now, joint), flatten(before, joint), strict=True)
    return unflatten(joint, iter([jax.numpy.where(fine, new, old) for new, old in flat]))


def reachable() -> bool:
    """Whether what is stored now reaches the innermost block: no transformation that is not ours stands between."""
    around = lifting()
    return bool(around) and around[-1].trace is _jax.current_trace()


def may_have_failed() -> bool:
    """Whether a statement before this one may have raised a deferred error."""
    for frame in reversed(frames()):
        if frame.lifting:
            if ERROR in frame.values:
                code = frame.values[ERROR]
                return type(code) is not int or code != 0
            if ERROR in frame.preset:
                return bool(frame.preset[ERROR] != Static(0))
    return False


def kept(specs: Iterable[AbstractValue]) -> set[int]:
    """The identities of the containers that a spec hands on as they are."""
    return {id(x.value) for x in trees.leaves(list(specs), is_leaf=lambda s: isinstance(s, (Static, ArrayType))) if isinstance(x, ByReference)}
