"""pvlib: the sun's position and photovoltaic cells."""

from __future__ import annotations

import numpy as np
from pvlib import atmosphere, iam, irradiance, singlediode, spa

from tests.campaigns.published import entry

PACKAGE = "pvlib"
_CELL = (1e-10, 0.3, 300.0, 1.5)


ENTRIES = [
    entry("spa.heliocentric_longitude", spa.heliocentric_longitude, lambda rng: (0.01 * rng.random(),)),
    entry(
        "spa.solar_position_numpy",
        lambda t: spa.solar_position_numpy(t, 40.0, -105.0, 1800.0, 820.0, 11.0, 67.0, 0.5667, 1),
        lambda rng: (1.5e9 + 1e5 * rng.random(3),),
    ),
    entry(
        "spa.solar_position_loop",
        lambda t, out: spa.solar_position_loop(t, np.full(2, 67.0), np.array([40.0, -105.0, 1800.0, 820.0, 11.0, 0.5667, 0.0, 0.0]), out),
        lambda rng: (1.5e9 + 1e5 * rng.random(2), np.zeros((6, 2))),
    ),
    entry("spa.calculate_deltat", spa.calculate_deltat, lambda rng: (float(rng.integers(1900, 2040)), 6.0)),
    entry("spa.equation_of_time", spa.equation_of_time, lambda rng: tuple(rng.uniform(0, 20, 4))),
    entry("singlediode.bishop88", singlediode.bishop88, lambda rng: (rng.random(4), 6.0, *_CELL)),
    entry(
        "singlediode.bishop88_i_from_v", lambda v: singlediode.bishop88_i_from_v(v, 6.0, *_CELL, method="newton"), lambda rng: (rng.random() * 30,)
    ),
    entry("singlediode.estimate_voc", singlediode.estimate_voc, lambda rng: (6.0 + rng.random(), 1e-10, 1.5)),
    entry("irradiance.aoi", irradiance.aoi, lambda rng: (30.0, 180.0, *rng.uniform(10, 80, 2))),
    entry("irradiance.klucher", irradiance.klucher, lambda rng: (30.0, 180.0, 100.0, 500.0, 40.0 + rng.random(), 170.0)),
    entry(
        "irradiance.perez",
        lambda z, a: irradiance.perez(30.0, 180.0, 100.0, 600.0, 1400.0, z, 170.0, a),
        lambda rng: (rng.uniform(20, 60, 3), rng.uniform(1, 2, 3)),
    ),
    entry("irradiance.erbs", irradiance.erbs, lambda rng: (rng.uniform(100, 900, 3), rng.uniform(20, 60, 3), 120)),
    entry("irradiance.disc", irradiance.disc, lambda rng: (rng.uniform(100, 900, 3), rng.uniform(20, 60, 3), 120)),
    entry("iam.physical", iam.physical, lambda rng: (rng.uniform(0, 89, 4),)),
    entry("iam.physical of a number", iam.physical, lambda rng: (rng.uniform(0, 89),)),
    entry("atmosphere.get_relative_airmass", atmosphere.get_relative_airmass, lambda rng: (rng.uniform(0, 89, 4),)),
    entry("atmosphere.gueymard94_pw", atmosphere.gueymard94_pw, lambda rng: (rng.uniform(0, 30), 50.0)),
]
