"""k-means until no point changes its cluster; an empty cluster keeps its centre (`if`, and a store into a row)."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

import autograph as ag


def nearest(points: Array, centres: Array) -> Array:
    """The index of the nearest centre, for each point."""
    return jnp.argmin(jnp.sum((points[:, None] - centres) ** 2, axis=-1), axis=-1)


@ag.function
def kmeans(points: Array, centres: Array) -> tuple[Array, Array, int]:
    """The centres, the cluster of each point, and the number of rounds."""
    centres = centres.copy()
    labels = nearest(points, centres)
    rounds = 0
    converged = False
    while not converged:
        for k in range(len(centres)):
            members = labels == k
            if members.any():
                centres[k] = points.mean(axis=0, where=members[:, None])
        previous, labels = labels, nearest(points, centres)
        converged = (labels == previous).all()
        rounds += 1
    return centres, labels, rounds


def blobs(key: Array, each: int = 100) -> Array:
    """Three blobs around (0, 0), (5, 0) and (0, 5)."""
    middles = jnp.array([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]])
    return (middles[:, None] + 0.7 * jax.random.normal(key, (3, each, 2))).reshape(-1, 2)


def main() -> None:
    points = blobs(jax.random.key(0))
    centres, labels, rounds = kmeans(points, points[:3])
    print(f"converged after {rounds} rounds")
    for centre, size in zip(centres, jnp.bincount(labels, length=3), strict=True):
        print(f"{size} points around ({centre[0]:.2f}, {centre[1]:.2f})")


if __name__ == "__main__":
    main()
