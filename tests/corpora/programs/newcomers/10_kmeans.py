"""k-means until the labels do not change any more."""
import jax.numpy as jnp
import numpy as np

import autograph as ag

ENTRY = "kmeans"


def nearest(point, centers):
    best, label = float("inf"), -1
    for k, c in enumerate(centers):
        d = ((point - c) ** 2).sum()
        if d < best:
            best, label = d, k
    return label, best


@ag.function
def kmeans(points, centers, max_rounds=25):
    labels = jnp.full(len(points), -1)
    rounds = 0
    while True:
        changed = 0
        inertia = 0
        for i, p in enumerate(points):
            label, d = nearest(p, centers)
            if label != labels[i]:
                labels[i] = label
                changed += 1
            inertia += d
        rounds += 1
        if changed == 0 or rounds >= max_rounds:
            break
        for k in range(len(centers)):
            members = labels == k
            if not members.any():
                continue                      # an empty cluster keeps its center
            centers[k] = (points * members[:, None]).sum(axis=0) / members.sum()
    sizes = [sum(1 for l in labels if l == k) for k in range(len(centers))]
    return centers, labels, sizes, rounds, inertia


def cases():
    g = np.array([[0, 0], [0, 1], [1, 0.2], [5, 5], [5.5, 4.2], [6, 5.1], [0.2, 6], [1.1, 6.3]])
    return [(g, g[:2].copy()), (g, g[[0, 3, 6]].copy()), (g, np.array([[0.0, 0], [90, 90], [5, 5]]))]
