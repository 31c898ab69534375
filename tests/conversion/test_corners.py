"""Programs at the corners, each found by a random program or by a first user; all forms against Python."""

from __future__ import annotations

import contextlib
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from tests.sourced import define

PROGRAMS = {
    'a body that always breaks': """
def f(a, b, x, y, v):
    for t in v:
        x = t
        break
    return x
""",
    'a constant test in a branch': """
def f(a, b, x, y, v):
    if a > 0:
        if 2:
            t = -1
            if x > 0:
                pass
        t = t
    return x
""",
    'a break under a constant test': """
def f(a, b, x, y, v, mode=2):
    c1 = 0
    while True:
        c1 += 1
        if c1 > 4 or x < y:
            break
        y *= 2
        if 1:
            t = c1
            break
    return x, y
""",
    'del and continue under a constant test': """
def f(a, b, x, y, v):
    for k in range(b):
        if 1:
            if x < 1:
                del k
                continue
        return (k, x)
    return (y, x)
""",
    'a closure over a variable first set in a moved loop': """
def f(a, b, x, y, v):
    if x > 0:
        return y
    for m in (1, 2):
        s = m
        g = lambda n: s + n
        y += g(m)
    return y
""",
    'del of a captured variable': """
def f(a, b, x, y, v):
    u = 1
    if x > 0:
        del u
    else:
        g = lambda n: u + n
        y = g(y)
    return y
""",
    'an annotation of a captured variable': """
def f(a, b, x, y, v):
    g = lambda n: n + y
    if a > 0:
        y: float = 1
    return g(x)
""",
    'a walrus in a test, deleted in the body': """
def f(a, b, x, y, v):
    c = 0
    while (z := x + c) < b:
        c += 1
        del z
    return z + 1
""",
    'a walrus in a lazy operand': """
def f(a, b, x, y, v):
    if x > 0 and (s := a) < 1:
        return s
    return y
""",
    'a walrus in a ternary': """
def f(a, b, x, y, v):
    s = 1
    z = (s := s + 1) if x > 0 else 3
    return z * 10 + s
""",
    'a variable set in a with that may return': """
def f(a, b, x, y, v):
    with contextlib.nullcontext():
        if x > 0:
            return a
        p = y
    return p
""",
    'a store with an unset name': """
def f(a, b, x, y, v):
    w = jnp.zeros(3)
    match 0:
        case 1:
            if x > 0:
                i = b
        case _:
            w[0] = i
    return x
""",
    'a function made in a loop and called in an inner one': """
def f(a, b, x, y, v):
    for k in range(a):
        f2 = lambda n: y
        for j in range(b):
            x += f2(j)
    return x
""",
    'a read before the only assignment': """
def f(a, b, x, y, v):
    if x > 0:
        y = s
    s = 1
    return y
""",
    'while True that leaves by return': """
def f(a, b, x, y, v):
    while True:
        x = abs(x) * 2 + 1
        if x > 10:
            return x
""",
    'a function inside that binds a variable around': """
def f(a, b, x, y, v):
    total = 0
    def add(v):
        nonlocal total
        total += v
    if x > 0: add(1)
    for i in range(b): add(i)
    return total
""",
    'a walrus operand in a larger expression': """
def f(a, b, x, y, v):
    u = 1
    p = (x and (u := a)) + y
    return p, u
""",
    'a walrus in a walrus': """
def f(a, b, x, y, v):
    if (u := ((u := a) if x > y else b)) > 1:
        return u
    return x
""",
    'a constant test that returns': """
def f(a, b, x, y, v):
    if 0:
        return a
    return y
""",
    'del after a with that may continue': """
def f(a, b, x, y, v):
    for i in range(a):
        with contextlib.nullcontext():
            if x > i:
                continue
            z = x + i
        if y > z:
            del z
    return y
""",
    'an import inside another function': """
import math
def f(a, b, x, y, v):
    return math.sqrt(b)
def g(n):
    import math
    return math.sqrt(n)
""",
    'a loop that breaks at the end of a branch with a break': """
def f(a, b, x, y, v):
    z, s = 0, 0.0
    for k in range(3):
        t = k
        if a >= 2 * b:
            if v[2] == x:
                break
        else:
            for s in v:
                break
        z = z + t + s
    return t, z
""",
}  # fmt: skip


def outcome(f: Any, *args: Any) -> Any:
    try:
        return jax.tree.map(float, f(*args))
    except (NameError, TypeError, ValueError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("x", [-1.5, 2.5])
def test_as_python(name: str, x: float) -> None:
    f = define(PROGRAMS[name], contextlib=contextlib, jnp=jnp)
    args = (2, 3, x, 0.5, jnp.array([1.0, 2.0, 3.0]))
    want = outcome(f, *args)
    assert outcome(ag.convert(f), *args) == want
    assert outcome(ag.convert(f, form="staged"), *args) == want
    traced = outcome(jax.jit(ag.convert(f)), *args)
    if name == "a read before the only assignment":
        assert "AG301" in traced[1]
    elif isinstance(want[0] if isinstance(want, tuple) else want, type):
        assert issubclass(traced[0], want[0])
    else:
        np.testing.assert_allclose(jax.tree.leaves(traced), jax.tree.leaves(want), rtol=1e-6)
