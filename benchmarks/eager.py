"""The eager-style API over what one writes by hand; ratios within one process.

    python benchmarks/eager.py

1. A step of `ag.function` on 1, 10 and 100 Variables, over a `jax.jit` of arrays that are handed in and out.
2. A tape inside of `ag.function`, over `jax.grad` in `jax.jit`.
3. A chain of eager operations under a tape with its gradient, over eager `jax.grad`; per operation.

Each cell is the best of many interleaved runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

import autograph as ag


def best(runs: dict[str, Callable[[], Any]], seconds: float = 2.0) -> dict[str, float]:
    """The shortest time of each, which take iterations."""
    for run in runs.values():
        jax.block_until_ready(run())
    found = dict.fromkeys(runs, float("inf"))
    end = time.perf_counter() + seconds * len(runs)
    while time.perf_counter() < end:
        for name, run in runs.items():
            start = time.perf_counter()
            jax.block_until_ready(run())
            found[name] = min(found[name], time.perf_counter() - start)
    return found


def steps(count: int) -> tuple[dict[str, Callable[[], Any]], Any]:
    variables = [ag.Variable(jnp.ones(4)) for _ in range(count)]
    held = [[jnp.ones(4) for _ in range(count)]]

    @ag.function
    def step(x: Any) -> None:
        for v in variables:
            v.assign(v * 0.9 + x)

    @jax.jit
    def by_hand(values: list[Any], x: Any) -> list[Any]:
        return [v * 0.9 + x for v in values]

    x = jnp.float32(0.1)

    def ours() -> Any:
        step(x)
        return variables[-1].value

    def theirs() -> Any:
        held[0] = by_hand(held[0], x)
        return held[0][-1]

    return {"ours": ours, "by hand": theirs}, step


def tape_in_a_function() -> dict[str, Callable[[], Any]]:
    w, x = jax.random.normal(jax.random.key(0), (128, 128)) * 0.1, jnp.ones((32, 128))

    def loss(w: Any, x: Any) -> Any:
        for _ in range(4):
            x = jnp.tanh(x @ w)
        return jnp.sum(x**2)

    @jax.jit
    def with_tape(w: Any, x: Any) -> Any:
        with ag.GradientTape() as tape:
            tape.watch(w)
            y = loss(w, x)
        return tape.gradient(y, w)

    by_hand = jax.jit(jax.grad(loss))
    return {"ours": lambda: with_tape(w, x), "by hand": lambda: by_hand(w, x)}


def eager_chain(length: int = 100) -> dict[str, Callable[[], Any]]:
    x = jnp.float32(0.5)

    def chain(x: Any) -> Any:
        for _ in range(length // 2):
            x = jnp.sin(x) * 1.01
        return x

    def ours() -> Any:
        with ag.GradientTape() as tape:
            tape.watch(x)
            y = chain(x)
        return tape.gradient(y, x)

    return {"ours": ours, "by hand": lambda: jax.grad(chain)(x), "the chain alone": lambda: chain(x)}


def told(what: str, found: dict[str, float]) -> None:
    ours, by_hand = found["ours"], found["by hand"]
    print(f"{what}: {ours * 1e6:.0f} µs, by hand {by_hand * 1e6:.0f} µs: {ours / by_hand:.2f}")


def main() -> None:
    print(f"{jax.devices()[0].device_kind}, JAX {jax.__version__}")
    for count in (1, 10, 100):
        runs, step = steps(count)
        found = best(runs)
        assert step._shortcut._jitted._cache_size() == 1, "a later call traces again"
        told(f"step with {count:3} Variables", found)
    found = best(tape_in_a_function())
    told("tape inside of jit", found)
    found = best(eager_chain())
    each = {name: t / 100 * 1e6 for name, t in found.items()}
    print(f"eager, per operation: tape {each['ours']:.0f} µs, jax.grad {each['by hand']:.0f} µs: {found['ours'] / found['by hand']:.2f}; "
          f"the operation alone {each['the chain alone']:.0f} µs")  # fmt: skip


if __name__ == "__main__":
    main()
