"""How a tape records an operation: what it takes, what it gives, and how cotangents go back through it.

A value is known by its identity: the tape keeps the arrays alive that derivatives are asked of (`live`).  Cheap operations are done again when
cotangents are pulled back, where XLA drops what is not needed; loops, branches and compiled functions keep their residuals.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi.traces import Literal, Tracer

CALLS = frozenset({"jit", "pjit", "closed_call", "core_call"})  # of a jaxpr
HEAVY = CALLS | {
    "scan", "while", "cond", "custom_vjp_call", "custom_jvp_call", "shard_map", "remat", "remat2", "checkpoint", "custom_linear_solve", "run_state",
}  # fmt: skip
_WITH_RULES = frozenset({"custom_vjp_call", "custom_jvp_call"})
CONSTANT = frozenset({"stop_gradient", "floor", "ceil", "round", "sign", "is_finite", "argmax", "argmin", "nextafter"})  # no derivative but zero
UNSEEN = frozenset({"get", "swap", "addupdate", "new_ref", "freeze", "debug_callback", "debug_print", "io_callback"})
WRITES = frozenset({"new_ref", "swap", "addupdate"})
_FEW = 24  # equations: as many are done again


@dataclass(frozen=True)
class Again:
    """An operation that is done again when cotangents are pulled back; `live`: the numbers of the operands that have derivatives."""

    do: Callable[..., Any]
    args: Sequence[Any]
    live: Sequence[int]
    several: bool

    def __call__(self, cotangents: tuple[Any, ...]) -> Sequence[Any]:
        def of_live(*values: Any) -> tuple[Any, ...]:
            out = self.do(*_with(self.args, self.live, values))
            return tuple(out) if self.several else (out,)

        pulled: Sequence[Any] = jax.vjp(of_live, *[self.args[k] for k in self.live])[1](cotangents)
        return pulled


class Operation(NamedTuple):
    inputs: list[Any]  # those that are live
    outputs: list[Any]
    pullback: Callable[[tuple[Any, ...]], Sequence[Any]]  # cotangents of the outputs to those of the inputs

    def of(self, f: Callable[[Any], Any]) -> Operation:
        """One that is done again, of other values."""
        assert isinstance(self.pullback, Again)
        pullback = replace(self.pullback, args=list(map(f, self.pullback.args)))
        return Operation(list(map(f, self.inputs)), list(map(f, self.outputs)), pullback)


def is_inexact(x: Any) -> bool:
    return bool(jnp.issubdtype(jnp.result_type(x), jnp.inexact))


class Done(NamedTuple):
    """An operation that is to be recorded: its results may have to be made anew, to be told from other values."""

    outputs: list[Any]
    pullback: Callable[[tuple[Any, ...]], Sequence[Any]]
    depends: list[bool]  # of each output, whether it depends on what is live


def done(
    name: str, do: Callable[..., Any], args: Sequence[Any], params: dict[str, Any] | None, several: bool, live: Sequence[int], primitive: Any
) -> Done:
    """Do an operation, of whose operands those with the numbers `live` have derivatives."""

    def outputs(*given: Any) -> tuple[Any, ...]:
        out = do(*given)
        return tuple(out) if several else (out,)

    def of_live(*values: Any) -> tuple[Any, ...]:
        return outputs(*_with(args, live, values))

    depends = None
    if name in CALLS and params is not None and "jaxpr" in params:
        ways = depending(params["jaxpr"])
        depends = [bool(way & set(live)) for way in ways]
    known = primitive is not None and not any(isinstance(a, Tracer) for a in args)
    again = Again(do, args, live, several)
    if name not in HEAVY or name in CALLS and _is_small(params):
        out = outputs(*args)
        back = _backwards(primitive, params, tuple(live), several) if known else None
        return Done(list(out), again if back is None else functools.partial(_again, back, tuple(args)), depends or [True] * len(out))
    if known and (forwards := _forwards(primitive, params, tuple(live), several)) is not None:
        out, residual = forwards(tuple(args))
        return Done(list(out), functools.partial(_pulled, residual), depends or [True] * len(out))
    if name in _WITH_RULES and _jax.staging():
        start = _jax.equations()
        out = outputs(*args)
        if _are_small(_jax.recorded(start), HEAVY - CALLS - _WITH_RULES):
            return Done(list(out), again, [True] * len(out))
        _jax.drop_effects(start)  # it is done once, with what its derivatives read
    out, pullback = jax.vjp(of_live, *[args[k] for k in live])
    return Done(list(out), pullback, depends or [True] * len(out))


def _with(args: Sequence[Any], places: Sequence[int], values: Sequence[Any]) -> list[Any]:
    new = list(args)
    for k, value in zip(places, values, strict=True):
        new[k] = value
    return new


def _again(back: Callable[..., Any], args: tuple[Any, ...], cotangents: tuple[Any, ...]) -> Sequence[Any]:
    return back(args, cotangents)  # type: ignore[no-any-return]


_pulled: Callable[..., Any] = jax.jit(lambda residual, cotangents: residual(cotangents))


def _of_primitive(primitive: Any, params: dict[str, Any], live: tuple[int, ...], several: bool, args: tuple[Any, ...]) -> Callable[..., Any]:
    def of_live(*values: Any) -> tuple[Any, ...]:
        out = primitive.bind(*_with(args, live, values), **params)
        return tuple(out) if several else (out,)

    return of_live


def _compiled(make: Callable[..., Callable[..., Any]]) -> Callable[..., Any]:
    """One compiled function for each primitive and its parameters; None where these cannot be told apart."""
    table: dict[Any, Any] = {}

    def found(primitive: Any, params: dict[str, Any], live: tuple[int, ...], several: bool) -> Any:
        try:
            key = primitive, tuple(sorted(params.items(), key=lambda item: item[0])), live
            if key not in table:
                table[key] = jax.jit(make(primitive, params, live, several))
            return table[key]
        except TypeError:  # a parameter that has no hash
            return None

    return found


@_compiled
def _backwards(primitive: Any, params: dict[str, Any], live: tuple[int, ...], several: bool) -> Callable[..., Any]:
    def back(args: tuple[Any, ...], cotangents: tuple[Any, ...]) -> Any:
        return jax.vjp(_of_primitive(primitive, params, live, several, args), *[args[k] for k in live])[1](cotangents)

    return back


@_compiled
def _forwards(primitive: Any, params: dict[str, Any], live: tuple[int, ...], several: bool) -> Callable[..., Any]:
    def forth(args: tuple[Any, ...]) -> Any:
        return jax.vjp(_of_primitive(primitive, params, live, several, args), *[args[k] for k in live])

    return forth


def _is_small(params: dict[str, Any] | None) -> bool:
    """Whether a jaxpr among the parameters has few equations, and none that is heavy, or a rule that no forward mode takes."""
    jaxprs = [j for p in (params or {}).values() for j in _jax.jaxprs_in(p)]
    return bool(jaxprs) and _are_small([e for j in jaxprs for e in getattr(j, "jaxpr", j).eqns], HEAVY - CALLS - {"custom_jvp_call"})


def _are_small(eqns: Sequence[Any], heavy: frozenset[str]) -> bool:
    """The same of equations."""
    todo, count = [*eqns], 0
    while todo:
        eqn = todo.pop()
        count += 1
        if count > _FEW or eqn.primitive.name in heavy or "callback" in eqn.primitive.name:
            return False
        todo += [e for p in eqn.params.values() for j in _jax.jaxprs_in(p) for e in getattr(j, "jaxpr", j).eqns]
    return True


_known: dict[int, tuple[Callable[[], Any], list[frozenset[int]]]] = {}


def depending(closed: Any) -> list[frozenset[int]]:
    """For each output of a jaxpr the inputs that its derivatives depend on."""
    jaxpr = getattr(closed, "jaxpr", closed)
    if (found := _known.get(id(jaxpr))) is not None and found[0]() is jaxpr:
        return found[1]
    none: frozenset[int] = frozenset()
    ways = {v: frozenset((k,)) for k, v in enumerate(jaxpr.invars)}

    def way(v: Any) -> frozenset[int]:
        return none if isinstance(v, Literal) else ways.get(v, none)

    for eqn in jaxpr.eqns:
        given = [way(v) for v in eqn.invars]
        if eqn.primitive.name in CALLS and "jaxpr" in eqn.params:
            out = [none.union(*(given[k] for k in inner)) for inner in depending(eqn.params["jaxpr"])]
        else:
            out = [none if eqn.primitive.name in CONSTANT else none.union(*given)] * len(eqn.outvars)
        ways.update(zip(eqn.outvars, out, strict=True))
    found_ways, key = [way(v) for v in jaxpr.outvars], id(jaxpr)
    _known[key] = weakref.ref(jaxpr, lambda _: _known.pop(key, None)), found_ways  # type: ignore[func-returns-value]
    return found_ways


def constants(params: dict[str, Any] | None) -> list[Any]:
    """The arrays in the jaxprs among the parameters of an operation, at any depth."""
    found: list[Any] = []
    todo = [j for p in (params or {}).values() for j in _jax.jaxprs_in(p)]
    while todo:
        jaxpr = todo.pop()
        found += getattr(jaxpr, "consts", ())
        for eqn in getattr(jaxpr, "jaxpr", jaxpr).eqns:
            found += [v.val for v in eqn.invars if isinstance(v, Literal) and hasattr(v.val, "dtype")]
            todo += [j for p in eqn.params.values() for j in _jax.jaxprs_in(p)]
    return found
