"""PeakUtils: peaks and baselines."""

from __future__ import annotations

import numpy as np
import peakutils
from peakutils import peak

from tests.campaigns.published import entry

PACKAGE = "peakutils"


def _signal(rng: np.random.Generator) -> np.ndarray:
    x = np.linspace(0, 6, 30)
    return np.sin(3 * x) + 0.2 * x + 0.05 * rng.normal(size=30)


ENTRIES = [
    entry("indexes", peakutils.indexes, lambda rng: (_signal(rng),)),
    entry("indexes with a distance", lambda y: peakutils.indexes(y, thres=0.2, min_dist=4), lambda rng: (_signal(rng),)),
    entry("baseline", peakutils.baseline, lambda rng: (_signal(rng),)),
    entry("baseline of degree 2", lambda y: peakutils.baseline(y, 2, 20), lambda rng: (_signal(rng),)),
    entry("envelope", peakutils.envelope, lambda rng: (_signal(rng),)),
    entry("centroid", peak.centroid, lambda rng: (np.arange(5.0), rng.random(5))),
    entry("centroid2", peak.centroid2, lambda rng: (rng.random(6),)),
    entry("scale", peakutils.prepare.scale, lambda rng: (rng.normal(size=6),)),
]
