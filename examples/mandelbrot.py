"""The Mandelbrot set: the escape time of one point, a loop with `break`, mapped over a grid of points."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

import autograph as ag

SHADES = " .:-=+*#%@"


@ag.convert
def escape_time(c: ArrayLike, limit: ArrayLike = 50) -> ArrayLike:
    """The number of steps of z -> z² + c until |z| > 2, at most `limit`."""
    z = 0j
    n = 0
    while n < limit:
        if abs(z) > 2:
            break
        z = z * z + c
        n += 1
    return n


@jax.jit
def picture(x: Array, y: Array) -> Array:
    """Escape times on the grid of `x` and `y`."""
    rows = jax.vmap(jax.vmap(escape_time, in_axes=(0, None)), in_axes=(0, None))
    return rows(x[None, :] + 1j * y[:, None], 50)


def main() -> None:
    times = picture(jnp.linspace(-2.2, 0.8, 64), jnp.linspace(-1.2, 1.2, 24))
    for row in times.tolist():
        print("".join(SHADES[n * (len(SHADES) - 1) // 50] for n in row).rstrip())
    print(f"{(times == 50).mean():.1%} of the points do not escape")


if __name__ == "__main__":
    main()
