"""ahrs: attitude filters, classes with state."""

from __future__ import annotations

import numpy as np
from ahrs.common import orientation as o
from ahrs.common.frames import ecef2geodetic, enu2aer, geodetic2ecef
from ahrs.filters import (
    AQUA,
    EKF,
    FAMC,
    FLAE,
    FQA,
    OLEQ,
    QUEST,
    ROLEQ,
    SAAM,
    UKF,
    AngularRate,
    Complementary,
    Davenport,
    Fourati,
    Madgwick,
    Mahony,
    Tilt,
)
from ahrs.filters.aqua import adaptive_gain, slerp_I

from tests.campaigns.published import entry

PACKAGE = "ahrs"


def _q(rng: np.random.Generator) -> np.ndarray:
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def _gyr(rng: np.random.Generator, *n: int) -> np.ndarray:
    return rng.normal(size=(*n, 3)) * 0.3


def _acc(rng: np.random.Generator, *n: int) -> np.ndarray:
    return np.array([0.3, -0.2, 9.7]) + rng.normal(size=(*n, 3)) * 0.5


def _mag(rng: np.random.Generator, *n: int) -> np.ndarray:
    return np.array([20.0, 3.0, 43.0]) + rng.normal(size=(*n, 3))


def _dcm(rng: np.random.Generator) -> np.ndarray:
    return np.asarray(o.q2R(_q(rng)))


ENTRIES = [
    entry("Madgwick.updateIMU", Madgwick.updateIMU, lambda rng: (Madgwick(), _q(rng), _gyr(rng), _acc(rng))),
    entry("Madgwick.updateMARG", Madgwick.updateMARG, lambda rng: (Madgwick(), _q(rng), _gyr(rng), _acc(rng), _mag(rng))),
    entry("Madgwick over samples", lambda gyr, acc: Madgwick(gyr=gyr, acc=acc).Q, lambda rng: (_gyr(rng, 7), _acc(rng, 7))),
    entry("Mahony.updateIMU", Mahony.updateIMU, lambda rng: (Mahony(), _q(rng), _gyr(rng), _acc(rng))),
    entry("Mahony.updateMARG", Mahony.updateMARG, lambda rng: (Mahony(), _q(rng), _gyr(rng), _acc(rng), _mag(rng))),
    entry("Mahony over samples", lambda gyr, acc, mag: Mahony(gyr=gyr, acc=acc, mag=mag).Q, lambda rng: (_gyr(rng, 7), _acc(rng, 7), _mag(rng, 7))),
    entry("AngularRate.update", AngularRate.update, lambda rng: (AngularRate(), _q(rng), _gyr(rng), "series", 3)),
    entry("AngularRate over samples", lambda gyr: AngularRate(gyr=gyr).Q, lambda rng: (_gyr(rng, 8),)),
    entry("AQUA.updateIMU", AQUA.updateIMU, lambda rng: (AQUA(), _q(rng), _gyr(rng), _acc(rng))),
    entry("AQUA.updateMARG, adaptive", AQUA.updateMARG, lambda rng: (AQUA(adaptive=True), _q(rng), _gyr(rng), _acc(rng), _mag(rng))),
    entry("AQUA.estimate", AQUA.estimate, lambda rng: (AQUA(), _acc(rng), _mag(rng))),
    entry("slerp_I", slerp_I, lambda rng: (_q(rng), 0.1, 0.9)),
    entry("adaptive_gain", adaptive_gain, lambda rng: (_acc(rng) * (0.9 + 0.3 * rng.random()),)),
    entry(
        "Complementary over samples",
        lambda gyr, acc, mag: Complementary(gyr=gyr, acc=acc, mag=mag).Q,
        lambda rng: (_gyr(rng, 8), _acc(rng, 8), _mag(rng, 8)),
    ),
    entry("Davenport.estimate", Davenport.estimate, lambda rng: (Davenport(), _acc(rng), _mag(rng))),
    entry("EKF.update", EKF.update, lambda rng: (EKF(), _q(rng), _gyr(rng), _acc(rng))),
    entry("EKF over samples", lambda gyr, acc: EKF(gyr=gyr, acc=acc).Q, lambda rng: (_gyr(rng, 6), _acc(rng, 6))),
    entry("UKF.update", UKF.update, lambda rng: (UKF(), _q(rng), _gyr(rng), _acc(rng))),
    entry("FAMC.estimate", FAMC.estimate, lambda rng: (FAMC(), _acc(rng), _mag(rng))),
    entry("FLAE.estimate, newton", lambda f, acc, mag: f.estimate(acc, mag, method="newton"), lambda rng: (FLAE(), _acc(rng), _mag(rng))),
    entry("FQA.estimate", FQA.estimate, lambda rng: (FQA(), _acc(rng), _mag(rng))),
    entry("Fourati.update", Fourati.update, lambda rng: (Fourati(), _q(rng), _gyr(rng), _acc(rng), _mag(rng))),
    entry("OLEQ.estimate", OLEQ.estimate, lambda rng: (OLEQ(), _acc(rng), _mag(rng))),
    entry("ROLEQ.update", ROLEQ.update, lambda rng: (ROLEQ(), _q(rng), _gyr(rng), _acc(rng), _mag(rng))),
    entry("QUEST.estimate", QUEST.estimate, lambda rng: (QUEST(), _acc(rng), _mag(rng))),
    entry("SAAM.estimate", SAAM.estimate, lambda rng: (SAAM(), _acc(rng), _mag(rng))),
    entry("Tilt.estimate", Tilt.estimate, lambda rng: (Tilt(), _acc(rng), _mag(rng))),
    entry("Tilt over samples", lambda acc, mag: Tilt(acc=acc, mag=mag).Q, lambda rng: (_acc(rng, 6), _mag(rng, 6))),
    entry("chiaverini", o.chiaverini, lambda rng: (_dcm(rng),)),
    entry("hughes", o.hughes, lambda rng: (_dcm(rng),)),
    entry("sarabandi", o.sarabandi, lambda rng: (_dcm(rng),)),
    entry("shepperd", o.shepperd, lambda rng: (_dcm(rng),)),
    entry("itzhack", o.itzhack, lambda rng: (_dcm(rng),)),
    entry("slerp", o.slerp, lambda rng: (_q(rng), _q(rng), np.linspace(0, 1, 5))),
    entry("q_prod", o.q_prod, lambda rng: (_q(rng), _q(rng))),
    entry("q_correct", o.q_correct, lambda rng: (np.array([_q(rng) for _ in range(5)]),)),
    entry("ecef2geodetic", ecef2geodetic, lambda rng: tuple(float(x) for x in np.asarray(geodetic2ecef(*rng.uniform(10, 60, 2), 100.0)))),
    entry("enu2aer", enu2aer, lambda rng: tuple(rng.normal(size=3))),
]
