"""One run of a block: its Python is traced once, and its jaxpr is bound to JAX's own primitive as it is.

    lambda x: x + self.a      =>      { lambda a:f32[]; x:f32[]. let y = add x a in (y,) }     with `self.a` among what it `reads`

`TracedRegion` is that run.  Data:

- `specs`: the abstract values of the arguments; `invars`, `eqns`, `outvars`, `consts`: its jaxpr, taken apart so that results can be dropped and
  inputs added.
- `frame`: the `TraceContext` that was on the stack meanwhile.  Its undo log (`saved`) and write set (`written`) say what the block did to state
  outside.
- `reads`: state that was read before it was written, by `StateRef`, each with the variables that stand for it: these become inputs.
- `wrote`: state that the block leaves with another value: these become results.

Always: when the run has ended, the state outside holds what it held before, no tracer of the region is reachable from the user's objects, and an
iterator of the code around has given no item.  A block that certainly fails has `left` set, and gives nothing.

The types that a loop's carry was promoted to are remembered by the path of operator calls (`CallSite`), counted in each run of the block around.  So
nested loops do not look for their types again each time the block around them is traced again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import jax
import numpy as np
from jax.extend.core import jaxpr_as_fun

from autograph.runtime.effects.error_codes import PathEnds, defer
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi import trees
from autograph.runtime.jaxapi.dead_outputs import live
from autograph.runtime.jaxapi.tracers import as_object, content, of_objects
from autograph.runtime.jaxapi.traces import ClosedJaxpr, Literal, Var, convert_type
from autograph.runtime.sequences.list_capacity import refuse_or_grow
from autograph.runtime.state.captured_state import ERROR, Location, enter, kept, load, marker_p, note_stored, restore, settle_late
from autograph.runtime.state.cells import held_in, held_in_cells, restored
from autograph.runtime.state.container_aliasing import check_lengths, doubt_all
from autograph.runtime.state.escape_analysis import forget_local
from autograph.runtime.state.iterators import Positions
from autograph.runtime.state.snapshot_diff import Watch
from autograph.runtime.state.state_refs import StateRef
from autograph.runtime.tracing.trace_context import CallSite, TraceContext, with_defaults
from autograph.runtime.values.abstract_values import AbstractValue, ArrayType, of_aval, types
from autograph.runtime.values.flatten import flatten, to_type, unflatten
from autograph.runtime.values.path_conditions import Fact, assume, known, refined
from autograph.runtime.values.values import ARRAYS, CONTAINERS, Maybe, map_maybe, nothing


class TracedRegion:
    """`fn` traced once on arguments of `specs`.

    `finish(block, result)` runs at the end of the same trace and says which arrays the jaxpr returns.  `consts` maps variables of the
    jaxpr to the values that they stand for: arrays and tracers of the trace around.  `sources` are the user's blocks that run in it, `state` what
    they are given besides the arguments; `begins` is told of the arguments; `like` are the values outside that the last of them stand for.
    `chosen` is what chooses a side of a branch, and which side this is.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        specs: Sequence[AbstractValue],
        place: CallSite,
        part: Any,
        finish: Callable[[TracedRegion, Any], Sequence[Any]],
        sources: Sequence[Callable[..., Any]],
        facts: Callable[[list[Any]], Iterable[Fact]] = lambda args: (),
        preset: Mapping[Location, AbstractValue] | None = None,
        outside: Mapping[Location, AbstractValue] | None = None,
        state: Sequence[Any] = (),
        begins: Callable[[list[Any]], None] = lambda args: None,
        like: Sequence[Any] = (),
        chosen: Any = None,
    ) -> None:
        self.args: list[Any] = []
        self.before: Any = None  # the objects in it that were there before
        self.gives: dict[Any, Any] = {}  # which arrays it gives, and leaves in places
        self.given: dict[Any, Any] = {}  # the lists and dicts in what it gives
        self.kept: dict[str, Any] = {}  # what its shared variables hold where it ends in an error
        self.left = False  # does it certainly end in an error?
        self.wrote: dict[Location, AbstractValue] = {}  # what it sets of the state outside
        self.rows: dict[Var, jax.Array] = {}  # what stands in it for an item of an array in each iteration
        with place.scope(part, staged=True) as frame:
            self.frame, frame.around = frame, _jax.current_trace()
            frame.chosen = chosen
            frame.preset = dict(preset or outside or {})
            if preset is not None:  # an iteration of a loop: it starts only if nothing has failed before
                frame.values[ERROR] = 0

            def run(*flat: Any) -> Sequence[Any]:
                frame.trace = _jax.current_trace()
                of_objects(frame.trace)
                flat = tuple(map(as_object, flat))
                arrays = iter(flat)
                self.args = [unflatten(s, arrays) for s in specs]
                frame.passed = containers(self.args)
                frame.given = containers(self.args, kept(specs))
                for new, old in zip(self.args[len(specs) - len(like) :], like, strict=True):
                    doubt_all(new, old)
                assume(facts(self.args))
                try:
                    enter(frame)
                    begins(self.args)
                    watch, positions = Watch([*self.args, *state, *with_defaults()], [x for f in sources for x in held_in_cells(f)]), Positions()
                    try:
                        with restored(frame, *sources), refined(*sources):  # no cell holds a tracer when its trace ends
                            try:
                                box = [fn(*[map_maybe(known, a, CONTAINERS) for a in self.args])]
                            except BaseException:  # also an exit with a deferred error
                                self.kept = held_in(*sources)
                                raise
                    except PathEnds:
                        box, self.left = [nothing], True
                    except Exception as error:
                        if not defer(error):
                            raise
                        box, self.left = [nothing], True
                    watch.notice()
                    positions.check()
                    note_stored(frame)
                    check_lengths(frame)
                    conflict = functools.partial(refuse_or_grow, around=[frame])
                    forget_local(frame, box, conflict)
                    settle_late(frame, conflict)
                    outs = [content(x) for x in finish(self, box.pop())]
                    return outs
                finally:
                    self.args, self.kept = [], {}
                    restore(frame)
                    self.places = dict(frame.places)  # of the changes that it makes outside
                    self.chooses = bool(frame.selectors)
                    frame.forget()

            self.whole, consts = _jax.trace(run, [t.aval() for t in types(specs)])
        jaxpr = self.whole
        self.invars: list[Var] = list(jaxpr.invars)
        self.outvars: list[Any] = list(jaxpr.outvars)
        self.eqns: list[Any] = list(jaxpr.eqns)
        self.consts: dict[Var, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
        self.reads = self._markers(frame)
        if frame.discarded or self.chooses:
            self.drop_dead()

    def forget_written(self, location: Location, first: int) -> None:
        """A place outside, of one value, that the block leaves as it is after all; what it changes stands from its result `first` on."""
        for other, spec in self.wrote.items():
            if other is location:
                break
            first += len(types([spec]))
        del self.outvars[first], self.wrote[location]

    def _markers(self, frame: TraceContext) -> dict[Location, tuple[AbstractValue, list[Var]]]:
        """The state outside that the block reads: its spec, and the variables that stand for it."""
        if not any(slots for _, slots in frame.reads.values()):
            return {location: (spec, []) for location, (spec, _) in frame.reads.items()}
        found = {e.params["slot"]: e.outvars[0] for e in self.eqns if e.primitive is marker_p}
        self.eqns = [e for e in self.eqns if e.primitive is not marker_p]
        return {location: (spec, [found[k] for k in slots]) for location, (spec, slots) in frame.reads.items()}

    def held(self) -> dict[Location, Any]:
        """What the block leaves in the locations that it sets; asked at the end of its trace."""
        return {location: location.get() if isinstance(location, StateRef) else self.frame.values[location] for location in self.frame.written}

    def connect(self, carried: Iterable[Location] = ()) -> None:
        """Take what is only read from the block around."""
        for location, (spec, variables) in self.reads.items():
            if location not in carried:
                self.consts.update(zip(variables, flatten(load(location), spec), strict=True))

    def fresh(self, spec: AbstractValue, values: Sequence[Any]) -> list[Var]:
        """New inputs of this spec that stand for values of the block around."""
        new = [Var(t.aval()) for t in types([spec])]
        self.consts.update(zip(new, values, strict=True))
        return new

    def drop_dead(self) -> None:
        """Drop equations, and values from outside, that nothing uses.

        A discarded first iteration of a loop leaves some behind, and so does a branch that tells which array it has chosen.
        """
        self.eqns = live(self.eqns, self.outvars)
        needed = {v for v in [*self.outvars, *(v for e in self.eqns for v in e.invars)] if isinstance(v, Var)}
        self.consts = {v: c for v, c in self.consts.items() if v in needed}
        self.reads = {location: (spec, vs) for location, (spec, vs) in self.reads.items() if location in self.wrote or any(v in needed for v in vs)}

    def emit(self, value: Any, spec: AbstractValue, changed: Mapping[StateRef, Var] = MappingProxyType({})) -> list[Any]:
        """`flatten` on variables of the finished jaxpr: appends the equations of the conversions, mostly none.

        `changed`: what stands for what the block leaves in places that a value from outside may be read through, as an array that it has stored into.
        """

        def convert(x: Any, t: ArrayType) -> Any:
            if isinstance(x, (Var, Literal)):
                return x if of_aval(x.aval) == t else self.append(lambda v: [to_type(v, t)], [x])[0]
            return self.append(lambda *held: [_as_left(lambda: content(to_type(x, t)), changed, held)], list(changed.values()))[0]

        return flatten(value, spec, convert)

    def append(self, fn: Callable[..., Sequence[Any]], given: Sequence[Any]) -> list[Any]:
        """Trace a function of arrays, and append what it computes of some variables; gives the variables of its results."""
        small, consts = _jax.trace(fn, [v.aval for v in given])
        self.consts.update(zip(small.constvars, consts, strict=True))
        env = dict(zip(small.invars, given, strict=True))
        self.eqns += [e.replace(invars=[_renamed(v, env) for v in e.invars]) for e in small.eqns]
        return [_renamed(v, env) for v in small.outvars]

    def give_sum(self, v: Var, number: int) -> None:
        """One more result: a variable and a number."""
        self.outvars += self.append(lambda x: [x + number], [v])

    def compute(self, v: Var, given: Var, of: Callable[[Any], Any]) -> None:
        """Let a variable be computed of another at the beginning."""
        small, _ = _jax.trace(lambda x: [of(x)], [given.aval])
        made, result = small.eqns, small.outvars[0]
        self.eqns = [
            *(e.replace(invars=[_renamed(u, {small.invars[0]: given}) for u in e.invars]) for e in made),
            *(e.replace(invars=[_renamed(u, {v: result}) for u in e.invars]) for e in self.eqns),
        ]

    def look_up(self, tables: Mapping[Var, Sequence[Any]]) -> None:
        """Let variables be some numbers, one in each iteration."""
        used = {u for e in self.eqns for u in e.invars if isinstance(u, Var)} | {u for u in self.outvars if isinstance(u, Var)}
        env = {v: Var(v.aval) for v in tables if v in used}
        with np.errstate(over="ignore"):  # of a float that is too large the operations have been computed before the loop
            self.rows |= {row: convert_type(np.asarray(tables[v], v.aval.dtype), v.aval.dtype, v.aval.weak_type) for v, row in env.items()}
        self.eqns = [e.replace(invars=[_renamed(u, env) for u in e.invars]) for e in self.eqns] if env else self.eqns
        self.outvars = [_renamed(u, env) for u in self.outvars]

    def jaxpr(self, invars: Sequence[Var], outvars: Sequence[Any] | None = None) -> ClosedJaxpr:
        return _jax.jaxpr_with(self.whole, invars, self.outvars if outvars is None else outvars, self.eqns)

    def merge_constants(self) -> None:
        """One variable for each constant: a value may have been captured twice."""
        first: dict[int, Var] = {}
        env: dict[Var, Var] = {}
        for v, c in self.consts.items():
            if (one := first.setdefault(id(c), v)) is not v:
                env[v] = one
        if env:
            self.eqns = [e.replace(invars=[_renamed(v, env) for v in e.invars]) for e in self.eqns]
            self.outvars = [_renamed(v, env) for v in self.outvars]
            self.consts = {v: c for v, c in self.consts.items() if v not in env}

    def inline(self) -> list[Any]:
        """Evaluate a block without inputs in the trace around; numbers stay numbers."""
        computed = [v for v in self.outvars if isinstance(v, Var)]
        found = iter(jaxpr_as_fun(self.jaxpr(list(self.consts), computed))(*self.consts.values()) if self.eqns else map(self.consts.get, computed))
        return [next(found) if isinstance(v, Var) else _number(v) for v in self.outvars]


def _as_left(read: Callable[[], Any], places: Iterable[StateRef], held: Sequence[Any]) -> Any:
    """What a function reads while some places hold something else."""
    before = [(place, place.get()) for place in places]
    try:
        for (place, _), x in zip(before, held, strict=True):
            place.put(x)
        return read()
    finally:
        for place, x in before:
            place.put(x)


def _number(v: Literal) -> Any:
    """A literal as an operand that keeps its type: a weak one is a Python number."""
    return np.asarray(v.val).item() if of_aval(v.aval).weak else np.asarray(v.val, v.aval.dtype)


def containers(values: Sequence[Any], but: Collection[int] = ()) -> set[int]:
    """The identities of the lists, dicts and objects that make up some values, but for some and what they hold."""
    found: set[int] = set()
    stack = [v for v in values if not isinstance(v, ARRAYS)]
    while stack:
        value = stack.pop()
        if isinstance(value, Maybe):
            value = value.value
        if id(value) in but:
            continue
        children = trees.children(value)
        if len(children) != 1 or children[0] is not value:
            found.add(id(value))
            stack += [c for c in children if not isinstance(c, ARRAYS)]
    return found


def _renamed(v: Any, env: dict[Var, Any]) -> Any:
    return v if isinstance(v, Literal) else env.get(v, v)
