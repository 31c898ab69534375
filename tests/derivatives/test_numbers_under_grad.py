"""What Python makes a number of (`float`, `math`, `complex`) keeps its derivative, also where the value is known: under eager `jax.grad`."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag


def stored(a: Any) -> Any:
    z = np.zeros(3)
    z[0] = a
    z[1] = float(a)
    return z.sum() * a


def stepped(a: Any) -> Any:
    while a > 0.1:
        a = a - math.sin(a) / 2
    return a


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "exp": lambda a: math.exp(-a),
    "sqrt": lambda a: jnp.exp(-a) * math.sqrt(a),
    "pow": lambda a: math.pow(a, 3),
    "hypot": lambda a: math.hypot(a, 2.0),
    "atan2": lambda a: math.atan2(a, 2.0),
    "dist": lambda a: math.dist([a, 1.0], [0.0, 2 * a]),
    "fsum": lambda a: math.fsum([a, a * a]),
    "fmod": lambda a: math.fmod(a * 5, 3.0),
    "copysign": lambda a: math.copysign(a, -1.0),
    "log": lambda a: math.log(a, 3),
    "modf": lambda a: math.modf(a * 3)[0],
    "gamma": lambda a: math.gamma(a + 1),
    "prod": lambda a: math.prod([a, a]),
    "ldexp": lambda a: math.ldexp(a, 3),
    "remainder": lambda a: math.remainder(a * 5, 3.0),
    "frexp": lambda a: math.frexp(a)[0],
    "fabs": lambda a: math.fabs(-a),
    "floor": lambda a: a * math.floor(a * 3),
    "float": lambda a: float(a) * a,
    "complex": lambda a: abs(complex(a, 2 * a)),
    "int": lambda a: a * int(a * 3),
    "round": lambda a: a * round(a * 3),
    "item": lambda a: a * jnp.asarray(a).item(),
    "float32": lambda a: np.float32(float(a)) * a,
    "index": lambda a: [1.0, 2.0, 3.0][int(a * 2)] * a,
    "bool": lambda a: a if bool(a) else 0.0,
    "divmod": lambda a: divmod(a * 5, 2.0)[1],
    "reduce": lambda a: functools.reduce(lambda p, q: p * q, [a, a, a]),
    "items": lambda a: sum(float(v) for v in jnp.stack([a, a * a])),
    "tolist": lambda a: sum(jnp.stack([a, a * a]).tolist()),
    "stored": stored,
    "stepped": stepped,
}
WAYS: dict[str, Callable[..., Any]] = {
    "grad": lambda f: jax.grad(ag.convert(f))(0.7),
    "jvp": lambda f: jax.jvp(ag.convert(f), (0.7,), (1.0,))[1],
    "jacrev": lambda f: jax.jacrev(ag.convert(f))(0.7),
    "jit of grad": lambda f: jax.jit(jax.grad(ag.convert(f)))(0.7),
    "grad of function": lambda f: jax.grad(ag.function(f))(0.7),
    "vmap of grad": lambda f: jax.vmap(jax.grad(ag.convert(f)))(jnp.array([0.7, 0.6]))[0],
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_derivative(name: str, way: str) -> None:
    f = PROGRAMS[name]
    want = (float(f(0.7 + 1e-3)) - float(f(0.7 - 1e-3))) / 2e-3
    np.testing.assert_allclose(WAYS[way](f), want, rtol=2e-2, atol=2e-3)
