"""bezier: curves and triangles, the part that is Python."""

from __future__ import annotations

import numpy as np
from bezier.hazmat import algebraic_intersection as ai
from bezier.hazmat import (
    clipping,
    curve_helpers,
    geometric_intersection,
    helpers,
    intersection_helpers,
    triangle_helpers,
    triangle_intersection,
)

from tests.campaigns.published import entry

PACKAGE = "bezier"


def _nodes(rng: np.random.Generator, n: int = 4) -> np.ndarray:
    return np.asfortranarray(np.vstack((np.linspace(0, 1, n), rng.random(n))))


def _triangle(rng: np.random.Generator) -> np.ndarray:
    nodes = np.array([[0.0, 0.5, 1.0, 0.25, 0.75, 0.5], [0.0, 0.1, 0.0, 0.5, 0.5, 1.0]])
    return np.asfortranarray(nodes + 0.02 * rng.random((2, 6)))


ENTRIES = [
    entry("evaluate_multi", curve_helpers.evaluate_multi, lambda rng: (_nodes(rng), rng.random(5))),
    entry("subdivide_nodes", curve_helpers.subdivide_nodes, lambda rng: (_nodes(rng),)),
    entry("compute_length", curve_helpers.compute_length, lambda rng: (_nodes(rng),)),
    entry("elevate_nodes", curve_helpers.elevate_nodes, lambda rng: (_nodes(rng),)),
    entry("specialize_curve", curve_helpers.specialize_curve, lambda rng: (_nodes(rng), 0.2, 0.7)),
    entry("newton_refine", curve_helpers.newton_refine, lambda rng: (_nodes(rng), np.array([[0.5], [0.5]]), 0.4)),
    entry("locate_point", curve_helpers.locate_point, lambda rng: (_nodes(rng), np.array([[0.5], [0.5]]))),
    entry("full_reduce", curve_helpers.full_reduce, lambda rng: (_nodes(rng),)),
    entry(
        "get_curvature",
        lambda nodes, s: curve_helpers.get_curvature(nodes, curve_helpers.evaluate_hodograph(s, nodes), s),
        lambda rng: (_nodes(rng), 0.4),
    ),
    entry("discrete_turning_angle", curve_helpers.discrete_turning_angle, lambda rng: (_nodes(rng),)),
    entry("bbox", helpers.bbox, lambda rng: (_nodes(rng),)),
    entry("contains_nd", helpers.contains_nd, lambda rng: (_nodes(rng), np.array([0.5, 0.5]))),
    entry("simple_convex_hull", helpers.simple_convex_hull, lambda rng: (_nodes(rng, 6),)),
    entry("polygon_collide", helpers.polygon_collide, lambda rng: (_nodes(rng), _nodes(rng))),
    entry("solve2x2", helpers.solve2x2, lambda rng: (rng.normal(size=(2, 2)), rng.normal(size=(2, 1)))),
    entry("wiggle_interval", helpers.wiggle_interval, lambda rng: (rng.normal(),)),
    entry("in_sorted", helpers.in_sorted, lambda rng: (np.array([1.0, 2.0, 5.0]), float(rng.integers(6)))),
    entry("bbox_intersect", geometric_intersection.bbox_intersect, lambda rng: (_nodes(rng), _nodes(rng))),
    entry("segment_intersection", geometric_intersection.segment_intersection, lambda rng: tuple(rng.random((4, 2)))),
    entry("parallel_lines_parameters", geometric_intersection.parallel_lines_parameters, lambda rng: tuple(rng.random((4, 2)))),
    entry("all_intersections", geometric_intersection.all_intersections, lambda rng: (_nodes(rng), np.asfortranarray(_nodes(rng)[::-1]))),
    entry("compute_fat_line", clipping.compute_fat_line, lambda rng: (_nodes(rng),)),
    entry("clip_range", clipping.clip_range, lambda rng: (_nodes(rng), _nodes(rng))),
    entry("bernstein_companion", ai.bernstein_companion, lambda rng: (rng.normal(size=4),)),
    entry("bezier_roots", ai.bezier_roots, lambda rng: (rng.normal(size=4),)),
    entry(
        "full_newton",
        intersection_helpers.full_newton,
        lambda rng: (
            0.4,
            np.asfortranarray([[0.0, 0.5, 1.0], [0.0, 1.0, 0.2]]),
            0.5,
            np.asfortranarray([[0.0, 1.0], [0.6, 0.5 + 0.1 * rng.random()]]),
        ),
    ),
    entry("triangle: polynomial_sign", lambda p: triangle_helpers.polynomial_sign(p, 2), lambda rng: (rng.random((1, 6)) + 0.5,)),
    entry(
        "triangle: jacobian_det", lambda nodes, st: triangle_helpers.jacobian_det(nodes, 2, st), lambda rng: (_triangle(rng), rng.random((3, 2)) / 2)
    ),
    entry("triangle: subdivide_nodes", lambda nodes: triangle_helpers.subdivide_nodes(nodes, 2), lambda rng: (_triangle(rng),)),
    entry(
        "triangle: evaluate_barycentric",
        lambda nodes, a, b: triangle_helpers.evaluate_barycentric(nodes, 2, a, b, 1 - a - b),
        lambda rng: (_triangle(rng), 0.3, 0.4),
    ),
    entry("triangle: locate_point", lambda nodes, x, y: triangle_intersection.locate_point(nodes, 2, x, y), lambda rng: (_triangle(rng), 0.4, 0.3)),
]
