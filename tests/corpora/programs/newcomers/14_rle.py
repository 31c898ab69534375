"""Run-length encoding, and decoding to check it."""
import jax.numpy as jnp
import numpy as np

import autograph as ag

ENTRY = "encode"


def decode(values, counts, n, size):
    out = jnp.zeros(size, dtype=int)
    pos = 0
    for i in range(n):
        for _ in range(counts[i]):
            out[pos] = values[i]
            pos += 1
    return out


@ag.function
def encode(data):
    values = jnp.zeros(len(data), dtype=int)
    counts = jnp.zeros(len(data), dtype=int)
    n = 0
    i = 0
    while i < len(data):
        run = 1
        while i + run < len(data) and data[i + run] == data[i]:
            run += 1
        values[n], counts[n] = data[i], run
        n += 1
        i += run
    again = decode(values, counts, n, len(data))
    assert all(a == b for a, b in zip(again, data)), "decoding failed"
    longest = max(counts[:n])
    saved = 1 - 2 * n / len(data)
    return values, counts, n, longest, round(saved, 3)


def cases():
    return [(np.array([7, 7, 7, 1, 1, 2, 7, 7]),), (np.array([1, 2, 3, 4]),), (np.array([5] * 9),)]
