"""An initial value problem with steps of adaptive size, and how its solution moves when a parameter does.

Two formulas of orders 2 and 3 (Bogacki and Shampine, 1989) give an estimate of the error: a step is repeated with a smaller size until the
estimate is small enough.  How many steps are made, only the values know; `jax.grad` goes through all of them.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

import autograph as ag

Field = Callable[[ArrayLike, Array, ArrayLike], Array]


@ag.convert
def solve(f: Field, y: Array, end: ArrayLike, a: ArrayLike, tolerance: float = 1e-5) -> tuple[Array, ArrayLike, ArrayLike]:
    """The solution at `end` of y' = f(t, y, a), which begins with `y` at 0; how many steps were made, and how many were repeated.

    `y` has any shape `[n]`.
    """
    t, h = 0.0, 0.1
    steps, repeated = 0, 0
    slope = f(t, y, a)
    while t < end:
        if t + h > end:
            h = end - t
        second = f(t + h / 2, y + h / 2 * slope, a)
        third = f(t + h * 3 / 4, y + h * 3 / 4 * second, a)
        new = y + h / 9 * (2 * slope + 3 * second + 4 * third)
        last = f(t + h, new, a)
        error = jnp.max(jnp.abs(h * (-5 / 72 * slope + second / 12 + third / 9 - last / 8)))
        accepted = error <= tolerance
        if accepted:
            t, y, slope = t + h, new, last
            steps += 1
        else:
            repeated += 1
        # the size of a step is chosen, not computed: the solution's derivative does not go through it
        h = h * jax.lax.stop_gradient(jnp.clip(0.9 * (tolerance / (error + 1e-12)) ** (1 / 3), 0.2, 5.0))
    return y, steps, repeated


def oscillator(t: ArrayLike, y: Array, a: ArrayLike) -> Array:
    """Van der Pol's equation, whose damping is `a`."""
    return jnp.stack([y[1], a * (1 - y[0] ** 2) * y[1] - y[0]])


def decay(t: ArrayLike, y: Array, a: ArrayLike) -> Array:
    return -a * y


def main() -> None:
    y, steps, repeated = jax.jit(lambda a: solve(oscillator, jnp.array([2.0, 0.0]), 5.0, a))(2.0)
    print(f"position {y[0]:.4f}, speed {y[1]:.4f} after {steps} steps, {repeated} of them repeated")

    def position(a: ArrayLike) -> Array:
        return solve(oscillator, jnp.array([2.0, 0.0]), 5.0, a)[0][0]

    value, slope = jax.jit(jax.value_and_grad(position))(2.0)
    print(f"position {value:.4f}, and {slope:.4f} for each unit of damping")

    rate = jax.jit(jax.grad(lambda a: solve(decay, jnp.ones(1), 2.0, a)[0][0]))(0.5)
    print(f"decay: {rate:.5f} for each unit of its rate, {-2 * jnp.exp(-1.0):.5f} by hand")


if __name__ == "__main__":
    main()
