"""pytransform3d: rotations, transformations and their trajectories."""

from __future__ import annotations

import numpy as np
from pytransform3d import batch_rotations as pbr
from pytransform3d import coordinates as pc
from pytransform3d import rotations as pr
from pytransform3d import transformations as pt

from tests.campaigns.published import entry

PACKAGE = "pytransform3d"


def _q(rng: np.random.Generator) -> np.ndarray:
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def _matrix(rng: np.random.Generator) -> np.ndarray:
    return np.asarray(pr.matrix_from_quaternion(_q(rng)))


ENTRIES = [
    entry("norm_angle", pr.norm_angle, lambda rng: (rng.normal(size=4) * 9,)),
    entry("matrix_from_axis_angle", pr.matrix_from_axis_angle, lambda rng: (np.append(rng.normal(size=3), rng.random()),)),
    entry("axis_angle_from_matrix", pr.axis_angle_from_matrix, lambda rng: (_matrix(rng),)),
    entry("quaternion_from_matrix", pr.quaternion_from_matrix, lambda rng: (_matrix(rng),)),
    entry("norm_matrix", pr.norm_matrix, lambda rng: (_matrix(rng) + 0.01 * rng.normal(size=(3, 3)),)),
    entry("axis_angle_from_two_directions", pr.axis_angle_from_two_directions, lambda rng: (rng.normal(size=3), rng.normal(size=3))),
    entry("axis_angle_slerp", pr.axis_angle_slerp, lambda rng: (np.append(_q(rng)[:3], 0.3), np.append(_q(rng)[:3], 0.9), 0.4)),
    entry("quaternion_slerp", pr.quaternion_slerp, lambda rng: (_q(rng), _q(rng), 0.4)),
    entry("quaternion_integrate", pr.quaternion_integrate, lambda rng: (rng.normal(size=(6, 3)),)),
    entry("quaternion_gradient", pr.quaternion_gradient, lambda rng: (np.array([_q(rng) for _ in range(5)]),)),
    entry("euler_from_matrix", lambda R: pr.euler_from_matrix(R, 0, 1, 2, False), lambda rng: (_matrix(rng),)),
    entry("norm_euler", lambda e: pr.norm_euler(e, 0, 1, 0), lambda rng: (rng.normal(size=3) * 3,)),
    entry("left_jacobian_SO3", pr.left_jacobian_SO3, lambda rng: (rng.normal(size=3),)),
    entry("left_jacobian_SO3_series", lambda w: pr.left_jacobian_SO3_series(w, 8), lambda rng: (rng.normal(size=3),)),
    entry("robust_polar_decomposition", pr.robust_polar_decomposition, lambda rng: (_matrix(rng) + 0.1 * rng.normal(size=(3, 3)),)),
    entry("swing_twist_decomposition", pr.swing_twist_decomposition, lambda rng: (_q(rng), rng.normal(size=3))),
    entry("mrp_double", pr.mrp_double, lambda rng: (rng.normal(size=3),)),
    entry("concatenate_mrp", pr.concatenate_mrp, lambda rng: (rng.normal(size=3), rng.normal(size=3))),
    entry("rotor_from_two_directions", pr.rotor_from_two_directions, lambda rng: (rng.normal(size=3), rng.normal(size=3))),
    entry("angle_between_vectors", pr.angle_between_vectors, lambda rng: (rng.normal(size=3), rng.normal(size=3))),
    entry("pick_closest_quaternion", pr.pick_closest_quaternion, lambda rng: (_q(rng), _q(rng))),
    entry(
        "exponential_coordinates_from_transform",
        pt.exponential_coordinates_from_transform,
        lambda rng: (pt.transform_from(_matrix(rng), rng.normal(size=3)),),
    ),
    entry("transform_from_exponential_coordinates", pt.transform_from_exponential_coordinates, lambda rng: (rng.normal(size=6),)),
    entry(
        "dual_quaternion_sclerp",
        pt.dual_quaternion_sclerp,
        lambda rng: (
            pt.dual_quaternion_from_pq(np.hstack((rng.normal(size=3), _q(rng)))),
            pt.dual_quaternion_from_pq(np.hstack((rng.normal(size=3), _q(rng)))),
            0.3,
        ),
    ),
    entry("smooth_quaternion_trajectory", pbr.smooth_quaternion_trajectory, lambda rng: (np.array([_q(rng) for _ in range(7)]),)),
    entry("batch matrices_from_quaternions", pbr.matrices_from_quaternions, lambda rng: (np.array([_q(rng) for _ in range(5)]),)),
    entry("spherical_from_cartesian", pc.spherical_from_cartesian, lambda rng: (rng.normal(size=(4, 3)),)),
]
