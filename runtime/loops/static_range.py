"""A loop over a static range as one compiled iteration, wherever an iteration can be compiled and Python's numbers in it stay what they are.

    for i in range(1000):               first iteration as written, then      scan(iteration, state, table of what depends on i)
        x = x + i / 2            =>

The first iteration runs as it is written.  The others become one compiled iteration, if

1. they are many operations (`cost`),
2. a trial iteration with a traced index works (`static_or_rolled.py`: what the trial did is undone),
3. what the iteration computes from the index and other Python scalars is what Python computes (`scalar_intervals.py`).  What is not is computed
   before the loop, and looked up (`induction_variables.py`, `scalar_evolution.py`).

Otherwise Python makes the iterations one by one: the loop is unrolled, and may be re-rolled (`reroll/`).  `ag.range(n, rolled=True)` makes a reason
against rolling an error.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from autograph.runtime.arrays.variable_ref import VariableRef
from autograph.runtime.errors.source_spans import parameter_names
from autograph.runtime.indexing.stores import Value
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi.traces import Literal, Var
from autograph.runtime.loops.induction_variables import InductionVariable, settled
from autograph.runtime.loops.loop_lowering import StagedLoop
from autograph.runtime.loops.reroll.compile_size import LONG, size_of_all
from autograph.runtime.loops.reroll.record_iterations import record_iterations
from autograph.runtime.loops.scalar_intervals import (
    INT32,
    Integer,
    NotRollable,
    constant_step,
)
from autograph.runtime.loops.static_or_rolled import compiled_or_unrolled
from autograph.runtime.sequences.bounded_list import BoundedList
from autograph.runtime.sequences.list_capacity import retry_with_capacity
from autograph.runtime.state.captured_state import ERROR, may_have_failed
from autograph.runtime.state.decisions import decided, watching
from autograph.runtime.state.length_bounds import Marks, iterating
from autograph.runtime.state.speculation import Speculation
from autograph.runtime.state.state_refs import ContainerItems, StateRef
from autograph.runtime.tracing.trace_context import CallSite, TraceContext
from autograph.runtime.values.abstract_values import AbstractValue, ArrayType, ByReference, generalize, has_option, spec_of, types
from autograph.runtime.values.loop_options import rolling
from autograph.runtime.values.value_objects import opened
from autograph.runtime.values.values import NUMBERS, Maybe, parts

_LOOKED_AT = 3  # iterations
_FEWEST = 4


Turn = Callable[[Any, list[Any]], list[Any]]


def roll_remaining(
    items: builtins.range,
    body: Callable[..., Any],
    state: list[Any],
    iteration: Turn,
    spoil: Callable[[Iterable[Any]], bool] = lambda _: False,
) -> list[Any]:
    """The state after a static loop: one compiled iteration if its iterations are many operations and that cannot be seen.

    The first iteration tells what an iteration costs.  It is thrown away if what the state is before the loop can stand in all iterations, and is
    made apart if not. `turn` makes one as it is written.  Where changes of some places `spoil` it all iterations are made.
    """
    count, made = len(items), 0
    stored: list[Any] = []  # the arrays into which the first iteration stores
    code = getattr(body, "__code__", None)
    place = CallSite(code)

    def compiled(rest: builtins.range, state: list[Any], whole: bool) -> list[Any]:
        return retry_with_capacity(lambda s: _rolled(rest, body, s, whole, stored, spoil), state, place, count)  # type: ignore[no-any-return]

    def unrolled(rest: builtins.range, state: list[Any], why: str, size: int = 0) -> list[Any]:
        """`size`: how many operations all iterations together are, if they are many."""
        with record_iterations() as repeats, iterating(len(rest)):
            with place.scope("turn") as run:
                for item in rest:
                    run.count = 0  # blocks in an iteration remember what those of the iteration before have found
                    state = iteration(item, state)
                    repeats.mark()
            joined = repeats.join()
        if not joined:
            repeats.tell(count, f"one compiled iteration is not possible: {why}" if size else why)
        if watching():
            of = f"{count} iteration{'s' * (count != 1)}"
            why = f"one compiled iteration is not possible: {why}; about {size} operations" if size else why
            decided("loop", f"scan of {of}, re-rolled" if joined else f"unrolled, {of}", why)
        return state

    def apart(state: list[Any]) -> list[Any]:
        """The iterations after one that is made as it is written."""
        rest = items[made + 1 :]

        return compiled_or_unrolled(code, lambda: compiled(rest, state, False), lambda why: unrolled(rest, state, why, size))  # type: ignore[no-any-return]

    mode = rolling()
    if mode == "never" or count < (2 if mode == "always" else _FEWEST):
        return unrolled(items, state, "`ag.loops(roll='never')`" if mode == "never" else "the range is static and has few iterations")
    while made < min(_LOOKED_AT, count):  # an iteration may be shorter than the others, as at a border
        speculation = Speculation(positions=True)
        with place.scope("turn") as frame, iterating(count - made):
            after = iteration(items[made], state)
        if (size := cost(count - made - 1, speculation.equations)) > (0 if mode == "always" else LONG):
            break
        made, state = made + 1, after
    else:
        return unrolled(items[made:], state, "the range is static, and its iterations have few operations")
    if speculation.has_moved():  # a trial would take items as well
        return unrolled(items[made + 1 :], after, "an iteration takes items of an iterator from outside of the loop")
    if spoil(frame.saved):
        return unrolled(items[made + 1 :], after, "an iteration changes what the loop goes over", size)
    stored = stored_into(frame, state)
    if frame.changed or place.memory.get(("apart", code)) is not None:
        return apart(after)
    speculation.roll_back(frame)
    whole = functools.partial(compiled, items[made:], state, True)
    return compiled_or_unrolled(code, whole, lambda _: apart(iteration(items[made], state)), "apart")  # type: ignore[no-any-return]


def stored_into(iteration: TraceContext, state: Sequence[Any]) -> list[Any]:
    """The arrays of a state into which an iteration has stored."""
    held = {id(part) for x in state for part in parts(x)}
    return [location.obj for location in iteration.saved if isinstance(location, Value) and id(location.obj) in held]


def cost(iterations: int, before: int) -> int:
    """How many operations some iterations of a loop are, going by what one has recorded since `before`."""
    return iterations * size_of_all(_jax.recorded(before))


def _rolled(
    items: builtins.range, body: Callable[..., Any], state: list[Any], whole: bool, stored: Sequence[Any], spoil: Callable[[Iterable[Any]], bool]
) -> list[Any]:
    names = parameter_names(body, len(state))
    stage = stage_iteration(body, state, names, len(items), stored, items)
    if spoil(stage.block.wrote):
        raise NotRollable("an iteration changes what the loop goes over")
    for place, spec in stage.block.wrote.items():
        if isinstance(place, StateRef) and _is_set_somewhere(place.get(), spec):
            raise NotRollable(f"{place.name} is None before, and it is data-dependent where iterations set it")
    if whole:
        for x, spec, name in zip(state, stage.specs, names, strict=False):
            if not _stands(x, spec):
                raise NotRollable(f"`{name}` gets another type in the first iteration")
    return scanned(stage, items, state, names)


def _is_set_somewhere(held: Any, spec: Any) -> bool:
    """Whether a place holds None, or nothing, that iterations set, but not certainly all of it."""
    pairs = zip(held.values, spec.values, strict=True) if isinstance(held, ContainerItems) else [(held, spec)]
    return any(has_option(part) and not isinstance(x, Maybe) for x, part in pairs)


def stage_iteration(
    body: Callable[..., Any], state: list[Any], names: Sequence[str], iterations: int, stored: Sequence[Any], indices: builtins.range | None = None
) -> StagedLoop:
    """The body of a rolled loop: an iteration with a traced index, which is one of `indices`."""
    for x, name in zip(state, names, strict=True):
        if (
            type(x) not in NUMBERS
            and not isinstance(x, BoundedList)
            and type(x) is not list  # whose numbers are looked at as those of places
            and any(isinstance(leaf, NUMBERS) for leaf in parts(opened(x)))
        ):
            raise NotRollable(f"`{name}` holds Python numbers")
    index = ArrayType((), jax.dtypes.canonicalize_dtype(int), True)
    return StagedLoop(
        body,
        state,
        body,
        CallSite(getattr(body, "__code__", None)),
        items=[index],
        iterations=iterations,
        all_made=True,
        stored=stored,
        indices=indices,
    )


def scanned(stage: StagedLoop, items: builtins.range, state: list[Any], names: Sequence[str]) -> list[Any]:
    """The state after all iterations, as one compiled iteration."""
    block = stage.block
    iteration = slots_of(stage, state, names)
    found = settled(block, iteration.index, items, iteration.slots)
    if iteration.code is not None and not isinstance(iteration.code, Literal) and found.get(iteration.code) == Integer((0, 0)):  # the checks hold
        block.forget_written(ERROR, len(types(stage.specs)))
        stage.guarded = may_have_failed()
    out = stage.run_scan([], len(items), 1, items)
    for location, numbers in iteration.places.items():
        if numbers:
            location.put(_with_numbers(location.get(), numbers))
    return [iteration.final.get(k, x) for k, x in enumerate(out)]


def _with_numbers(held: Any, numbers: dict[int, Any]) -> Any:
    """What a place holds, with Python numbers where they stay such."""
    if not isinstance(held, ContainerItems):
        return numbers[0]
    return ContainerItems(held.keys, [numbers.get(k, x) for k, x in enumerate(held.values)])


def _stands(x: Any, spec: AbstractValue) -> bool:
    """Whether what a variable is before a loop can stand for what it is in all iterations: Python numbers for arrays of their kind."""
    if type(x) in NUMBERS and isinstance(spec, ArrayType):
        return np.dtype(spec.dtype).kind in ("f" if isinstance(x, float) else "c" if isinstance(x, complex) else "b" if isinstance(x, bool) else "iu")
    return isinstance(spec, ByReference) and spec.value is x or bool(spec == generalize(spec_of(x)))  # an array that is stored into keeps its type


class InductionVariables(NamedTuple):
    """The variables of a staged iteration, and what the numbers among them are after the loop: by position in the state, and by place."""

    index: Any
    slots: list[InductionVariable]
    code: Any  # the error code after an iteration
    final: dict[int, Any]
    places: dict[StateRef, dict[int, Any]]


def slots_of(stage: StagedLoop, state: list[Any], names: Sequence[str]) -> InductionVariables:
    block = stage.block
    final: dict[int, Any] = {}
    places: dict[StateRef, dict[int, Any]] = {}
    code: Any = None
    flat, outs = iter(block.invars), iter(block.outvars)
    index = next(flat)
    slots: list[InductionVariable] = []
    for k, (x, spec) in enumerate(zip(stage.state, stage.specs, strict=True)):  # with the tags of arrays
        mine = [(next(flat), next(outs)) for _ in types([spec])]
        if (always := stage.numbers[k]) is not None and not (isinstance(spec, ArrayType) and type(x) in NUMBERS):
            final[k] = always
        name = names[k] if k < len(names) else "which array it is"
        slots += _slots(name, x, spec, mine, functools.partial(final.__setitem__, k), always, stage.remembered)
    for location, spec in block.wrote.items():
        inner = iter(block.reads[location][1] if location in block.reads else ())
        if not isinstance(location, StateRef):
            given = [next(outs) for _ in types([spec])]
            if location is ERROR:
                code = given[0]
            continue
        held = location.get()
        for k, (x, part) in enumerate(zip(*((held.values, spec.values) if isinstance(held, ContainerItems) else ([held], [spec])), strict=True)):
            mine = [(next(inner, None) or Var(t.aval()), next(outs)) for t in types([part])]  # what is not read is no variable yet
            if not isinstance(location.obj, VariableRef):  # a Variable holds no number, but an array of its own type
                stays = functools.partial(places.setdefault(location, {}).__setitem__, k)
                slots += _slots(location.bare, x, part, mine, stays, None, stage.remembered)
    return InductionVariables(index, slots, code, final, places)


def _slots(
    name: str, x: Any, spec: AbstractValue, pairs: Sequence[tuple[Any, Any]], stays: Callable[[Any], None], always: Any, known: Marks
) -> list[InductionVariable]:
    """The variables of an iteration that stand for what a variable or place holds; `known` is what is known of lengths before the loop."""
    if isinstance(x, BoundedList):
        (length, after), *buffers = pairs
        _, exact, _ = known.get(x.kind.bound, (0, None, 0))
        count = InductionVariable(name, exact, length, after, None, True, True, False, functools.partial(setattr, x.kind.bound, "exact"), length=True)
        return [
            *([count] if exact is not None else []),
            *(InductionVariable(name, None, v, out, None, False, True, True, stays) for v, out in buffers),
        ]
    before = x if type(x) in NUMBERS and isinstance(spec, ArrayType) else None
    single = isinstance(spec, ArrayType)
    return [InductionVariable(name, before, v, out, always, single, before is None or _stands(x, spec), False, stays) for v, out in pairs]


def counted(stage: StagedLoop, iterations: int, state: list[Any]) -> dict[int, int]:
    """The Python integers that each iteration of a compiled loop changes by a constant: what they are after it."""
    if stage.guarded:  # iterations after an error change nothing
        return {}
    block = stage.block
    mine, outs = iter(block.invars[len(types(stage.items)) :]), iter(block.outvars)
    final: dict[int, int] = {}
    for k, (x, spec) in enumerate(zip(stage.state, stage.specs, strict=True)):
        pairs = [(next(mine), next(outs)) for _ in types([spec])]
        if type(x) is int and isinstance(spec, ArrayType) and (step := constant_step(block.eqns, *pairs[0])) is not None:
            after = x + iterations * step
            if INT32.min <= min(x, after) and max(x, after) <= INT32.max:
                final[k] = after
    return final
