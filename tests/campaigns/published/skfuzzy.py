"""scikit-fuzzy: membership functions and defuzzification."""

from __future__ import annotations

import importlib

import numpy as np
import skfuzzy as fuzz
from skfuzzy.fuzzymath import fuzzy_ops as ops
from skfuzzy.intervals import intervalops

from tests.campaigns.published import entry

PACKAGE = "skfuzzy"
d = importlib.import_module("skfuzzy.defuzzify.defuzz")  # a function of the package has the name


def _x() -> np.ndarray:
    return np.linspace(0, 10, 21)


def _mf(rng: np.random.Generator) -> np.ndarray:
    return np.asarray(fuzz.trimf(_x(), np.sort(rng.uniform(0.5, 9.5, 3))))


ENTRIES = [
    entry("trimf", fuzz.trimf, lambda rng: (_x(), np.sort(rng.uniform(0, 10, 3)))),
    entry("trapmf", fuzz.trapmf, lambda rng: (_x(), np.sort(rng.uniform(0, 10, 4)))),
    entry("gauss2mf", fuzz.gauss2mf, lambda rng: (_x(), 3.0 + rng.random(), 1.0, 6.0, 2.0)),
    entry("smf", fuzz.smf, lambda rng: (_x(), 2.0 + rng.random(), 7.0)),
    entry("pimf", fuzz.pimf, lambda rng: (_x(), *np.sort(rng.uniform(0, 10, 4)))),
    entry("piecemf", fuzz.piecemf, lambda rng: (_x(), np.sort(rng.uniform(0, 10, 3)))),
    entry("centroid", d.centroid, lambda rng: (_x(), _mf(rng))),
    entry("bisector", d.bisector, lambda rng: (_x(), _mf(rng))),
    entry("defuzz, mean of maximum", lambda x, m: fuzz.defuzz(x, m, "mom"), lambda rng: (_x(), _mf(rng))),
    entry("lambda_cut_boundaries", fuzz.lambda_cut_boundaries, lambda rng: (_x(), _mf(rng), 0.4)),
    entry("interp_membership", fuzz.interp_membership, lambda rng: (_x(), _mf(rng), rng.uniform(0, 10))),
    entry("fuzzy_compare", ops.fuzzy_compare, lambda rng: (rng.random((3, 3)),)),
    entry("contrast", ops.contrast, lambda rng: (rng.random((3, 4)),)),
    entry("maxmin_composition", ops.maxmin_composition, lambda rng: (rng.random((3, 4)), rng.random((4, 2)))),
    entry("fuzzy_add", ops.fuzzy_add, lambda rng: (np.arange(4.0), rng.random(4), np.arange(4.0), rng.random(4))),
    entry("divval", intervalops.divval, lambda rng: (np.array([1.0, 2.0]) + rng.random(), np.array([0.5, 3.0]))),
    entry("dsw_add", intervalops.dsw_add, lambda rng: (_x(), _mf(rng), _x(), _mf(rng), 4), static=(4,)),
    entry(
        "cmeans",
        lambda data: fuzz.cmeans(data, 2, 2.0, 1e-4, 20, seed=3),
        lambda rng: (np.hstack((rng.normal(size=(2, 8)), 4 + rng.normal(size=(2, 8)))),),
        rtol=1e-4,
    ),
    entry("fire1d", fuzz.fire1d, lambda rng: (rng.random(12),)),
]
