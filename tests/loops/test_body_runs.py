"""A block's Python runs once per trace, and once more where a loop variable had to be promoted or a state location was found."""

from __future__ import annotations

from collections import Counter
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import autograph as ag
from tests.sourced import define


def runs(text: str, *args: Any) -> tuple[Counter[str], Any]:
    """How often each `seen("name")` of a program runs in one trace, and the jaxpr."""
    counts: Counter[str] = Counter()
    f = define(text, seen=ag.do_not_convert(lambda name: counts.update([name])))
    jaxpr = jax.make_jaxpr(ag.convert(f))(*args)
    return counts, jaxpr


def lines(*parts: str) -> str:
    return "\n".join(parts)


def test_guards_run_once_each() -> None:
    body = [f"    if x == {k}:\n        seen('{k}')\n        return x * {k}.5" for k in range(40)]
    counts, _ = runs(lines("def f(x):", *body, "    return x"), 1.0)
    assert counts == Counter({str(k): 1 for k in range(40)})


def test_elifs_run_once_each() -> None:
    body = [f"    {'if' if k == 0 else 'elif'} x == {k}:\n        seen('{k}')\n        y = x * {k}.5" for k in range(40)]
    counts, _ = runs(lines("def f(x):", *body, "    else:\n        y = x", "    return y"), 1.0)
    assert counts == Counter({str(k): 1 for k in range(40)})


def nest(levels: int, header: str, body: str = "") -> str:
    text = ["def f(n, x):"]
    for k in range(levels):
        pad = "    " * (k + 1)
        text += [pad + header.replace("@", str(k)), f"{pad}    seen('{k}')"]
        if body:
            text.append(f"{pad}    {body.replace('@', str(k))}")
    text += ["    " * (levels + 1) + "x = x + 1.0", "    return x"]
    return lines(*text)


@pytest.mark.parametrize("header", ["for i@ in range(n):", "for i@ in range(n + @):"])
def test_nested_loops_run_once_each(header: str) -> None:
    counts, jaxpr = runs(nest(6, header), 3, 0.5)
    assert counts == Counter({str(k): 1 for k in range(6)})
    assert str(jaxpr).count("while[") == 6


def test_nested_while_loops_run_once_each() -> None:
    text = ["def f(n, x):"]
    for k in range(6):
        pad = "    " * (k + 1)
        text += [f"{pad}i{k} = 0", f"{pad}while i{k} < n:", f"{pad}    seen('{k}')", f"{pad}    i{k} += 1"]
    text += ["    " * 7 + "x = x + 1.0", "    return x"]
    counts, _ = runs(lines(*text), 3, 0.5)
    assert counts == Counter({str(k): 1 for k in range(6)})


def test_a_promotion_at_each_level_costs_one_run_each() -> None:
    """The n-th loop from outside runs at most n + 1 times."""
    text = ["def f(n, x):", *[f"    s{k} = 0" for k in range(5)]]
    for k in range(5):
        pad = "    " * (k + 1)
        text += [f"{pad}for i{k} in range(n):", f"{pad}    seen('{k}')", f"{pad}    s{k} = s{k} + 0.5"]
    text += ["    " * 6 + "x = x + 1.0", "    return x" + "".join(f" + s{k}" for k in range(5))]
    counts, jaxpr = runs(lines(*text), 3, 0.5)
    assert all(counts[str(k)] <= k + 2 for k in range(5)), counts
    assert str(jaxpr).count("while[") == 5


def test_a_variable_that_a_turn_only_moves_is_promoted_in_the_same_run() -> None:
    counts, _ = runs(
        """
        def f(n):
            a, b, c, d, e = 1, 2, 3, 4, 5
            for i in range(n):
                seen("body")
                a, b, c, d, e = b, c, d, e, e * 1.5
            return a
        """,
        3,
    )
    assert counts["body"] == 2


