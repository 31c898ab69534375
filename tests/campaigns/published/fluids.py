"""fluids: pipes, particles and numerics, scalars with branches and iterations."""

from __future__ import annotations

import math

import numpy as np
from fluids import compressible, control_valve, drag, friction, geometry, numerics, two_phase
from fluids.numerics import arrays

from tests.campaigns.published import entry

PACKAGE = "fluids"


ENTRIES = [
    entry("friction_factor", friction.friction_factor, lambda rng: (float(10 ** rng.uniform(2, 6)), 1e-4)),
    entry("Clamond", friction.Clamond, lambda rng: (rng.uniform(1e4, 1e6), 1e-3)),
    entry("Colebrook", lambda Re, eD: friction.Colebrook(Re, eD, tol=1e-9), lambda rng: (rng.uniform(1e4, 1e6), 1e-3)),
    entry("Churchill_1977", friction.Churchill_1977, lambda rng: (rng.uniform(1e3, 1e6), 1e-3)),
    entry("helical_turbulent_fd_Ju", friction.helical_turbulent_fd_Ju, lambda rng: (rng.uniform(1e4, 1e6), 0.01, 0.2)),
    entry("friction_plate_Martin_1999", friction.friction_plate_Martin_1999, lambda rng: (rng.uniform(100, 9000), 1.0)),
    entry("friction_plate_Kumar", friction.friction_plate_Kumar, lambda rng: (rng.uniform(5, 900), 35.0)),
    entry("drag.Clift", drag.Clift, lambda rng: (float(10 ** rng.uniform(-2, 5)),)),
    entry("drag.Barati_high", drag.Barati_high, lambda rng: (float(10 ** rng.uniform(-2, 5)),)),
    entry("drag.v_terminal", drag.v_terminal, lambda rng: (70e-6 * (1 + rng.random()), 2600.0, 1000.0, 1e-3)),
    entry(
        "isothermal_gas",
        lambda P2: compressible.isothermal_gas(rho=11.3, fd=0.00185, P1=1e6, P2=P2, L=1000.0, D=0.5),
        lambda rng: (9e5 - 1e4 * rng.random(),),
    ),
    entry(
        "two_phase.Lockhart_Martinelli",
        lambda m: two_phase.Lockhart_Martinelli(m=m, x=0.1, rhol=915.0, rhog=2.67, mul=180e-6, mug=14e-6, D=0.05),
        lambda rng: (0.3 + rng.random(),),
    ),
    entry(
        "size_control_valve_l",
        lambda Q: control_valve.size_control_valve_l(rho=965.4, Psat=70.1e3, Pc=22120e3, mu=3.1472e-4, P1=680e3, P2=220e3, Q=Q),
        lambda rng: (0.1 + 0.02 * rng.random(),),
    ),
    entry("geometry.V_horiz_ellipsoidal", geometry.V_horiz_ellipsoidal, lambda rng: (108.0, 156.0, 42.0, rng.uniform(5, 100))),
    entry("geometry.SA_partial_sphere", geometry.SA_partial_sphere, lambda rng: (1.0, rng.random())),
    entry("numerics.interp", numerics.interp, lambda rng: (rng.uniform(0, 4), [0.0, 1.0, 2.0, 4.0], [1.0, 3.0, 2.0, 5.0])),
    entry("numerics.chebval", numerics.chebval, lambda rng: (rng.random(), rng.normal(size=5).tolist())),
    entry("numerics.is_monotonic", numerics.is_monotonic, lambda rng: (rng.normal(size=5).tolist(),)),
    entry("numerics.horner", numerics.horner, lambda rng: (rng.normal(size=5).tolist(), rng.random())),
    entry("numerics.roots_cubic", numerics.roots_cubic, lambda rng: (1.0, *rng.normal(size=3))),
    entry("numerics.newton", lambda a: numerics.newton(lambda x: x * x - a, 1.0, lambda x: 2.0 * x), lambda rng: (1.0 + rng.random(),)),
    entry("numerics.brenth", lambda a: numerics.brenth(lambda x: math.exp(x) - a, 0.0, 2.0), lambda rng: (2.0 + rng.random(),)),
    entry("numerics.secant", lambda a: numerics.secant(lambda x: x * x * x - a, 1.0), lambda rng: (1.5 + rng.random(),)),
    entry("numerics.bisect", lambda a: numerics.bisect(lambda x: x * x - a, 0.0, 3.0), lambda rng: (1.5 + rng.random(),)),
    entry(
        "numerics.solve_tridiagonal", numerics.solve_tridiagonal, lambda rng: ([1.0, 1.0], [4.0, 5.0, 4.0], [1.0, 2.0], rng.normal(size=3).tolist())
    ),
    entry("arrays.lu", arrays.lu, lambda rng: ((rng.normal(size=(3, 3)) + 3 * np.eye(3)).tolist(),)),
    entry("arrays.det", arrays.det, lambda rng: (rng.normal(size=(4, 4)).tolist(),)),
    entry("arrays.inv", arrays.inv, lambda rng: (rng.normal(size=(3, 3)).tolist(),)),
    entry("numerics.py_solve", numerics.py_solve, lambda rng: ((rng.normal(size=(3, 3)) + 3 * np.eye(3)).tolist(), rng.normal(size=3).tolist())),
    entry("numerics.trunc_exp", numerics.trunc_exp, lambda rng: (rng.normal() * 500,)),
    entry(
        "numerics.py_splev",
        lambda x: numerics.py_splev(x, ([0.0] * 4 + [1.0] * 4, [1.0, 2.0, 0.5, 3.0, 0.0, 0.0, 0.0, 0.0], 3)),
        lambda rng: (rng.random(),),
    ),
]
