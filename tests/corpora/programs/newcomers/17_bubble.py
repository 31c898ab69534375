"""Bubble sort with an early exit, that carries an order along, and a binary search in the result."""
import jax.numpy as jnp
import numpy as np

import autograph as ag

ENTRY = "sort_and_find"


def bubble_sort(x):
    order = np.arange(len(x))
    swaps = passes = 0
    for end in range(len(x) - 1, 0, -1):
        swapped = False
        for j in range(end):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
                order[j], order[j + 1] = order[j + 1], order[j]
                swaps += 1
                swapped = True
        passes += 1
        if not swapped:
            break
    return order, swaps, passes


def binary_search(x, value):
    lo, hi = 0, len(x)
    while lo < hi:
        mid = (lo + hi) // 2
        if x[mid] == value:
            return mid
        if x[mid] < value:
            lo = mid + 1
        else:
            hi = mid
    return -1


@ag.function
def sort_and_find(x, value):
    order, swaps, passes = bubble_sort(x)
    where = binary_search(x, value)
    found = where >= 0
    return x, order, swaps, passes, where, order[where] if found else None


def cases():
    return [(np.array([5.0, 1.0, 4.0, 2.0, 8.0]), 4.0), (np.array([1.0, 2.0, 3.0, 3.5]), 3.5),
            (np.array([3.0, 2.0, 1.0]), 2.0)]
