"""similaritymeasures: distances of curves."""

from __future__ import annotations

import numpy as np
import similaritymeasures as sm

from tests.campaigns.published import entry

PACKAGE = "similaritymeasures"


def _curves(rng: np.random.Generator, n: int = 12, m: int = 12) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.linspace(0, 1, n), np.linspace(0, 1, m)
    return np.column_stack((x, np.sin(3 * x) + 0.1 * rng.normal(size=n))), np.column_stack((y, y + 0.1 * rng.normal(size=m)))


def _warped(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    _, table = sm.dtw(a, b)
    return np.asarray(sm.dtw_path(table))


ENTRIES = [
    entry("frechet_dist", sm.frechet_dist, lambda rng: _curves(rng)),
    entry("dtw", sm.dtw, lambda rng: _curves(rng)),
    entry("dtw_path", _warped, lambda rng: _curves(rng)),
    entry("area_between_two_curves", sm.area_between_two_curves, lambda rng: _curves(rng, 10, 8)),
    entry("curve_length_measure", sm.curve_length_measure, lambda rng: _curves(rng)),
    entry("pcm", sm.pcm, lambda rng: _curves(rng, 12, 9)),
    entry("get_arc_length", sm.get_arc_length, lambda rng: (_curves(rng)[0],)),
    entry("is_simple_quad", sm.is_simple_quad, lambda rng: tuple(rng.normal(size=(4, 2)))),
    entry("makeQuad", sm.makeQuad, lambda rng: (rng.normal(size=4), rng.normal(size=4))),
    entry("mae", sm.mae, lambda rng: _curves(rng)),
]
