"""tmm: light in thin layers, with complex numbers."""

from __future__ import annotations

import numpy as np
from tmm import tmm_core as t

from tests.campaigns.published import entry

PACKAGE = "tmm"


def _layers(rng: np.random.Generator) -> tuple[list[complex], list[float]]:
    return [1.0, 2.2 + rng.random(), 3.3 + 0.3j, 1.5], [float("inf"), 100.0 + 50 * rng.random(), 300.0, float("inf")]


def _absorbed(n: np.ndarray, d: np.ndarray, lam: float) -> np.ndarray:
    return np.asarray(t.absorp_in_each_layer(t.coh_tmm("p", n, d, 0.3, lam)))


def _arrays(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    n, d = _layers(rng)
    return np.array(n), np.array(d)


ENTRIES = [
    entry("is_forward_angle", t.is_forward_angle, lambda rng: (2.0 + 0.3j, 0.2 + rng.random())),
    entry("snell", t.snell, lambda rng: (1.0, 1.5 + 0.1j, rng.random())),
    entry("list_snell", t.list_snell, lambda rng: (_arrays(rng)[0], 0.4)),
    entry("interface_r", lambda a, b, c, d: t.interface_r("p", a, b, c, d), lambda rng: (1.0, 2.0 + 0.1j, 0.3, 0.15 * rng.random())),
    entry("coh_tmm", lambda n, d, lam: t.coh_tmm("s", n, d, 0.2, lam), lambda rng: (*_arrays(rng), 500.0)),
    entry("coh_tmm of lists", lambda n, d, lam: t.coh_tmm("p", n, d, 0.2, lam)["R"], lambda rng: (*_layers(rng), 500.0)),
    entry("ellips", t.ellips, lambda rng: (*_arrays(rng), 0.7, 500.0)),
    entry("unpolarized_RT", t.unpolarized_RT, lambda rng: (*_arrays(rng), 0.7, 500.0)),
    entry("absorp_in_each_layer", _absorbed, lambda rng: (*_arrays(rng), 450.0)),
    entry("find_in_structure", t.find_in_structure, lambda rng: ([100.0, 200.0, 50.0], 320.0 * rng.random())),
    entry("layer_starts", t.layer_starts, lambda rng: (_arrays(rng)[1],)),
]
