"""Loops that store into arrays: nanoseconds an iteration, at 1,000 and at 100,000 items, of the value and of the gradient.

    python benchmarks/linear.py
    python benchmarks/linear.py swapped two_arrays

The programs are those of `tests/corpora/programs/stores_in_loops.py`.  By hand means `lax.fori_loop` with `x.at[i].set(...)`, for the first of them.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

import autograph as ag

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.corpora.programs.stores_in_loops import PROGRAMS

SIZES = (1_000, 100_000)


def by_hand(x: Any) -> Any:
    return lax.fori_loop(0, len(x), lambda i, y: y.at[i].set(jnp.sin(x[i]) * 2), jnp.zeros(len(x)))


def loss(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: sum(jnp.sum(jnp.asarray(leaf)) for leaf in jax.tree.leaves(f(x)))


def nanoseconds(f: Callable[[Any], Any], n: int) -> float:
    """The best of three calls, an item."""
    x = jnp.linspace(-1, 1, n, dtype=jnp.float32)
    jax.block_until_ready(f(x))
    best = float("inf")
    for _ in range(3):
        began = time.perf_counter()
        jax.block_until_ready(f(x))
        best = min(best, time.perf_counter() - began)
    return best / n * 1e9


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="one of: " + ", ".join(f.__name__ for f in PROGRAMS))
    args = parser.parse_args()
    print("| loop | value, 1,000 | 100,000 | gradient, 1,000 | 100,000 |\n|---|---|---|---|---|")
    for f in [by_hand, *PROGRAMS]:
        if args.programs and f.__name__ not in args.programs:
            continue
        value = loss(f if f is by_hand else ag.convert(f))
        times = [nanoseconds(g, n) for g in (jax.jit(value), jax.jit(jax.grad(value))) for n in SIZES]
        print(f"| {f.__name__.replace('_', ' ')} | " + " | ".join(f"{t:,.0f}" for t in times) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
