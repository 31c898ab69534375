"""Gradient descent for a regression line, with patience and a decaying learning rate."""
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

import autograph as ag

ENTRY = "fit"


class Fit(NamedTuple):
    w: object
    b: float
    loss: float
    epochs: int
    stopped: bool = False


def loss_and_grad(w, b, X, y):
    r = X @ w + b - y
    n = len(y)
    return (r ** 2).mean(), 2 * X.T @ r / n, 2 * r.mean()


@ag.function
def fit(X, y, X_val, y_val, lr, patience, max_epochs=80):
    w, b = np.zeros(X.shape[1]), 0
    best = Fit(w, b, float("inf"), 0)
    bad = 0
    history = jnp.zeros(max_epochs)
    for epoch in range(max_epochs):
        loss, gw, gb = loss_and_grad(w, b, X, y)
        if not jnp.isfinite(loss) or loss > 1e6:
            raise FloatingPointError(f"training diverged at epoch {epoch}")
        w = w - lr * gw
        b -= lr * gb
        val, _, _ = loss_and_grad(w, b, X_val, y_val)
        history[epoch] = val
        if val < best.loss - 1e-3:
            best = Fit(w, b, val, epoch + 1)
            bad = 0
        else:
            bad += 1
            if bad % 2 == 0:
                lr *= 0.5
        if epoch % 20 == 0:
            print(f"epoch {epoch:3d}  loss {loss:.3f}  val {val:.3f}")
        if bad >= patience:
            best = best._replace(stopped=True)
            break
    return best, history[: 10], lr


def cases():
    X = np.array([[0.0, 1], [1, 0.5], [2, -1], [3, 0.2], [4, 1.1], [1.5, -0.7]])
    y = X @ np.array([0.7, -1.2]) + 0.4 + np.array([0.1, -0.1, 0.05, 0.0, -0.1, 0.1])
    Xv, yv = X[:3] + 0.3, y[:3] + 0.1
    return [(X, y, Xv, yv, 0.05, 4), (X, y, Xv, yv, 0.1, 3), (X, y, Xv, yv, 0.9, 5)]