def test_while_true_with_a_traced_break_leaves_one_copy() -> None:
    text = ["def f(n, x):"]
    for k in range(4):
        pad = "    " * (k + 1)
        text += [f"{pad}while True:", f"{pad}    seen('{k}')", f"{pad}    if x > {10 * (k + 1)}.0:", f"{pad}        break", f"{pad}    x = x + 1.0"]
    text += ["    return x"]
    counts, jaxpr = runs(lines(*text), 3, 0.5)
    assert all(counts[str(k)] <= k + 3 for k in range(4)), counts
    assert str(jaxpr.jaxpr.eqns[-1]).count("while[") <= 4


def test_two_hundred_guards_convert_print_and_run() -> None:
    body = [f"    if x == {k}:\n        return x * {k}" for k in range(200)]
    f = define(lines("def f(x):", *body, "    return -1"))
    g = jax.jit(ag.convert(f))
    assert [int(g(k)) for k in (0, 1, 16, 17, 100, 199, 200)] == [f(k) for k in (0, 1, 16, 17, 100, 199, 200)]
    compile(ag.to_code(f), "<printed>", "exec")


def test_a_long_chain_of_elifs_converts_prints_and_runs() -> None:
    body = [f"    {'if' if k == 0 else 'elif'} x == {k}:\n        y = {k} * x" for k in range(120)]
    f = define(lines("def f(x):", *body, "    else:", "        y = -1", "    return y"))
    g = jax.jit(ag.convert(f))
    assert [int(g(k)) for k in (0, 15, 16, 17, 119, 120)] == [f(k) for k in (0, 15, 16, 17, 119, 120)]
    compile(ag.to_code(f), "<printed>", "exec")


def test_twelve_levels_of_if_in_a_loop_run_once() -> None:
    text = ["def f(n, x):", "    for i in range(n):"]
    for k in range(12):
        pad = "    " * (k + 2)
        text += [f"{pad}if x > {k}.0:", f"{pad}    seen('{k}')", f"{pad}    x = x * 0.5"]
    text += ["    return x"]
    counts, _ = runs(lines(*text), 3, 20.0)
    assert counts == Counter({str(k): 1 for k in range(12)})


def test_nothing_is_evaluated_twice_at_run_time() -> None:
    """The dead copy of a discarded first turn is not in the program."""

    def f(x: Any) -> Any:
        while True:
            if x > 10:
                break
            x = jnp.sin(x) + x + 1
        return x

    text = jax.jit(ag.convert(f)).lower(1.0).compile().as_text()
    assert text.count(" sine(") <= 1


@pytest.mark.parametrize("body", ["y = x * i", "y = x * i\n                x = x + y"])
def test_a_variable_first_set_inside_costs_no_second_run(body: str) -> None:
    counts, _ = runs(
        f"""
        def f(x, n):
            for i in range(n + 1):
                seen("body")
                {body}
            return x
        """,
        1.0, 3,
    )  # fmt: skip
    assert counts["body"] == 1


@pytest.mark.parametrize("header", ["for i@ in range(n):", "for r@ in v:", "while True:"])
def test_nested_loops_with_breaks_leave_one_copy_of_each_body(header: str) -> None:
    text = ["def f(n, v, x):"]
    for k in range(3):
        pad = "    " * (k + 1)
        text += [pad + header.replace("@", str(k)), f"{pad}    seen('{k}')", f"{pad}    if x > {10 * (k + 1)}.0:", f"{pad}        break"]
    text += ["    " * 4 + "x = sin(x) + 1.5"]
    if header == "while True:":
        text += ["    " * (k + 1) + "x = x + 4.0" for k in (3, 2, 1)]
    text += ["    return x"]
    counts: Counter[str] = Counter()
    f = define(lines(*text), seen=ag.do_not_convert(lambda name: counts.update([name])), sin=jnp.sin)
    compiled = jax.jit(ag.convert(f)).lower(3, jnp.ones(4), 0.5).as_text()
    assert compiled.count("stablehlo.sine") == 1 and compiled.count("stablehlo.while") == 3
    assert all(counts[str(k)] <= k + 2 for k in range(3)), counts
