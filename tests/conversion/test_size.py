"""Functions that are large in one way: converted, printed and traced wherever CPython compiles them."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable

import jax
import jax.numpy as jnp
import pytest

import autograph as ag
from tests.sourced import define


def elif_chain(n: int) -> str:
    links = "".join(f"    elif x < {k}:\n        y = {k} + x\n" for k in range(1, n))
    return f"    if x < 0:\n        y = 0.5\n{links}    else:\n        y = -1.0\n    return y\n"


def elif_equal(n: int) -> str:
    return (
        "    if x == 0:\n        y = 0\n"
        + "".join(f"    elif x == {k}:\n        y = {k}\n" for k in range(1, n))
        + "    else:\n        y = -1\n    return y\n"
    )


def elif_returns(n: int) -> str:
    return (
        "    if x < 0:\n        return 0.5\n" + "".join(f"    elif x < {k}:\n        return {k} * 1.0\n" for k in range(1, n)) + "    return -1.0\n"
    )


def elif_mixed(n: int) -> str:
    links = "".join(f"    elif x < {k}:\n        {'return' if k % 3 == 0 else 'y ='} {k} * 1.0\n" for k in range(1, n))
    return f"    if x < 0:\n        y = 0.5\n{links}    else:\n        y = -1.0\n    return y * 2\n"


def nested_ifs(n: int) -> str:
    lines = [f"{'    ' * (k + 1)}if x > {k}:\n{'    ' * (k + 2)}y = y + jnp.sin(x * {k})\n" for k in range(n)]
    return "    y = 0.0\n" + "".join(lines) + "    return y\n"


def loop_variables(n: int) -> str:
    begin, turn = ("".join(f"{' ' * d}v{k} = {e}\n" for k in range(n)) for d, e in ((4, "x + 1"), (8, "v0 + 1")))
    return begin + "    while x < 3:\n        x = x + 1\n" + turn + "    return x + v0\n"


KINDS: dict[str, tuple[Callable[[int], str], int]] = {
    "elif": (elif_chain, 400),
    "elif, equal": (elif_equal, 300),
    "elif, returning": (elif_returns, 400),
    "elif, mixed": (elif_mixed, 120),
    "and": (lambda n: "    return " + " and ".join(f"x > {-k}" for k in range(n)) + "\n", 300),
    "or": (lambda n: "    return " + " or ".join(f"x > {k + 9}" for k in range(n)) + "\n", 300),
    "sum": (lambda n: "    return " + " + ".join(["x"] * n) + "\n", 2000),
    "methods": (lambda n: "    return jnp.asarray(x)" + ".clip(0.0, 9.0)" * n + "\n", 300),
    "conditional expressions": (lambda n: "    return " + " ".join(f"{k} if x < {k} else" for k in range(n)) + " -1\n", 200),
    "nested ifs": (nested_ifs, 90),
    "loop variables": (loop_variables, 500),
}


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_converted_printed_and_traced(kind: str) -> None:
    make, n = KINDS[kind]
    f, limit = define("def f(x):\n" + make(n), jnp=jnp), sys.getrecursionlimit()
    ast.parse(ag.to_code(f)) if kind not in ("sum", "methods") else ag.to_code(f)
    assert float(ag.convert(f, form="staged")(2.5)) == pytest.approx(float(f(2.5)), rel=1e-4)
    assert float(jax.jit(ag.convert(f))(2.5)) == pytest.approx(float(f(2.5)), rel=1e-4)
    assert sys.getrecursionlimit() == limit


def test_each_value_chooses_its_side() -> None:
    f = define("def f(x):\n" + elif_equal(300).replace("y = ", "y = x * 0 + "))
    given = jnp.arange(-2, 302)
    assert [int(y) for y in jax.vmap(ag.convert(f))(given)] == [f(int(x)) for x in given]


def test_a_function_that_calls_itself_is_told_from_one_that_is_deep() -> None:
    def factorial(n: float) -> float:
        return 1.0 if n < 1 else n * factorial(n - 1)

    with pytest.raises(ag.AutographError, match="AG501 `factorial` calls itself"):
        ag.function(factorial)(3.0)
