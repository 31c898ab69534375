"""A loop whose carry types are known: bound to `lax.while_p` or `lax.scan_p`, and what it gives.

    body: TracedRegion, carry types      =>      while_p / scan_p on  [items, consts, variables, state outside, error code]

`run_while` and `run_scan` flatten the carry (`pack_state`), bind the jaxpr of the body as it is, and make variables and state of the results
(`results`).  A variable that no iteration changes is what it was before.  What the body only reads becomes a constant of the loop.

The body goes through one pass (`jaxapi/ordered_stores.py`), so that stores into arrays are made in place.  The order of the flat carry is always:
the variables, then the state that iterations write, in the order of `block.wrote`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from autograph.runtime.arrays.numpy_array import as_kind
from autograph.runtime.branches.traced_region import TracedRegion
from autograph.runtime.errors.source_spans import caller, in_kernel, parameter_names, place_of
from autograph.runtime.jaxapi import scans
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi.batch_mask import where_active
from autograph.runtime.jaxapi.ordered_stores import ordered
from autograph.runtime.jaxapi.tracers import as_object, content
from autograph.runtime.jaxapi.traces import Var
from autograph.runtime.loops.broadcasts import tells
from autograph.runtime.loops.carry_types import CarryTypeFixpoint, Rotate, _bare, unless_failed
from autograph.runtime.loops.derivatives.loop_binding import bind_while
from autograph.runtime.loops.packed_lists import Group, groups_of, pack_inputs, pack_outputs, packed, unpacked
from autograph.runtime.sequences.truth import truth
from autograph.runtime.state.captured_state import (
    CODE,
    ERROR,
    load,
    store,
)
from autograph.runtime.state.cast_to_types import LOOP, cast_to_types
from autograph.runtime.state.container_aliasing import after_iterations
from autograph.runtime.state.copies import note_copies_at
from autograph.runtime.state.decisions import decided, watching
from autograph.runtime.values.abstract_values import (
    AbstractValue,
    Option,
    Static,
    of_aval,
    over,
    spec_of,
    type_of,
    types,
)
from autograph.runtime.values.flatten import as_is, flatten, unflatten
from autograph.runtime.values.loop_options import hints_here
from autograph.runtime.values.value_objects import closed
from autograph.runtime.values.values import NUMBERS, Blank, Maybe


class StagedLoop(CarryTypeFixpoint):
    """A loop whose body has been traced with the types that its carry keeps, to be bound by `run_while` or `run_scan`."""

    def pack_state(self) -> list[Any]:
        return cast_to_types(self.state, self.specs, self.names, LOOP)

    def results(self, outs: Sequence[Any], certain: bool, made: Callable[[], Any] | None = None) -> list[Any]:
        """The state after the loop; a number or array that no iteration changes is what it was before.

        If it is `certain` that an iteration is made, what every iteration sets is set.
        """
        count = len(types(self.specs))
        kinds = types([*self.specs, *self.block.wrote.values()])
        outs = [as_kind(as_object(content(x)), t.numpys) for x, t in zip(outs, kinds, strict=True)]
        before = {location: load(location) for location in self.block.wrote}
        raw = [x for s, t in zip(self.state, self.specs, strict=True) for x in flatten(s, t, as_is)]
        mine = self.block.invars[len(types(self.items)) :]
        found = [
            r if u is v and _same_type(r, t) else o
            for o, r, u, v, t in zip(outs[:count], raw, mine, self.block.outvars[:count], types(self.specs), strict=True)
        ] + outs[count:]  # fmt: skip
        raw += [x for location, spec in self.block.wrote.items() for x in flatten(before[location], spec, as_is)]
        own = self._own()
        flat = iter(zip(found[count:], raw[count:], strict=True))
        at = {location: [next(flat) for _ in types([spec])] for location, spec in self.block.wrote.items()}
        none = {  # of one value: the error code that no iteration changes after all
            location: [(None, None)] * (len(types([self.preset[location]])) if location in self.preset else 1)
            for location in self.order if location not in at
        }  # fmt: skip
        order = list(self.order)
        at |= none
        pairs = [*zip(found[:own], raw[:own], strict=True), *(pair for location in order for pair in at[location])]
        mine, old = [x for x, _ in pairs], [x for _, x in pairs]
        self.loop.results(mine, old, None if certain else made, found[own:count] if self.tagged else ())
        after_own = iter(mine[own:])
        at = {location: [next(after_own) for _ in at[location]] for location in order} | {
            k: [x for x, _ in v] for k, v in at.items() if k not in order
        }
        found = [*mine[:own], *found[own:count], *(x for location in self.block.wrote for x in at[location])]
        left = iter(found[count:])
        for location, spec in self.block.wrote.items():
            store(location, unflatten(spec, left))
        first = iter(found[:count])
        values = [unflatten(s, first) for s in self.specs]
        note_copies_at(values, self.copies)
        after = {location: load(location) for location in self.block.wrote}
        after_iterations({**dict(enumerate(values)), **after}, {**dict(enumerate(self.state)), **before}, self.iteration, self.block.given)
        if certain and not self.block.left:
            values = [_surely(v, r) for v, r in zip(values, self.raw, strict=True)]
        return [closed(x) for x in values[: len(values) - self.extra]]

    def _check(self) -> None:
        """The kept jaxpr gives exactly the types that the state has."""
        wanted = types([*self.specs, *self.block.wrote.values()])
        assert [of_aval(v.aval) for v in self.block.outvars] == wanted, (self.block.outvars, self.specs)

    def _carried(self) -> tuple[list[Any], list[Var]]:
        """The state outside that the loop changes: its values before the loop, and its variables in the block."""
        carry: list[Any] = []
        inner: list[Var] = []
        for location, spec in self.block.wrote.items():
            carry += flatten(load(location), spec)
            inner += (
                self.block.reads[location][1]
                if location in self.block.reads and self.block.reads[location][1]
                else [Var(t.aval()) for t in types([spec])]
            )
        return carry, inner

    def tell(self, became: str, why: str) -> None:
        """Tell `ag.explain` what the loop becomes."""
        if watching():
            names = parameter_names(self.source, len(self.state) - len(self.hidden) - self.extra)
            first = len(self.hidden)
            decided("loop", became, why, names, [spec_of(x) for x in self.state[first:]], self.specs[first:], self.block.wrote)

    def run_while(self, test: Callable[..., Any], certain: bool) -> list[Any]:
        self._check()
        asking = self.asking(test)
        body = self.block
        body.connect(body.wrote)

        def finish(block: TracedRegion, p: Any) -> list[Any]:
            return [] if block.frame.written else [where_active(unless_failed(p) if self.guarded and p is not False else p)]

        # The test sees what the iterations leave in the state outside.
        asked = TracedRegion(lambda *s: truth(asking(*s[: len(s) - self.extra])), self.specs, self.place, "test", finish, [test], outside=body.wrote)
        if (
            asked.frame.written or asked.frame.rebound or asked.left or any(e.effects for e in asked.eqns)
        ):  # a reference is read: JAX's test would see an old value
            raise Rotate
        if (axes := _jax.axes_of(asked.outvars[0].aval)) and any(not axes <= t.axes for t in types([*self.specs, *body.wrote.values()])):
            self.specs = [over(s, axes) for s in self.specs]  # devices that stop after different iterations hold different values
            self.preset.update((location, over(spec, axes)) for location, spec in body.wrote.items())
            self._settle()
            return self.run_while(test, certain)
        if self.numbers_at and tells(asked.eqns, [asked.invars[n] for n in self.numbers_at]):
            self.refuse_number()
        self.tell("while_loop", "the trip count is data-dependent")
        asked.connect(body.wrote)
        carry, inner = self._carried()
        tested = [
            v for location, spec in body.wrote.items()
            for v in (asked.reads[location][1] if location in asked.reads else [Var(t.aval()) for t in types([spec])])
        ]  # fmt: skip
        groups = groups_of(body, inner)
        if groups:
            pack_outputs(body, groups, len(inner))
            inner, tested, carry = pack_inputs(body, inner, groups), pack_inputs(asked, tested, groups), packed(carry, groups)
        outs = bind_while(
            asked.jaxpr([*asked.consts, *asked.invars, *tested]), body.jaxpr([*body.consts, *body.invars, *inner]),
            list(asked.consts.values()), list(body.consts.values()), [*self.pack_state(), *carry], place_of(caller()), hints_here().checkpoints,
        )  # fmt: skip
        begun = [*asked.consts.values(), *self.pack_state(), *carry]
        made = functools.partial(_first_test, asked.jaxpr([*asked.consts, *asked.invars, *tested]), list(map(content, begun)))
        return self.results(_with_numbers(outs, len(types(self.specs)), groups), certain, made)

    def run_scan(self, xs: Sequence[Any], length: int, unroll: int, index: range | None = None) -> list[Any]:
        self._check()
        self.tell(f"scan of {length} iterations", "the trip count is static")
        block = self.block
        block.connect(block.wrote)
        carry, inner = self._carried()
        groups, before_error = groups_of(block, inner), len(types(list(block.wrote.values())[: [*block.wrote, ERROR].index(ERROR)]))
        if groups:
            before_error -= sum(g.size - 1 for g in groups if g.first < before_error)
            pack_outputs(block, groups, len(inner))
            inner, carry = pack_inputs(block, inner, groups), packed(carry, groups)
        if self.guarded and ERROR not in block.wrote:
            block.wrote[ERROR] = CODE
            carry += flatten(load(ERROR), CODE)
            inner.append(Var(CODE.aval()))
            block.outvars.append(inner[-1])
        items, mine = block.invars[: (count := len(types(self.items)))], block.invars[count:]
        if index is not None:  # carried, which costs less than rows
            block.give_sum(items[0], index.step)
        jaxpr, first = block.jaxpr([*block.consts, *mine, *inner, *items, *block.rows]), len(block.consts)
        if self.guarded:
            code = first + len(mine) + before_error
            jaxpr = scans.unless(jaxpr, code, range(first, first + len(mine) + len(inner) + (index is not None)))
        carried = [*self.pack_state(), *carry, *([] if index is None else [index.start])]
        jaxpr = jaxpr if in_kernel() else ordered(jaxpr)
        outs = scans.bind_scan(jaxpr, list(block.consts.values()), carried, [*xs, *block.rows.values()], length, unroll)
        outs = outs if index is None else outs[:-1]
        return self.results(_with_numbers(outs, len(types(self.specs)), groups), certain=True)


def _with_numbers(outs: Sequence[Any], first: int, groups: Sequence[Group]) -> list[Any]:
    """What a loop gives, of which the state outside is from `first` on, with numbers for the arrays that it has carried."""
    return [*outs[:first], *unpacked(outs[first:], groups)]


def _first_test(test: _jax.ClosedJaxpr, values: Sequence[Any]) -> Any:
    """Whether the first iteration of a loop was made."""
    return _jax.jaxpr_as_fun(test)(*values)[0]


def _surely(value: Any, raw: AbstractValue) -> Any:
    """A loop variable after an iteration, of which `raw` is the spec."""
    if not isinstance(value, Maybe) or isinstance(raw, Option) or _bare(raw):
        return value
    return None if isinstance(raw, Static) and raw.value is None else value.value


def _same_type(x: Any, t: Any) -> bool:
    """Whether the value before the loop can stand for the value after it: it has that type, or is a Python number."""
    if isinstance(x, Blank):
        return False
    return type(x) in NUMBERS or type_of(x) == t
