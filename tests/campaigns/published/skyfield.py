"""skyfield: Kepler orbits and time scales."""

from __future__ import annotations

import numpy as np
from skyfield import functions, keplerlib, timelib

from tests.campaigns.published import entry

PACKAGE = "skyfield"


ENTRIES = [
    entry("eccentric_anomaly", keplerlib.eccentric_anomaly, lambda rng: (0.3 + 0.3 * rng.random(), rng.random() * 3)),
    entry("eccentric_anomaly, hyperbolic", keplerlib.eccentric_anomaly, lambda rng: (1.3 + 0.3 * rng.random(), rng.random() * 3)),
    entry("true_anomaly_parabolic", keplerlib.true_anomaly_parabolic, lambda rng: (1.0 + rng.random(), 1.0, rng.random())),
    entry("ele_to_vec", keplerlib.ele_to_vec, lambda rng: (1.0 + rng.random(), 0.2, 0.3, *rng.normal(size=3), 1.0)),
    entry("stumpff", keplerlib.stumpff, lambda rng: (rng.normal(size=6) * 20,)),
    entry(
        "propagate",
        keplerlib.propagate,
        lambda rng: (np.array([1.0, 0.1, 0.0]) + 0.1 * rng.random(3), np.array([0.0, 0.9, 0.1]), 0.0, np.array([0.5, 1.0, 3.0]), 1.0),
    ),
    entry("julian_day", timelib.julian_day, lambda rng: (2000 + int(rng.integers(30)), 1 + int(rng.integers(12)), 5)),
    entry("compute_calendar_date", timelib.compute_calendar_date, lambda rng: (2451545 + int(rng.integers(9999)),)),
    entry("rot_z", functions.rot_z, lambda rng: (rng.random(),)),
    entry("from_spherical", functions.from_spherical, lambda rng: tuple(rng.random(3))),
    entry("to_spherical", functions.to_spherical, lambda rng: (rng.normal(size=3),)),
    entry("angle_between", functions.angle_between, lambda rng: (rng.normal(size=3), rng.normal(size=3))),
    entry("length_of", functions.length_of, lambda rng: (rng.normal(size=3),)),
]
