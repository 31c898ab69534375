"""PsychroLib: moist air, scalars with guards and iterations."""

from __future__ import annotations

import psychrolib as p

from tests.campaigns.published import entry

PACKAGE = "psychrolib"
p.SetUnitSystem(p.SI)
_P = 101325.0


ENTRIES = [
    entry("GetSatVapPres", p.GetSatVapPres, lambda rng: (rng.uniform(-20, 40),)),
    entry("GetTDewPointFromRelHum", p.GetTDewPointFromRelHum, lambda rng: (rng.uniform(5, 35), rng.uniform(0.2, 0.9)), rtol=1e-5),
    entry("GetTDewPointFromVapPres", p.GetTDewPointFromVapPres, lambda rng: (25.0, rng.uniform(600, 2500)), rtol=1e-5),
    entry("GetTWetBulbFromHumRatio", p.GetTWetBulbFromHumRatio, lambda rng: (30.0, rng.uniform(0.005, 0.02), _P), rtol=1e-5),
    entry("GetTWetBulbFromRelHum", p.GetTWetBulbFromRelHum, lambda rng: (rng.uniform(15, 35), 0.5, _P), rtol=1e-5),
    entry("GetHumRatioFromTWetBulb", p.GetHumRatioFromTWetBulb, lambda rng: (rng.uniform(20, 35), 18.0, _P)),
    entry("GetRelHumFromTWetBulb", p.GetRelHumFromTWetBulb, lambda rng: (rng.uniform(20, 35), 18.0, _P)),
    entry("GetMoistAirEnthalpy", p.GetMoistAirEnthalpy, lambda rng: (rng.uniform(0, 35), 0.01)),
    entry("GetDegreeOfSaturation", p.GetDegreeOfSaturation, lambda rng: (rng.uniform(10, 35), 0.008, _P)),
    entry("CalcPsychrometricsFromRelHum", p.CalcPsychrometricsFromRelHum, lambda rng: (rng.uniform(10, 35), rng.uniform(0.2, 0.9), _P), rtol=1e-5),
    entry("GetStandardAtmPressure", p.GetStandardAtmPressure, lambda rng: (rng.uniform(0, 4000),)),
]
