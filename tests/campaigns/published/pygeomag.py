"""pygeomag: the magnetic field of the earth, nested loops over lists of coefficients."""

from __future__ import annotations

from typing import Any

from pygeomag import GeoMag

from tests.campaigns.published import entry

PACKAGE = "pygeomag"


def _field(model: Any, lat: float, lon: float, alt: float) -> Any:
    result = model.calculate(glat=lat, glon=lon, alt=alt, time=2021.5)
    return result.x, result.y, result.z, result.d


ENTRIES = [
    entry("GeoMag.calculate", _field, lambda rng: (GeoMag(base_year=2020), *rng.uniform(-60, 60, 2), 1.0)),
]
