"""The functions of `math`, of which those that `jnp` has take traced values."""

from __future__ import annotations

import math as _math
from typing import Any

import jax.numpy as jnp

from autograph.runtime.errors import ConcreteValueError
from autograph.runtime.places import here
from autograph.runtime.rows import unknown

_NAMES = {
    "sqrt": "sqrt", "exp": "exp", "log": "log", "log2": "log2", "log10": "log10", "log1p": "log1p", "expm1": "expm1", "sin": "sin",
    "cos": "cos", "tan": "tan",
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "arcsinh",
    "acosh": "arccosh", "atanh": "arctanh", "fabs": "abs", "hypot": "hypot", "copysign": "copysign", "isnan": "isnan", "isinf": "isinf",
    "isfinite": "isfinite", "degrees": "degrees", "radians": "radians", "pow": "power", "fmod": "fmod", "gcd": "gcd", "lcm": "lcm", "cbrt": "cbrt",
    "exp2": "exp2", "ldexp": "ldexp", "nextafter": "nextafter",
}  # fmt: skip
_WHOLE = {"floor": "floor", "ceil": "ceil", "trunc": "trunc"}  # they give integers


class _Math:
    """`math` with traced values."""

    def __getattr__(self, name: str) -> Any:
        original = getattr(_math, name)
        if not callable(original):
            return original

        def function(*args: Any, **kwargs: Any) -> Any:
            if not any(unknown(a) for a in args):
                return original(*args, **kwargs)
            if name in _NAMES:
                return getattr(jnp, _NAMES[name])(*args, **kwargs)
            if name in _WHOLE:
                return getattr(jnp, _WHOLE[name])(*args).astype(int)
            raise ConcreteValueError(f"`math.{name}` of a traced value", here(), "use a function of `jax.numpy` or `jax.scipy.special`")

        function.__name__ = name
        setattr(self, name, function)
        return function


math = _Math()
