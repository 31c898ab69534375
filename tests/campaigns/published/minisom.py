"""minisom: a self-organizing map, a class with state."""

from __future__ import annotations

from typing import Any

import numpy as np
from minisom import MiniSom, fast_norm

from tests.campaigns.published import entry

PACKAGE = "minisom"


def _map(rng: np.random.Generator, **options: Any) -> Any:
    return MiniSom(4, 5, 3, sigma=1.2, learning_rate=0.4, random_seed=int(rng.integers(100)), **options)


ENTRIES = [
    entry("MiniSom.winner", MiniSom.winner, lambda rng: (_map(rng), rng.normal(size=3))),
    entry("MiniSom.activate", MiniSom.activate, lambda rng: (_map(rng), rng.normal(size=3))),
    entry("MiniSom.update", MiniSom.update, lambda rng: (_map(rng), rng.normal(size=3), (1, 2), 3, 10)),
    entry("MiniSom.update at the winner", lambda m, x: m.update(x, m.winner(x), 2, 10), lambda rng: (_map(rng), rng.normal(size=3))),
    entry("MiniSom.train", lambda m, data: m.train(data, 25), lambda rng: (_map(rng), rng.normal(size=(8, 3)))),
    entry("MiniSom.train_batch_offline", lambda m, data: m.train_batch_offline(data, 5), lambda rng: (_map(rng), rng.normal(size=(8, 3)))),
    entry("MiniSom.quantization", MiniSom.quantization, lambda rng: (_map(rng), rng.normal(size=(6, 3)))),
    entry("MiniSom.distance_map", MiniSom.distance_map, lambda rng: (_map(rng),)),
    entry("MiniSom.activation_response", MiniSom.activation_response, lambda rng: (_map(rng), rng.normal(size=(6, 3)))),
    entry("MiniSom.topographic_error", MiniSom.topographic_error, lambda rng: (_map(rng), rng.normal(size=(6, 3)))),
    entry("MiniSom.distortion_measure", MiniSom.distortion_measure, lambda rng: (_map(rng, neighborhood_function="bubble"), rng.normal(size=(6, 3)))),
    entry("MiniSom.pca_weights_init", MiniSom.pca_weights_init, lambda rng: (_map(rng), rng.normal(size=(12, 3)))),
    entry("fast_norm", fast_norm, lambda rng: (rng.normal(size=5),)),
]
