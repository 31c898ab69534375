"""pymap3d: coordinates on the earth."""

from __future__ import annotations

import pymap3d as pm
from pymap3d.lox import loxodrome_direct, loxodrome_inverse, meridian_arc
from pymap3d.vincenty import track2, vdist, vreckon

from tests.campaigns.published import entry

PACKAGE = "pymap3d"


ENTRIES = [
    entry("geodetic2ecef", pm.geodetic2ecef, lambda rng: (*rng.uniform(-60, 60, 2), 200.0)),
    entry("ecef2geodetic", pm.ecef2geodetic, lambda rng: tuple(rng.uniform(3e6, 5e6, 3))),
    entry("ecef2geodetic of arrays", pm.ecef2geodetic, lambda rng: tuple(rng.uniform(3e6, 5e6, size=(3, 4)))),
    entry("geodetic2aer", pm.geodetic2aer, lambda rng: (*rng.uniform(40, 41, 2), 900.0, 40.0, 40.0, 100.0)),
    entry("vdist", vdist, lambda rng: tuple(rng.uniform(-60, 60, 4))),
    entry("vdist of arrays", vdist, lambda rng: tuple(rng.uniform(-60, 60, size=(4, 3)))),
    entry("vreckon", vreckon, lambda rng: (*rng.uniform(-60, 60, 2), 3e5, 40.0)),
    entry("track2", lambda a, b, c, d: track2(a, b, c, d, npts=5), lambda rng: tuple(rng.uniform(20, 60, 4))),
    entry("meridian_arc", meridian_arc, lambda rng: tuple(rng.uniform(-60, 60, 2))),
    entry("loxodrome_inverse", loxodrome_inverse, lambda rng: tuple(rng.uniform(20, 60, 4))),
    entry("loxodrome_direct", loxodrome_direct, lambda rng: (*rng.uniform(20, 60, 2), 3e5, 40.0)),
    entry("geodetic2isometric", pm.geodetic2isometric, lambda rng: (rng.uniform(-80, 80),)),
    entry("isometric2geodetic", pm.isometric2geodetic, lambda rng: (rng.uniform(-80, 80),)),
    entry("geodetic2authalic", pm.geodetic2authalic, lambda rng: (rng.uniform(-80, 80, size=3),)),
]
