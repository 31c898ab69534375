"""miepython: light scattered by spheres, with complex numbers and recurrences."""

from __future__ import annotations

import numpy as np
from miepython import core, mie_nojit, rayleigh

from tests.campaigns.published import entry

PACKAGE = "miepython"


ENTRIES = [
    entry("_Lentz_Dn", mie_nojit._Lentz_Dn, lambda rng: (5.0 + rng.random() + 0.5j, 6)),
    entry("_D_downwards", lambda z, D: mie_nojit._D_downwards(z, 8, D), lambda rng: (5.0 + rng.random() + 0.5j, np.zeros(8, complex))),
    entry("_D_upwards", lambda z, D: mie_nojit._D_upwards(z, 8, D), lambda rng: (5.0 + rng.random() + 0.5j, np.zeros(8, complex))),
    entry("_D_calc_py", mie_nojit._D_calc_py, lambda rng: (1.5 - 0.1j, 3.0 + rng.random(), 9), static=(2,)),
    entry("_an_bn_py", lambda m, x: mie_nojit._an_bn_py(m, x, 0), lambda rng: (1.5 - 0.1j, 3.0 + rng.random())),
    entry("_an_bn_py of a static size", lambda m, x: mie_nojit._an_bn_py(m, x, 0), lambda rng: (1.5 - 0.1j, 3.0), static=(1,)),
    entry("_pi_tau_py", mie_nojit._pi_tau_py, lambda rng: (rng.random(), np.zeros(6), np.zeros(6))),
    entry("_small_sphere_py", mie_nojit._small_sphere_py, lambda rng: (1.5 - 0.1j, 0.05 + 0.02 * rng.random())),
    entry("_small_conducting_sphere_py", mie_nojit._small_conducting_sphere_py, lambda rng: (0.0, 0.05 + 0.02 * rng.random())),
    entry("efficiencies_mx", core.efficiencies_mx, lambda rng: (1.5 - 0.1j, 3.0 + rng.random())),
    entry("rayleigh.efficiencies_mx", rayleigh.efficiencies_mx, lambda rng: (1.5 - 0.1j, 0.05 * rng.random())),
]
