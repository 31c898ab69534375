"""opensimplex: gradient noise, nested branches and integers."""

from __future__ import annotations

import numpy as np
from opensimplex import OpenSimplex
from opensimplex import internals as i

from tests.campaigns.published import entry

PACKAGE = "opensimplex"


def _tables() -> tuple[np.ndarray, np.ndarray]:
    perm, gradients = i._init(7)
    return perm, gradients


ENTRIES = [
    entry("_noise2", lambda x, y, perm: i._noise2(x, y, perm), lambda rng: (*rng.normal(size=2) * 5, _tables()[0])),
    entry("_noise2a", lambda x, y, perm: i._noise2a(x, y, perm), lambda rng: (rng.normal(size=3), rng.normal(size=2), _tables()[0])),
    entry("_noise3", lambda x, y, z, perm, g: i._noise3(x, y, z, perm, g), lambda rng: (*rng.normal(size=3) * 5, *_tables())),
    entry("OpenSimplex.noise2", OpenSimplex.noise2, lambda rng: (OpenSimplex(3), *rng.normal(size=2) * 5)),
]
