"""Flood fill of an image, with an explicit stack, and the count of all regions."""
import jax.numpy as jnp
import numpy as np

import autograph as ag

ENTRY = "regions"
STEPS = ((0, 1), (1, 0), (0, -1), (-1, 0))


def fill(image, row, col, colour):
    h, w = image.shape
    old = image[row, col]
    if old == colour:
        return 0
    stack = jnp.zeros((4 * h * w, 2), dtype=int)
    stack[0] = (row, col)
    top = 1
    painted = 0
    while top > 0:
        top -= 1
        r, c = stack[top]
        if image[r, c] != old:
            continue
        image[r, c] = colour
        painted += 1
        for dr, dc in STEPS:
            rr, cc = r + dr, c + dc
            if 0 <= rr < h and 0 <= cc < w and image[rr, cc] == old:
                stack[top] = rr, cc
                top += 1
    return painted


@ag.function
def regions(image):
    h, w = image.shape
    colour = 10
    largest = 0
    for r in range(h):
        for c in range(w):
            if image[r, c] == 1:
                size = fill(image, r, c, colour)
                largest = max(largest, size)
                colour += 1
    return image, colour - 10, largest


def cases():
    a = np.array([[1, 1, 0, 1], [0, 1, 0, 1], [1, 0, 0, 1], [1, 1, 0, 0]])
    return [(a,), (np.ones((3, 5), dtype=int),), (np.zeros((2, 2), dtype=int),)]
