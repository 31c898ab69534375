"""Dynamic time warping with a band, and the length of the warping path."""
import numpy as np

import autograph as ag

ENTRY = "dtw"


@ag.function
def dtw(a, b, window):
    n, m = len(a), len(b)
    if window < abs(n - m):
        raise ValueError("window smaller than the difference of the lengths")
    D = np.full((n + 1, m + 1), np.inf)
    D[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            if abs(i - j) > window:
                continue
            cost = abs(a[i - 1] - b[j - 1])
            D[i, j] = cost + min(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
    i, j = n, m
    length = 1
    while i > 1 or j > 1:
        best = min(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
        if D[i - 1, j - 1] == best:
            i, j = i - 1, j - 1
        elif D[i - 1, j] == best:
            i -= 1
        else:
            j -= 1
        length += 1
    return D[n, m], length


def cases():
    a = np.array([0.0, 1.0, 2.5, 3.0, 2.0, 0.5])
    b = np.array([0.0, 0.2, 1.1, 2.4, 3.1, 1.9, 0.4])
    return [(a, b, 2), (a, b, 7), (b[:4].copy(), a, 3), (b[:2].copy(), a, 1)]
