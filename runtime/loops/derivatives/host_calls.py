"""Functions on the host (`ag.py_func`) in a loop of unknown trip count that is differentiated: called once, in order, in the forward pass.

The reverse pass makes iterations again.  There the results are looked up: a log keeps what a function has given, by the run of the loop and the
arguments.  Sound because an iteration that is made again has the arguments that it had; where equal arguments have given different results in one
run, or the run is too long ago, the log does not know which, and the program fails with AG602 (programs in `tests/effects/test_host_calls.py`).
"""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph.runtime.errors.errors import NotDifferentiableError, SourceSpan
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi.strip_effects import prints, quiet
from autograph.runtime.jaxapi.traces import ClosedJaxpr, Literal

_RUNS = 4  # that a log keeps: the reverse pass mostly follows its own forward pass
_HOST = "io_callback"
Call = Callable[[int, Any, list[Any]], Sequence[Any]]


def on_host(effects: Any) -> bool:
    """Whether something with these effects calls functions on the host in an order."""
    return any(type(effect).__name__ == "OrderedIOEffect" for effect in effects)


class Log:
    """What the functions in an iteration have given, in the latest runs of its loop.

    Raises:
      NotDifferentiableError: (AG602) of any method that evaluates the iteration: a function is called in a branch or loop of it.
    """

    def __init__(self, iteration: ClosedJaxpr, place: SourceSpan | None) -> None:
        self._iteration, self._place = iteration, place
        self._silent = quiet(iteration) if prints(iteration) else iteration
        self._runs: OrderedDict[int, dict[Any, Any]] = OrderedDict()
        self._numbers = itertools.count(1)

    def begin(self) -> Any:
        """A run begins: its number, of the compiled program."""
        return jax.experimental.io_callback(self._begun, jax.ShapeDtypeStruct((), np.int32), ordered=True)

    def forwards(self, run: Any, *inputs: Any) -> list[Any]:
        """The iteration, whose results on the host are kept."""
        return self._evaluated(self._iteration, inputs, lambda k, eqn, values: self._recorded(k, eqn, [run, *values]))

    def again(self, run: Any, *inputs: Any) -> list[Any]:
        """The iteration with the results that were kept; it prints nothing."""
        return self._evaluated(self._silent, inputs, lambda k, eqn, values: self._looked_up(k, eqn, [run, *values]))

    def refuse_active(self, types: Sequence[Any], active: Sequence[bool]) -> None:
        """Raise NotDifferentiableError (AG602) if what is differentiated is given to a function on the host, of which nothing is known."""

        def asked(*inputs: Any) -> list[Any]:
            given: list[Any] = []

            def note(k: int, eqn: Any, values: list[Any]) -> Sequence[Any]:
                given.extend(values)
                return [jnp.zeros(t.shape, t.dtype) for t in _types(eqn)]

            self._evaluated(self._silent, inputs, note)
            return given

        jaxpr = jax.make_jaxpr(asked)(*types).jaxpr
        floats = [np.issubdtype(getattr(v.aval, "dtype", np.int32), np.inexact) for v in jaxpr.outvars]
        if any(a and used for a, used in zip(active, _jax.used_inputs(jaxpr, floats), strict=True)):
            raise self._refusal()

    def has_custom_vjp(self) -> bool:
        """Whether a `jax.custom_vjp` is in the iteration, but those of functions on the host, which are inlined."""
        inside = [e for e in self._iteration.jaxpr.eqns if not on_host(e.effects)]
        programs = [j for e in inside for v in e.params.values() for j in _jax.jaxprs_in(v)]
        return any(e.primitive.name == "custom_vjp_call" for e in inside) or any("custom_vjp_call" in _jax.primitives(j) for j in programs)

    # on the host

    def _begun(self) -> Any:
        number = next(self._numbers)
        self._runs[number] = {}
        while len(self._runs) > _RUNS:
            self._runs.popitem(last=False)
        return np.int32(number)

    def _recorded(self, k: int, eqn: Any, values: list[Any]) -> Sequence[Any]:
        function = eqn.params["callback"]

        def called(run: Any, *args: Any) -> Any:
            out = tuple(np.asarray(x) for x in function(*args))
            known, key = self._runs.get(int(run), {}), _key(k, args)
            before = known.get(key, out)
            known[key] = out if before is not None and all(a.tobytes() == b.tobytes() for a, b in zip(before, out, strict=True)) else None
            return out

        return jax.experimental.io_callback(called, _types(eqn), *values, ordered=eqn.params["ordered"])  # type: ignore[no-any-return]

    def _looked_up(self, k: int, eqn: Any, values: list[Any]) -> Sequence[Any]:
        def found(run: Any, *args: Any) -> Any:
            known = self._runs.get(int(run), {}).get(_key(k, args))
            if known is None:
                raise RuntimeError(
                    "AG602 a function on the host, in a loop that is differentiated, has given different results for equal arguments, "
                    "or too long ago: give the loop a known trip count"
                )
            return known

        return jax.pure_callback(found, _types(eqn), *values, vmap_method="sequential")  # type: ignore[no-any-return]

    # the iteration

    def _evaluated(self, closed: ClosedJaxpr, inputs: Sequence[Any], call: Call, count: itertools.count[int] | None = None) -> list[Any]:
        """What the jaxpr gives; `call` is asked for the results of functions on the host, which are counted."""
        count = itertools.count() if count is None else count
        jaxpr = closed.jaxpr
        env: dict[Any, Any] = dict(zip(jaxpr.constvars, closed.consts, strict=True)) | dict(zip(jaxpr.invars, inputs, strict=True))

        def read(v: Any) -> Any:
            return v.val if isinstance(v, Literal) else env[v]

        for eqn in jaxpr.eqns:
            wanted = [v for v in eqn.outvars if type(v).__name__ != "DropVar"]
            if not on_host(eqn.effects):
                given = list(dict.fromkeys(v for v in eqn.invars if not isinstance(v, Literal)))
                one = _jax.jaxpr_as_fun(_jax.jaxpr_with(jaxpr, given, wanted, [eqn]))
                env.update(zip(wanted, one(*map(read, given)), strict=True))
                continue
            values = [*map(read, eqn.invars)]
            if eqn.primitive.name == _HOST:
                out = call(next(count), eqn, values)
            elif eqn.primitive.name in ("custom_vjp_call", "jit", "pjit"):
                out = self._evaluated(eqn.params.get("call_jaxpr") or eqn.params["jaxpr"], values, call, count)
            else:
                raise self._refusal()
            env.update(zip(eqn.outvars, out, strict=True))
        return [*map(read, jaxpr.outvars)]

    def _refusal(self) -> NotDifferentiableError:
        return NotDifferentiableError(
            "a derivative is asked for through this loop, of unknown trip count, and it calls a function on the host that has effects "
            "(`ag.py_func`), in a branch or loop, or with what is differentiated: it would be called again in the reverse pass", self._place,
            "give the loop a known trip count (`range(3)`, or `static_argnames`), or say that the function has none: `py_func(..., stateful=False)`",
        )  # fmt: skip


def _key(k: int, args: Sequence[Any]) -> Any:
    return k, *((np.asarray(x).shape, np.asarray(x).tobytes()) for x in args)


def _types(eqn: Any) -> tuple[Any, ...]:
    return tuple(jax.ShapeDtypeStruct(a.shape, a.dtype) for a in eqn.params["result_avals"])
