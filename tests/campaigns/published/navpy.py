"""NavPy: navigation, of numbers and of arrays."""

from __future__ import annotations

import navpy
import numpy as np

from tests.campaigns.published import entry

PACKAGE = "navpy"


def _q(rng: np.random.Generator) -> np.ndarray:
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


ENTRIES = [
    entry("angle2dcm", navpy.angle2dcm, lambda rng: tuple(rng.normal(size=3))),
    entry("dcm2angle", navpy.dcm2angle, lambda rng: (navpy.angle2dcm(*rng.normal(size=3) / 3),)),
    entry("angle2quat", navpy.angle2quat, lambda rng: tuple(rng.normal(size=3))),
    entry("quat2angle", lambda q: navpy.quat2angle(q[0], q[1:]), lambda rng: (_q(rng),)),
    entry("quat2dcm", lambda q: navpy.quat2dcm(q[0], q[1:]), lambda rng: (_q(rng),)),
    entry("qmult", lambda p, q: navpy.qmult(p[0], p[1:], q[0], q[1:]), lambda rng: (_q(rng), _q(rng))),
    entry("omega2rates", navpy.omega2rates, lambda rng: (rng.normal() / 3, rng.normal())),
    entry("earthrad", navpy.earthrad, lambda rng: (rng.uniform(-80, 80),)),
    entry("lla2ecef", navpy.lla2ecef, lambda rng: (*rng.uniform(-60, 60, 2), 100.0)),
    entry("ecef2lla", navpy.ecef2lla, lambda rng: (navpy.lla2ecef(*rng.uniform(-60, 60, 2), 100.0),)),
    entry("lla2ned", navpy.lla2ned, lambda rng: (*rng.uniform(40, 41, 2), 100.0, 40.0, 40.0, 50.0)),
    entry("navrate", navpy.navrate, lambda rng: (*rng.normal(size=3), 45.0, 100.0)),
    entry("wrapToPi", navpy.wrapToPi, lambda rng: (rng.normal() * 9,)),
    entry("wrapToPi of an array", navpy.wrapToPi, lambda rng: (rng.normal(size=4) * 9,)),
    entry("skew", navpy.skew, lambda rng: (rng.normal(size=3),)),
]
