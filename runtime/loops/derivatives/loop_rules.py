"""How the primitives of a loop are differentiated: forward mode, the split into what is known and what is linear, and transposition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from autograph.runtime.jaxapi.batch_params import Stack, all_lanes, wide
from autograph.runtime.jaxapi.mesh import zeros
from autograph.runtime.jaxapi.traces import Literal, ad, pe, set_current_trace
from autograph.runtime.loops.derivatives.loop_data import LoopData, is_zero
from autograph.runtime.loops.derivatives.loop_primitives import KINDS, Kind, bind
from autograph.runtime.loops.derivatives.masks import merge, pick, split

Rule = Callable[[list[Any], list[Any], LoopData], tuple[list[Any], list[Any]]]


def _array(tangent: Any, primal: Any) -> Any:
    return zeros(jax.typeof(primal).to_tangent_aval()) if is_zero(tangent) else tangent


def instantiated(active: Sequence[bool], tangents: list[Any], primals: list[Any]) -> list[Any]:
    """The tangents of active leaves, as arrays."""
    return list(map(_array, pick(active, tangents), pick(active, primals)))


class _Widened:
    """The loop with more active leaves, because some have tangents; lists of the leaves active before are spread over those active now."""

    def __init__(self, loop: LoopData, consts: list[Any], carry: list[Any]) -> None:
        self.old = loop
        self.loop = loop.activated(
            [a or not is_zero(t) for a, t in zip(loop.const_active, consts, strict=True)],
            [a or not is_zero(t) for a, t in zip(loop.carry_active, carry, strict=True)],
        )

    def consts(self, values: list[Any], primals: list[Any]) -> list[Any]:
        return _spread(self.old.const_active, self.loop.const_active, values, primals)

    def carry(self, values: list[Any], primals: list[Any]) -> list[Any]:
        return _spread(self.old.carry_active, self.loop.carry_active, values, primals)

    def kept_consts(self, values: list[Any]) -> list[Any]:
        return _kept(self.old.const_active, self.loop.const_active, values)

    def kept_carry(self, values: list[Any]) -> list[Any]:
        return _kept(self.old.carry_active, self.loop.carry_active, values)


def _spread(old: Sequence[bool], new: Sequence[bool], values: list[Any], primals: list[Any]) -> list[Any]:
    given = merge(old, values, [None] * (len(old) - len(values)))
    return [zeros(jax.typeof(p).to_tangent_aval()) if v is None else v for v, p in zip(pick(new, given), pick(new, primals), strict=True)]


def _kept(old: Sequence[bool], new: Sequence[bool], values: list[Any]) -> list[Any]:
    return [v for v, o in zip(values, pick(new, old), strict=True) if o]


# --- forward mode ----------------------------------------------------------------------------------------------------------------------------


def _run_jvp(primals: list[Any], tangents: list[Any], loop: LoopData) -> tuple[list[Any], list[Any]]:
    tests = len(loop.test_types)
    _, c, x = split(primals, tests, loop.consts)
    _, dc, dx = split(tangents, tests, loop.consts)
    loop = loop.activated([not is_zero(t) for t in dc], [not is_zero(t) for t in dx])
    if not loop.active_carry:
        out = bind("run", loop, *primals)
        return out, [None] * len(out)
    out = bind("both", loop, *primals, *instantiated(loop.const_active, dc, c), *instantiated(loop.carry_active, dx, x))
    values, on = out[: 1 + loop.carry], out[1 + loop.carry :]
    return values, [None, *merge(loop.carry_active, on, [None] * (loop.carry - loop.active_carry))]


def _both_jvp(primals: list[Any], tangents: list[Any], loop: LoopData) -> tuple[list[Any], list[Any]]:
    counts = len(loop.test_types), loop.consts, loop.carry, loop.active_consts

    def of_doubled(operands: list[Any]) -> list[Any]:
        tc, c, x, dc, dx = split(operands, *counts)
        return [*tc, *c, *dc, *x, *dx]

    return _run_jvp(of_doubled(primals), of_doubled(tangents), loop.doubled)


def _lin_jvp(primals: list[Any], tangents: list[Any], loop: LoopData) -> tuple[list[Any], list[Any]]:
    counts = 1, loop.consts, loop.carry, loop.active_consts
    (n,), c, x, dc, dx = split(primals, *counts)
    _, ct, xt, dct, dxt = split(tangents, *counts)
    out = bind("lin", loop, *primals)
    dct, dxt = list(map(_array, dct, dc)), list(map(_array, dxt, dx))
    if all(map(is_zero, [*ct, *xt])):
        return out, bind("lin", loop, n, *c, *x, *dct, *dxt)
    widened = _Widened(loop, ct, xt)
    w = widened.loop
    found = bind(
        "lin", w.doubled, n, *c, *widened.consts(dc, c), *x, *widened.carry(dx, x), *instantiated(w.const_active, ct, c), *widened.consts(dct, c),
        *instantiated(w.carry_active, xt, x), *widened.carry(dxt, x),
    )  # fmt: skip
    return out, widened.kept_carry(found[w.active_carry :])


def _adj_jvp(primals: list[Any], tangents: list[Any], loop: LoopData) -> tuple[list[Any], list[Any]]:
    counts = 1, loop.consts, loop.carry
    (n,), c, x, cotangents = split(primals, *counts)
    _, ct, xt, cotangents_t = split(tangents, *counts)
    cotangents_t = list(map(_array, cotangents_t, cotangents))
    if all(map(is_zero, [*ct, *xt])):
        return bind("adj", loop, *primals), bind("adj", loop, n, *c, *x, *cotangents_t)
    widened = _Widened(loop, ct, xt)
    w = widened.loop
    found = bind(
        "adjb", w, n, *c, *x, *widened.carry(cotangents, x), *instantiated(w.const_active, ct, c), *instantiated(w.carry_active, xt, x),
        *widened.carry(cotangents_t, x),
    )  # fmt: skip
    consts, carry, dconsts, dcarry = split(found, w.active_consts, w.active_carry, w.active_consts)
    return widened.kept_consts(consts) + widened.kept_carry(carry), widened.kept_consts(dconsts) + widened.kept_carry(dcarry)


def _adjb_jvp(primals: list[Any], tangents: list[Any], loop: LoopData) -> tuple[list[Any], list[Any]]:
    def of_doubled(operands: list[Any]) -> list[Any]:
        n, c, x, ct, dc, dx, dct = split(operands, 1, loop.consts, loop.carry, loop.active_carry, loop.active_consts, loop.active_carry)
        return [*n, *c, *dc, *x, *dx, *dct, *ct]

    def parts(values: list[Any]) -> list[Any]:
        dconsts, consts, dcarry, carry = split(values, loop.active_consts, loop.active_consts, loop.active_carry)
        return [*consts, *carry, *dconsts, *dcarry]

    out, out_t = _adj_jvp(of_doubled(primals), of_doubled(tangents), loop.doubled)
    return parts(out), parts(out_t)


def _adjt_jvp(primals: list[Any], tangents: list[Any], loop: LoopData) -> tuple[list[Any], list[Any]]:
    out, out_t = _adjb_jvp(primals, tangents, loop)
    linear = slice(loop.active_consts + loop.active_carry, None)
    return out[linear], out_t[linear]


def _lifted(rule: Rule) -> Callable[..., Any]:
    """The rule for one lane, over all lanes."""

    def jvp(primals: Sequence[Any], tangents: Sequence[Any], *, loop: LoopData, stack: Stack) -> Any:
        there = [not is_zero(t) for t in tangents]
        results: list[bool] = []

        def lane(operands: list[Any], given: list[Any]) -> tuple[list[Any], list[Any]]:
            some = iter(given)
            zero = [ad.Zero(jax.typeof(p).to_tangent_aval()) for p in operands]
            out, out_t = rule(list(operands), [next(some) if t else z for t, z in zip(there, zero, strict=True)], loop)
            results[:] = [t is not None for t in out_t]
            return list(out), pick(results, out_t)

        f: Callable[..., Any] = lane
        for lanes in stack:
            f = lanes.over(f, (list(lanes.operands), pick(there, lanes.operands)), 0)
        out, some = f(list(primals), pick(there, tangents))
        out_t = merge(results, some, [None] * (len(results) - len(some)))
        if stack:  # results that do not differ between lanes stay without the axis
            out, out_t = _narrowed(out, stack), _narrowed(out_t, stack)
        return out, [ad.Zero(jax.typeof(o).to_tangent_aval()) if t is None else t for t, o in zip(out_t, out, strict=True)]

    return jvp


def _narrowed(values: list[Any], stack: Stack) -> list[Any]:
    def narrow(k: int, v: Any) -> Any:
        same = [lanes.results[k] is None for lanes in reversed(stack)]
        return v if v is None or not any(same) else v[tuple(0 if s else slice(None) for s in same)]

    return [narrow(k, v) for k, v in enumerate(values)]


for _name, _rule in {"run": _run_jvp, "both": _both_jvp, "lin": _lin_jvp, "adj": _adj_jvp, "adjb": _adjb_jvp, "adjt": _adjt_jvp}.items():
    ad.primitive_jvps[KINDS[_name].primitive] = _lifted(_rule)


# --- what is known, and what is linear -------------------------------------------------------------------------------------------------------


class _Split(NamedTuple):
    """How a primitive in forward mode falls into a part of known values and one that is linear in unknown tangents."""

    whole: Kind
    known: Kind
    linear: str  # the name of the linear part
    values: Callable[[LoopData], int]  # the number of results that are values
    counts: bool  # whether the number of iterations is a result of the known part, and the operands of the test are not needed any more

    def known_stack(self, loop: LoopData, stack: Stack) -> Stack:
        fixed, values = self.whole.fixed(loop), self.values(loop)
        return tuple(lanes._replace(operands=lanes.operands[:fixed], results=lanes.results[:values]) for lanes in stack)

    def linear_stack(self, loop: LoopData, stack: Stack) -> Stack:
        values = self.values(loop)
        return tuple(
            lanes._replace(operands=tuple(self.operands(loop, lanes.results[0], lanes.operands)), results=lanes.results[values:]) for lanes in stack
        )

    def operands(self, loop: LoopData, count: Any, operands: Sequence[Any]) -> list[Any]:
        """What belongs to the operands of the linear part, of what belongs to those of the whole."""
        return [count, *operands[len(loop.test_types) :]] if self.counts else list(operands)

    def partial_eval(self, trace: Any, *tracers: Any, loop: LoopData, stack: Stack) -> list[Any]:
        """Known values and unknown tangents: the values are computed now, and the linear part is left."""
        fixed = self.whole.fixed(loop)
        known = [t.is_known() for t in tracers]
        if not all(known[:fixed]) or all(known):
            return list(trace.default_process_primitive(self.whole.primitive, tracers, {"loop": loop, "stack": stack}))
        out = self.known.primitive.bind(*(t.pval.get_known() for t in tracers[:fixed]), loop=loop, stack=self.known_stack(loop, stack))
        rest = self.operands(loop, trace.new_instantiated_const(out[0]), tracers)
        if stack:  # by way of the batching rule, so that all lanes become one loop
            rest = [trace.instantiate_const(trace.to_jaxpr_tracer(t)) for t in rest]
            with set_current_trace(trace):
                left = all_lanes(lambda *ops: bind(self.linear, loop, *ops), self.linear_stack(loop, stack))(*rest)
        else:
            left = trace.default_process_primitive(KINDS[self.linear].primitive, rest, {"loop": loop, "stack": ()})
        as_tracer = getattr(trace, "to_jaxpr_tracer", None) or trace.new_const
        return [*map(as_tracer, out), *left]

    def partial_eval_custom(self, saveable: Any, unknown: Sequence[bool], instantiated: Sequence[bool], eqn: Any) -> Any:
        """Under `jax.checkpoint`: known values are computed now, and everything again on the way back."""
        loop, stack = eqn.params["loop"], eqn.params["stack"]
        fixed, count, values = self.whole.fixed(loop), len(eqn.outvars), self.values(loop)
        more = [v for v, i in zip(eqn.invars, instantiated, strict=True) if not i and not isinstance(v, Literal)]
        if not any(unknown):
            return eqn, None, [False] * count, [False] * count, []
        if any(unknown[:fixed]):
            return None, eqn, [True] * count, [True] * count, more
        known = eqn.replace(
            primitive=self.known.primitive, invars=eqn.invars[:fixed], outvars=eqn.outvars[:values],
            params={"loop": loop, "stack": self.known_stack(loop, stack)},
        )  # fmt: skip
        return known, eqn, [False] * values + [True] * (count - values), [True] * count, more


for _split in (
    _Split(KINDS["both"], KINDS["run"], "lin", lambda loop: 1 + loop.carry, counts=True),
    _Split(KINDS["adjb"], KINDS["adj"], "adjt", lambda loop: loop.active_consts + loop.active_carry, counts=False),
):  # fmt: skip
    pe.custom_partial_eval_rules[_split.whole.primitive] = _split.partial_eval
    pe.partial_eval_jaxpr_custom_rules[_split.whole.primitive] = _split.partial_eval_custom


# --- transposition ---------------------------------------------------------------------------------------------------------------------------


def _lin_transpose(fixed: list[Any], cotangents: list[Any], loop: LoopData) -> list[Any]:
    return bind("adj", loop, *fixed, *cotangents)


def _adj_transpose(fixed: list[Any], cotangents: list[Any], loop: LoopData) -> list[Any]:
    return bind("lin", loop, *fixed, *cotangents)


def _adjt_transpose(fixed: list[Any], cotangents: list[Any], loop: LoopData) -> list[Any]:
    before, ct = split(fixed, 1 + loop.consts + loop.carry)
    return [*bind("adjt", loop, *fixed, *cotangents, *map(jnp.zeros_like, ct)), *bind("lin", loop, *before, *cotangents)]


def _transposed(kind: Kind, rule: Callable[..., list[Any]]) -> Callable[..., Any]:
    def transpose(cotangents: Sequence[Any], *operands: Any, loop: LoopData, stack: Stack) -> list[Any]:
        count = kind.fixed(loop)
        fixed, linear = list(operands[:count]), operands[count:]
        types = wide(kind.types(loop), stack)
        given = [zeros(a) if type(ct) is ad.Zero else ct for ct, a in zip(cotangents, types, strict=True)]

        def lane(fixed: list[Any], given: list[Any]) -> list[Any]:
            return rule(fixed, given, loop)

        f: Callable[..., Any] = lane
        for lanes in stack:
            f = lanes.over(f, (list(lanes.operands[:count]), list(lanes.results)), 0)
        out = f(fixed, given)
        for k, v in enumerate(out):  # what the lanes share gets the sum over them
            shared = tuple(i for i, lanes in enumerate(reversed(stack)) if lanes.operands[count + k] is None)
            out[k] = v.sum(axis=shared) if shared else v
        return [None] * count + [o if ad.is_undefined_primal(v) else None for o, v in zip(out, linear, strict=True)]

    return transpose


for _name, _transpose in {"lin": _lin_transpose, "adj": _adj_transpose, "adjt": _adjt_transpose}.items():
    ad.primitive_transposes[KINDS[_name].primitive] = _transposed(KINDS[_name], _transpose)
