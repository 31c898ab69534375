"""EMD-signal: empirical mode decomposition, sifting with splines."""

from __future__ import annotations

import numpy as np
from PyEMD import EMD

from tests.campaigns.published import entry

PACKAGE = "PyEMD"


def _signal(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    t = np.linspace(0, 1, 30)
    return t, np.sin(20 * t) + 0.4 * np.sin(60 * t) + 0.05 * rng.normal(size=30)


ENTRIES = [
    entry("EMD._find_extrema_simple", lambda t, s: EMD._find_extrema_simple(t, s), _signal),
    entry("EMD.end_condition", lambda s, imf: EMD().end_condition(s, imf), lambda rng: (rng.normal(size=12), rng.normal(size=(2, 12)))),
    entry("EMD.check_imf", lambda a, b, e: EMD().check_imf(a, b, e, e), lambda rng: (rng.normal(size=12), rng.normal(size=12), rng.normal(size=12))),
    entry("EMD._not_duplicate", lambda s: EMD._not_duplicate(s), lambda rng: (rng.integers(0, 3, size=12).astype(float),)),
    entry("EMD.emd", lambda t, s: EMD().emd(s, t, 2), _signal),
]
