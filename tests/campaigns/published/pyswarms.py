"""pyswarms: the parts of a particle swarm."""

from __future__ import annotations

from typing import Any

import numpy as np
from pyswarms.backend import compute_pbest
from pyswarms.backend.handlers import BoundaryHandler, VelocityHandler
from pyswarms.backend.swarms import Swarm
from pyswarms.backend.topology import Star
from pyswarms.utils.functions import single_obj

from tests.campaigns.published import entry

PACKAGE = "pyswarms"


def _swarm(rng: np.random.Generator) -> Any:
    return Swarm(
        position=rng.normal(size=(6, 2)),
        velocity=rng.normal(size=(6, 2)),
        pbest_pos=rng.normal(size=(6, 2)),
        pbest_cost=rng.random(6),
        current_cost=rng.random(6),
        options={"c1": 0.5, "c2": 0.3, "w": 0.9},
    )


def _bounds() -> tuple[np.ndarray, np.ndarray]:
    return np.array([-1.0, -0.5]), np.array([1.0, 0.7])


ENTRIES = [
    entry("compute_pbest", compute_pbest, lambda rng: (_swarm(rng),)),
    entry("Star.compute_gbest", lambda s: Star().compute_gbest(s), lambda rng: (_swarm(rng),)),
    entry("BoundaryHandler, nearest", lambda x, b: BoundaryHandler("nearest")(x, b), lambda rng: (rng.normal(size=(5, 2)), _bounds())),
    entry("BoundaryHandler, reflective", lambda x, b: BoundaryHandler("reflective")(x, b), lambda rng: (rng.normal(size=(5, 2)), _bounds())),
    entry("BoundaryHandler, shrink", lambda x, b: BoundaryHandler("shrink")(x, b), lambda rng: (rng.normal(size=(5, 2)) / 3, _bounds())),
    entry("BoundaryHandler, periodic", lambda x, b: BoundaryHandler("periodic")(x, b), lambda rng: (rng.normal(size=(5, 2)), _bounds())),
    entry(
        "VelocityHandler, invert",
        lambda v: VelocityHandler("invert")(v, (-0.5, 0.5), position=v, bounds=_bounds()),
        lambda rng: (rng.normal(size=(5, 2)),),
    ),
    entry("ackley", single_obj.ackley, lambda rng: (rng.normal(size=(5, 2)),)),
    entry("rosenbrock", single_obj.rosenbrock, lambda rng: (rng.normal(size=(5, 2)),)),
    entry("crossintray", single_obj.crossintray, lambda rng: (rng.normal(size=(5, 2)),)),
]
