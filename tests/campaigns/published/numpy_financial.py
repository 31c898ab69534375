"""numpy-financial: annuities and rates."""

from __future__ import annotations

import numpy as np
import numpy_financial as npf

from tests.campaigns.published import entry

PACKAGE = "numpy_financial"


ENTRIES = [
    entry("fv", npf.fv, lambda rng: (rng.random() / 10, 24, -100.0, -500.0)),
    entry("fv of arrays", npf.fv, lambda rng: (np.array([0.0, 0.01, 0.02]), 24, -100.0, rng.normal(size=3) * 100)),
    entry("pmt", npf.pmt, lambda rng: (np.array([0.0, 0.01]), 36, rng.random() * 1000)),
    entry("nper", npf.nper, lambda rng: (0.05 * rng.random(), -200.0, 1000.0)),
    entry("ipmt", npf.ipmt, lambda rng: (0.01, np.arange(0, 12), 12, rng.random() * 1000)),
    entry("ppmt", npf.ppmt, lambda rng: (0.01, 3, 12, rng.random() * 1000)),
    entry("pv", npf.pv, lambda rng: (0.05 / 12, 120, -100.0, rng.random() * 1000)),
    entry("rate", npf.rate, lambda rng: (12, -100.0, 1000.0 + 50 * rng.random(), 0.0)),
    entry("irr", npf.irr, lambda rng: (np.array([-100.0, 39.0, 59.0, 55.0, 20.0]) + rng.normal(size=5),)),
    entry("npv", npf.npv, lambda rng: (0.08, rng.normal(size=6) * 100)),
    entry("mirr", npf.mirr, lambda rng: (np.array([-100.0, 39.0, -5.0, 55.0, 20.0]) + rng.normal(size=5), 0.1, 0.12)),
]
