"""How many steps the Collatz sequence takes to 1: a `while` with an early `return`, for many starts at once."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

import autograph as ag


@ag.convert
def collatz(n: ArrayLike, limit: ArrayLike = 1000) -> ArrayLike:
    """The number of steps from `n` to 1; -1 if they are more than `limit`."""
    steps = 0
    while n != 1:
        if steps == limit:
            return -1
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def main() -> None:
    starts = jnp.arange(1, 10_000)
    steps = jax.jit(jax.vmap(collatz))(starts)
    print("first steps:", *steps[:10])
    print(f"longest below 10000: {starts[steps.argmax()]} with {steps.max()} steps")

    few = jax.jit(jax.vmap(collatz, in_axes=(0, None)))(starts, 100)
    print(f"{(few == -1).sum()} starts need more than 100 steps")


if __name__ == "__main__":
    main()
