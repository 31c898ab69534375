"""filterpy: Kalman filters and their kin."""

from __future__ import annotations

from typing import Any

import numpy as np
from filterpy.common import Q_continuous_white_noise, Q_discrete_white_noise, inv_diagonal, outer_product_sum, reshape_z, runge_kutta4
from filterpy.discrete_bayes import predict as bayes_predict
from filterpy.gh import GHFilter, GHKFilter, critical_damping_parameters, least_squares_parameters
from filterpy.kalman import (
    ExtendedKalmanFilter,
    FixedLagSmoother,
    IMMEstimator,
    InformationFilter,
    JulierSigmaPoints,
    KalmanFilter,
    MerweScaledSigmaPoints,
    MMAEFilterBank,
    SquareRootKalmanFilter,
    UnscentedKalmanFilter,
    ckf_transform,
    rts_smoother,
    spherical_radial_sigmas,
    unscented_transform,
)
from filterpy.leastsq import LeastSquaresFilter
from filterpy.memory import FadingMemoryFilter
from filterpy.stats import covariance_ellipse, multivariate_gaussian

from tests.campaigns.published import entry

PACKAGE = "filterpy"


def _set(kf: Any, rng: np.random.Generator) -> Any:
    kf.x = np.array([[0.5], [rng.normal()]])
    kf.F = np.array([[1.0, 0.1], [0.0, 1.0]])
    kf.H = np.array([[1.0, 0.0]])
    kf.P = np.eye(2) * (1 + rng.random())
    kf.Q = np.eye(2) * 0.01
    return kf


def _kalman(rng: np.random.Generator) -> Any:
    kf = _set(KalmanFilter(dim_x=2, dim_z=1), rng)
    kf.R *= 0.3
    return kf


def _covariance(rng: np.random.Generator, n: int = 3) -> np.ndarray:
    a = rng.normal(size=(n, n))
    return a @ a.T + np.eye(n)


def _transition(x: np.ndarray, dt: float) -> np.ndarray:
    return np.array([x[0] + dt * x[1], x[1] - dt * np.sin(x[0])])


def _measured(x: np.ndarray) -> np.ndarray:
    return np.array([np.hypot(x[0], 2.0)])


def _unscented(rng: np.random.Generator) -> Any:
    points = MerweScaledSigmaPoints(2, alpha=0.5, beta=2.0, kappa=0.0)
    kf = UnscentedKalmanFilter(dim_x=2, dim_z=1, dt=0.1, hx=_measured, fx=_transition, points=points)
    kf.x, kf.P, kf.R, kf.Q = rng.normal(size=2), _covariance(rng, 2), np.eye(1) * 0.2, np.eye(2) * 0.01
    return kf


def _jacobian(x: np.ndarray) -> np.ndarray:
    return np.array([[x[0, 0] / np.hypot(x[0, 0], 2.0), 0.0]])


def _range(x: np.ndarray) -> np.ndarray:
    return np.array([[np.hypot(x[0, 0], 2.0)]])


def _tracked(kf: Any, zs: np.ndarray) -> np.ndarray:
    path = np.zeros((len(zs), 2))
    for k, z in enumerate(zs):
        kf.predict()
        if z > -1.0:
            kf.update(z)
        path[k] = kf.x[:, 0]
    return path


def _models(rng: np.random.Generator) -> Any:
    return IMMEstimator([_kalman(rng), _kalman(rng)], np.array([0.6, 0.4]), np.array([[0.9, 0.1], [0.2, 0.8]]))


def _bank(rng: np.random.Generator) -> Any:
    return MMAEFilterBank([_kalman(rng), _kalman(rng)], [0.5, 0.5], dim_x=2, H=np.array([[1.0, 0.0]]))


def _step(kf: Any, z: Any) -> Any:
    kf.predict()
    kf.update(z)
    return kf.x


def _information(rng: np.random.Generator) -> Any:
    kf = InformationFilter(2, 1)
    kf.x, kf.F, kf.H = rng.normal(size=(2, 1)), np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[1.0, 0.0]])
    kf.P_inv, kf.R_inv, kf.Q = np.eye(2), np.eye(1) * 3.0, np.eye(2) * 0.01
    return kf


def _lagged(rng: np.random.Generator) -> Any:
    return _set(FixedLagSmoother(dim_x=2, dim_z=1, N=4), rng)


