"""The primitives of a loop of unknown length and its derivatives, as JAX sees them: types, compilation and `jax.vmap`.

    run   (tc, c, x)               ->  n, x             the loop; it counts its iterations
    both  (tc, c, x, dc, dx)       ->  n, x, dx         forward mode: one loop over values and tangents
    lin   (n, c, x, dc, dx)        ->  dx               its part that is linear, in dc and dx
    adj   (n, c, x, ct)            ->  c', x'           the transpose of `lin`: linear in ct
    adjb  (n, c, x, ct, dc, dx, t) ->  c', x', dc', dx'  its forward mode: one sweep over values and tangents
    adjt  (n, c, x, ct, dc, dx, t) ->  dc', dx'         the part of that which is linear, in dc, dx and t

Closed under differentiation: `lin` and `adj` are each other's transposes, that of `adjt` is `adjt` and `lin`, and derivatives are of the same
kinds on the loop of values and tangents.  Under `jax.vmap` lanes stop at their own count.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from autograph.runtime.jaxapi.batch_params import Lanes, Stack, all_lanes, vmapped, wide
from autograph.runtime.jaxapi.mesh import like
from autograph.runtime.jaxapi.traces import Primitive, axes_of, batching, mlir, with_axis
from autograph.runtime.loops.derivatives import sweeps
from autograph.runtime.loops.derivatives.loop_data import LoopData, strong
from autograph.runtime.loops.derivatives.masks import merge, pick, split


class Kind(NamedTuple):
    """One of the primitives."""

    primitive: Primitive
    compute: Callable[..., list[Any]]
    fixed: Callable[[LoopData], int]  # the number of operands that it is not linear in
    types: Callable[[LoopData], list[Any]]
    tests: bool = False  # whether it finds the number of iterations itself, and does what the iterations do besides


def _active(loop: LoopData) -> list[Any]:
    return [strong(a) for a in pick(loop.carry_active, loop.carry_types)]


def _grown(loop: LoopData) -> list[Any]:
    return [strong(a) for a in pick(loop.const_active, loop.const_types)] + _active(loop)


def _operands(loop: LoopData) -> int:
    return len(loop.test_types) + loop.consts + loop.carry


KINDS = {
    "run": Kind(Primitive("ag_loop"), sweeps.run, _operands, lambda loop: [loop.count(), *loop.carry_types], tests=True),
    "both": Kind(
        Primitive("ag_loop_jvp"), sweeps.both, _operands, lambda loop: [loop.count(), *loop.carry_types, *_active(loop)], tests=True
    ),
    "lin": Kind(Primitive("ag_loop_tangents"), sweeps.tangents, lambda loop: 1 + loop.consts + loop.carry, _active),
    "adj": Kind(Primitive("ag_loop_vjp"), sweeps.cotangents, lambda loop: 1 + loop.consts + loop.carry, _grown),
    "adjb": Kind(
        Primitive("ag_loop_vjp_jvp"), sweeps.cotangents_and_tangents, lambda loop: 1 + loop.consts + loop.carry + loop.active_carry,
        lambda loop: _grown(loop) * 2,
    ),
    "adjt": Kind(
        Primitive("ag_loop_vjp_tangents"), sweeps.tangents_of_cotangents, lambda loop: 1 + loop.consts + loop.carry + loop.active_carry, _grown
    ),
}  # fmt: skip


def bind(kind: str, loop: LoopData, *operands: Any) -> list[Any]:
    """Bind a primitive.

    Devices of a mesh whose numbers of iterations differ all make as many as the longest: the transposed iteration may hold a collective operation,
    of a replicated value that the iteration reads.
    """
    found = list(operands)
    if not KINDS[kind].tests and (axes := axes_of(jax.typeof(found[0]))):
        longest, start = lax.pmax(found[0], tuple(sorted(axes))), like(jnp.int32(0), jax.typeof(found[0]))
        carry = found[1 + loop.consts : 1 + loop.consts + loop.carry]
        loop, found = loop.masked(axes), _with_counts(loop, found, longest, found[0], start, carry)
    return list(KINDS[kind].primitive.bind(*found, loop=loop, stack=()))


def _with_counts(loop: LoopData, operands: list[Any], longest: Any, n: Any, start: Any, safe: list[Any]) -> list[Any]:
    """What belongs to the operands of a loop, as it belongs to those of the masked loop."""
    return [longest, n, *safe, *operands[1 : 1 + loop.consts], start, *operands[1 + loop.consts :]]


def _define(name: str, kind: Kind) -> None:
    p = kind.primitive
    p.multiple_results = True

    def compute(*operands: Any, loop: LoopData, stack: Stack) -> Any:
        counted = {} if name not in ("adj", "adjb", "adjt") else {"lanes": math.prod(lanes.size for lanes in stack)}
        with loop.errors():
            return all_lanes(lambda *ops: kind.compute(loop, list(ops), **counted), stack)(*operands)

    @functools.lru_cache(maxsize=512)
    def compiled(loop: LoopData, stack: Stack) -> Any:
        return jax.jit(functools.partial(compute, loop=loop, stack=stack))

    def types(*_: Any, loop: LoopData, stack: Stack) -> Any:
        return wide(kind.types(loop), stack), loop.effects if kind.tests else frozenset()

    p.def_impl(lambda *operands, loop, stack: compiled(loop, stack)(*operands))
    p.def_effectful_abstract_eval(types)
    mlir.register_lowering(p, mlir.lower_fun(compute, multiple_results=True))
    batching.fancy_primitive_batchers[p] = functools.partial(_batch, name)


def _options(axis: Any) -> tuple[tuple[str, Any], ...]:
    """The options of `jax.vmap` around a primitive."""
    found: dict[str, Any] = {}
    if isinstance(axis.name, str):
        found["axis_name"] = axis.name
    if axis.spmd_name:
        found["spmd_axis_name"] = axis.spmd_name
    if axis.explicit_mesh_axis:
        found["mesh"] = axis.explicit_mesh_axis
    return tuple(found.items())


def _batch(name: str, axis: Any, args: Sequence[Any], dims: Sequence[Any], *, loop: LoopData, stack: Stack) -> Any:
    kind, options = KINDS[name], _options(axis)
    named = any(k == "axis_name" for k, _ in options)  # an iteration may hold a collective operation over the lanes
    operands = [jnp.moveaxis(a, d, 0) if d not in (None, 0) else a for a, d in zip(args, dims, strict=True)]
    batched = [d is not None for d in dims]
    if not any(batched) and not named:
        out = kind.primitive.bind(*operands, loop=loop, stack=stack)
        return out, [None] * len(out)
    if not kind.tests and batched[0]:
        loop, operands, batched, stack = _own_counts(loop, operands, batched, stack)
    results: list[bool] | None = None
    if kind.tests:
        tc, c, x, _ = split(batched, len(loop.test_types), loop.consts, loop.carry)
        carry = loop.reached(c, x)
        differ = named or any(d and b for d, b in zip(loop.test_dependencies, [*tc, *carry], strict=True))
        results = [differ, *(differ or b for b in carry), *([True] * loop.active_carry if name == "both" else [])]
    elif name == "adjb":
        count = loop.active_consts + loop.active_carry
        results = [any(batched[: kind.fixed(loop)])] * count + [True] * count
    elif name == "lin" and not stack and any(batched[1 : 1 + loop.consts + loop.carry]):
        return _one_loop(loop, operands, batched, axis.size, options, named)
    axes = tuple(0 if b else None for b in results or [True] * len(wide(kind.types(loop), stack)))
    more = Lanes(tuple(0 if b else None for b in batched), axes, axis.size, options)
    return kind.primitive.bind(*operands, loop=loop, stack=(*stack, more)), list(axes)


def _own_counts(loop: LoopData, operands: list[Any], batched: list[bool], stack: Stack) -> tuple[LoopData, list[Any], list[bool], Stack]:
    """Lanes with numbers of iterations of their own: as many as the longest are made, masked.

    A lane that has finished is evaluated where it began; one that makes no iteration, where the longest begins: an iteration may have no derivative
    there.
    """
    n, carry = operands[0], slice(1 + loop.consts, 1 + loop.consts + loop.carry)

    def safe(v: Any, b: bool) -> Any:
        return jnp.where(n.reshape(-1, *[1] * (v.ndim - 1)) > 0, v, v[n.argmax()]) if b else v

    starts = list(map(safe, operands[carry], batched[carry]))
    operands = _with_counts(loop, operands, n.max(), n, jnp.int32(0), starts)
    flags = _with_counts(loop, batched, False, True, False, batched[carry])

    def shifted(lanes: Lanes) -> Lanes:
        axes = list(lanes.operands)
        return lanes._replace(operands=tuple(_with_counts(loop, axes, None, None, None, axes[carry])))

    return loop.masked(axes_of(jax.typeof(n))), operands, flags, tuple(map(shifted, stack))


def _one_loop(loop: LoopData, operands: list[Any], batched: list[bool], size: int, options: tuple[tuple[str, Any], ...], named: bool) -> Any:
    """The tangents of all lanes by one loop over the whole batch."""
    n, c, x, dc, dx = split(operands, 1, loop.consts, loop.carry, loop.active_consts)
    _, c_in, x_in, dc_in, dx_in = split(batched, 1, loop.consts, loop.carry, loop.active_consts)

    def either(value: list[bool], tangent: list[bool], active: tuple[bool, ...]) -> list[bool]:
        spread = merge(active, tangent, [False] * (len(active) - sum(active)))
        return [a or b for a, b in zip(value, spread, strict=True)]

    consts = either(c_in, dc_in, loop.const_active)
    carry = [True] * loop.carry if named else list(loop.reached(consts, either(x_in, dx_in, loop.carry_active)))

    def spread(values: list[Any], have: list[bool], want: list[bool]) -> list[Any]:
        return [jnp.broadcast_to(v, (size, *v.shape)) if w and not h else v for v, h, w in zip(values, have, want, strict=True)]

    mesh = dict(options).get("mesh")

    def types(avals: Sequence[Any], flags: list[bool]) -> tuple[Any, ...]:
        return tuple(with_axis(size, a, mesh) if b else a for a, b in zip(avals, flags, strict=True))

    whole = loop.batched(
        lambda iteration, c, x: vmapped(iteration, (c, x), list(x), size, options),
        types(loop.const_types, consts), types(loop.carry_types, carry), consts,
        carry,
    )  # fmt: skip
    found = [
        *n, *spread(c, c_in, consts), *spread(x, x_in, carry), *spread(dc, dc_in, pick(loop.const_active, consts)),
        *spread(dx, dx_in, pick(loop.carry_active, carry)),
    ]  # fmt: skip
    results = [0 if b else None for b in pick(loop.carry_active, carry)]
    return KINDS["lin"].primitive.bind(*found, loop=whole, stack=()), results


for _name, _kind in KINDS.items():
    _define(_name, _kind)
