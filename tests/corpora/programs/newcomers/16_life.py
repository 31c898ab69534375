"""Conway's Game of Life until nothing changes, it repeats, or all cells are dead."""
import jax.numpy as jnp
import numpy as np

import autograph as ag

ENTRY = "evolve"


def neighbours(grid, r, c):
    h, w = grid.shape
    return sum(grid[(r + dr) % h, (c + dc) % w] for dr in (-1, 0, 1) for dc in (-1, 0, 1) if (dr, dc) != (0, 0))


def next_generation(grid):
    new = jnp.zeros_like(grid)
    for r in range(grid.shape[0]):
        for c in range(grid.shape[1]):
            n = neighbours(grid, r, c)
            if grid[r, c]:
                new[r, c] = 1 if n in (2, 3) else 0
            elif n == 3:
                new[r, c] = 1
    return new


@ag.function
def evolve(grid, limit):
    before = None
    generation = 0
    reason = 0
    while generation < limit:
        new = next_generation(grid)
        generation += 1
        if not new.any():
            reason = 1
            grid = new
            break
        if (new == grid).all():
            reason = 2
            break
        if before is not None and (new == before).all():
            reason = 3
            break
        before, grid = grid, new
    print(f"stopped after {generation} generations, {grid.sum()} alive")
    return grid, generation, reason


def cases():
    blinker = np.zeros((6, 6), dtype=int)
    blinker[2, 1:4] = 1
    glider = np.zeros((6, 6), dtype=int)
    glider[[0, 1, 2, 2, 2], [1, 2, 0, 1, 2]] = 1
    block = np.zeros((6, 6), dtype=int)
    block[2:4, 2:4] = 1
    block[0, 0] = 1
    return [(blinker, 9), (glider, 7), (block, 9), (np.eye(6, dtype=int) * 0, 3)]
