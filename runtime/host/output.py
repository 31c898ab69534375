"""`print` and logging: at once where nothing is compiled; otherwise whenever the compiled program runs, in program order."""

from __future__ import annotations

import builtins
import operator
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from autograph.runtime.branches.conditional import staged_cond
from autograph.runtime.effects.error_codes import fine
from autograph.runtime.host.effect_order import ordering
from autograph.runtime.host.host_effects import printing_to
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi import trees
from autograph.runtime.jaxapi.batch_mask import lane_is_there
from autograph.runtime.state.captured_state import may_have_failed
from autograph.runtime.state.formatting import as_shown
from autograph.runtime.tracing.trace_context import frames, in_block, touched
from autograph.runtime.values.values import traced


def print(*values: Any, sep: str | None = " ", end: str | None = "\n", file: Any = None, flush: bool = False) -> None:
    """`print`, whose values may be traced."""
    values = tuple(map(as_shown, values))
    if file is not None and printing_to(file, values):
        builtins.print(*values, sep=sep, end=end, file=file, flush=flush)
        return
    stream = next((name for name in ("stdout", "stderr") if file is not None and file is getattr(sys, name)), "")
    if stream:  # what `sys` names so when the program runs
        file = None
    afterwards(_print, values, {"sep": sep, "end": end, "file": file, "flush": flush, "stream": stream or "stdout"})


def _print(*values: Any, file: Any, stream: str, **options: Any) -> None:
    builtins.print(*values, file=getattr(sys, stream) if file is None else file, **options)


def afterwards(f: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Call `f` for what it does on the host, when and as often as the program runs."""
    touched()
    if not _jax.staging() and not in_block() and not traced(args, kwargs):
        f(*args, **kwargs)
        return
    for frame in frames():
        frame.printed = True
    flat, tree = trees.with_paths((tuple(args), dict(kwargs)), is_leaf=lambda x: x is None)
    dynamic = [isinstance(x, jax.Array) for _, x in flat]
    weak = [len(path) > 2 and d and _jax.aval_of(x).weak_type for (path, x), d in zip(flat, dynamic, strict=True)]
    static = [None if d else x.copy() if isinstance(x, np.ndarray) else x for (_, x), d in zip(flat, dynamic, strict=True)]

    there = lane_is_there()

    def run(*arrays: Any) -> None:
        if there is not None and not arrays[0]:
            return
        values = iter(arrays[there is not None :])
        leaves = [(_Weak(next(values)) if w else next(values)) if d else x for x, d, w in zip(static, dynamic, weak, strict=True)]
        given, options = tree.unflatten(leaves)
        f(*given, **options)

    arrays = [x for (_, x), d in zip(flat, dynamic, strict=True) if d]

    if there is not None:
        arrays.insert(0, there)

    def call() -> None:
        jax.debug.callback(run, *arrays, ordered=ordering.ordered)

    if may_have_failed():
        staged_cond(fine(), call, lambda: None, ())
    else:
        call()


class _Weak:
    """An array of weak type, which callbacks are given as one of strong type: its `repr` is that of the array."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __repr__(self) -> str:
        return f"{repr(self.array)[:-1]}, weak_type=True)"

    def __str__(self) -> str:
        return str(self.array)

    def __format__(self, spec: str) -> str:
        return format(self.array, spec)

    def __int__(self) -> int:
        return int(self.array)

    def __float__(self) -> float:
        return float(self.array)

    def __index__(self) -> int:
        return operator.index(self.array)
