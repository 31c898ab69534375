"""Results of branches that nothing uses: they are dropped, with what computes them.

A branch that chooses between arrays also returns which one it chose, in case somebody stores into it.  Mostly nobody does.  XLA drops a dead result
of a conditional late: its copies of large arrays stay (L-BFGS ran three times as long).
"""

from __future__ import annotations

import weakref
from collections.abc import Collection, Sequence
from typing import Any

from jax import lax

from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi.traces import ClosedJaxpr, Var


def live(eqns: Sequence[Any], outvars: Sequence[Any]) -> list[Any]:
    """The equations that have effects or on which `outvars` depend; of branches among them the results that are used."""
    needed = {v for v in outvars if isinstance(v, Var)}
    kept = []
    for eqn in reversed(eqns):
        used = [v in needed for v in eqn.outvars]
        if not any(used) and not eqn.effects:
            continue
        if eqn.primitive is lax.cond_p and not all(used) and not eqn.effects:
            params, inputs = _with_outputs(eqn.params, used)
            eqn = eqn.replace(
                invars=[v for v, needs in zip(eqn.invars, inputs, strict=True) if needs],
                outvars=[v for v, is_used in zip(eqn.outvars, used, strict=True) if is_used],
                params=params,
            )
        kept.append(eqn)
        needed.update(v for v in eqn.invars if isinstance(v, Var))
    return kept[::-1]


def drop_recorded(start: int, results: Collection[Any]) -> None:
    """Of the branches recorded since there were `start` equations drop those of these `results`, variables, that no equation uses."""
    trace = _jax.recorder()
    if trace is None:
        return
    eqns = [e() if isinstance(e, weakref.ReferenceType) else e for e in trace.frame.tracing_eqns[start:]]
    used: set[Any] = set()
    for e in reversed([e for e in eqns if e is not None]):
        if e.primitive is lax.cond_p and not e.effects:
            stay = [v not in results or v in used for v in e.outvars]
            if not all(stay) and any(stay):
                e.params, inputs = _with_outputs(e.params, stay)
                e.in_tracers = [t for t, needs in zip(e.in_tracers, inputs, strict=True) if needs]
                e.outvars = [v for v, stays in zip(e.outvars, stay, strict=True) if stays]
        used.update(t.val for t in e.in_tracers if isinstance(t.val, Var))


def _with_outputs(params: dict[str, Any], used: Sequence[bool]) -> tuple[dict[str, Any], list[bool]]:
    """The parameters of a branch that returns some of its results, and which of its inputs it takes then."""
    sides = []
    for branch in params["branches"]:
        outvars = [v for v, is_used in zip(branch.jaxpr.outvars, used, strict=True) if is_used]
        sides.append((branch, live(branch.jaxpr.eqns, outvars), outvars))
    inputs = [False] * len(params["branches"][0].jaxpr.invars)
    for branch, eqns, outvars in sides:
        needed = {v for e in eqns for v in e.invars if isinstance(v, Var)} | {v for v in outvars if isinstance(v, Var)}
        inputs = [before or v in needed for before, v in zip(inputs, branch.jaxpr.invars, strict=True)]
    branches = []
    for branch, eqns, outvars in sides:
        invars = [v for v, needs in zip(branch.jaxpr.invars, inputs, strict=True) if needs]
        whole = _jax.jaxpr_with(branch.jaxpr, invars, outvars, eqns)
        branches.append(ClosedJaxpr(whole.jaxpr, branch.consts) if branch.consts else whole)
    return {**params, "branches": tuple(branches)}, [True, *inputs]
