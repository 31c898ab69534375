"""A robot walks over a grid with walls, following commands."""
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

import autograph as ag

ENTRY = "walk"
HEADINGS = [(-1, 0), (0, 1), (1, 0), (0, -1)]
FORWARD, LEFT, RIGHT, BACK, STOP = range(5)


class Pose(NamedTuple):
    row: int
    col: int
    heading: int


def move(grid, pose, direction):
    dr, dc = HEADINGS[pose.heading]
    row, col = pose.row + direction * dr, pose.col + direction * dc
    if row < 0 or col < 0 or row >= grid.shape[0] or col >= grid.shape[1]:
        raise IndexError(f"the robot fell off at ({row}, {col})")
    if grid[row, col] == 1:
        return pose, False
    return pose._replace(row=row, col=col), True


@ag.function
def walk(grid, commands, row, col):
    pose = Pose(row, col, 1)
    visited = np.zeros(grid.shape, dtype=int)
    visited[row, col] += 1
    bumps = fuel = 0
    for n, command in enumerate(commands):
        match command:
            case 0:
                pose, ok = move(grid, pose, 1)
            case 1 | 2:
                turn = -1 if command == LEFT else 1
                pose = pose._replace(heading=(pose.heading + turn) % 4)
                continue
            case 3:
                pose, ok = move(grid, pose, -1)
            case _:
                break
        fuel += 1
        if ok:
            visited[pose.row, pose.col] += 1
        else:
            bumps += 1
    return pose, bumps, fuel, n, (visited > 0).sum(), visited.max()


def cases():
    g = np.array([[0, 0, 0, 1], [0, 1, 0, 0], [0, 0, 0, 0]])
    return [(g, np.array([0, 0, 0, 2, 0, 0, 1, 0]), 0, 0), (g, np.array([3, 0, 2, 0, 4, 0, 0]), 2, 1),
            (g, np.array([1, 0, 0]), 1, 0), (g, np.array([2, 0, 2, 0, 3, 3, 1, 1, 0]), 1, 2)]
