"""Dual numbers: a number and its tangent, by which Python itself differentiates a program."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


class Dual:
    """A number and its tangent; `nearest` is how near any predicate was to coming out otherwise."""

    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]
    nearest = math.inf

    def __init__(self, x: float, t: float = 0.0) -> None:
        self.x, self.t = x, t

    def __add__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray) and other.ndim:
            return np.array([self + e for e in other], object)
        o = dual(other)
        return Dual(self.x + o.x, self.t + o.t)

    def __sub__(self, other: Any) -> Dual:
        o = dual(other)
        return Dual(self.x - o.x, self.t - o.t)

    def __rsub__(self, other: Any) -> Dual:
        return dual(other) - self

    def __neg__(self) -> Dual:
        return Dual(-self.x, -self.t)

    def __mul__(self, other: Any) -> Dual:
        o = dual(other)
        return Dual(self.x * o.x, self.t * o.x + self.x * o.t)

    def __truediv__(self, other: float) -> Dual:
        return Dual(self.x / other, self.t / other)

    def __mod__(self, other: float) -> Dual:
        rest = self.x % other
        near(min(rest, other - rest))
        return Dual(rest, self.t)

    def _order(self, other: Any) -> float:
        difference = self.x - dual(other).x
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
        Dual.nearest = min(Dual.nearest, distance)


def dual(x: Any) -> Dual:
    return x if isinstance(x, Dual) else Dual(float(x))
