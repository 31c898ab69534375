"""Debouncing of a digital input, and peaks of an analog one."""
import jax.numpy as jnp
import numpy as np

import autograph as ag

ENTRY = "analyse"


def debounce(levels, hold):
    """The output follows the input after `hold` equal samples."""
    out = jnp.zeros_like(levels)
    state, candidate, count = 0, 0, 0
    for i, level in enumerate(levels):
        if level == state:
            count = 0
        elif level == candidate:
            count += 1
            if count >= hold:
                state, count = level, 0
        else:
            candidate, count = level, 1
        out[i] = state
    return out


def smooth(x, width=3):
    half = width // 2
    y = np.zeros(len(x))
    for i in range(len(x)):
        lo, hi = max(0, i - half), min(len(x), i + half + 1)
        y[i] = np.mean(x[lo:hi])
    return y


@ag.function
def analyse(x, threshold, min_distance, hold):
    x = smooth(x)
    peaks = jnp.zeros(len(x), dtype=bool)
    last = -min_distance
    count = 0
    for i in range(1, len(x) - 1):
        if not (x[i - 1] < x[i] >= x[i + 1]) or x[i] < threshold:
            continue
        if i - last < min_distance:
            if x[i] > x[last]:
                peaks[last] = False
                peaks[i] = True
                last = i
            continue
        peaks[i] = True
        last = i
        count += 1
    levels = jnp.array([1 if v > threshold else 0 for v in x])
    clean = debounce(levels, hold)
    edges = sum(1 for a, b in zip(clean[:-1], clean[1:]) if a != b)
    return x, peaks, count, clean, edges


def cases():
    t = np.arange(16)
    x = np.sin(t * 0.9) + 0.3 * np.cos(t * 2.3)
    return [(x, 0.2, 3, 2), (x, 0.0, 6, 1), (x * 0, 0.5, 2, 2)]
