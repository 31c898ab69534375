"""How large and how small the Python floats of a rolled loop become: in its body they are float32, or float64 with `jax_enable_x64`.

A size is two magnitudes: none of the numbers is larger than the first, and none but zero is smaller than the second.  What rounding makes of a
difference (`0.3 - 0.1 * i`) is bounded by the least bit of its operands, so a quotient by it is large.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Size = tuple[float, float]
_BIT = 2.0**-53


def of_number(x: float) -> Size:
    return (abs(x), abs(x)) if x and math.isfinite(x) else (0.0, math.inf) if x == 0 else (math.inf, 0.0)


def of_integers(bounds: tuple[int, int]) -> Size:
    return float(max(map(abs, bounds))), 1.0


def joined(sizes: Sequence[Size]) -> Size:
    return max(s[0] for s in sizes), min(s[1] for s in sizes)


def fits(size: Size, dtype: Any) -> bool:
    """Whether numbers of a size are floats of a type, with room for a few operations of the hardware's own."""
    limit = 1e30 if np.dtype(dtype).itemsize <= 4 else 1e290
    return size[0] <= limit and size[1] >= 1 / limit


def computed(name: str, sizes: Sequence[Size], params: dict[str, Any]) -> Size | None:
    """The size of what an operation gives; None where nothing is known of it."""
    try:
        if name == "integer_pow":
            return _power(sizes[0], (float(abs(params["y"])), 1.0))
        return _OPERATIONS[name](*sizes) if name in _OPERATIONS else None
    except (OverflowError, ZeroDivisionError, ValueError):
        return math.inf, 0.0


def _logs(a: Size) -> float:
    """The largest magnitude of the logarithm."""
    return max(abs(math.log(x)) for x in a if 0 < x < math.inf) if any(0 < x < math.inf for x in a) else 0.0


def _power(a: Size, b: Size) -> Size:
    most = math.exp(_logs(a) * b[0])
    return most, 1 / most


def _sum(a: Size, b: Size) -> Size:
    return a[0] + b[0], min(a[1], b[1]) * _BIT


def _bounded(most: float) -> Callable[[Size], Size]:
    return lambda a: (most, min(a[1], 1.0) * _BIT)


def _exponential(a: Size) -> Size:
    return math.exp(a[0]), math.exp(-a[0])


_OPERATIONS: dict[str, Callable[..., Size]] = {
    "add": _sum, "sub": _sum, "mul": lambda a, b: (a[0] * b[0], a[1] * b[1]), "div": lambda a, b: (a[0] / b[1], a[1] / b[0]), "pow": _power,
    "neg": lambda a: a, "abs": lambda a: a, "copy": lambda a: a, "sign": lambda a: (1.0, 1.0), "square": lambda a: (a[0] ** 2, a[1] ** 2),
    "sqrt": lambda a: (math.sqrt(a[0]), math.sqrt(a[1])), "rsqrt": lambda a: (1 / math.sqrt(a[1]), 1 / math.sqrt(a[0])),
    "cbrt": lambda a: (max(a[0], 1.0), min(a[1], 1.0)), "max": lambda a, b: joined([a, b]), "min": lambda a, b: joined([a, b]),
    "exp": _exponential, "exp2": _exponential, "expm1": lambda a: (math.exp(a[0]), min(a[1], 1.0) * _BIT),
    "logistic": lambda a: (1.0, math.exp(-a[0])),
    "log": lambda a: (max(_logs(a), _BIT), _BIT), "log2": lambda a: (2 * max(_logs(a), _BIT), _BIT), "log1p": lambda a: (a[0], min(a[1], 1.0) * _BIT),
    "sin": _bounded(1.0), "cos": _bounded(1.0), "tanh": _bounded(1.0), "erf": _bounded(1.0), "atan": _bounded(2.0),
}  # fmt: skip
