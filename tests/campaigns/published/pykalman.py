"""pykalman: filtering, smoothing and learning of linear models."""

from __future__ import annotations

from typing import Any

import numpy as np
from pykalman import AdditiveUnscentedKalmanFilter, KalmanFilter
from pykalman.standard import _filter, _filter_correct, _filter_predict, _smooth_update

from tests.campaigns.published import entry

PACKAGE = "pykalman"


def _kf(rng: np.random.Generator) -> Any:
    return KalmanFilter(
        transition_matrices=np.array([[1.0, 0.1], [0.0, 1.0]]),
        observation_matrices=np.array([[1.0, 0.0], [0.3, 1.0]]),
        transition_covariance=np.eye(2) * 0.1,
        observation_covariance=np.eye(2) * (0.2 + rng.random()),
        transition_offsets=np.zeros(2),
        observation_offsets=np.zeros(2),
        initial_state_mean=rng.normal(size=2),
        initial_state_covariance=np.eye(2),
    )


def _bent(state: np.ndarray) -> np.ndarray:
    return np.array([state[0] + 0.1 * state[1], state[1] - 0.1 * np.sin(state[0])])


ENTRIES = [
    entry("_filter_predict", _filter_predict, lambda rng: (np.eye(2), np.eye(2) * 0.1, np.zeros(2), rng.normal(size=2), np.eye(2))),
    entry(
        "_filter_correct", _filter_correct, lambda rng: (np.eye(2), np.eye(2) * 0.1, np.zeros(2), rng.normal(size=2), np.eye(2), rng.normal(size=2))
    ),
    entry(
        "_filter",
        _filter,
        lambda rng: (
            np.eye(2),
            np.eye(2),
            np.eye(2) * 0.1,
            np.eye(2) * 0.2,
            np.zeros(2),
            np.zeros(2),
            rng.normal(size=2),
            np.eye(2),
            rng.normal(size=(5, 2)),
        ),
    ),
    entry(
        "_smooth_update",
        _smooth_update,
        lambda rng: (np.eye(2), rng.normal(size=2), np.eye(2), rng.normal(size=2), np.eye(2) * 1.1, rng.normal(size=2), np.eye(2)),
    ),
    entry("KalmanFilter.filter", KalmanFilter.filter, lambda rng: (_kf(rng), rng.normal(size=(6, 2)))),
    entry("KalmanFilter.smooth", KalmanFilter.smooth, lambda rng: (_kf(rng), rng.normal(size=(6, 2)))),
    entry("KalmanFilter.loglikelihood", KalmanFilter.loglikelihood, lambda rng: (_kf(rng), rng.normal(size=(6, 2)))),
    entry("KalmanFilter.em", lambda kf, X: kf.em(X, n_iter=2).transition_covariance, lambda rng: (_kf(rng), rng.normal(size=(6, 2)))),
    entry("KalmanFilter.filter_update", KalmanFilter.filter_update, lambda rng: (_kf(rng), rng.normal(size=2), np.eye(2), rng.normal(size=2))),
    entry(
        "AdditiveUnscentedKalmanFilter.filter",
        lambda x0, X: AdditiveUnscentedKalmanFilter(_bent, lambda s: s, np.eye(2) * 0.1, np.eye(2) * 0.2, x0, np.eye(2)).filter(X),
        lambda rng: (rng.normal(size=2), rng.normal(size=(4, 2))),
    ),
]
