"""Calls of compiled methods and functions, over `jax.jit` of the arrays that they use: microseconds, and the ratio.

    python benchmarks/objects.py

What a call costs depends on what the function reads, not on what else the objects hold.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import autograph as ag


class Machine:
    def __init__(self, n: int) -> None:
        self.h, self.k, self.act = jnp.zeros(4), 3, lambda x: x * 2
        self.numbers, self.table, self.rows = list(range(n)), {str(i): i for i in range(n)}, [[i, i] for i in range(n // 2)]
        self.rng, self.slots = np.random.default_rng(0), np.array([[None]])

    @ag.function
    def read(self, x: Any) -> Any:
        return self.h * self.k + x

    @ag.function
    def call(self, x: Any) -> Any:
        return self.act(self.h) + x

    @ag.function
    def step(self, x: Any) -> Any:
        self.h = self.h + x
        return self.h

    @ag.function
    def branch(self, x: Any) -> Any:
        if x[0] > 0:
            self.h = self.h + x
        return self.h

    @ag.function
    def checked(self, x: Any) -> Any:
        assert x[0] > 0
        return self.h + x


@ag.function
def apply(f: Any, x: Any) -> Any:
    return f(x)


@ag.function
def total(batch: Any, x: Any) -> Any:
    return batch["a"] + batch["b"][0] * x


def per_call(f: Callable[[], Any]) -> float:
    best = float("inf")
    for _ in range(3):
        f()
    for _ in range(15):
        start = time.perf_counter()
        for _ in range(100):
            f()
        best = min(best, time.perf_counter() - start)
    return best / 100 * 1e6


def main() -> None:
    x, h = jnp.ones(4), jnp.zeros(4)
    jitted = jax.jit(lambda h, x: h + x)
    base = per_call(lambda: jitted(h, x))
    print(f"jax.jit of two arrays: {base:.1f} us")
    machines = [Machine(10), Machine(5000)]
    others = itertools.cycle([Machine(2) for _ in range(100)])
    batch = {"a": x, "b": [x, h]}
    rows: list[tuple[str, list[Callable[[], Any]]]] = [
        (f"a method: {name}", [lambda m=m, name=name: getattr(m, name)(x) for m in machines])  # type: ignore[misc]
        for name in ("read", "call", "step", "branch", "checked")
    ]
    rows += [
        ("a lambda as an argument", [lambda: apply(lambda v: v + 1, x)]),
        ("a method as an argument", [lambda: apply(machines[0].read, x)]),
        ("a dict of arrays as an argument", [lambda: total(batch, x)]),
        ("another object in each call", [lambda: next(others).read(x)]),
    ]
    for name, calls in rows:
        times = [per_call(call) for call in calls]
        print(f"{name:34s} {', '.join(f'{t:6.1f}' for t in times)} us: {times[0] / base:.1f}", flush=True)


if __name__ == "__main__":
    main()
