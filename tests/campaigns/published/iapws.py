"""iapws: water and steam, scalars with many regions."""

from __future__ import annotations

from iapws import _iapws, iapws97

from tests.campaigns.published import entry

PACKAGE = "iapws"


ENTRIES = [
    entry("_Region1", iapws97._Region1, lambda rng: (rng.uniform(290, 500), 3.0)),
    entry("_Region2", iapws97._Region2, lambda rng: (rng.uniform(500, 700), 0.1)),
    entry("_Region3", iapws97._Region3, lambda rng: (rng.uniform(300, 500), 650.0)),
    entry("_PSat_T", iapws97._PSat_T, lambda rng: (rng.uniform(300, 600),)),
    entry("_TSat_P", iapws97._TSat_P, lambda rng: (rng.uniform(0.1, 10),)),
    entry("_Backward1_T_Ph", iapws97._Backward1_T_Ph, lambda rng: (3.0, rng.uniform(300, 900))),
    entry("_Backward2_T_Ph", iapws97._Backward2_T_Ph, lambda rng: (rng.uniform(0.5, 5), 3000.0)),
    entry("_Backward2_T_Ps", iapws97._Backward2_T_Ps, lambda rng: (rng.uniform(0.5, 5), 7.0)),
    entry("_Backward3_v_PT", iapws97._Backward3_v_PT, lambda rng: (rng.uniform(25, 40), 650.0)),
    entry("_Bound_TP", iapws97._Bound_TP, lambda rng: (rng.uniform(300, 1000), 3.0)),
    entry("_Bound_Ph", iapws97._Bound_Ph, lambda rng: (rng.uniform(1, 15), 2000.0)),
    entry("_Viscosity", _iapws._Viscosity, lambda rng: (rng.uniform(900, 1000), 300.0)),
    entry("_ThCond", _iapws._ThCond, lambda rng: (rng.uniform(900, 1000), 300.0)),
    entry("_Tension", _iapws._Tension, lambda rng: (rng.uniform(300, 600),)),
    entry("_Dielectric", _iapws._Dielectric, lambda rng: (rng.uniform(900, 1000), 300.0)),
]
