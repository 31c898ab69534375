"""L-BFGS with backtracking line search: a loop that stops on the norm of the gradient, with another loop inside.

The two-loop recursion is over a `range` known to Python, so its list is filled while the function is traced.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

import autograph as ag


class Result(NamedTuple):
    x: Array
    value: Array
    gradient: Array
    steps: ArrayLike


def direction(gradient: Array, steps: Array, changes: Array) -> Array:
    """The two-loop recursion: minus the inverse Hessian times the gradient.  The newest pair is the first row."""
    m = len(steps)
    q = gradient
    alphas = []
    for i in range(m):
        curvature = steps[i] @ changes[i]
        alpha = steps[i] @ q / curvature if curvature > 0 else 0.0
        q = q - alpha * changes[i]
        alphas.append(alpha)
    if steps[0] @ changes[0] > 0:
        q = q * (steps[0] @ changes[0]) / (changes[0] @ changes[0])
    for i in reversed(range(m)):
        curvature = steps[i] @ changes[i]
        if curvature > 0:
            beta = changes[i] @ q / curvature
            q = q + (alphas[i] - beta) * steps[i]
    return -q


@ag.function(static_argnames=("f", "history"))
def minimise(f: Callable[[Array], Array], x: Array, history: int = 5, tolerance: float = 1e-3, limit: int = 200) -> Result:
    """A minimum of `f` near `x`: where the norm of the gradient is at most `tolerance`, or after `limit` steps."""
    steps = jnp.zeros((history, x.size))
    changes = jnp.zeros((history, x.size))
    value, gradient = jax.value_and_grad(f)(x)
    k = 0
    while k < limit and jnp.linalg.norm(gradient) > tolerance:
        p = direction(gradient, steps, changes)
        slope = p @ gradient
        if slope >= 0:
            p, slope = -gradient, -gradient @ gradient
        t = 1.0
        while f(x + t * p) > value + 1e-4 * t * slope:
            t /= 2
            if t < 1e-7:
                break
        old_x, old_gradient = x, gradient
        x = x + t * p
        value, gradient = jax.value_and_grad(f)(x)
        steps = jnp.vstack([x - old_x, steps[:-1]])
        changes = jnp.vstack([gradient - old_gradient, changes[:-1]])
        k += 1
    return Result(x, value, gradient, k)


def rosenbrock(x: Array) -> Array:
    return jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def main() -> None:
    for start in (jnp.array([-1.2, 1.0]), jnp.zeros(6)):
        result = minimise(rosenbrock, start)
        where = ", ".join(f"{v:.3f}" for v in result.x)
        print(f"minimum {result.value:.1e} at ({where}) after {result.steps} steps")


if __name__ == "__main__":
    main()
