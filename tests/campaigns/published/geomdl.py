"""geomdl: NURBS, pure Python on lists."""

from __future__ import annotations

from typing import Any

import numpy as np
from geomdl import BSpline, helpers, linalg, utilities

from tests.campaigns.published import entry

PACKAGE = "geomdl"
_KNOTS = [0.0, 0.0, 0.0, 0.0, 0.25, 0.5, 0.75, 1.0, 1.0, 1.0, 1.0]


def _points(rng: np.random.Generator, n: int = 7) -> Any:
    return rng.normal(size=(n, 3)).tolist()


def _curve(points: list[list[float]], at: float) -> Any:
    curve = BSpline.Curve()
    curve.degree = 3
    curve.ctrlpts = points
    curve.knotvector = _KNOTS
    return curve.evaluate_single(at)


ENTRIES = [
    entry("find_span_linear", lambda u: helpers.find_span_linear(3, _KNOTS, 7, u), lambda rng: (rng.random(),)),
    entry("find_span_binsearch", lambda u: helpers.find_span_binsearch(3, _KNOTS, 7, u), lambda rng: (rng.random(),)),
    entry("basis_function", lambda u: helpers.basis_function(3, _KNOTS, helpers.find_span_linear(3, _KNOTS, 7, u), u), lambda rng: (rng.random(),)),
    entry(
        "basis_function of a knot vector that is traced",
        lambda kv, u: helpers.basis_function(3, kv, 4, u),
        lambda rng: (np.array(_KNOTS), 0.3 + 0.1 * rng.random()),
    ),
    entry("basis_function_one", lambda u: helpers.basis_function_one(3, _KNOTS, 2, u), lambda rng: (rng.random(),)),
    entry("basis_function_all", lambda u: helpers.basis_function_all(3, _KNOTS, 4, u), lambda rng: (0.25 + 0.2 * rng.random(),)),
    entry("basis_function_ders", lambda u: helpers.basis_function_ders(3, _KNOTS, 4, u, 2), lambda rng: (0.25 + 0.2 * rng.random(),)),
    entry("basis_function_ders_one", lambda u: helpers.basis_function_ders_one(3, _KNOTS, 2, u, 2), lambda rng: (rng.random(),)),
    entry("find_multiplicity", lambda u: helpers.find_multiplicity(u, _KNOTS), lambda rng: (0.25 * float(rng.integers(5)),)),
    entry("knot_insertion", lambda p, u: helpers.knot_insertion(3, _KNOTS, p, u), lambda rng: (_points(rng), rng.random())),
    entry("knot_insertion_kv", lambda u: helpers.knot_insertion_kv(_KNOTS, u, 4, 1), lambda rng: (0.25 + 0.2 * rng.random(),)),
    entry("degree_elevation", lambda p: helpers.degree_elevation(3, p), lambda rng: (_points(rng, 4),)),
    entry("degree_reduction", lambda p: helpers.degree_reduction(3, p), lambda rng: (_points(rng, 4),)),
    entry("curve_deriv_cpts", lambda p: helpers.curve_deriv_cpts(3, 3, _KNOTS, p, (0, 6), 2), lambda rng: (_points(rng),)),
    entry("lu_decomposition", linalg.lu_decomposition, lambda rng: ((rng.normal(size=(4, 4)) + 4 * np.eye(4)).tolist(),)),
    entry("lu_solve", linalg.lu_solve, lambda rng: ((rng.normal(size=(4, 4)) + 4 * np.eye(4)).tolist(), rng.normal(size=(4, 2)).tolist())),
    entry("vector_normalize", linalg.vector_normalize, lambda rng: (tuple(rng.normal(size=3)),)),
    entry("vector_is_zero", linalg.vector_is_zero, lambda rng: (tuple(rng.normal(size=3)),)),
    entry("binomial_coefficient", linalg.binomial_coefficient, lambda rng: (int(rng.integers(5, 9)), int(rng.integers(0, 5)))),
    entry("linspace", lambda a, b: linalg.linspace(a, b, 6), lambda rng: (rng.random(), 2 + rng.random())),
    entry("frange", lambda a: list(linalg.frange(a, 2.0, 0.3)), lambda rng: (rng.random(),)),
    entry("convex_hull", linalg.convex_hull, lambda rng: ([tuple(p) for p in rng.normal(size=(8, 2)).tolist()],)),
    entry("wn_poly", linalg.wn_poly, lambda rng: (tuple(rng.random(2)), [(0.0, 0.0), (1.0, 0.1), (0.9, 1.0), (0.1, 0.7), (0.0, 0.0)])),
    entry("utilities.generate_knot_vector", utilities.generate_knot_vector, lambda rng: (3, int(rng.integers(6, 9))), static=(0, 1)),
    entry("Curve.evaluate_single", _curve, lambda rng: (_points(rng), rng.random())),
]
