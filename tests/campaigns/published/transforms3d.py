"""transforms3d: rotations and affine matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from transforms3d import _gohlketransforms as g
from transforms3d import affines, axangles, euler, quaternions, reflections, zooms

from tests.campaigns.published import entry

PACKAGE = "transforms3d"


def _q(rng: np.random.Generator) -> np.ndarray:
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def _affine(rng: np.random.Generator) -> np.ndarray:
    return np.asarray(affines.compose(rng.normal(size=3), quaternions.quat2mat(_q(rng)), 1 + rng.random(3), 0.1 * rng.normal(size=3)))


def _clicked(points: np.ndarray) -> Any:
    ball = g.Arcball()
    ball.place([320, 320], 320)
    ball.down(points[0])
    for point in points[1:]:
        ball.drag(point)
    return ball.matrix()


ENTRIES = [
    entry("quat2mat", quaternions.quat2mat, lambda rng: (_q(rng),)),
    entry("mat2quat", quaternions.mat2quat, lambda rng: (quaternions.quat2mat(_q(rng)),)),
    entry("fillpositive", quaternions.fillpositive, lambda rng: (_q(rng)[1:],)),
    entry("qlog", quaternions.qlog, lambda rng: (_q(rng),)),
    entry("qpow", quaternions.qpow, lambda rng: (_q(rng), 0.3)),
    entry("quat2axangle", quaternions.quat2axangle, lambda rng: (_q(rng),)),
    entry("euler2mat", euler.euler2mat, lambda rng: tuple(rng.normal(size=3))),
    entry("mat2euler", euler.mat2euler, lambda rng: (quaternions.quat2mat(_q(rng)),)),
    entry("euler2quat of other axes", lambda a, b, c: euler.euler2quat(a, b, c, "rzyx"), lambda rng: tuple(rng.normal(size=3))),
    entry("TBZYX.mat2euler", lambda mat: euler.TBZYX().mat2euler(mat), lambda rng: (quaternions.quat2mat(_q(rng)),)),
    entry("axangle2aff", axangles.axangle2aff, lambda rng: (rng.normal(size=3), 0.7, rng.normal(size=3))),
    entry("mat2axangle", axangles.mat2axangle, lambda rng: (quaternions.quat2mat(_q(rng)),)),
    entry("decompose44", affines.decompose44, lambda rng: (_affine(rng),)),
    entry("compose", affines.compose, lambda rng: (rng.normal(size=3), quaternions.quat2mat(_q(rng)), rng.random(3), rng.random(3))),
    entry("zdir2zfdir", lambda f, d: zooms.zfdir2mat(f, d), lambda rng: (0.5, rng.normal(size=3))),
    entry("aff2rfnorm", reflections.aff2rfnorm, lambda rng: (reflections.rfnorm2aff(rng.normal(size=3), rng.normal(size=3)),)),
    entry("decompose_matrix", g.decompose_matrix, lambda rng: (_affine(rng),)),
    entry("projection_matrix", g.projection_matrix, lambda rng: (rng.normal(size=3), rng.normal(size=3))),
    entry("quaternion_from_matrix", g.quaternion_from_matrix, lambda rng: (g.quaternion_matrix(_q(rng)),)),
    entry("quaternion_slerp", g.quaternion_slerp, lambda rng: (_q(rng), _q(rng), 0.4)),
    entry("rotation_from_matrix", g.rotation_from_matrix, lambda rng: (g.rotation_matrix(0.7, rng.normal(size=3)),)),
    entry("superimposition_matrix", g.superimposition_matrix, lambda rng: (rng.normal(size=(3, 6)), rng.normal(size=(3, 6)))),
    entry("Arcball", _clicked, lambda rng: (rng.uniform(100, 500, size=(4, 2)),)),
    entry("arcball_nearest_axis", g.arcball_nearest_axis, lambda rng: (_q(rng)[1:], [rng.normal(size=3), rng.normal(size=3)])),
]
