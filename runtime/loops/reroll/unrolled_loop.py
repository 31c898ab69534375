"""Iterations that are alike as one compiled loop: a scan, whose carry are registers and whose rows are the numbers that differ.

Several kinds of iterations, as the sides of an `if` that Python decides, are the sides of a `lax.switch` in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi.equation_ranges import EquationRange, equation, jaxpr_of
from autograph.runtime.jaxapi.traces import Literal, Tracer, Var
from autograph.runtime.loops.reroll.carry_allocation import Need, Registers, Way
from autograph.runtime.loops.reroll.iteration_equivalence import IterationTrace, known
from autograph.runtime.loops.reroll.literal_abstraction import numbers_in, with_numbers

_MOST_KINDS = 16
_LARGEST_ROW = 1 << 10  # elements of an array that is another in each iteration, and is put into a table
_FEW = 2  # iterations of whose variables a register holds what is taken after the loop
_LARGEST_STACK = 1 << 28  # bytes of what iterations give that is taken after the loop


class NotAlike(Exception):
    """The iterations are too different, or hand on what no compiled loop can."""


class _KnownValues:
    """A number that is known and stands before the loop where iterations give others."""

    def __init__(self, value: Any, aval: Any) -> None:
        self.value, self.aval = value, aval


class UnrolledLoop:
    """Some iterations as one loop: what each position takes, what is handed on, and what is given after the loop."""

    def __init__(self, span: EquationRange, iterations: Sequence[IterationTrace]) -> None:
        self.span, self.iterations = span, iterations
        self.kinds: dict[Hashable, list[int]] = {}
        for k, t in enumerate(iterations):
            self.kinds.setdefault(t.key, []).append(k)
        self.size, self.whole = sum(t.size for t in iterations), sum(iterations[of[0]].size for of in self.kinds.values())
        if len(self.kinds) > _MOST_KINDS or 2 * self.whole > self.size:
            raise NotAlike
        self.defined = {v: (k, n) for k, t in enumerate(iterations) for v, n in t.slots.items()}
        self.tables: dict[tuple[Hashable, int], Any] = {}  # by position: an array with a row for each iteration
        self.same: dict[tuple[Hashable, int], Any] = {}  # what all iterations of a kind take
        self.handed: dict[Hashable, list[int]] = {}  # the positions that take what iterations hand on
        self.of_numbers: dict[tuple[Any, bytes], _KnownValues] = {}
        self.tracers: dict[Any, Any] = {}
        for kind, of in self.kinds.items():
            for p in range(len(iterations[of[0]].taken)):
                self._position(kind, p, of)
        for t in iterations:  # what only iterations give is held by nothing else
            t.tracers = [None if isinstance(atom, Var) and atom in self.defined else tracer for atom, tracer in zip(t.taken, t.tracers, strict=True)]

    def _position(self, kind: Hashable, p: int, of: list[int]) -> None:
        taken = [self.iterations[k].taken[p] for k in of]
        if isinstance(taken[0], Var) and all(atom is taken[0] for atom in taken) and taken[0] not in self.defined:
            self.same[kind, p] = self.iterations[of[0]].tracers[p]
            return
        values = [known(atom, self.span.constant) for atom in taken]
        if all(v is not None for v in values):
            arrays = [np.asarray(v) for v in values]
            if all(a.tobytes() == arrays[0].tobytes() for a in arrays):
                self.same[kind, p] = taken[0] if isinstance(taken[0], Literal) else arrays[0]
            elif arrays[0].size > _LARGEST_ROW:
                raise NotAlike
            else:
                table = np.zeros((len(self.iterations), *arrays[0].shape), _type(taken[0]).dtype)
                for k, a in zip(of, arrays, strict=True):
                    table[k] = a
                self.tables[kind, p] = table
            return
        if all(isinstance(atom, Var) and atom not in self.defined for atom in taken) and len(set(taken)) > len(taken) // 2:
            raise NotAlike  # arrays of before the loop, another in each iteration
        self.handed.setdefault(kind, []).append(p)

    def _value(self, k: int, p: int) -> Any:
        """What iteration k takes at a position, as one that is handed on."""
        atom, tracer = self.iterations[k].taken[p], self.iterations[k].tracers[p]
        if isinstance(atom, Literal):
            data = np.asarray(atom.val)
            return self.of_numbers.setdefault((atom.aval, data.tobytes()), _KnownValues(data, atom.aval))
        if atom not in self.defined:
            self.tracers[atom] = tracer
        return atom

    def plan(self, alive: Sequence[Any]) -> None:
        """Find out what is handed on, and where the values are found that something still holds."""
        self.stand_ins = [t for t in alive if isinstance(t.val, Var) and t.val in self.defined]
        held: dict[tuple[Hashable, int], set[int]] = {}
        for t in self.stand_ins:
            k, slot = self.defined[t.val]
            held.setdefault((self.iterations[k].key, slot), set()).add(k)
        few = {(k, slot) for (_, slot), of in held.items() if len(of) <= _FEW for k in of}
        kept = [v for v in dict.fromkeys(t.val for t in self.stand_ins) if self.defined[v] in few]
        needs = [[Need((t.key, p), self._value(k, p)) for p in self.handed.get(t.key, ())] for k, t in enumerate(self.iterations)]
        kinds = [t.key for t in self.iterations]
        self.registers = Registers(needs, [t.slots for t in self.iterations], kinds, kept, lambda v: v.aval)
        taken_out = sum(t.val not in self.registers.last for t in self.stand_ins)
        if 2 * (self.whole + 2 * taken_out) > self.size:  # as where a tape holds whatever iterations compute
            raise NotAlike
        self.columns: dict[tuple[Hashable, int], tuple[Any, int]] = {}  # what is given after the loop, as one of the stacks of its type
        widths: Counter[Any] = Counter()
        stacked = {(key, slot) for (key, slot), of in held.items() if any(self.iterations[k].variables[slot] not in self.registers.last for k in of)}
        for key in self.kinds:
            mine: Counter[Any] = Counter()
            for slot in sorted(slot for of, slot in stacked if of == key):
                aval = self.iterations[self.kinds[key][0]].variables[slot].aval
                self.columns[key, slot] = aval, mine[aval]
                mine[aval] += 1
            widths |= mine
        self.stacks = [(aval, n) for aval, count in widths.items() for n in range(count)]
        self.variants: dict[tuple[Hashable, Way], int] = {}
        self.variant = [self.variants.setdefault((t.key, w), len(self.variants)) for t, w in zip(self.iterations, self.registers.ways, strict=True)]
        blank = [t for r, t in enumerate(self.registers.types) if r not in self.registers.first]
        blank += [aval for aval, _ in self.stacks] if len(self.kinds) > 1 else []
        if len(self.variants) > _MOST_KINDS or any(jnp.issubdtype(aval.dtype, jax.dtypes.extended) for aval in blank):
            raise NotAlike
        if sum(len(self.iterations) * aval.size * aval.dtype.itemsize for aval, _ in self.stacks) > max(
            _LARGEST_STACK, 2 * sum(t.aval.size * t.aval.dtype.itemsize for t in self.stand_ins)
        ):
            raise NotAlike

    def given_to(self) -> set[Any]:
        """The variables that iterations take from before the loop."""
        return {atom for t in self.iterations for atom in t.taken if isinstance(atom, Var) and atom not in self.defined}

    def outside(self) -> dict[Any, Any]:
        """What iterations take that stands before the loop: tracers by variable."""
        held = [*self.tracers.values(), *self.same.values()]
        return {t.val: t for t in held if isinstance(t, Tracer) and isinstance(t.val, Var)}

    def used(self) -> set[Any]:
        """What iterations give and iterations take."""
        own = {t.variables[n] for t in self.iterations for operands in t.operands for mine, n in operands if mine}
        return own | {atom for t in self.iterations for atom in t.taken if isinstance(atom, Var) and atom in self.defined}

    def bind(self, given: Mapping[Any, Any] = MappingProxyType({})) -> list[Any]:
        """Record the loop; what the stand-ins stand for.  `given`: values in the place of some of those of before the loop, by variable."""
        self.given = given
        carry = [self._initial(r, aval) for r, aval in enumerate(self.registers.types)]
        xs = {place: jnp.asarray(table) for place, table in self.tables.items()}
        numbers = {place: n for n, place in enumerate(xs)}
        variant = np.asarray(self.variant, np.int32)
        sides = [self._side(kind, way, numbers) for kind, way in self.variants]

        def iteration(carry: list[Any], row: tuple[Any, list[Any]]) -> tuple[list[Any], list[Any]]:
            which, rows = row
            return sides[0](carry, rows) if len(sides) == 1 else lax.switch(which, sides, carry, rows)  # type: ignore[no-any-return]

        carry, stacks = lax.scan(iteration, carry, (variant, [*xs.values()]), len(self.iterations))
        self.stacked = stacks  # whose rows are what is given after the loop
        rows: dict[int, Sequence[Any]] = {}
        wanted: Counter[int] = Counter(self._stack(t.val) for t in self.stand_ins if t.val not in self.registers.last)
        out: list[Any] = []
        for t in self.stand_ins:
            if t.val in self.registers.last:
                x = carry[self.registers.last[t.val]]
            else:
                n, k = self._stack(t.val), self.defined[t.val][0]
                if wanted[n] > len(self.iterations) // 4 and n not in rows:
                    rows[n] = lax.split(stacks[n], (1,) * len(self.iterations))
                x = lax.squeeze(rows[n][k], (0,)) if n in rows else lax.index_in_dim(stacks[n], k, keepdims=False)
            out.append(_of_type(x, t.val.aval))
        return out

    def _stack(self, v: Any) -> int:
        k, slot = self.defined[v]
        return self.stacks.index(self.columns[self.iterations[k].key, slot])

    def _initial(self, register: int, aval: Any) -> Any:
        value = self.registers.first.get(register)
        if value is None:
            return _of_type(jnp.zeros(aval.shape, aval.dtype), aval)
        return _of_type(jnp.asarray(value.value), aval) if isinstance(value, _KnownValues) else self.given.get(value, self.tracers[value])

    def _side(self, kind: Hashable, way: Way, numbers: dict[tuple[Hashable, int], int]) -> Any:
        """A function of the registers and of the rows of tables: the registers after an iteration of a kind, and what it gives after the loop."""
        k = self.kinds[kind][0]
        iteration, handed = self.iterations[k], self.handed.get(kind, [])
        slots = [slot for of, slot in self.columns if of == kind]
        run, avals = self._made(iteration, kind, [iteration.variables[s] for s in (*(s for _, s in way.writes), *slots)])

        def side(carry: list[Any], rows: list[Any]) -> tuple[list[Any], list[Any]]:
            taken: list[Any] = []
            for p, aval in enumerate(avals):
                place = kind, p
                if place in numbers:
                    taken.append(_of_type(rows[numbers[place]], aval))
                elif place in self.same:
                    same = self.same[place]
                    taken.append(0 if isinstance(same, Literal) else self.given.get(same.val, same) if isinstance(same, Tracer) else same)
                else:
                    taken.append(carry[way.reads[handed.index(p)]])
            given = run(*taken)
            new, count = list(carry), len(way.writes)
            for (register, _), x in zip(way.writes, given[:count], strict=True):
                new[register] = _of_type(x, self.registers.types[register])
            found = {self.columns[kind, s]: x for s, x in zip(slots, given[count:], strict=True)}
            return new, [found[c] if c in found else _of_type(jnp.zeros(c[0].shape, c[0].dtype), c[0]) for c in self.stacks]

        return side

    def _made(self, iteration: IterationTrace, kind: Hashable, outvars: list[Any]) -> tuple[Any, list[Any]]:
        """An iteration as a function of what its positions take, and their types."""
        avals = [_type(atom) for atom in iteration.taken]
        invars = [Var(a) for a in avals]
        inputs = [atom if isinstance(atom := self.same.get((kind, p)), Literal) else v for p, v in enumerate(invars)]
        eqns = []
        for e, operands in zip(iteration.eqns, iteration.operands, strict=True):
            atoms = [iteration.variables[n] if own else inputs[n] for own, n in operands]
            count = len(operands) - len(numbers_in(e))
            if any((kind, n) in self.tables for _, n in operands[count:]):
                eqns.append(with_numbers(e, atoms[:count], atoms[count:]))
            else:
                eqns.append(equation(e, atoms[:count]))
        return _jax.jaxpr_as_fun(jaxpr_of(invars, outvars, eqns)), avals


def _type(atom: Any) -> Any:
    return _jax.ShapedArray((), np.dtype(np.int32)) if isinstance(atom, np.int32) else atom.aval


def _of_type(x: Any, aval: Any) -> Any:
    """A value with exactly this type, which may be weak."""
    now = _jax.aval_of(x)
    if now.dtype == aval.dtype and now.weak_type == aval.weak_type:
        return x
    return _jax.convert_type(x, aval.dtype, aval.weak_type)
