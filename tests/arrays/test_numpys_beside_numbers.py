"""An array of NumPy's beside a number is one of NumPy's, wherever the number comes from: it has views, and `-=` changes it in place."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag

# Where a number `s` comes from; `x` and `m` are arrays of NumPy's, `given` is a number.
NUMBERS = {
    "given": "s = given",
    "computed of what is given": "s = given * 2.0 - 1.0",
    "item": "s = x[0]",
    "item of a row": "s = m[1][0]",
    "sum": "s = np.sum(x)",
    "method": "s = x.mean()",
    "norm": "s = np.linalg.norm(x)",
    "dot": "s = x @ x",
    "of numbers": "s = np.max(x) * 2 + x[1] ** 2 - 1.0 / x[2]",
    "swapped": "s = 1.0 - np.max(x)",
    "negative": "s = -abs(x[0] - 3.0)",
    "accumulated": "s = 0.0\n    for v in x:\n        s += v",
    "accumulated by index": "s = 1.0\n    for i in range(len(x)):\n        s = s * x[i]",
    "while": "s = x[0]\n    while s < 9.0:\n        s = s * 2.0",
    "branch": "s = x[1]\n    if x[0] > 0:\n        s = x[2] * 2.0",
    "both branches": "if x[0] > 5:\n        s = 1.0\n    else:\n        s = np.sum(x)",
    "expression": "s = x[0] if x[1] > 0 else 2.0",
    "break": "s = 0.0\n    for v in x:\n        if v > 3:\n            break\n        s = s + v",
    "math": "s = math.sqrt(x[1]) + math.pi",
    "float": "s = float(x[1])",
    "int": "s = int(x[1])",
    "max": "s = max(x[0], x[1])",
    "min": "s = min(x[0], 0.5)",
    "sum of a list": "s = sum([v * 2.0 for v in x])",
    "round": "s = round(x[1] * 1.3, 1)",
    "call": "s = scaled(x)",
    "early return": "s = early(x)",
    "attribute": "o = Box()\n    o.s = np.sum(x)\n    s = o.s",
    "attribute in a loop": "o = Box()\n    o.s = 0.0\n    for v in x:\n        o.s += v\n    s = o.s",
    "list": "held = [x[0], x[1]]\n    s = held[1]",
    "dict": "held = {'a': x.max()}\n    s = held['a']",
    "argmax": "s = np.argmax(x)",
    "where": "s = np.where(x[0] > 0, x[1], x[2])",
    "floor division": "s = x[2] // 1.5 + x[1] % 1.5",
    "comparison": "s = (x[0] > 0) + 0.5",
    "unpacked": "s, t, u = x\n    s = s + t + u",
    "two": "s = x[0]\n    t = np.sum(x)\n    s, t = t, s",
    "numpy's type": "s = np.float32(x[1])",
}
# What is made of an array and the number, and what is then seen under another name.
SEEN = {
    "two names": "y = x * s\n    z = y\n    y -= 1.0\n    return z, y",
    "swapped": "y = s - x\n    z = y\n    y *= 2.0\n    return z, y",
    "made here": "y = np.zeros(3) + s\n    z = y\n    y += x\n    return z, y",
    "slice": "y = x / s\n    z = y[1:]\n    z += 1.0\n    return z, y",
    "row": "y = m * s\n    z = y[1]\n    z[0] = 9.0\n    z -= 0.5\n    return z, y",
    "compared": "y = (x > s) * 1.0\n    z = y\n    y += 1.0\n    return z, y",
    "in a loop": "y = x * s\n    z = y\n    for i in range(2):\n        y -= s\n    return z, y",
}


class Box:
    pass


def scaled(x: Any) -> Any:
    return np.sum(x) / 2.0


def early(x: Any) -> Any:
    if x[0] > 5:
        return x[1]
    return x[2] * 1.0


@pytest.mark.parametrize("seen", SEEN)
@pytest.mark.parametrize("number", NUMBERS)
def test_beside_a_number(number: str, seen: str, tmp_path: Any) -> None:
    file = tmp_path / "program.py"
    file.write_text(f"def program(x, m, given):\n    {NUMBERS[number]}\n    {SEEN[seen]}\n")
    space = {"np": np, "math": math, "Box": Box, "scaled": scaled, "early": early}
    exec(compile(file.read_text(), str(file), "exec"), space)
    f: Callable[..., Any] = space["program"]  # type: ignore[assignment]

    def arguments(given: Any) -> Any:
        return np.array([1.0, 2.0, 4.0]), np.array([[1.0, 2.0], [3.0, 4.0]]), given

    with jax.enable_x64(True):
        for given in (2.0, np.float64(2.0)):
            expected = f(*arguments(given))
            for convert in (ag.function, ag.convert):
                for a, b in zip(convert(f)(*arguments(given)), expected, strict=True):
                    np.testing.assert_allclose(a, b, rtol=1e-12)


def test_beside_an_array_of_jax_it_is_one_of_jax() -> None:
    def f(x: Any, s: Any) -> Any:
        y = x * jnp.max(s)
        z = y
        y -= 1.0
        return z

    expected = f(np.ones(3, np.float32), jnp.ones(2))
    np.testing.assert_allclose(ag.function(f)(np.ones(3, np.float32), jnp.ones(2)), expected)


def test_a_number_of_numpys_beside_a_list() -> None:
    def f(x: Any) -> Any:
        logs = [np.log(v) for v in x]
        return logs - np.max(logs), np.max(x) ** [1.0, 2.0], [x[0], x[1]] + x[2]

    x = np.array([1.0, 2.0, 4.0], np.float32)
    for a, b in zip(ag.function(f)(x), f(x), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_a_number_of_pythons_beside_a_list_is_an_error() -> None:
    with pytest.raises(TypeError):
        ag.function(lambda s: [1.0, 2.0] * s)(2.0)


def test_what_the_caller_gives_decides() -> None:
    def f(x: Any, s: Any) -> Any:
        y = x * (s + 1)
        z = y
        y -= 1.0
        return z

    compiled = ag.function(f)
    for s in (jnp.float32(2.0), np.float32(2.0), 2.0, jnp.float32(3.0), np.float32(3.0)):
        np.testing.assert_allclose(compiled(np.ones(3, np.float32), s), f(np.ones(3, np.float32), s))
