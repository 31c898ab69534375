"""Interpret a jaxpr on NumPy: a program is run without being compiled (1 ms instead of 200 ms)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal

MOST_TURNS = 20_000


class Endless(Exception):
    """A loop made more turns than any program needs."""


def _not(x: Any) -> Any:
    return np.logical_not(x) if x.dtype == bool else np.invert(x)


def _same(x: Any) -> Any:
    return x


def _div(x: Any, y: Any) -> Any:
    if x.dtype.kind == "f":
        return np.divide(x, y)
    quotient = np.abs(x) // np.maximum(np.abs(y), 1)  # integers: towards zero
    return np.where((x < 0) != (y < 0), -quotient, quotient)


_ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "add": np.add, "add_any": np.add, "sub": np.subtract, "mul": np.multiply, "max": np.maximum, "min": np.minimum, "neg": np.negative,
    "div": _div, "rem": np.fmod, "sign": np.sign, "abs": np.abs, "gt": np.greater, "lt": np.less, "ge": np.greater_equal, "le": np.less_equal,
    "eq": np.equal, "ne": np.not_equal, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "not": _not,
    "copy": _same, "copy_p": _same, "stop_gradient": _same, "pvary": _same, "loop_value": _same, "loop_tangent": _same,
}  # fmt: skip
_REDUCTIONS = {"reduce_or": np.any, "reduce_and": np.all, "reduce_sum": np.sum, "reduce_max": np.max, "reduce_min": np.min}


def run(closed: ClosedJaxpr, args: Sequence[Any]) -> list[np.ndarray[Any, Any]]:
    """The outputs of a closed jaxpr for these inputs."""
    values = [np.asarray(a, v.aval.dtype) for a, v in zip(args, closed.jaxpr.invars, strict=True)]
    return _run(closed.jaxpr, closed.consts, values)


def _run(jaxpr: Jaxpr, consts: Sequence[Any], args: Sequence[Any]) -> list[Any]:
    env: dict[Any, Any] = dict(zip(jaxpr.constvars, map(np.asarray, consts), strict=True))
    env.update(zip(jaxpr.invars, args, strict=True))

    def read(v: Any) -> Any:
        return np.asarray(v.val, v.aval.dtype) if isinstance(v, Literal) else env[v]

    for equation in jaxpr.eqns:
        outs = _equation(equation, [read(v) for v in equation.invars])
        for v, out in zip(equation.outvars, outs, strict=True):
            env[v] = np.asarray(out, v.aval.dtype)
    return [read(v) for v in jaxpr.outvars]


def _equation(e: Any, ins: list[Any]) -> Sequence[Any]:
    name, p = e.primitive.name, e.params
    if name in _ELEMENTWISE:
        return [_ELEMENTWISE[name](*ins)]
    if name in _REDUCTIONS:
        return [_REDUCTIONS[name](ins[0], axis=tuple(p["axes"]))]
    match name:
        case "select_n":
            out = ins[1]
            for k, case in enumerate(ins[2:], 1):
                out = np.where(ins[0] == k, case, out)
            return [out]
        case "convert_element_type":
            return [ins[0].astype(p["new_dtype"])]
        case "cond":
            branch = p["branches"][min(max(int(ins[0]), 0), len(p["branches"]) - 1)]
            return _run(branch.jaxpr, branch.consts, ins[1:])
        case "while":
            return _while(p, ins)
        case "scan":
            return _scan(p, ins, len(e.outvars))
        case "jit" | "pjit" | "closed_call":
            return _run(p["jaxpr"].jaxpr, p["jaxpr"].consts, ins)
        case "custom_jvp_call":
            return _run(p["call_jaxpr"].jaxpr, p["call_jaxpr"].consts, ins)
        case "debug_callback":
            p["callback"](*ins)
            return []
        case "ag_active":
            return [np.ones(ins[0].shape, bool)]
        case "broadcast_in_dim":
            shape = [1] * len(p["shape"])
            for axis, size in zip(p["broadcast_dimensions"], ins[0].shape, strict=True):
                shape[axis] = size
            return [np.broadcast_to(ins[0].reshape(shape), p["shape"])]
        case "reshape" | "squeeze" | "expand_dims":
            return [ins[0].reshape(e.outvars[0].aval.shape)]
        case "transpose":
            return [ins[0].transpose(p["permutation"])]
        case "rev":
            return [np.flip(ins[0], p["dimensions"])]
        case "concatenate":
            return [np.concatenate(ins, p["dimension"])]
        case "stack":
            return [np.stack(ins, p.get("axis", p.get("dimension", 0)))]
        case "iota":
            shape = [1] * len(p["shape"])
            shape[p["dimension"]] = -1
            return [np.broadcast_to(np.arange(p["shape"][p["dimension"]]).reshape(shape), p["shape"])]
        case "slice":
            steps = p["strides"] or (1,) * ins[0].ndim
            return [ins[0][tuple(map(slice, p["start_indices"], p["limit_indices"], steps))]]
        case "dynamic_slice":
            return [ins[0][_window(ins[0].shape, p["slice_sizes"], ins[1:])]]
        case "dynamic_update_slice":
            out = ins[0].copy()
            out[_window(out.shape, ins[1].shape, ins[2:])] = ins[1]
            return [out]
    nested = ("scatter", "scatter-add")  # their jaxpr is that of one addition
    if name not in nested and any(
        hasattr(x, "eqns") or hasattr(x, "jaxpr") for value in p.values() for x in (value if isinstance(value, (list, tuple)) else [value])
    ):
        raise NotImplementedError(f"the interpreter does not know {name}")
    out = e.primitive.bind(*ins, **p)  # rare, or intricate: JAX itself
    return out if e.primitive.multiple_results else [out]


def _window(shape: Sequence[int], sizes: Sequence[int], starts: Sequence[Any]) -> tuple[slice, ...]:
    """The part of an array that a dynamic slice means: starts are clamped."""
    first = [min(max(int(i), 0), n - size) for i, n, size in zip(starts, shape, sizes, strict=True)]
    return tuple(slice(i, i + size) for i, size in zip(first, sizes, strict=True))


def _while(p: dict[str, Any], ins: list[Any]) -> list[Any]:
    nt, nb, test, body = p["cond_nconsts"], p["body_nconsts"], p["cond_jaxpr"], p["body_jaxpr"]
    of_test, of_body, state = ins[:nt], ins[nt : nt + nb], ins[nt + nb :]
    for _ in range(MOST_TURNS):
        going = _run(test.jaxpr, test.consts, of_test + state)[0]
        if not going.any():
            return state
        after = _run(body.jaxpr, body.consts, of_body + state)
        if going.ndim:  # a batched test: lanes that have ended keep their state
            after = [np.where(going.reshape(going.shape + (1,) * (old.ndim - going.ndim)), new, old) for new, old in zip(after, state, strict=True)]
        state = after
    raise Endless(f"more than {MOST_TURNS} turns")


def _scan(p: dict[str, Any], ins: list[Any], outs: int) -> list[Any]:
    closed = p["jaxpr"]
    if "num_consts" in p:
        nc, nk = p["num_consts"], p["num_carry"]
    else:
        nc, nk = (len(part) for part in p["ft_in"].unpack()[:2])
    consts, state, rows = ins[:nc], ins[nc : nc + nk], ins[nc + nk :]
    stacked: list[list[Any]] = [[] for _ in range(outs - nk)]
    turns = range(p["length"])
    for i in reversed(turns) if p["reverse"] else turns:
        out = _run(closed.jaxpr, closed.consts, [*consts, *state, *(x[i] for x in rows)])
        state = out[:nk]
        for column, y in zip(stacked, out[nk:], strict=True):
            column.append(y)
    assert not stacked or turns, "a scan of no iterations that stacks outputs"
    return [*state, *(np.stack(c[::-1] if p["reverse"] else c) for c in stacked)]
