"""Queue with several servers; customers who would wait too long leave."""
from functools import partial

import jax.numpy as jnp
import numpy as np

import autograph as ag

ENTRY = "simulate"
STATIC = (2,)


@partial(ag.function, static_argnames="n_servers")
def simulate(arrivals, services, n_servers, patience):
    free_at = jnp.zeros(n_servers)
    busy = jnp.zeros(n_servers)
    stats = {"served": 0, "left": 0, "wait": 0.0, "longest": 0.0}
    previous = 0.0
    for arrival, service in zip(arrivals, services):
        assert arrival >= previous, "arrivals must be sorted"
        previous = arrival
        server = 0
        for k in range(1, n_servers):
            if free_at[k] < free_at[server]:
                server = k
        start = max(arrival, free_at[server])
        wait = start - arrival
        if wait > patience:
            stats["left"] += 1
            continue
        free_at[server] = start + service
        busy[server] += service
        stats["served"] += 1
        stats["wait"] += wait
        stats["longest"] = max(stats["longest"], wait)
    if stats["served"] > 0:
        stats["wait"] /= stats["served"]
    makespan = max(free_at)
    return stats, [b / makespan for b in busy]


def cases():
    a = np.cumsum([0.3, 0.1, 0.2, 0.9, 0.1, 0.1, 0.4, 0.2, 1.5, 0.1])
    s = np.array([1.0, 0.7, 1.1, 0.2, 2.0, 0.5, 0.9, 0.4, 0.3, 0.8])
    return [(a, s, 1, 1.0), (a, s, 2, 0.45), (a, s, 3, 9.0), (a[::-1].copy(), s, 2, 1.0)]
