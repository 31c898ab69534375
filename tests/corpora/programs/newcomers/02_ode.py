"""Adaptive step Bogacki-Shampine integrator of the van der Pol oscillator."""
import math

import jax.numpy as jnp
import numpy as np

import autograph as ag

ENTRY = "solve"


@ag.function
def solve(y, mu, t_end, tol):
    evaluations = 0

    def f(t, y):
        nonlocal evaluations
        evaluations += 1
        return jnp.array([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]])

    t = 0.0
    h = 0.1
    accepted = rejected = 0
    k1 = f(t, y)
    while t < t_end:
        if t + h > t_end:
            h = t_end - t
        k2 = f(t + h / 2, y + h / 2 * k1)
        k3 = f(t + 3 * h / 4, y + 3 * h / 4 * k2)
        y_new = y + h * (2 * k1 + 3 * k2 + 4 * k3) / 9
        k4 = f(t + h, y_new)
        err_vec = h * (-5 * k1 / 72 + k2 / 12 + k3 / 9 - k4 / 8)
        err = math.sqrt(sum(e * e for e in err_vec) / len(err_vec))
        if err <= tol:
            t += h
            y = y_new
            k1 = k4
            accepted += 1
        else:
            rejected += 1
        factor = 0.9 * (tol / err) ** (1 / 3) if err > 0 else 5.0
        h *= min(5.0, max(0.2, factor))
        if h < 1e-6:
            raise RuntimeError("step size too small")
        if accepted + rejected >= 500:
            raise RuntimeError("too many steps")
    return t, y, accepted, rejected, evaluations


def cases():
    return [(np.array([2.0, 0.0]), 1.0, 3.0, 1e-2), (np.array([1.0, 1.0]), 3.0, 4.0, 5e-3),
            (np.array([0.5, 0.5]), 0.0, 0.0, 1e-2), (np.array([2.0, 0.0]), 1.0, 400.0, 1e-2)]
