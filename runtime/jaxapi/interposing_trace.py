"""A trace of JAX's that hands every operation on and lets somebody see it: what a gradient tape is, on any other trace."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

from autograph.runtime.jaxapi.private import core as _core
from autograph.runtime.jaxapi.tracers import content, is_ours, results


def _contents(out: Any) -> Any:
    return [content(x) for x in out] if isinstance(out, (list, tuple)) else content(out)


class _Kept(threading.local):
    def __init__(self) -> None:
        self.traces: list[Passing] = []


_kept = _Kept()


class Passing(_core.Trace):  # type: ignore[misc]
    """A trace that hands every operation to the trace below it by way of `seen`: of what it is, how it is done, and on what.

    `seen(name, do, operands, parameters, several)` gives the result of `do(*operands)`, or a tuple if it has `several`; `None` for the parameters
    stands for functions that the operation calls.
    """

    def __init__(self, below: Any, seen: Callable[..., Any]) -> None:
        super().__init__()
        self.below = below
        self.seen: Callable[..., Any] | None = seen

    @classmethod
    def over(cls, below: Any, seen: Callable[..., Any]) -> Passing:
        """One over a trace.  Outside of all others a thread has few, and uses them again: JAX's caches know each trace as another."""
        if below is not _core.eval_trace and not any(below is x for x in _kept.traces):
            return cls(below, seen)
        found = next((x for x in _kept.traces if x.below is below and x.seen is None), None)
        if found is None:
            found = cls(below, seen)
            _kept.traces.append(found)
        found.seen = seen
        return found

    def end(self) -> None:
        """It hands on nothing more."""
        self.seen = None

    def _passed(self, name: str, do: Callable[..., Any], args: Any, *what: Any) -> Any:
        """What an operation gives; `seen` sees values, as what it takes and what it gives."""
        if self.seen is None:  # a generator has been left in the middle
            with _core.set_current_trace(self.below):
                return do(*args)
        out = self.seen(name, lambda *args: _contents(do(*args)), _contents(args), *what)
        return results(out, self.below) if is_ours(self.below) else out

    def process_primitive(self, primitive: Any, args: Any, params: Any, /) -> Any:
        return self._passed(primitive.name, functools.partial(primitive.bind, **params), args, params, primitive.multiple_results, primitive)

    def process_call(self, primitive: Any, f: Any, args: Any, params: Any, /) -> Any:
        return self._passed(primitive.name, functools.partial(primitive.bind, f, **params), args, params, True)

    def process_custom_jvp_call(self, primitive: Any, fun: Any, jvp: Any, args: Any, /, *, symbolic_zeros: Any) -> Any:
        do = functools.partial(primitive.bind, subfuns=(fun, jvp), symbolic_zeros=symbolic_zeros)
        return self._passed("custom_jvp_call", do, args, None, True)

    def process_custom_vjp_call(self, primitive: Any, fun: Any, fwd: Any, bwd: Any, args: Any, /, *, out_trees: Any, symbolic_zeros: Any) -> Any:
        do = functools.partial(primitive.bind, subfuns=(fun, fwd, bwd), out_trees=out_trees, symbolic_zeros=symbolic_zeros)
        return self._passed("custom_vjp_call", do, args, None, True)

    def process_shard_map(self, primitive: Any, f: Any, args: Any, /, **params: Any) -> Any:
        return self._passed("shard_map", functools.partial(primitive.bind, subfuns=(f,), **params), args, None, True)

    def cur_qdd(self, x: Any) -> Any:
        return self.below.cur_qdd(x)

    def stage_value(self, x: Any) -> Any:
        return self.below.stage_value(x)
