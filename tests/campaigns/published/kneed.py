"""kneed: the knee of a curve, a class that works in its constructor."""

from __future__ import annotations

import numpy as np
from kneed import KneeLocator
from kneed.shape_detector import find_shape

from tests.campaigns.published import entry

PACKAGE = "kneed"


ENTRIES = [
    entry(
        "KneeLocator", lambda x, y: KneeLocator(x, y).knee, lambda rng: (np.arange(1.0, 12.0), np.log(np.arange(1.0, 12.0)) + 0.01 * rng.random(11))
    ),
    entry(
        "KneeLocator of a static x",
        lambda y: KneeLocator(np.arange(1.0, 12.0), y, S=1.0).norm_knee,
        lambda rng: (np.log(np.arange(1.0, 12.0)) + 0.01 * rng.random(11),),
    ),
    entry("find_shape", find_shape, lambda rng: (np.arange(1.0, 12.0), np.log(np.arange(1.0, 12.0)) + 0.01 * rng.random(11))),
    entry("KneeLocator.transform_y", lambda y: KneeLocator.transform_y(y, "decreasing", "convex"), lambda rng: (rng.random(6),)),
]
