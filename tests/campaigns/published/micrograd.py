"""micrograd: reverse mode by objects and closures."""

from __future__ import annotations

from typing import Any

import numpy as np
from micrograd.engine import Value

from tests.campaigns.published import entry

PACKAGE = "micrograd"


def _neuron(x: float, y: float) -> Any:
    a, b = Value(x), Value(y)
    c = (a * b + b**3).relu() + a / 2.0
    c.backward()
    return c.data, a.grad, b.grad


def _descent(xs: np.ndarray, rate: float) -> Any:
    w = Value(0.1)
    for _ in range(5):
        loss = Value(0.0)
        for k in range(3):
            loss = loss + (w * float(k) - xs[k]) ** 2
        w.grad = 0
        loss.backward()
        w.data = w.data - rate * w.grad
    return w.data


ENTRIES = [
    entry("a neuron and its gradient", _neuron, lambda rng: tuple(rng.normal(size=2))),
    entry("gradient descent", _descent, lambda rng: (rng.normal(size=3), 0.05)),
    entry("Value.relu", lambda x: Value(x).relu().data, lambda rng: (rng.normal(),)),
]
