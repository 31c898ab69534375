"""Lists of numbers in the carry of a loop: one array in the place of many numbers.

    for ...: h[k] += 1      n numbers in, n numbers out: each iteration stacks them, scatters, and takes them apart

becomes a carry of one array.  Inside the loop it is taken apart where the numbers were inputs, and stacked where they were results; what stacks what
was just taken apart is dropped.  So a loop that stores at traced places carries an array, as it would by hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from autograph.runtime.branches.traced_region import TracedRegion
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi.traces import Literal, Var
from autograph.runtime.sequences.number_lists import FEWEST, rows_of, stacked
from autograph.runtime.state.state_refs import ContainerItems
from autograph.runtime.values.abstract_values import AbstractValue, ArrayType, types


class Group(NamedTuple):
    """The numbers of one list among what a loop carries of the state outside: from where on, how many, and their type."""

    first: int
    size: int
    joint: ArrayType


def groups_of(block: TracedRegion, inner: Sequence[Var]) -> list[Group]:
    """The lists of numbers that a loop carries and of which it stacks the items, or gives the rows of an array; `inner` are its inputs."""
    found: list[Group] = []
    if not block.wrote:
        return found
    first, made = 0, _Made(block.eqns)
    outs = block.outvars[len(block.outvars) - len(inner) :]
    for spec in block.wrote.values():
        count = len(types([spec]))
        if isinstance(spec, ContainerItems) and spec.keys is None and count == len(spec.values) >= FEWEST and _is_numbers(spec.values):
            mine = inner[first : first + count], outs[first : first + count]
            if made.is_stacked(mine[0]) or made.array_of(mine[1]) is not None:
                found.append(Group(first, count, spec.values[0]))
        first += count
    return found


def _is_numbers(specs: Sequence[AbstractValue]) -> bool:
    first = specs[0]
    return isinstance(first, ArrayType) and not first.shape and not first.axes and first.dtype.kind in "biuf" and all(s == first for s in specs)


class _Made:
    """How the variables of a block are made."""

    def __init__(self, eqns: Sequence[Any]) -> None:
        self.eqns = eqns
        self.by = {v: e for e in eqns for v in e.outvars}

    def is_stacked(self, numbers: Sequence[Any]) -> bool:
        """Whether some equation stacks just these variables."""
        return any(self.stacks(e, numbers) for e in self.eqns)

    def stacks(self, eqn: Any, numbers: Sequence[Any]) -> bool:
        if eqn.primitive.name not in ("concatenate", "stack") or len(eqn.invars) != len(numbers):
            return False
        return all(self._number(part) is number for part, number in zip(eqn.invars, numbers, strict=True))

    def _number(self, part: Any) -> Any:
        """The number of which an array of one element is made, of the same dtype: a conversion there and back may round."""
        eqn = self.by.get(part) if isinstance(part, Var) else None
        while eqn is not None and eqn.primitive.name in ("broadcast_in_dim", "reshape", "convert_element_type"):
            before, after = eqn.invars[0], eqn.outvars[0].aval
            if before.aval.dtype != after.dtype or after.size != 1:
                break
            part = before
            eqn = self.by.get(part) if isinstance(part, Var) else None
        return part

    def array_of(self, numbers: Sequence[Any]) -> Any:
        """The array whose rows some variables are, or None."""
        parts = [self._split(v) for v in numbers]
        first = parts[0]
        if first is None or any(p is None or p[0] is not first[0] or p[1] != k for k, p in enumerate(parts)):
            return None
        return first[0].invars[0] if len(first[0].outvars) == len(numbers) else None

    def _split(self, v: Any) -> tuple[Any, int] | None:
        eqn = self.by.get(v) if isinstance(v, Var) else None
        if eqn is not None and eqn.primitive.name == "convert_element_type" and eqn.params["new_dtype"] == eqn.invars[0].aval.dtype:
            eqn = self.by.get(eqn.invars[0])  # to a weak type
        if eqn is None or eqn.primitive.name != "squeeze":
            return None
        source = self.by.get(eqn.invars[0])
        return (source, source.outvars.index(eqn.invars[0])) if source is not None and source.primitive.name == "split" else None


def pack_inputs(block: TracedRegion, inner: Sequence[Var], groups: Sequence[Group]) -> list[Var]:
    """Let a block take the arrays of some groups in the place of the numbers."""
    out: list[Any] = []
    at = 0
    for group in groups:
        out += inner[at : group.first]
        at = group.first + group.size
        array = Var(ArrayType((group.size,), group.joint.dtype, False).aval())
        _take_apart(block, array, inner[group.first : at], group.joint)
        out.append(array)
    return [*out, *inner[at:]]


def _take_apart(block: TracedRegion, array: Var, numbers: Sequence[Var], joint: ArrayType) -> None:
    """Let numbers be the rows of an array; what stacks them is the array."""
    made = _Made(block.eqns)
    env = {e.outvars[0]: array for e in block.eqns if made.stacks(e, numbers) and e.outvars[0].aval.dtype == array.aval.dtype}
    eqns = [e.replace(invars=[_renamed(v, env) for v in e.invars]) for e in block.eqns if e.outvars[0] not in env] if env else block.eqns
    small, consts = _jax.trace(lambda x: rows_of(x, joint), [array.aval])
    assert not consts
    names: dict[Any, Any] = {small.invars[0]: array} | dict(zip(small.outvars, numbers, strict=True))
    head = [e.replace(invars=[_renamed(v, names) for v in e.invars], outvars=[names.get(v, v) for v in e.outvars]) for e in small.eqns]
    block.eqns = [*head, *eqns]
    block.outvars = [_renamed(v, env) for v in block.outvars]


def pack_outputs(block: TracedRegion, groups: Sequence[Group], size: int) -> None:
    """Let a block give the arrays of some groups in the place of the numbers, of its last `size` results."""
    base, at = len(block.outvars) - size, 0
    out: list[Any] = []
    outs = block.outvars[base:]
    for group in groups:
        out += outs[at : group.first]
        at = group.first + group.size
        numbers = outs[group.first : at]
        array = _Made(block.eqns).array_of(numbers)
        if array is None or array.aval.dtype != group.joint.dtype:
            (array,) = block.append(lambda *x, joint=group.joint: [stacked([*x], joint)], numbers)
        out.append(array)
    block.outvars = [*block.outvars[:base], *out, *outs[at:]]


def packed(values: Sequence[Any], groups: Sequence[Group]) -> list[Any]:
    """The values that go into a loop, with arrays for the numbers of groups."""
    out: list[Any] = []
    at = 0
    for group in groups:
        out += values[at : group.first]
        at = group.first + group.size
        out.append(stacked([*values[group.first : at]], group.joint))
    return [*out, *values[at:]]


def unpacked(values: Sequence[Any], groups: Sequence[Group]) -> list[Any]:
    """The values that a loop gives, with the numbers."""
    out: list[Any] = []
    rest = iter(values)
    at = 0
    for group in groups:
        out += [next(rest) for _ in range(group.first - at)]
        out += rows_of(next(rest), group.joint)
        at = group.first + group.size
    return [*out, *rest]


def _renamed(v: Any, env: Mapping[Any, Any]) -> Any:
    return v if isinstance(v, Literal) else env.get(v, v)
