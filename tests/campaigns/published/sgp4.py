"""sgp4: the orbits of satellites, pure Python on an object with some hundred attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sgp4.earth_gravity import wgs72
from sgp4.io import twoline2rv
from sgp4.propagation import gstime, sgp4

from tests.campaigns.published import entry

PACKAGE = "sgp4"
_NEAR = (
    "1 00005U 58002B   00179.78495062  .00000023  00000-0  28098-4 0  4753",
    "2 00005  34.2682 348.7242 1859667 331.7664  19.3264 10.82419157413667",
)
_DEEP = (
    "1 11801U          80230.29629788  .01431103  00000-0  14311-1      13",
    "2 11801  46.7916 230.4354 7318036  47.4722  10.4117  2.28537848    13",
)


def _satellite(lines: tuple[str, str]) -> Any:
    return twoline2rv(*lines, wgs72)


def _path(sat: Any, times: np.ndarray) -> np.ndarray:
    path = np.zeros((len(times), 3))
    for k, t in enumerate(times):
        r, _ = sgp4(sat, t)
        path[k] = r
    return path


ENTRIES = [
    entry("sgp4, near", sgp4, lambda rng: (_satellite(_NEAR), rng.uniform(0, 1000)), rtol=1e-5),
    entry("sgp4, deep space", sgp4, lambda rng: (_satellite(_DEEP), rng.uniform(0, 1000)), rtol=1e-5),
    entry("sgp4 over times", _path, lambda rng: (_satellite(_NEAR), rng.uniform(0, 1000, size=4)), rtol=1e-5),
    entry("gstime", gstime, lambda rng: (2453101.8 + 100 * rng.random(),)),
]
