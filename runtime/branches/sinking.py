"""Stores in the sides of a branch are made behind it: the sides choose where and what is stored, not between two arrays.

A loop that carries the array stores into it in place then; a branch of which several sides store copies it.  A side that stores less often than
another stores out of range, which is nothing.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from autograph.runtime.branches.traced_region import TracedRegion
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi.traces import Literal, Var

_DROPS = lax.GatherScatterMode.FILL_OR_DROP


class _SunkStores(NamedTuple):
    """The stores of a side that make one of its results of an array from outside."""

    base: Var
    eqns: list[Any]  # `scatter`, in their order


class Sunk(NamedTuple):
    """A branch without its stores: for a result with `stores` the sides give where and what is stored, one after the other."""

    blocks: list[TracedRegion]
    bases: list[Any]
    stores: list[list[Any]]
    one_sided: bool  # does only one side store?

    def would_copy(self) -> bool:
        """Whether a loop copies the arrays in each iteration if the branches are a select: on a CPU, XLA reads one again to store into another."""
        return sum(map(bool, self.stores)) > 1 and jax.default_backend() == "cpu"

    def largest(self) -> int:
        """The items of the largest store."""
        return max((e.invars[2].aval.size for eqns in self.stores for e in eqns), default=0)

    def stored(self, outs: Sequence[Any]) -> list[Any]:
        """The results of the branch, of what its sides give."""
        flat, results = iter(outs), []
        for base, eqns in zip(self.bases, self.stores, strict=True):
            x = base if eqns else next(flat)
            for e in eqns:
                places, values = next(flat), next(flat)
                x = e.primitive.bind(x, places, values, **e.params)
            results.append(x)
        return results


def sunk(blocks: Sequence[TracedRegion]) -> Sunk | None:
    """The branch without its stores into arrays; None if it has none."""
    if not any(e.primitive.name == "scatter" for b in blocks for e in b.eqns):
        return None
    makers = [{v: e for e in b.eqns for v in e.outvars} for b in blocks]
    found: list[list[_SunkStores] | None] = []
    for k in range(len(blocks[0].outvars)):
        sides = [_stores(b, b.outvars[k], made) for b, made in zip(blocks, makers, strict=True)]
        known = [s for s in sides if s is not None]
        found.append(known if len(known) == len(sides) and _alike(blocks, known) else None)
    while any(found):
        longest = [max((s.eqns for s in sides), key=len) if sides else [] for sides in found]
        new = [_without(b, k, found, longest) for k, b in enumerate(blocks)]
        left = [{v for e in b.eqns if e.primitive.name == "scatter" for v in e.outvars} for b in new]
        kept = [
            sides and not any(e.outvars[0] in side for s, side in zip(sides, left, strict=True) for e in s.eqns) for sides in found
        ]  # a side that needs the array itself would copy it
        if all(k or not sides for k, sides in zip(kept, found, strict=True)):
            one_sided = all(sum(bool(s.eqns) for s in sides) < 2 for sides in found if sides)
            return Sunk(new, [blocks[0].consts[sides[0].base] if sides else None for sides in found], longest, one_sided)
        found = [sides if k else None for k, sides in zip(kept, found, strict=True)]
    return None


def _stores(block: TracedRegion, out: Any, made: dict[Var, Any]) -> _SunkStores | None:
    eqns: list[Any] = []
    v = out
    while isinstance(v, Var) and v not in block.consts:
        e = made.get(v)
        if e is None or e.primitive.name != "scatter" or e.params["mode"] != _DROPS:
            return None
        eqns.insert(0, e)
        v = e.invars[0]
    return _SunkStores(v, eqns) if isinstance(v, Var) else None


def _alike(blocks: Sequence[TracedRegion], sides: Sequence[_SunkStores]) -> bool:
    """Whether all sides store into one array, if at all, and each store in the same way."""
    longest = max((s.eqns for s in sides), key=len)
    if any(not e.invars[1].aval.size for e in longest) and any(len(s.eqns) < len(longest) for s in sides):
        return False  # a store of the whole array has no place that is out of range
    if not longest or len({id(b.consts[s.base]) for b, s in zip(blocks, sides, strict=True)}) > 1:
        return False
    return isinstance(longest[0].invars[2].aval.dtype, np.dtype) and all(  # there are no other zeros, as of random keys
        a.params == b.params and [v.aval for v in a.invars[1:]] == [v.aval for v in b.invars[1:]]
        for s in sides for a, b in zip(s.eqns, longest, strict=False)
    )  # fmt: skip


def _without(block: TracedRegion, number: int, found: Sequence[Any], longest: Sequence[list[Any]]) -> TracedRegion:
    """A side that gives the places and values of its stores."""
    new = copy.copy(block)
    new.eqns, new.outvars, new.consts = list(block.eqns), [], dict(block.consts)
    for v, sides, steps in zip(block.outvars, found, longest, strict=True):
        if sides is None:
            new.outvars.append(v)
            continue
        mine = sides[number]
        _forward(new, mine)
        for k, e in enumerate(steps):
            if k < len(mine.eqns):
                new.outvars += mine.eqns[k].invars[1:]
            else:
                new.outvars += [_constant(new, -1, e.invars[1].aval), _constant(new, 0, e.invars[2].aval)]
    new.drop_dead()
    return new


def _constant(block: TracedRegion, value: int, aval: Any) -> Any:
    array = np.full(aval.shape, value, aval.dtype)
    if not aval.shape:
        return Literal(array[()], aval)
    v = Var(aval)
    block.consts[v] = jnp.asarray(array)
    return v


def _forward(block: TracedRegion, stores: _SunkStores) -> None:
    """Let what reads an item of the array between the stores read it of the array before them, or of what has been stored there."""
    made = {e.outvars[0]: k for k, e in enumerate(stores.eqns)}
    axes = tuple(range(len(stores.base.aval.shape)))
    if any(e.invars[1].aval.shape != (len(axes),) or e.params["dimension_numbers"].scatter_dims_to_operand_dims != axes for e in stores.eqns):
        return  # they store more than one item
    eqns: list[Any] = []
    for e in block.eqns:
        k = made.get(e.invars[0]) if e.invars and not isinstance(e.invars[0], Literal) else None
        if k is None or e.primitive.name != "dynamic_slice" or any(size != 1 for size in e.params["slice_sizes"]):
            eqns.append(e)
            continue
        before = stores.eqns[: k + 1]
        operands = [stores.base, *(v for s in before for v in s.invars[1:]), *e.invars[1:]]
        shape = stores.base.aval.shape

        def read(base: Any, *rest: Any, count: int = len(before), shape: Any = shape) -> list[Any]:
            starts = [jnp.clip(s.astype(int), 0, n - 1) for s, n in zip(rest[2 * count :], shape, strict=True)]
            item = lax.dynamic_slice(base, starts, (1,) * len(shape))
            for places, value in zip(rest[: 2 * count : 2], rest[1 : 2 * count : 2], strict=True):
                item = jnp.where(jnp.all(places == jnp.stack(starts)), value, item)
            return [item]

        small, consts = _jax.trace(read, [v.aval for v in operands])
        if consts or small.outvars[0].aval.shape != e.outvars[0].aval.shape:
            eqns.append(e)
            continue
        env = dict(zip(small.invars, operands, strict=True))
        env[small.outvars[0]] = e.outvars[0]
        eqns += [
            s.replace(invars=[v if isinstance(v, Literal) else env.get(v, v) for v in s.invars], outvars=[env.get(v, v) for v in s.outvars])
            for s in small.eqns
        ]
    block.eqns = eqns
