"""Random programs to be differentiated: those of `programs`, with smooth functions in their expressions, and numbers that know how near a
predicate is to changing."""

from __future__ import annotations

import math
import random
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import programs
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


class Real:
    """A number and its tangent; `nearest` is how near any predicate was to coming out otherwise."""

    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]
    nearest = math.inf

    def __init__(self, x: float, t: float = 0.0) -> None:
        self.x, self.t = x, t

    def __add__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray) and other.ndim:
            return np.array([self + e for e in other], object)
        o = real(other)
        return Real(self.x + o.x, self.t + o.t)

    def __sub__(self, other: Any) -> Real:
        o = real(other)
        return Real(self.x - o.x, self.t - o.t)

    def __rsub__(self, other: Any) -> Real:
        return real(other) - self

    def __neg__(self) -> Real:
        return Real(-self.x, -self.t)

    def __mul__(self, other: Any) -> Real:
        o = real(other)
        return Real(self.x * o.x, self.t * o.x + self.x * o.t)

    def __truediv__(self, other: float) -> Real:
        return Real(self.x / other, self.t / other)

    def __mod__(self, other: float) -> Real:
        rest = self.x % other
        near(min(rest, other - rest))
        return Real(rest, self.t)

    def _order(self, other: Any) -> float:
        difference = self.x - real(other).x
        near(abs(difference))
        return difference

    def __bool__(self) -> bool:
        return self._order(0.0) != 0

    def __eq__(self, other: object) -> bool:
        return self._order(other) == 0

    def __ne__(self, other: object) -> bool:
        return self._order(other) != 0

    def __lt__(self, other: Any) -> bool:
        return self._order(other) < 0

    def __le__(self, other: Any) -> bool:
        return self._order(other) <= 0

    def __gt__(self, other: Any) -> bool:
        return self._order(other) > 0

    def __ge__(self, other: Any) -> bool:
        return self._order(other) >= 0

    __radd__, __rmul__ = __add__, __mul__


def near(distance: float) -> None:
    """A predicate was decided, so near to where it changes; exact constants that are compared do not count."""
    if distance > 0:
        Real.nearest = min(Real.nearest, distance)


def real(x: Any) -> Real:
    return x if isinstance(x, Real) else Real(float(x))


def _smooth(value: Callable[[float], float], slope: Callable[[float], float]) -> Callable[[Any], Real]:
    def apply(x: Any) -> Real:
        x = real(x)
        return Real(value(x.x), slope(x.x) * x.t)

    return apply


def _zeros(count: int) -> Any:
    return np.array([0.0] * count, object)


NAMES = types.SimpleNamespace(
    zeros=_zeros,
    sin=_smooth(math.sin, math.cos),
    cos=_smooth(math.cos, lambda x: -math.sin(x)),
    tanh=_smooth(math.tanh, lambda x: 1 - math.tanh(x) ** 2),
)
