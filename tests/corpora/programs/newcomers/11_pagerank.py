"""PageRank over a sparse (CSR) matrix of links, until the ranks settle."""
import jax.numpy as jnp
import numpy as np

import autograph as ag

ENTRY = "pagerank"


@ag.function
def pagerank(indptr, indices, damping, tol, max_iter=60):
    n = len(indptr) - 1
    rank = np.ones(n) / n
    for iteration in range(1, max_iter + 1):
        new = jnp.zeros(n)
        dangling = 0.0
        for i in range(n):
            degree = indptr[i + 1] - indptr[i]
            if degree == 0:
                dangling += rank[i]
                continue
            share = rank[i] / degree
            for j in range(indptr[i], indptr[i + 1]):
                new[indices[j]] += share
        new = (1 - damping) / n + damping * (new + dangling / n)
        delta = sum(abs(a - b) for a, b in zip(new, rank))
        rank = new
        if delta < tol:
            break
    else:
        raise RuntimeError("PageRank did not converge")
    top = 0
    for i, r in enumerate(rank):
        if r > rank[top]:
            top = i
    return rank, iteration, top


def cases():
    ptr = np.array([0, 2, 3, 3, 6, 7])
    ind = np.array([1, 2, 2, 0, 1, 4, 3])
    return [(ptr, ind, 0.85, 1e-3), (ptr, ind, 0.5, 1e-2), (np.array([0, 1, 2]), np.array([1, 0]), 1.0, -1.0)]
