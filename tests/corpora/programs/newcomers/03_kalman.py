"""Kalman filter (position and velocity) with missing measurements and outlier gating."""
import math

import jax.numpy as jnp
import numpy as np

import autograph as ag

ENTRY = "kalman"


@ag.function
def kalman(zs, dt, q, r, gate=9.0):
    F = jnp.array([[1.0, dt], [0.0, 1.0]])
    H = np.array([1.0, 0.0])
    Q = q * np.eye(2)
    x = None
    P = np.eye(2) * 10
    missing = outliers = 0
    loglik = 0.0
    estimates = []
    for z in zs:
        if x is None:
            x = jnp.array([0.0, 0.0])
        else:
            x = F @ x
            P = F @ P @ F.T + Q
        if math.isnan(z):
            missing += 1
            estimates.append(x[0])
            continue
        innovation = z - H @ x
        S = H @ P @ H + r
        if innovation ** 2 / S > gate:
            outliers += 1
        else:
            K = P @ H / S
            x = x + K * innovation
            P = P - jnp.outer(K, H @ P)
            loglik -= 0.5 * (math.log(2 * math.pi * S) + innovation ** 2 / S)
        estimates.append(x[0])
    return x, P, jnp.array(estimates), loglik, missing, outliers


def cases():
    t = np.arange(12.0)
    z = 0.5 * t + 0.3 * np.sin(5 * t)
    a = z.copy()
    a[[3, 7]] = np.nan
    b = z.copy()
    b[5] = 80.0
    b[0] = np.nan
    return [(z, 1.0, 0.01, 0.2), (a, 1.0, 0.01, 0.2), (b, 0.5, 0.05, 0.1)]
