"""simdkalman: many Kalman filters at once, with missing values."""

from __future__ import annotations

from typing import Any

import numpy as np
import simdkalman
from simdkalman import primitives

from tests.campaigns.published import entry

PACKAGE = "simdkalman"


def _kf() -> Any:
    return simdkalman.KalmanFilter(
        state_transition=np.array([[1.0, 1.0], [0.0, 1.0]]),
        process_noise=np.diag([0.1, 0.01]),
        observation_model=np.array([[1.0, 0.0]]),
        observation_noise=1.0,
    )


def _missing(rng: np.random.Generator) -> np.ndarray:
    data = rng.normal(size=(3, 6))
    data[0, 2] = data[1, 4] = np.nan
    return data


ENTRIES = [
    entry("KalmanFilter.smooth", lambda data: _kf().smooth(data).states.mean, lambda rng: (rng.normal(size=(3, 6)),)),
    entry("KalmanFilter.smooth, some missing", lambda data: _kf().smooth(data).observations.mean, lambda rng: (_missing(rng),)),
    entry("KalmanFilter.predict", lambda data: _kf().predict(data, 2).observations.cov, lambda rng: (_missing(rng),)),
    entry("KalmanFilter.compute", lambda data: _kf().compute(data, 2, filtered=True, gains=True).filtered.states.mean, lambda rng: (_missing(rng),)),
    entry("KalmanFilter.em", lambda data: _kf().em(data, n_iter=2).process_noise, lambda rng: (rng.normal(size=(3, 6)),)),
    entry(
        "primitives.predict",
        primitives.predict,
        lambda rng: (rng.normal(size=(2, 1)), np.eye(2), np.array([[1.0, 0.1], [0.0, 1.0]]), np.eye(2) * 0.1),
    ),
    entry(
        "primitives.update",
        primitives.update,
        lambda rng: (rng.normal(size=(2, 1)), np.eye(2), np.array([[1.0, 0.0]]), np.eye(1), rng.normal(size=(1, 1))),
    ),
    entry(
        "primitives.update_with_nan_check",
        primitives.update_with_nan_check,
        lambda rng: (rng.normal(size=(2, 1)), np.eye(2), np.array([[1.0, 0.0]]), np.eye(1), np.array([[np.nan if rng.random() < 0.5 else 1.0]])),
    ),
]
