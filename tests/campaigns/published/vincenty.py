"""vincenty: the distance of two places, an iteration with an early return."""

from __future__ import annotations

import numpy as np
from vincenty import vincenty_inverse

from tests.campaigns.published import entry

PACKAGE = "vincenty"


ENTRIES = [
    entry("vincenty_inverse", vincenty_inverse, lambda rng: (tuple(rng.uniform(-60, 60, 2)), tuple(rng.uniform(-60, 60, 2)))),
    entry("vincenty_inverse of arrays", vincenty_inverse, lambda rng: (np.array(rng.uniform(-60, 60, 2)), np.array(rng.uniform(-60, 60, 2)))),
]
