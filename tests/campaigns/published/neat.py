"""neat-python: networks on dicts, classes with state."""

from __future__ import annotations

from typing import Any

import numpy as np
from neat import activations
from neat.aggregations import sum_aggregation
from neat.nn import FeedForwardNetwork, RecurrentNetwork

from tests.campaigns.published import entry

PACKAGE = "neat"


def _nodes(rng: np.random.Generator) -> list[Any]:
    a, b, c, d = (float(x) for x in rng.normal(size=4))
    tanh = activations.tanh_activation
    return [(1, tanh, sum_aggregation, 0.1, 1.0, [(-1, a), (-2, b)]), (0, tanh, sum_aggregation, 0.2, 1.0, [(1, c), (-1, d)])]


def _told(net: Any, signals: np.ndarray) -> np.ndarray:
    out = np.zeros(len(signals))
    for k in range(len(signals)):
        out[k] = net.activate([signals[k], 0.5])[0]
    return out


ENTRIES = [
    entry(
        "FeedForwardNetwork.activate", FeedForwardNetwork.activate, lambda rng: (FeedForwardNetwork([-1, -2], [0], _nodes(rng)), [rng.random(), 0.4])
    ),
    entry("RecurrentNetwork.activate", RecurrentNetwork.activate, lambda rng: (RecurrentNetwork([-1, -2], [0], _nodes(rng)), [rng.random(), 0.4])),
    entry("RecurrentNetwork over a signal", _told, lambda rng: (RecurrentNetwork([-1, -2], [0], _nodes(rng)), rng.normal(size=6))),
    entry("sigmoid_activation", activations.sigmoid_activation, lambda rng: (rng.normal() * 30,)),
    entry("selu_activation", activations.selu_activation, lambda rng: (rng.normal(),)),
    entry("inv_activation", activations.inv_activation, lambda rng: (rng.normal(),)),
    entry("hat_activation", activations.hat_activation, lambda rng: (rng.normal(),)),
]
