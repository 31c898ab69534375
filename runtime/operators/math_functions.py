"""The functions of `math` on traced values: numbers, so the value of an array of shape ()."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from autograph.runtime.effects.optional_values import read
from autograph.runtime.errors.errors import ConcreteValueError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi.tracers import is_traced
from autograph.runtime.values.values import parts

_FLOATS = {
    "sqrt": "sqrt", "exp": "exp", "log2": "log2", "log10": "log10", "log1p": "log1p", "expm1": "expm1", "sin": "sin", "cos": "cos", "tan": "tan",
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "arcsinh",
    "acosh": "arccosh", "atanh": "arctanh", "fabs": "abs", "copysign": "copysign", "isnan": "isnan", "isinf": "isinf", "isfinite": "isfinite",
    "degrees": "degrees", "radians": "radians", "pow": "power", "fmod": "fmod", "cbrt": "cbrt", "exp2": "exp2", "nextafter": "nextafter",
}  # fmt: skip
_WHOLE = {"floor": "floor", "ceil": "ceil", "trunc": "trunc"}  # they give integers


def _weak(x: Any, kind: type) -> Any:
    """A number, as Python's numbers are: of a weak type."""
    return _jax.convert_type(x, jnp.zeros((), kind).dtype, True)


def _float(x: Any) -> Any:
    x = read(x)
    if not is_traced(x):
        return float(x)
    if x.shape != ():
        raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
    if jnp.issubdtype(x.dtype, jnp.complexfloating):
        raise TypeError("must be real number, not complex")
    return _weak(x, float)


def _integer(x: Any) -> Any:
    if not is_traced(x):
        return x
    if x.shape != () or not jnp.issubdtype(x.dtype, jnp.integer):
        raise TypeError(f"'{type(x).__name__}' object cannot be interpreted as an integer")
    return _weak(x, int)


def _log(x: Any, /, *base: Any) -> Any:
    if len(base) > 1:
        raise TypeError(f"log expected at most 2 arguments, got {1 + len(base)}")
    out = jnp.log(_float(x))
    return out / jnp.log(_float(base[0])) if base else out


def _modf(x: Any) -> tuple[Any, Any]:
    x = _float(x)
    whole = jnp.trunc(x)
    return jnp.copysign(x - whole, x), whole


def _special(name: str) -> Callable[..., Any]:
    return lambda x, /: _weak(getattr(jax.scipy.special, name)(_float(x)), float)


def _frexp(x: Any, /) -> tuple[Any, Any]:
    mantissa, exponent = jnp.frexp(_float(x))
    return mantissa, exponent


def _remainder(x: Any, y: Any, /) -> Any:
    """IEEE 754: the rest to the nearest multiple, the even one of two."""
    x, y = _float(x), _float(y)
    return x - y * jnp.round(x / y)


def _isclose(a: Any, b: Any, *, rel_tol: float = 1e-9, abs_tol: float = 0.0) -> Any:
    a, b = _float(a), _float(b)
    if rel_tol < 0 or abs_tol < 0:
        raise ValueError("tolerances must be non-negative")
    near = jnp.abs(a - b) <= jnp.maximum(rel_tol * jnp.maximum(jnp.abs(a), jnp.abs(b)), abs_tol)
    return (a == b) | (near & jnp.isfinite(a) & jnp.isfinite(b))


def _hypot(*xs: Any) -> Any:
    return jnp.abs(functools.reduce(jnp.hypot, map(_float, xs))) if xs else 0.0


def _gcd(*xs: Any) -> Any:
    return functools.reduce(jnp.gcd, map(_integer, xs), 0)


def _lcm(*xs: Any) -> Any:
    return functools.reduce(jnp.lcm, map(_integer, xs), 1)


def _prod(xs: Any, /, *, start: Any = 1) -> Any:
    return functools.reduce(lambda a, b: a * b, xs, start)


def _fsum(xs: Any, /) -> Any:
    return functools.reduce(lambda a, b: a + b, [_float(x) for x in xs], 0.0)


def _dist(p: Any, q: Any, /) -> Any:
    p, q = list(p), list(q)
    if len(p) != len(q):
        raise ValueError("both points must have the same number of dimensions")
    return _hypot(*(_float(a) - _float(b) for a, b in zip(p, q, strict=True)))


_OTHERS: dict[str, Callable[..., Any]] = {
    "log": _log, "modf": _modf, "frexp": _frexp, "remainder": _remainder, "isclose": _isclose, "hypot": _hypot, "gcd": _gcd, "lcm": _lcm,
    "prod": _prod, "fsum": _fsum, "dist": _dist, "ldexp": lambda x, i, /: jnp.ldexp(_float(x), _integer(i)),
    "erf": _special("erf"), "erfc": _special("erfc"), "gamma": _special("gamma"), "lgamma": _special("gammaln"),
}  # fmt: skip
_WITH_KEYWORDS = ("isclose", "prod")
_ARITY = {"atan2": 2, "copysign": 2, "pow": 2, "fmod": 2, "nextafter": 2}


def math_call(f: Any) -> Callable[..., Any]:
    """What to call in the place of a function of `math`."""
    name = f.__name__

    def function(*args: Any, **kwargs: Any) -> Any:
        if not any(is_traced(x) for v in (*args, *kwargs.values()) for x in parts(v)):
            return f(*args, **kwargs)
        if kwargs and name not in _WITH_KEYWORDS:
            raise TypeError(f"math.{name}() takes no keyword arguments")
        if name in _OTHERS:
            return _OTHERS[name](*args, **kwargs)
        if name not in _FLOATS and name not in _WHOLE:
            raise ConcreteValueError(f"`math.{name}` of a traced value", here(), "use a function of `jax.numpy` or `jax.scipy.special`")
        if len(args) != _ARITY.get(name, 1):
            raise TypeError(f"math.{name}() takes exactly {_ARITY.get(name, 1)} arguments ({len(args)} given)")
        values = [_float(a) for a in args]
        return getattr(jnp, _FLOATS[name])(*values) if name in _FLOATS else _weak(getattr(jnp, _WHOLE[name])(*values), int)

    return function
