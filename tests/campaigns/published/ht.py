"""ht: heat transfer, scalars with many branches."""

from __future__ import annotations

from ht import conduction, conv_external, conv_internal, core, hx, radiation

from tests.campaigns.published import entry

PACKAGE = "ht"


ENTRIES = [
    entry("LMTD", core.LMTD, lambda rng: (100.0 + rng.random(), 60.0, 30.0, 40.0)),
    entry("fin_efficiency_Kern_Kraus", core.fin_efficiency_Kern_Kraus, lambda rng: (0.0254, 0.05715 + 0.01 * rng.random(), 3.8e-4, 200.0, 58.0)),
    entry("wall_factor_Nu", core.wall_factor_Nu, lambda rng: (rng.random(), 0.5)),
    entry("laminar_entry_Seider_Tate", conv_internal.laminar_entry_Seider_Tate, lambda rng: (1e5 * rng.random(), 1.1, 5.0, 0.5)),
    entry("turbulent_Dittus_Boelter", conv_internal.turbulent_Dittus_Boelter, lambda rng: (1e5 * (1 + rng.random()), 1.2)),
    entry("turbulent_ESDU", conv_internal.turbulent_ESDU, lambda rng: (1e5 * (1 + rng.random()), 1.2)),
    entry("Nu_conv_internal", conv_internal.Nu_conv_internal, lambda rng: (float(10 ** rng.uniform(2, 6)), 0.7)),
    entry("Nu_laminar_rectangular_Shan_London", conv_internal.Nu_laminar_rectangular_Shan_London, lambda rng: (rng.random(),)),
    entry("Nu_cylinder_Zukauskas", conv_external.Nu_cylinder_Zukauskas, lambda rng: (float(10 ** rng.uniform(1, 5.5)), 0.7)),
    entry("effectiveness_from_NTU", hx.effectiveness_from_NTU, lambda rng: (5.0 * rng.random(), 0.7)),
    entry(
        "effectiveness_from_NTU, crossflow",
        lambda n: hx.effectiveness_from_NTU(n, 0.7, subtype="crossflow, mixed Cmin"),
        lambda rng: (5.0 * rng.random(),),
    ),
    entry("temperature_effectiveness_basic", hx.temperature_effectiveness_basic, lambda rng: (3.0 + rng.random(), 0.75)),
    entry("S_isothermal_pipe_to_plane", conduction.S_isothermal_pipe_to_plane, lambda rng: (0.1, 1.0 + rng.random(), 3.0)),
    entry(
        "cylindrical_heat_transfer",
        lambda T: conduction.cylindrical_heat_transfer(T, 20.0, 1e5, 5.0, 0.1, [0.01, 0.02], [50.0, 0.05]),
        lambda rng: (100.0 + rng.random(),),
    ),
    entry("blackbody_spectral_radiance", radiation.blackbody_spectral_radiance, lambda rng: (800.0 + rng.random(), 4e-6)),
]
