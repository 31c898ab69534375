"""munkres: the assignment problem, pure Python on lists of lists, a class with state."""

from __future__ import annotations

from munkres import Munkres, make_cost_matrix

from tests.campaigns.published import entry

PACKAGE = "munkres"


ENTRIES = [
    entry("Munkres.compute of lists", lambda costs: Munkres().compute(costs), lambda rng: (rng.integers(1, 20, size=(3, 3)).tolist(),)),
    entry("Munkres.compute of an array", lambda costs: Munkres().compute(costs), lambda rng: (rng.random((3, 3)),)),
    entry("Munkres.pad_matrix", lambda costs: Munkres().pad_matrix(costs), lambda rng: (rng.random((2, 3)).tolist(),)),
    entry("make_cost_matrix", lambda p: make_cost_matrix(p, lambda cost: 20.0 - cost), lambda rng: (rng.random((3, 3)).tolist(),)),
]
