"""Hits and misses of a cache that evicts the least recently used key."""
import jax.numpy as jnp
import numpy as np

import autograph as ag

ENTRY = "simulate"
STATIC = (1,)
from functools import partial


class LRUCache:
    def __init__(self, capacity):
        self.keys = jnp.full(capacity, -1)
        self.stamps = jnp.zeros(capacity, dtype=int)
        self.clock = 0
        self.hits = 0
        self.evictions = 0

    def find(self, key):
        for slot, k in enumerate(self.keys):
            if k == key:
                return slot
        return None

    def access(self, key):
        self.clock += 1
        slot = self.find(key)
        if slot is not None:
            self.hits += 1
            self.stamps[slot] = self.clock
            return True
        oldest = min(range(len(self.keys)), key=lambda s: self.stamps[s])
        if self.keys[oldest] != -1:
            self.evictions += 1
        self.keys[oldest] = key
        self.stamps[oldest] = self.clock
        return False

    def __len__(self):
        return sum(1 for k in self.keys if k >= 0)


@partial(ag.function, static_argnums=1)
def simulate(requests, capacity):
    cache = LRUCache(capacity)
    streak = longest = 0
    for key in requests:
        if cache.access(key):
            streak += 1
            longest = max(longest, streak)
        else:
            streak = 0
    return cache.hits / len(requests), cache.evictions, longest, cache.keys


def cases():
    r = np.array([1, 2, 3, 1, 1, 2, 4, 5, 1, 2, 3, 3, 3, 4])
    return [(r, 2), (r, 3), (r, 6)]
