"""A `while` with a static test (`while t < 3.0: ...; t += dt`), rolled wherever a loop over a static range would be.

An iteration and the test are traced with their numbers as variables.  What the iterations make of the numbers that Python alone computes is
followed with Python's own (`scalar_evolution.py`) until the test fails: that is how many iterations there are.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Sequence
from typing import Any

from autograph.runtime.branches.traced_region import TracedRegion
from autograph.runtime.errors.source_spans import parameter_names
from autograph.runtime.loops.carry_types import as_list, as_result
from autograph.runtime.loops.induction_variables import number_slots
from autograph.runtime.loops.loop_lowering import StagedLoop
from autograph.runtime.loops.reroll.compile_size import LONG
from autograph.runtime.loops.scalar_evolution import iterations_made
from autograph.runtime.loops.scalar_intervals import NotRollable
from autograph.runtime.loops.static_or_rolled import compiled_or_unrolled
from autograph.runtime.loops.static_range import scanned, slots_of, stage_iteration
from autograph.runtime.sequences.list_capacity import retry_with_capacity
from autograph.runtime.sequences.truth import truth
from autograph.runtime.state.speculation import Speculation
from autograph.runtime.state.state_refs import StateRef
from autograph.runtime.tracing.trace_context import CallSite
from autograph.runtime.values.abstract_values import types
from autograph.runtime.values.loop_options import rolling

_MADE = 3  # iterations that are made in Python at least
_MOST = 10_000_000


def is_worth_a_trial(iterations: int, size: int) -> bool:
    """Whether to look for one compiled iteration after some iterations in Python, of which the last was `size` operations."""
    return iterations >= _MADE and size > 0 and (4 * iterations * size > LONG or rolling() == "always")


def rest_of_while(
    test: Callable[..., Any], body: Callable[..., Any], state: list[Any], source: Callable[..., Any], stored: Sequence[Any], size: int
) -> tuple[list[Any], int] | str:
    """The state after the iterations that are left, and how many; why they are not compiled, "" if they are few.

    An iteration is of `size` equations.
    """
    if (mode := rolling()) == "never":
        return ""

    @functools.wraps(source)
    def iteration(_: Any, *state: Any) -> Any:
        return as_result(as_list(body(*state), len(state)))

    code = getattr(body, "__code__", None)
    place = CallSite(code)
    names = parameter_names(source, len(state))

    def staged(state: list[Any], iterations: int) -> StagedLoop:
        return stage_iteration(iteration, state, names, iterations, stored)

    def compiled() -> tuple[list[Any], int] | str:
        speculation = Speculation()
        with place.scope("counted") as run:
            count: int = retry_with_capacity(lambda s: (_count(staged(s, 1), test, s, names),), state, place, 8)[0]
        speculation.roll_back(run)
        if count * size <= (0 if mode == "always" else LONG):
            return ""
        return retry_with_capacity(lambda s: scanned(staged(s, count), builtins.range(count), s, names), state, place, count), count

    return compiled_or_unrolled(code, compiled, lambda why: why, "known while")  # type: ignore[no-any-return]


def _count(stage: StagedLoop, test: Callable[..., Any], state: list[Any], names: Sequence[str]) -> int:
    """How many iterations are made from a state on."""
    block = stage.block
    iteration = slots_of(stage, state, names)
    asking = stage.asking(test)
    asked = TracedRegion(
        lambda *s: truth(asking(*s[: len(s) - stage.extra])), stage.specs, stage.place, "test", lambda _, p: [p], [test], outside=block.wrote
    )
    if asked.frame.written or asked.frame.rebound or asked.left or any(e.effects for e in asked.eqns):
        raise NotRollable("its test changes something")
    stands = dict(zip(asked.invars, block.invars[len(types(stage.items)) :], strict=False))
    for location, (_, variables) in asked.reads.items():
        if isinstance(location, StateRef) and location in block.wrote and location in block.reads:
            stands |= dict(zip(variables, block.reads[location][1], strict=False))
    return iterations_made(block.eqns, number_slots(block, iteration.index, iteration.slots), asked.eqns, stands, asked.outvars[0], _MOST)
