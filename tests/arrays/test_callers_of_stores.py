"""A function stores into arrays that objects, lists and dicts hold, while its caller has other names for them: Python's results.

The programs are written from three lists: what holds the arrays, what the callee does, and what its caller does.
"""

from __future__ import annotations

import contextlib
import io
import itertools
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from tests.sourced import define

HOLDERS = {  # two arrays, and how they are made
    "dict": ("d['a']", "d['b']", "{'a': A, 'b': B}"),
    "list": ("d[0]", "d[1]", "[A, B]"),
    "list in dict": ("d['l'][0]", "d['l'][1]", "{'l': [A, B]}"),
    "object": ("d.a", "d.b", "O(A, B)"),
    "list in object": ("d.a[0]", "d.b[-1]", "O([A], [1, B])"),
    "global dict": ("G['a']", "G['b']", "{'a': A, 'b': B}"),
    "global object": ("G.a", "G.b", "O(A, B)"),
}
CALLEES = {
    "one": ["{a}[3] = x"],
    "two": ["{a}[3] = x", "{b}[0] = x"],
    "twice": ["{a}[3] = x", "{a}[2] = x"],
    "augmented": ["{a}[1:3] += x", "{a}[2] *= 2"],
    "loop": ["for i in range(2):", "    {a}[i] = x"],
    "traced_loop": ["i = 0", "while i < x:", "    {a}[i % 4] = x", "    i += 1"],
    "branch": ["if x > 0:", "    {a}[1] = x", "else:", "    {b}[1] = x"],
    "branch_and_more": ["if x > 0:", "    {a}[1] = x", "{b}[1] = x"],
    "other_name": ["t = {a}", "t[1] = x", "{a}[2] = x"],
    "bound": ["{a} = {b}", "{a}[2] = x"],
    "bound_in_branch": ["if x > 0:", "    {a}[1] = x", "    {a} = {a} * 2"],
    "exchanged": ["{a}, {b} = {b}, {a}", "{a}[0] = x"],
    "callees": ["h_two(d, x)", "h_twice(d, x)"],
}
CALLERS = {
    "straight": ["y, z = {a}, {b}", "{h}(d, x)", "return y, z, {a}, {b}"],
    "branch": ["y, z = {a}, {b}", "if x > -5:", "    {h}(d, x)", "return y, z, {a}, {b}"],
    "loop": ["y, z, n = {a}, {b}, 0", "while n < x:", "    {h}(d, x)", "    n += 1", "    {h}(d, n)", "return y, z, {a}, {b}"],
    "unknown": ["y, z = {a}, {b}", "TABLE['{h}'](d, x)", "return y, z, {a}, {b}"],
    "stores_too": ["y = {a}", "{h}(d, x)", "y[0] = 7", "return y, {a}, {b}"],
    "tuple": ["t = ({a}, {b})", "{h}(d, x)", "return t[0], t[1], {a}"],
    "list": ["q = [{a}, {b}]", "{h}(d, x)", "return q[0], q[1], {a}"],
    "copy": ["y = {a}.copy()", "{h}(d, x)", "return y, {a}"],
}


def program(holder: str) -> Any:
    a, b, make = HOLDERS[holder]
    lines = ["class O:", "    def __init__(self, a, b):", "        self.a, self.b = a, b"]
    for h, body in CALLEES.items():
        lines += [f"def h_{h}(d, x):", *("    " + line.format(a=a, b=b) for line in body)]
    lines += ["TABLE = {" + ", ".join(f"'h_{h}': h_{h}" for h in CALLEES) + "}"]
    for (c, body), h in itertools.product(CALLERS.items(), CALLEES):
        lines += [f"def {c}_{h}(d, x):", *("    " + line.format(a=a, b=b, h=f"h_{h}") for line in body)]
    lines += [
        "def make(xp):", "    A, B = xp.arange(4.0, dtype='float32'), xp.arange(4.0, dtype='float32') * 2 + 1", f"    return {make}",
        "def start(xp):", "    global G", "    G = make(xp)", "    return G", "def all_of(): return globals()",
    ]  # fmt: skip
    return define("\n".join(lines), "all_of")()


def seen(x: Any) -> Any:
    if isinstance(x, dict):
        return [seen(v) for v in x.values()]
    if isinstance(x, (list, tuple)):
        return [seen(v) for v in x]
    return seen(vars(x)) if hasattr(x, "__dict__") and not hasattr(x, "dtype") else np.asarray(x).tolist()


@pytest.mark.parametrize("module", [jnp, np], ids=["jax", "numpy"])
@pytest.mark.parametrize("holder", HOLDERS)
def test_as_python(holder: str, module: Any) -> None:
    space = program(holder)
    for caller, callee in itertools.product(CALLERS, CALLEES):
        f = space[f"{caller}_{callee}"]
        compiled = ag.function(f)
        for x in (2.0, -1.0):
            d = space["start"](np)
            want = seen((f(d, np.float32(x)), d))
            d = space["start"](module)
            assert seen((compiled(d, jnp.float32(x)), d)) == want, (caller, callee, x)


def in_stars(*values: Any) -> None:
    for v in values:
        v[0] = 5.0


