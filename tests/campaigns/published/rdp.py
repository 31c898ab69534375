"""rdp: the algorithm of Ramer, Douglas and Peucker."""

from __future__ import annotations

import numpy as np
from rdp import pldist, rdp_iter, rdp_rec

from tests.campaigns.published import entry

PACKAGE = "rdp"


def _line(rng: np.random.Generator) -> np.ndarray:
    return np.column_stack((np.arange(12.0), np.cumsum(rng.normal(size=12))))


ENTRIES = [
    entry("pldist", pldist, lambda rng: tuple(rng.normal(size=(3, 2)))),
    entry("rdp_iter, the mask", lambda m, eps: rdp_iter(m, eps, return_mask=True), lambda rng: (_line(rng), 0.8)),
    entry("rdp_iter", rdp_iter, lambda rng: (_line(rng), 0.8)),
    entry("rdp_rec", rdp_rec, lambda rng: (_line(rng), 0.8)),
]
