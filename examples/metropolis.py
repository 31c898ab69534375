"""A Metropolis sampler: a `for` over a traced number of iterations, accept or reject by `if`, keys split in the loop."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

import autograph as ag


@ag.function(static_argnames="log_density")
def sample(
    log_density: Callable[[Array], Array], key: Array, n: ArrayLike, x: ArrayLike = 0.0, width: ArrayLike = 1.0
) -> tuple[ArrayLike, ArrayLike, ArrayLike]:
    """Mean and variance of `n` draws from a chain that starts at `x`, and the share of accepted proposals."""
    accepted = 0
    mean = 0.0
    squares = 0.0
    for i in range(n):
        key, proposal_key, accept_key = jax.random.split(key, 3)
        proposal = x + width * jax.random.normal(proposal_key)
        if jnp.log(jax.random.uniform(accept_key)) < log_density(proposal) - log_density(x):
            x = proposal
            accepted += 1
        delta = x - mean
        mean += delta / (i + 1)
        squares += delta * (x - mean)
    if n == 0:
        return mean, squares, 0.0
    return mean, squares / n, accepted / n


def normal(x: Array) -> Array:
    """A normal distribution with mean 3 and variance 4."""
    return -((x - 3.0) ** 2) / 8.0


def exponential(x: Array) -> Array:
    """An exponential distribution with mean 1."""
    return -x if x >= 0 else -jnp.inf


def main() -> None:
    for density in (normal, exponential):
        mean, variance, share = sample(density, jax.random.key(0), 20_000, x=1.0, width=2.0)
        print(f"{density.__name__}: mean {mean:.2f}, variance {variance:.2f}, {share:.0%} accepted")

    keys = jax.random.split(jax.random.key(1), 8)
    means = jax.vmap(lambda key: sample(normal, key, 5_000, width=4.0)[0])(keys)
    print(f"eight chains: mean {means.mean():.2f}, spread {means.std():.2f}")


if __name__ == "__main__":
    main()
