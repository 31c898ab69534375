"""Gradient descent with a backtracking line search: a tape for the gradient, a `while` for the step.

Armijo's rule (https://en.wikipedia.org/wiki/Backtracking_line_search): the step is halved until the function has fallen by as much as the slope
promises.  The compiled function can be differentiated itself.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array

import autograph as ag

Function = Callable[[Array], Array]


def line_search_step(fn: Function, init_x: Array, rate: float = 1.0) -> tuple[Array, Array]:
    """One step from `init_x`: where it ends, and the value there."""
    with ag.GradientTape() as tape:
        tape.watch(init_x)
        value = fn(init_x)
    grad = tape.gradient(value, init_x)
    grad_norm = jnp.sum(grad * grad)
    init_value = value
    x = init_x
    while value > init_value - rate * grad_norm:
        x = init_x - rate * grad
        value = fn(x)
        rate /= 2.0
    return x, value


def rosenbrock(x: Array) -> Array:
    return (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2


@ag.function(static_argnames="fn")
def minimise(fn: Function, x: Array, limit: int = 2000) -> tuple[Array, Array, int]:
    """Steps until the value no longer falls; where it ends, the value there, and how many steps were made."""
    value = fn(x)
    steps = 0
    while steps < limit:
        x, new = line_search_step(fn, x)
        steps += 1
        if value - new < 1e-7:
            return x, new, steps
        value = new
    return x, value, steps


def main() -> None:
    start = jnp.array([-1.2, 1.0])
    x, value = line_search_step(rosenbrock, start)
    print(f"one step, eagerly: {value:.3f} at {x}")
    x, value, steps = minimise(rosenbrock, start)
    print(f"{steps} steps, compiled: {value:.6f} at {x}")
    _, moved = jax.jvp(lambda x: line_search_step(rosenbrock, x)[1], (start,), (jnp.ones(2),))
    print(f"the value after one step moves by {moved:.3f} with the start")


if __name__ == "__main__":
    main()
