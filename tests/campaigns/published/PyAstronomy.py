"""PyAstronomy: orbits, transits and times."""

from __future__ import annotations

from typing import Any

import numpy as np
from PyAstronomy import pyasl

from tests.campaigns.published import entry

PACKAGE = "PyAstronomy"


def _orbit(rng: np.random.Generator) -> Any:
    return pyasl.KeplerEllipse(1.0 + rng.random(), 2.0, e=0.4, Omega=20.0, i=80.0, w=30.0)


ENTRIES = [
    entry("MarkleyKESolver.getE", lambda M, e: pyasl.MarkleyKESolver().getE(M, e), lambda rng: (rng.random() * 6, 0.5)),
    entry("KeplerEllipse.xyzPos", pyasl.KeplerEllipse.xyzPos, lambda rng: (_orbit(rng), rng.random())),
    entry("KeplerEllipse.xyzPos of times", pyasl.KeplerEllipse.xyzPos, lambda rng: (_orbit(rng), rng.random(5))),
    entry("KeplerEllipse.xyzVel", pyasl.KeplerEllipse.xyzVel, lambda rng: (_orbit(rng), rng.random(4))),
    entry("KeplerEllipse.trueAnomaly", pyasl.KeplerEllipse.trueAnomaly, lambda rng: (_orbit(rng), rng.random())),
    entry("KeplerEllipse.radius", pyasl.KeplerEllipse.radius, lambda rng: (_orbit(rng), rng.random(3))),
    entry("foldAt", pyasl.foldAt, lambda rng: (rng.random(6) * 9, 1.7)),
    entry("isInTransit", pyasl.isInTransit, lambda rng: (rng.random(7), 0.2, 0.4, 0.06)),
    entry("transitDuration", pyasl.transitDuration, lambda rng: (0.05, 1.0 + 0.1 * rng.random(), 1.0, 88.0, 3.0)),
    entry("degToDMS", pyasl.degToDMS, lambda rng: (rng.normal() * 90,)),
    entry("degToHMS", pyasl.degToHMS, lambda rng: (rng.random() * 350,)),
    entry("getCardinalPoint", pyasl.getCardinalPoint, lambda rng: (rng.random() * 360,)),
    entry("twilightName", pyasl.twilightName, lambda rng: (rng.normal() * 12,)),
    entry("planck", lambda T, lam: pyasl.planck(T, lam=lam), lambda rng: (5000.0 + 999 * rng.random(), 6e-7)),
    entry("smooth", lambda x: pyasl.smooth(x, 5, "flat"), lambda rng: (rng.random(20),)),
    entry("rotBroad", lambda f: pyasl.fastRotBroad(np.linspace(5000, 5010, 40), f, 0.5, 20.0), lambda rng: (rng.random(40),)),
    entry("quadExtreme", pyasl.quadExtreme, lambda rng: (np.arange(9.0), -((np.arange(9.0) - 4 - rng.random()) ** 2))),
    entry("intep", pyasl.intep, lambda rng: (np.arange(8.0), rng.random(8), np.array([1.5, 2.25, 5.1]))),
    entry("moonphase", pyasl.moonphase, lambda rng: (2450000.0 + 999 * rng.random(3),)),
    entry("baryvel", pyasl.baryvel, lambda rng: (2450000.0 + 999 * rng.random(), 2000.0)),
    entry("precess", pyasl.precess, lambda rng: (rng.random() * 300, 30.0, 1950.0, 2000.0)),
    entry("unred", pyasl.unred, lambda rng: (np.linspace(1300, 9000, 12), rng.random(12), 0.2)),
    entry("cirrange", pyasl.cirrange, lambda rng: (rng.normal(size=4) * 600,)),
    entry("polyResOutlier", pyasl.polyResOutlier, lambda rng: (np.arange(12.0), np.append(rng.normal(size=11), 30.0))),
]
