"""geographiclib: geodesics on an ellipsoid, classes with state and lists that are filled."""

from __future__ import annotations

from typing import Any

import numpy as np
from geographiclib.geodesic import Geodesic
from geographiclib.geomath import Math
from geographiclib.polygonarea import PolygonArea

from tests.campaigns.published import entry

PACKAGE = "geographiclib"


def _area(points: np.ndarray) -> Any:
    polygon = PolygonArea(Geodesic.WGS84)
    for lat, lon in points:
        polygon.AddPoint(lat, lon)
    return polygon.Compute()


ENTRIES = [
    entry("Geodesic.Inverse", lambda a, b, c, d: Geodesic.WGS84.Inverse(a, b, c, d)["s12"], lambda rng: tuple(rng.uniform(-60, 60, 4))),
    entry("Geodesic.Direct", lambda a, b, az, s: Geodesic.WGS84.Direct(a, b, az, s)["lat2"], lambda rng: (*rng.uniform(-60, 60, 3), 1e6)),
    entry("PolygonArea", _area, lambda rng: (np.array([[0.0, 0.0], [0.0, 10.0], [10.0, 10.0 + rng.random()], [9.0, 1.0]]),)),
    entry("Math.AngNormalize", Math.AngNormalize, lambda rng: (rng.normal() * 400,)),
    entry("Math.AngDiff", Math.AngDiff, lambda rng: tuple(rng.uniform(-180, 180, 2))),
    entry("Math.sincosd", Math.sincosd, lambda rng: (rng.normal() * 200,)),
    entry("Math.atan2d", Math.atan2d, lambda rng: tuple(rng.normal(size=2))),
    entry("Math.cbrt", Math.cbrt, lambda rng: (rng.normal(),)),
    entry("Math.sum", Math.sum, lambda rng: tuple(rng.normal(size=2))),
]
