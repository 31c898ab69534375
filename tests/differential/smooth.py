"""Random programs to be differentiated: those of `programs`, with smooth functions in their expressions, and inputs that are not round."""

from __future__ import annotations

import math
import random
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import programs
from duals import Dual, dual
from programs import Env, Program

_SMOOTH = ("sin", "tanh", "cos")


class Smooth(programs.Generator):
    """Writes one program; what a loop could grow passes through a bounded function."""

    def number(self, env: Env, depth: int = 2) -> str:
        k = self.r.random()
        if depth and k < 0.25:
            self.count("smooth function")
            return f"jnp.{self.r.choice(_SMOOTH)}({super().number(env, depth - 1)})"
        if depth and k < 0.4:
            self.count("product")
            return f"({self.leaf(env)} * {self.leaf(env)} / 4)"
        return super().number(env, depth)

    def small(self, env: Env, whole: bool = False) -> str:
        if whole:
            return super().small(env, whole)
        return self.r.choice([self.leaf(env), f"3 * jnp.{self.r.choice(_SMOOTH)}({self.number(env)} / 2)"])


def program(number: int, seed: int = 0) -> Program:
    """The program of that number; it never reads what may be unset, and its inputs are not round."""
    attempt = 0
    while True:
        p = programs.program(number, seed * 1009 + attempt, Smooth)
        if not p.loose:
            break
        attempt += 1
    rng = random.Random(seed * 7919 + number)
    p.inputs = [inputs(rng, len(args[4])) for args in p.inputs]
    return p


def inputs(rng: random.Random, rows: int) -> tuple[Any, ...]:
    def some() -> float:
        return rng.uniform(-3, 3)

    return np.int64(rng.randint(-1, 4)), np.int64(rng.randint(-2, 4)), some(), some(), np.array([some() for _ in range(rows)])


def _smooth(value: Callable[[float], float], slope: Callable[[float], float]) -> Callable[[Any], Dual]:
    def apply(x: Any) -> Dual:
        x = dual(x)
        return Dual(value(x.x), slope(x.x) * x.t)

    return apply


def _zeros(count: int) -> Any:
    return np.array([0.0] * count, object)


NAMES = types.SimpleNamespace(
    zeros=_zeros,
    sin=_smooth(math.sin, math.cos),
    cos=_smooth(math.cos, lambda x: -math.sin(x)),
    tanh=_smooth(math.tanh, lambda x: 1 - math.tanh(x) ** 2),
)
