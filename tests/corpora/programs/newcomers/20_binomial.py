"""Price of an American put in a binomial tree, with the first step at which exercise pays."""
import math

import numpy as np

import autograph as ag

ENTRY = "american_put"
STATIC = (5,)
from functools import partial


@partial(ag.function, static_argnames=("steps",))
def american_put(spot, strike, rate, sigma, maturity, steps):
    if sigma <= 0 or maturity <= 0:
        raise ValueError("volatility and maturity must be positive")
    dt = maturity / steps
    u = math.exp(sigma * math.sqrt(dt))
    d = 1 / u
    p = (math.exp(rate * dt) - d) / (u - d)
    if not 0 < p < 1:
        raise ValueError(f"no risk neutral probability: {p:.3f}")
    discount = math.exp(-rate * dt)
    values = [max(strike - spot * u ** j * d ** (steps - j), 0) for j in range(steps + 1)]
    earliest = None
    for step in range(steps - 1, -1, -1):
        for j in range(step + 1):
            hold = discount * (p * values[j + 1] + (1 - p) * values[j])
            exercise = strike - spot * u ** j * d ** (step - j)
            if exercise > hold:
                earliest = step
            values[j] = max(hold, exercise)
    european = sum(math.comb(steps, j) * p ** j * (1 - p) ** (steps - j)
                   * max(strike - spot * u ** j * d ** (steps - j), 0) for j in range(steps + 1))
    european *= math.exp(-rate * maturity)
    return values[0], european, earliest if earliest is not None else -1


def cases():
    return [(100.0, 105.0, 0.05, 0.3, 1.0, 8), (100.0, 90.0, 0.1, 0.2, 0.5, 6), (100.0, 90.0, 0.1, 0.0, 0.5, 4),
            (100.0, 90.0, 0.9, 0.1, 1.0, 4)]
