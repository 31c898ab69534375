"""utm: map coordinates, of numbers and of arrays."""

from __future__ import annotations

import utm
from utm import conversion

from tests.campaigns.published import entry

PACKAGE = "utm"


ENTRIES = [
    entry("from_latlon of numbers", lambda lat, lon: utm.from_latlon(lat, lon)[:2], lambda rng: (48.0 + rng.random(), 11.0 + rng.random())),
    entry(
        "from_latlon with its zone",
        lambda lat, lon: utm.from_latlon(lat, lon, force_zone_number=32),
        lambda rng: (48.0 + rng.random(), 11.0 + rng.random()),
    ),
    entry("from_latlon of arrays", lambda lat, lon: utm.from_latlon(lat, lon, 32, "U"), lambda rng: (48.0 + rng.random(3), 11.0 + rng.random(3))),
    entry("to_latlon", lambda e, n: utm.to_latlon(e, n, 32, "U"), lambda rng: (5e5 + 1e4 * rng.random(), 5.3e6 + 1e4 * rng.random())),
    entry("latlon_to_zone_number", conversion.latlon_to_zone_number, lambda rng: (rng.uniform(-60, 60), rng.uniform(-170, 170))),
    entry("mod_angle", conversion.mod_angle, lambda rng: (rng.normal() * 9,)),
    entry("latitude_to_zone_letter", conversion.latitude_to_zone_letter, lambda rng: (rng.uniform(-60, 60),)),
]
