"""Which iterations of a loop are the same operations: two are alike if they have equal equations, but for known numbers that they take.

What an iteration takes from outside of it has a position; the positions of iterations that are alike correspond.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from types import CellType, FunctionType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph.runtime.jaxapi.private import core, linear_util
from autograph.runtime.jaxapi.traces import Literal, Tracer
from autograph.runtime.loops.reroll.literal_abstraction import is_open, numbers_in, without_numbers


class IterationTrace:
    """The equations of one iteration, the key that iterations alike have in common, and what it takes from outside, by position."""

    def __init__(self, eqns: Sequence[Any], keys: StructuralKeys, size: int) -> None:
        self.eqns, self.size = eqns, size
        self.taken: list[Any] = []  # variables, literals, and numbers inside of equations
        self.tracers: list[Any] = []  # what stands for the variables
        self.variables: list[Any] = []  # that it defines
        self.slots: dict[Any, int] = {}  # their numbers
        self.operands: list[list[tuple[bool, int]]] = []  # of each equation: slots, or positions
        positions: dict[Any, int] = {}
        found: list[Hashable] = []
        for e in eqns:
            operands: list[tuple[bool, int]] = []
            types: list[Hashable] = []
            for t in e.in_tracers:
                atom = t.val
                literal = isinstance(atom, Literal)
                if not literal and atom in self.slots:
                    operands.append((True, self.slots[atom]))
                    continue
                position = None if literal else positions.get(atom)
                if position is None:
                    position = len(self.taken)
                    self._take(atom, t)
                    types.append(atom.aval)
                    if not literal:
                        positions[atom] = position
                operands.append((False, position))
            for number in numbers_in(e):
                operands.append((False, len(self.taken)))
                self._take(number, None)
                types.append(getattr(number, "aval", None))
            found.append((e.primitive, keys.open(e), tuple(operands), tuple(types), tuple(v.aval for v in e.outvars), e.ctx))
            self.operands.append(operands)
            for v in e.outvars:
                self.slots[v] = len(self.variables)
                self.variables.append(v)
        self.key = tuple(found)

    def _take(self, atom: Any, tracer: Any) -> None:
        self.taken.append(atom)
        self.tracers.append(tracer)


class StructuralKeys:
    """Keys of what equations have as parameters: equal where those mean the same."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, bool], tuple[Any, Hashable]] = {}

    def open(self, eqn: Any) -> Hashable:
        """The key of the parameters of an equation but for the numbers inside of it."""
        return self.of(without_numbers(eqn), is_open(eqn))

    def of(self, value: Any, opened: bool = False) -> Hashable:
        """`opened`: literals in jaxprs do not count."""
        if isinstance(value, (str, int, float, bool, np.dtype, type(None))):
            return value
        if isinstance(value, (tuple, list)):
            return (type(value), *(self.of(v, opened) for v in value))
        if isinstance(value, dict):
            return tuple((k, self.of(v, opened)) for k, v in sorted(value.items(), key=lambda item: str(item[0])))
        if isinstance(value, np.ndarray):
            return value.shape, str(value.dtype), value.tobytes()
        found = self._known.get((id(value), opened))
        if found is None:
            self._known[id(value), opened] = value, id(value)  # of a function that refers to itself
            found = self._known[id(value), opened] = value, self._object(value, opened)  # the object is kept, so that its id stays its own
        return found[1]

    def _object(self, value: Any, opened: bool) -> Hashable:
        if hasattr(value, "eqns"):
            return self._jaxpr(value, opened)
        if isinstance(value, FunctionType):  # as rules of derivatives are
            return (value.__code__, self.of(value.__defaults__), *(self._cell(c) for c in value.__closure__ or ()))
        if isinstance(value, functools.partial):
            return self.of(value.func), self.of(value.args), self.of(value.keywords)
        if isinstance(value, linear_util.WrappedFun):
            return self.of(value.f), self.of(value.transforms), self.of(value.params)
        if isinstance(value, (linear_util.Store, linear_util.EqualStore)) or type(value) is object:  # filled when the function is run; a sentinel
            return type(value).__name__
        if isinstance(value, core.Trace):  # in which a rule of derivatives was made
            return type(value).__name__
        try:
            hash(value)
        except TypeError:
            return id(value)
        return value  # type: ignore[no-any-return]

    def _cell(self, cell: CellType) -> Hashable:
        try:
            return self.of(cell.cell_contents)
        except ValueError:  # empty
            return None

    def _jaxpr(self, jaxpr: Any, opened: bool) -> Hashable:
        inner = getattr(jaxpr, "jaxpr", jaxpr)
        names: dict[Any, int] = {}

        def name(atom: Any) -> Hashable:
            if isinstance(atom, Literal):
                return "literal", atom.aval, b"" if opened else np.asarray(atom.val).tobytes()
            return names.setdefault(atom, len(names)), atom.aval

        heads = tuple(map(name, (*inner.constvars, *inner.invars)))
        eqns = tuple(
            (e.primitive, self.open(e) if opened else self.of(e.params), tuple(map(name, e.invars)), tuple(map(name, e.outvars)), e.ctx)
            for e in inner.eqns
        )
        return heads, eqns, tuple(map(name, inner.outvars)), tuple(map(id, getattr(jaxpr, "consts", ())))


def known(atom: Any, constant: Callable[[Any], Any]) -> Any:
    """The value of what an iteration takes, if it is a number or array that is known; else None."""
    if isinstance(atom, Literal):
        return atom.val
    if isinstance(atom, np.int32):
        return atom
    value = constant(atom)  # in a trace inside of others it may be traced in these
    return None if value is None or isinstance(value, Tracer) or jnp.issubdtype(value.dtype, jax.dtypes.extended) else value
