"""`while_loop`: a loop whose test may be traced.

A loop whose test is static runs in Python.  One whose test is traced is one `lax.while_p` whose body was traced once, and once more only
if a loop variable had to be promoted.  If the test becomes traced in the first turn, that turn is thrown away and the loop is staged from
its start; if later, the finished turns stay and the rest is staged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from typing import Any

from jax import lax

from autograph.runtime import _jax
from autograph.runtime._jax import Var
from autograph.runtime.block import Block
from autograph.runtime.errors import IntegerRangeError, LoopTypeError
from autograph.runtime.frames import Place, innermost
from autograph.runtime.places import caller, last_store, parameter_names, place_of
from autograph.runtime.predicates import truth
from autograph.runtime.reverse import forward_only
from autograph.runtime.values import (
    NUMBERS,
    Maybe,
    Mismatch,
    Spec,
    Static,
    Unset,
    blank,
    blank_uses,
    describe,
    is_leaf,
    join,
    of_aval,
    pack,
    spec_of,
    type_of,
    types,
    unpack,
    widen,
)

_MOST_RUNS = 30  # the lattice of types is finite and low: this is never reached by types that settle


def while_loop(test: Callable[..., Any], body: Callable[..., Any], *state: Any) -> Any:
    """`while test(*state): state = body(*state)`; one staged loop if the test is traced.

    Args:
      test: a function of the state; an object or an array with one element.
      body: a function of the state that returns the new state (one value, or a tuple).
      state: the loop variables; the names in errors are the parameters of `body`.

    Returns:
      The state after the last turn; a Python number that no turn changed is still a Python number.

    Raises:
      LoopTypeError: (AG201) a loop variable changes shape or structure.

    >>> import jax, autograph.runtime as ag
    >>> jax.jit(lambda n: ag.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + i), 0, 0.0))(5)
    (Array(5, dtype=int32, weak_type=True), Array(10., dtype=float32, weak_type=True))
    """
    return given(run_while(test, body, list(state), body))


def run_while(test: Callable[..., Any], body: Callable[..., Any], state: list[Any], source: Callable[..., Any]) -> list[Any]:
    """`source` is the body that the user wrote, where `body` is a wrapper around it."""
    place = Place(getattr(body, "__code__", None))
    begin: list[Spec] | None = None
    p = truth(test(*state))
    certain = p is True  # at least one turn is made
    if place.key not in place.memory or not place.key:
        turns = 0
        while p is True:
            with nullcontext() if turns else place.scope("body") as frame:
                after = listed(body(*state), len(state))
            p = truth(test(*after))
            turns += 1
            if turns == 1 and not isinstance(p, bool) and _jax.staging() and frame is not None and not frame.changed:
                begin = [spec_of(x) for x in after]
                if (around := innermost()) is not None:
                    around.discarded = True
                break
            state, certain = after, False
        if p is False:
            return state
    return Stage(body, state, source, place, begin).run_while(test, certain)


def listed(out: Any, count: int) -> list[Any]:
    """What a body returned, as a list of `count` values."""
    return [out] if count == 1 else list(out or ())


def given(state: Sequence[Any]) -> Any:
    """A state as the operator returns it: one value, or a tuple."""
    return state[0] if len(state) == 1 else tuple(state) or None


class Stage:
    """A loop being staged: its body is run until the types of its state no longer change, mostly once."""

    def __init__(
        self, body: Callable[..., Any], state: list[Any], source: Callable[..., Any], place: Place,
        begin: Sequence[Spec] | None = None, items: Sequence[Spec] = (),
    ) -> None:  # fmt: skip
        self.body, self.state, self.source, self.place, self.items = body, state, source, place, list(items)
        entry = [widen(spec_of(x)) for x in state]
        self.specs = self._from_memory(entry)
        if begin is not None:
            self.specs = self.joined(self.specs, [widen(s) for s in begin])
        for _ in range(_MOST_RUNS):
            self.uses = blank_uses.count
            self.block = Block(body, [*self.items, *self.specs], place, "body", self._finish, [self.source])
            old, self.specs = self.specs, self.joint
            if self.settled:
                self._add_inputs(old)
                break
        else:
            raise AssertionError(f"{place}: the types of the loop variables do not settle: {self.specs}")
        if place.key:
            place.memory[place.key] = entry, self.specs

    def _add_inputs(self, old: list[Spec]) -> None:
        """Inputs that the body does not use, for variables that got their type in its run."""
        taken = iter(self.block.invars)
        invars = [next(taken) for _ in types(self.items)]
        for a, b in zip(old, self.specs, strict=True):
            invars += [next(taken) for _ in types([b])] if a == b else [Var(t.aval()) for t in types([b])]
        self.block.invars = invars

    def _from_memory(self, entry: list[Spec]) -> list[Spec]:
        """The remembered types, if the entry is at least as wide as the one they were found from."""
        if not self.place.key or self.place.key not in self.place.memory:
            return entry
        old_entry, found = self.place.memory[self.place.key]
        try:
            wide = [join(e, o) for e, o in zip(entry, old_entry, strict=True)]
            return [join(e, f) for e, f in zip(entry, found, strict=True)] if wide == entry else entry
        except (Mismatch, ValueError):
            return entry

    def _finish(self, block: Block, out: Any) -> list[Any]:
        count = len(self.state)
        outs = listed(out, count)
        args = block.args[len(self.items) :]
        self.raw = [spec_of(x) for x in outs]
        moved = {id(a): k for k, a in enumerate(args)}
        specs = self.raw
        joint = list(self.specs)
        changing = True
        while changing:  # what a turn only moves from one variable to another is promoted in the same run
            new = self.joined(joint, [joint[moved[id(x)]] if id(x) in moved else s for x, s in zip(outs, specs, strict=True)])
            changing, joint = new != joint, new
        self.joint, self.settled = joint, joint == self.specs
        new = [k for k, (a, b) in enumerate(zip(self.specs, joint, strict=True)) if a != b]
        if not all(_bare(self.specs[k]) for k in new):
            return []
        try:
            packed = [x for o, s in zip(outs, joint, strict=True) for x in pack(o, s)]
        except OverflowError as error:
            raise IntegerRangeError(f"{error}, the type of a loop variable", place_of(caller())) from None
        # A variable that a turn sets and never takes from the turn before only gets its type: the run stands.
        self.settled = self.settled or blank_uses.count == self.uses
        return packed if self.settled else []

    def joined(self, before: Sequence[Spec], after: Sequence[Spec]) -> list[Spec]:
        out = []
        for k, (a, b) in enumerate(zip(before, after, strict=True)):
            try:
                out.append(a if a is b else join(a, b))
            except Mismatch as m:
                raise self._changes(k, m) from None
        return out

    def _changes(self, k: int, m: Mismatch) -> LoopTypeError:
        counter = self.source is not self.body and not self.items  # the index of a counted loop comes first
        name = ["the index", *parameter_names(self.source, len(self.state) - 1)][k] if counter else parameter_names(self.source, len(self.state))[k]
        at = last_store(self.source, name)
        shapes = [getattr(type_of(s), "shape", None) if is_leaf(s) else None for s in (m.a, m.b)]
        advice = f"start `{name}` with the type and shape that a turn gives it"
        if None not in shapes and shapes[0] != shapes[1]:
            advice = f"a loop variable keeps its shape: start `{name}` with shape {shapes[1]}, or keep a fixed-size buffer"
        elif "None" in (describe(m.a), describe(m.b)):
            advice = f"start `{name}` with a value of the type it gets later, instead of None"
        why = f"; {m.why}" if m.why else ""
        where = f" (line {at.line})" if at else ""
        return LoopTypeError(
            f"loop variable `{name}{m.path}` is {describe(m.a)} before the loop and {describe(m.b)} after one turn{where}{why}",
            place_of(caller()), advice,
        )  # fmt: skip

    def pack_state(self) -> list[Any]:
        try:
            return [x for s, t in zip(self.state, self.specs, strict=True) for x in pack(s, t)]
        except OverflowError as error:
            raise IntegerRangeError(f"{error}, the type of a loop variable", place_of(caller())) from None

    def results(self, outs: Sequence[Any], certain: bool) -> list[Any]:
        """The state after the loop; a number or array that no turn changes is what it was before.

        If it is `certain` that a turn is made, what every turn sets is set.
        """
        raw = [x for s, t in zip(self.state, self.specs, strict=True) for x in pack(s, t, lambda x, _: x)]
        mine = self.block.invars[len(types(self.items)) :]
        flat = iter([
            r if u is v and _same_type(r, t) else o
            for o, r, u, v, t in zip(outs, raw, mine, self.block.outvars, types(self.specs), strict=True)
        ])  # fmt: skip
        values = [unpack(s, flat) for s in self.specs]
        if certain:
            return [
                v.value if isinstance(v, Maybe) and not isinstance(r, Maybe) and not _bare(r) else v for v, r in zip(values, self.raw, strict=True)
            ]
        return values

    def _check(self) -> None:
        """The kept jaxpr gives exactly the types that the state has."""
        assert [of_aval(v.aval) for v in self.block.outvars] == types(self.specs), (self.block.outvars, self.specs)

    def run_while(self, test: Callable[..., Any], certain: bool) -> list[Any]:
        self._check()
        body = self.block
        asked = Block(test, self.specs, self.place, "test", lambda _, p: [truth(p)], [test])
        outs = lax.while_p.bind(
            *asked.consts.values(), *body.consts.values(), *self.pack_state(),
            cond_nconsts=len(asked.consts), cond_jaxpr=asked.jaxpr([*asked.consts, *asked.invars]),
            body_nconsts=len(body.consts), body_jaxpr=body.jaxpr([*body.consts, *body.invars]),
        )  # fmt: skip
        return self.results(forward_only(outs, place_of(caller())), certain)

    def run_scan(self, xs: Iterable[Any], length: int, unroll: int) -> list[Any]:
        self._check()
        block = self.block
        count = len(types(self.items))
        items, mine = block.invars[:count], block.invars[count:]
        outs = _jax.bind_scan(block.jaxpr([*block.consts, *mine, *items]), list(block.consts.values()), self.pack_state(), list(xs), length, unroll)
        return self.results(outs, certain=True)


def _bare(spec: Spec) -> bool:
    """Whether a variable has no value yet."""
    return isinstance(spec, Static) and (spec.value is blank or isinstance(spec.value, Unset))


def _same_type(x: Any, t: Any) -> bool:
    """Whether the value before the loop can stand for the value after it: it has that type, or is a Python number."""
    if x is blank:
        return False
    return type(x) in NUMBERS or type_of(x) == t
