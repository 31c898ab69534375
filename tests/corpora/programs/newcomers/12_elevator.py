"""An elevator that serves calls in its direction first (SCAN)."""
from enum import IntEnum

import jax.numpy as jnp
import numpy as np

import autograph as ag

ENTRY = "run"


class Direction(IntEnum):
    DOWN = -1
    IDLE = 0
    UP = 1


class Elevator:
    def __init__(self, floors):
        self.floors = floors
        self.floor = 0
        self.direction = Direction.IDLE
        self.calls = jnp.zeros(floors, dtype=bool)
        self.moved = 0
        self.stops = 0

    def waiting_above(self):
        return any(self.calls[f] for f in range(self.floor + 1, self.floors))

    def waiting_below(self):
        return any(self.calls[f] for f in range(self.floor))

    def step(self):
        if self.calls[self.floor]:
            self.calls[self.floor] = False
            self.stops += 1
            return
        if self.direction == Direction.UP and not self.waiting_above():
            self.direction = Direction.IDLE
        elif self.direction == Direction.DOWN and not self.waiting_below():
            self.direction = Direction.IDLE
        if self.direction == Direction.IDLE:
            if self.waiting_above():
                self.direction = Direction.UP
            elif self.waiting_below():
                self.direction = Direction.DOWN
        self.floor += self.direction
        self.moved += abs(self.direction)


@ag.function
def simulate(times, floors):
    lift = Elevator(8)
    clock = 0
    served_at = -1
    while clock < 60:
        for t, f in zip(times, floors):
            if t == clock:
                lift.calls[f] = True
        stops = lift.stops
        lift.step()
        if lift.stops > stops:
            served_at = clock
            print("stop at floor", lift.floor, "at", clock)
        clock += 1
        if clock > max(times) and not any(lift.calls):
            break
    return clock, lift.floor, lift.moved, lift.stops, served_at


def run(times, floors):
    return simulate(times, floors)


def cases():
    return [(np.array([0, 0, 3]), np.array([5, 2, 7])), (np.array([1, 2, 9, 12]), np.array([4, 1, 0, 6])),
            (np.array([0]), np.array([0]))]
