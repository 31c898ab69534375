"""Roots of `f(x, a) = 0`: Newton's method, and bisection where there is no slope to follow.

Both stop when the values say so, and `jax.jvp` goes through them: how the root moves when `a` does.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

import autograph as ag

Equation = Callable[[ArrayLike, ArrayLike], Array]


@ag.function(static_argnames="f")
def newton(f: Equation, x: ArrayLike, a: ArrayLike, tolerance: float = 1e-6, limit: int = 50) -> tuple[ArrayLike, ArrayLike]:
    """The root near `x` and the number of steps; nan if there is none after `limit` steps."""
    steps = 0
    while steps < limit:
        step = f(x, a) / jax.grad(f)(x, a)
        x = x - step
        steps += 1
        if abs(step) <= tolerance * (1 + abs(x)):
            return x, steps
    return jnp.nan, steps


@ag.function(static_argnames="f")
def bisect(f: Equation, low: ArrayLike, high: ArrayLike, a: ArrayLike, tolerance: float = 1e-6) -> ArrayLike:
    """A root between `low` and `high`; nan if `f` has the same sign at both."""
    f_low = f(low, a)
    if f_low * f(high, a) > 0:
        return jnp.nan
    while high - low > tolerance:
        middle = (low + high) / 2
        f_middle = f(middle, a)
        if f_middle == 0:
            return middle
        if f_low * f_middle < 0:
            high = middle
        else:
            low, f_low = middle, f_middle
    return (low + high) / 2


def square(x: ArrayLike, a: ArrayLike) -> Array:
    return x * x - a


def kepler(x: ArrayLike, a: ArrayLike) -> Array:
    """Kepler's equation at the mean anomaly 1; `a` is the eccentricity."""
    return x - a * jnp.sin(x) - 1.0


def main() -> None:
    root, steps = newton(square, 1.0, 2.0)
    print(f"square root of 2: {root:.6f} in {steps} steps of Newton's method")
    print(f"square root of 2: {bisect(square, 0.0, 2.0, 2.0):.6f} by bisection")

    anomaly, change = jax.jvp(lambda a: newton(kepler, 1.0, a)[0], (0.3,), (1.0,))
    print(f"eccentric anomaly: {anomaly:.6f}, and {change:.6f} for each unit of eccentricity")
    print(f"implicit function theorem: {jnp.sin(anomaly) / (1 - 0.3 * jnp.cos(anomaly)):.6f}")


if __name__ == "__main__":
    main()