ENTRIES = [
    entry("KalmanFilter.predict", KalmanFilter.predict, lambda rng: (_kalman(rng),)),
    entry("KalmanFilter.update", KalmanFilter.update, lambda rng: (_kalman(rng), rng.normal(size=(1, 1)))),
    entry("KalmanFilter.update of a number", KalmanFilter.update, lambda rng: (_kalman(rng), rng.normal())),
    entry("KalmanFilter over measurements, some dropped", _tracked, lambda rng: (_kalman(rng), rng.normal(size=12))),
    entry("KalmanFilter.batch_filter", KalmanFilter.batch_filter, lambda rng: (_kalman(rng), rng.normal(size=(9, 1)))),
    entry(
        "KalmanFilter.rts_smoother", KalmanFilter.rts_smoother, lambda rng: (_kalman(rng), rng.normal(size=(6, 2, 1)), np.tile(np.eye(2), (6, 1, 1)))
    ),
    entry(
        "rts_smoother",
        rts_smoother,
        lambda rng: (rng.normal(size=(5, 2)), np.tile(np.eye(2), (5, 1, 1)), [np.eye(2) + 0.1 * rng.normal(size=(2, 2))] * 5, [np.eye(2) * 0.1] * 5),
    ),
    entry(
        "ExtendedKalmanFilter.update",
        lambda kf, z: kf.update(z, _jacobian, _range),
        lambda rng: (_set(ExtendedKalmanFilter(2, 1), rng), rng.normal(size=(1, 1))),
    ),
    entry("UnscentedKalmanFilter", _step, lambda rng: (_unscented(rng), rng.normal(size=1))),
    entry("UnscentedKalmanFilter.batch_filter", UnscentedKalmanFilter.batch_filter, lambda rng: (_unscented(rng), rng.normal(size=(5, 1)))),
    entry(
        "MerweScaledSigmaPoints.sigma_points",
        MerweScaledSigmaPoints.sigma_points,
        lambda rng: (MerweScaledSigmaPoints(3, 0.3, 2.0, 1.0), rng.normal(size=3), _covariance(rng)),
    ),
    entry(
        "JulierSigmaPoints.sigma_points",
        JulierSigmaPoints.sigma_points,
        lambda rng: (JulierSigmaPoints(3, 0.5), rng.normal(size=3), _covariance(rng)),
    ),
    entry("unscented_transform", unscented_transform, lambda rng: (rng.normal(size=(7, 3)), np.full(7, 1 / 7), np.full(7, 1 / 7), np.eye(3))),
    entry("spherical_radial_sigmas", spherical_radial_sigmas, lambda rng: (rng.normal(size=(3, 1)), _covariance(rng))),
    entry("ckf_transform", ckf_transform, lambda rng: (rng.normal(size=(6, 3)), np.eye(3))),
    entry("InformationFilter", _step, lambda rng: (_information(rng), rng.normal(size=(1, 1)))),
    entry("SquareRootKalmanFilter", _step, lambda rng: (_set(SquareRootKalmanFilter(2, 1), rng), rng.normal(size=(1, 1)))),
    entry("FixedLagSmoother.smooth_batch", FixedLagSmoother.smooth_batch, lambda rng: (_lagged(rng), list(rng.normal(size=8)), 3), static=(2,)),
    entry("IMMEstimator", _step, lambda rng: (_models(rng), rng.normal(size=(1, 1)))),
    entry("MMAEFilterBank", _step, lambda rng: (_bank(rng), rng.normal(size=(1, 1)))),
    entry("GHFilter.update", GHFilter.update, lambda rng: (GHFilter(0.0, 1.0, 0.5, 0.8, 0.2), rng.normal())),
    entry("GHFilter.batch_filter", GHFilter.batch_filter, lambda rng: (GHFilter(0.0, 1.0, 0.5, 0.8, 0.2), rng.normal(size=10))),
    entry("GHKFilter.batch_filter", GHKFilter.batch_filter, lambda rng: (GHKFilter(0.0, 1.0, 0.0, 0.5, 0.8, 0.2, 0.1), rng.normal(size=10))),
    entry("least_squares_parameters", least_squares_parameters, lambda rng: (int(rng.integers(2, 9)),)),
    entry("critical_damping_parameters", critical_damping_parameters, lambda rng: (rng.random(), int(rng.integers(2, 4)))),
    entry("LeastSquaresFilter.update", lambda f, zs: [f.update(z) for z in zs], lambda rng: (LeastSquaresFilter(0.1, 1), rng.normal(size=5))),
    entry("FadingMemoryFilter.update", FadingMemoryFilter.update, lambda rng: (FadingMemoryFilter([0.0, 0.0], 0.1, 1, 0.7), rng.normal())),
    entry("discrete_bayes.predict", bayes_predict, lambda rng: (rng.dirichlet(np.ones(8)), 2, np.array([0.1, 0.8, 0.1])), static=(1,)),
    entry("Q_discrete_white_noise", Q_discrete_white_noise, lambda rng: (3, rng.random(), rng.random()), static=(0,)),
    entry("Q_continuous_white_noise", Q_continuous_white_noise, lambda rng: (2, rng.random(), rng.random(), 2), static=(0, 3)),
    entry("inv_diagonal", inv_diagonal, lambda rng: (np.diag(rng.random(4) + 1),)),
    entry("outer_product_sum", outer_product_sum, lambda rng: (rng.normal(size=(5, 3)),)),
    entry("reshape_z", reshape_z, lambda rng: (rng.normal(size=3), 3, 2), static=(1, 2)),
    entry("runge_kutta4", lambda y, x, dx: runge_kutta4(y, x, dx, lambda u, t: t - u), lambda rng: (rng.normal(), rng.normal(), 0.1)),
    entry("covariance_ellipse", covariance_ellipse, lambda rng: (_covariance(rng, 2), 2)),
    entry("multivariate_gaussian", multivariate_gaussian, lambda rng: (rng.normal(size=3), rng.normal(size=3), _covariance(rng))),
]
