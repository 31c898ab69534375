"""pyquaternion: one class with operators."""

from __future__ import annotations

from typing import Any

import numpy as np
from pyquaternion import Quaternion

from tests.campaigns.published import entry

PACKAGE = "pyquaternion"


def _q(rng: np.random.Generator) -> Any:
    return Quaternion(rng.normal(size=4))


ENTRIES = [
    entry("made of a matrix", lambda m: Quaternion(matrix=m), lambda rng: (_q(rng).rotation_matrix,)),
    entry("made of axis and angle", lambda axis, angle: Quaternion(axis=axis, angle=angle), lambda rng: (rng.normal(size=3), rng.normal())),
    entry("a product", lambda p, q: p * q - q, lambda rng: (_q(rng), _q(rng))),
    entry("a power", lambda p, x: p**x, lambda rng: (_q(rng), 0.3)),
    entry("Quaternion.rotate", Quaternion.rotate, lambda rng: (_q(rng), rng.normal(size=3))),
    entry("Quaternion.slerp", lambda p, q, t: Quaternion.slerp(p, q, t), lambda rng: (_q(rng), _q(rng), 0.3)),
    entry("Quaternion.intermediates", lambda p, q: list(Quaternion.intermediates(p, q, 3)), lambda rng: (_q(rng), _q(rng))),
    entry("Quaternion.integrate", Quaternion.integrate, lambda rng: (_q(rng), rng.normal(size=3), 0.1)),
    entry(
        "Quaternion.integrate in a loop", lambda q, rates: [q.integrate(r, 0.1) for r in rates] and q, lambda rng: (_q(rng), rng.normal(size=(6, 3)))
    ),
    entry("Quaternion.exp", lambda q: Quaternion.exp(q), lambda rng: (_q(rng),)),
    entry("Quaternion.log", lambda q: Quaternion.log(q), lambda rng: (_q(rng),)),
    entry("Quaternion.yaw_pitch_roll", lambda q: q.yaw_pitch_roll, lambda rng: (_q(rng),)),
    entry("Quaternion.get_axis", lambda q: (q.get_axis(), q.angle), lambda rng: (_q(rng),)),
    entry("Quaternion.sym_distance", lambda p, q: Quaternion.sym_distance(p, q), lambda rng: (_q(rng), _q(rng))),
    entry("Quaternion.is_unit", Quaternion.is_unit, lambda rng: (_q(rng).unit,)),
]