def in_named_stars(**values: Any) -> None:
    values["a"][0] = 5.0


def clear(v: Any) -> None:
    v[0] = 0.0


def given_in_order(a: Any) -> Any:
    in_stars(a)
    return a.sum()


def given_by_name(a: Any) -> Any:
    in_named_stars(a=a)
    return a.sum()


def mapped(a: Any) -> Any:
    list(map(clear, (a, a * 2)))
    return a.sum()


def in_a_pair(pair: Any) -> Any:
    pair[0][1] = 7.0
    return pair[0].sum()


def in_order(*values: Any) -> Any:
    values[0][1] = 7.0
    return values[0].sum()


def by_name(**values: Any) -> Any:
    values["a"][1] = 7.0
    return values["a"].sum()


class Pair(NamedTuple):
    a: Any
    n: float


PASSED: list[tuple[Any, Any]] = [
    (given_in_order, lambda f, a: f(a)), (given_by_name, lambda f, a: f(a)), (mapped, lambda f, a: f(a)),
    (in_a_pair, lambda f, a: f((a, 1.0))), (in_a_pair, lambda f, a: f([a, 1.0])), (in_a_pair, lambda f, a: f(Pair(a, 1.0))),
    (in_order, lambda f, a: f(a)), (by_name, lambda f, a: f(a=a)),
]  # fmt: skip


@pytest.mark.parametrize(("f", "call"), PASSED, ids=["stars", "named-stars", "map", "tuple", "list", "named-tuple", "own-stars", "own-named-stars"])
def test_ways_to_give_an_array(f: Any, call: Any) -> None:
    given, want = np.ones(3, np.float32), np.ones(3, np.float32)
    result = call(f, want)
    assert call(ag.function(f), given) == result and given.tolist() == want.tolist()
    assert call(ag.function(f), jnp.ones(3)) == result
    if f is not mapped:  # outside of a trace, `a * 2` is an array of an eager operation that two names have
        assert call(ag.convert(f), jnp.ones(3)) == result


def test_what_was_printed_before_an_assert_that_fails() -> None:
    @ag.function
    def f(n: Any) -> Any:
        c = 0
        while c < n:
            c += 1
            print("turn", c)
        assert not (5 == 5), "bad"
        return n

    with contextlib.redirect_stdout(io.StringIO()) as out, pytest.raises(AssertionError, match="bad"):
        f(jnp.int32(2))
    assert out.getvalue() == "turn 1\nturn 2\n"


def test_a_variable_of_the_code_around_that_a_store_binds() -> None:
    def f(x: Any) -> Any:
        z = x * 1
        y = z

        def g(e: Any) -> Any:
            nonlocal y, z
            z[0] = e
            y[1] = 5
            return e

        return g(3) < 5, z

    want = f(np.zeros(2))
    for form in (ag.convert(f), ag.convert(f, form="staged"), ag.function(f)):
        for a, b in zip(form(jnp.zeros(2)), want, strict=True):
            np.testing.assert_array_equal(a, b)


def test_containers_of_the_code_around_when_a_callee_stores_into_its_variable() -> None:
    def put(p: Any, e: Any) -> None:
        p[0] += 1
        p[e] = 9

    def f(d: Any, v: Any, turns: Any) -> Any:
        def inner() -> None:
            for _ in turns:
                put(v, 2)

        d["a"] = v
        inner()
        v[3] = 5
        return d["a"], v

    want = f({}, np.zeros(4), [1, 2])
    for form in (ag.convert(f), ag.convert(f, form="staged"), ag.function(f)):
        for a, b in zip(form({}, jnp.zeros(4), [1, 2]), want, strict=True):
            np.testing.assert_array_equal(a, b)


class Buffer:
    def __init__(self, a: Any) -> None:
        self.a = a

    def put(self, e: Any) -> Any:
        self.a[1] = e
        return e


def read_before_in_the_next_turn(o: Any, n: Any) -> Any:
    y, c, t = o.a, 0, 0.0
    while c < n:
        t += y[1]
        o.put(c + 5.0)
        c += 1
    return t


def read_in_the_body_stored_by_the_test(o: Any, n: Any) -> Any:
    y, c, t = o.a, 0, 0.0
    while o.put(c + 5.0) < n:
        t += y[1]
        c += 1
    return t


def read_in_a_for_loop(o: Any, n: Any) -> Any:
    y, t = o.a, 0.0
    for i in range(n):
        t += y[1]
        o.put(i + 5.0)
    return t


@pytest.mark.parametrize("n", [8, 1])
@pytest.mark.parametrize("f", [read_before_in_the_next_turn, read_in_the_body_stored_by_the_test, read_in_a_for_loop])
def test_a_name_that_the_next_turn_reads(f: Any, n: int) -> None:
    o = Buffer(np.zeros(3, np.float32))
    want = f(o, n), o.a.tolist()
    for form in (ag.convert(f), ag.convert(f, form="staged"), ag.function(f)):
        for zeros in (jnp.zeros, np.zeros):
            o = Buffer(zeros(3, np.float32))
            assert (form(o, n), o.a.tolist()) == want
