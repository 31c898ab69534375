"""pyXSteam: steam tables, a class that asks for the region and iterates."""

from __future__ import annotations

from typing import Any

from pyXSteam.RegionSelection import region_ph, region_pT
from pyXSteam.XSteam import XSteam

from tests.campaigns.published import entry

PACKAGE = "pyXSteam"


def _table() -> Any:
    return XSteam(XSteam.UNIT_SYSTEM_MKS)


ENTRIES = [
    entry("XSteam.tsat_p", XSteam.tsat_p, lambda rng: (_table(), 1.0 + 9 * rng.random())),
    entry("XSteam.psat_t", XSteam.psat_t, lambda rng: (_table(), 100.0 + 50 * rng.random())),
    entry("XSteam.h_pt", XSteam.h_pt, lambda rng: (_table(), 2.0, 20.0 + 300 * rng.random())),
    entry("XSteam.t_ph", XSteam.t_ph, lambda rng: (_table(), 2.0, 100.0 + 300 * rng.random())),
    entry("XSteam.hV_p", XSteam.hV_p, lambda rng: (_table(), 1.0 + 9 * rng.random())),
    entry("XSteam.v_pt", XSteam.v_pt, lambda rng: (_table(), 2.0, 20.0 + 300 * rng.random())),
    entry("XSteam.s_ph", XSteam.s_ph, lambda rng: (_table(), 2.0, 3000.0 + 99 * rng.random())),
    entry("region_pT", region_pT, lambda rng: (1.0 + 20 * rng.random(), 300.0 + 500 * rng.random())),
    entry("region_ph", region_ph, lambda rng: (1.0 + 5 * rng.random(), 3000.0 * rng.random())),
]
