"""Newton's method with a backtracking line search on Rosenbrock's function."""
import jax
import jax.numpy as jnp
import numpy as np

import autograph as ag

ENTRY = "minimize"


def rosenbrock(x):
    return sum(10 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2 for i in range(len(x) - 1))


@ag.function
def minimize(x, tol=1e-3, max_iter=40, verbose=True):
    grad = jax.grad(rosenbrock)
    hess = jax.hessian(rosenbrock)
    halvings = 0
    for k in range(max_iter):
        g = grad(x)
        norm = max(abs(gi) for gi in g)
        if norm < tol:
            converged = True
            break
        p = -jnp.linalg.solve(hess(x), g)
        slope = g @ p
        if slope >= 0:
            p = -g
            slope = -(g @ g)
        f0 = rosenbrock(x)
        t = 1.0
        while rosenbrock(x + t * p) > f0 + 1e-4 * t * slope:
            t /= 2
            halvings += 1
            if t < 1e-8:
                raise RuntimeError("line search failed")
        x = x + t * p
        if verbose and k % 5 == 0:
            print(f"iteration {k}: step {t:.4f}")
    else:
        converged = False
    return x, k, halvings, converged


def cases():
    return [(np.array([-1.2, 1.0], np.float32),), (np.array([0.5, -0.5, 1.5], np.float32),), (np.array([1.0, 1.0], np.float32),)]
