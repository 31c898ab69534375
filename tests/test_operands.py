"""Operands that a statement has evaluated before a call that stores into them: NumPy's show the store."""

from __future__ import annotations

import dis
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from autograph.runtime.messages.errors import AliasError
from autograph.runtime.operands import _effect, _stacks


class Grid:
    def __init__(self, a: Any) -> None:
        self.a, self.d, self.rows = a, {"x": a}, [a, a * 2]

    def put(self, i: Any, v: Any) -> Any:
        self.a[i] = v
        return v

    def put_in_dict(self, v: Any) -> Any:
        self.d["x"][3] = v
        return v

    def put_in_row(self, k: int, v: Any) -> Any:
        self.rows[k][3] = v
        return v

    def fresh(self, v: Any) -> Any:
        self.a = self.a + v
        return v


def put(a: Any, i: Any, v: Any) -> Any:
    a[i] = v
    return v


def returned(x: Any) -> Any:
    g = Grid(x * 1)
    return g.a, g.put(3, 10.0)


def returned_by_name(x: Any) -> Any:
    a = x * 1
    return a, put(a, 3, 10.0)


def multiplied(x: Any) -> Any:
    g = Grid(x * 1)
    t = g.a * g.put(3, 10.0)
    return t, g.a


def unpacked(x: Any) -> Any:
    a = x * 1
    y, z = a, put(a, 3, 10.0)
    return y, z, a


def in_a_list(x: Any) -> Any:
    g = Grid(x * 1)
    both = [(g.a, 1.0), g.put(3, 10.0)]
    return both[0][0]


def in_a_dict(x: Any) -> Any:
    g = Grid(x * 1)
    both = {"a": g.a, "v": g.put(3, 10.0)}
    return both["a"], both["v"]


def by_keyword(x: Any) -> Any:
    g = Grid(x * 1)

    def add(a: Any, v: Any) -> Any:
        return a + v

    return add(a=g.a, v=g.put(3, 10.0))


def compared(x: Any) -> Any:
    g = Grid(x * 1)
    return (g.a > g.put(3, 2.0)) * 1.0


def indexed(x: Any) -> Any:
    g = Grid(x * 1)
    return g.a[int(g.put(3, 3.0))]


def an_item(x: Any) -> Any:
    g = Grid(x * 1)
    return g.d["x"] + g.put_in_dict(10.0)


def an_item_by_a_variable(x: Any) -> Any:
    g, k = Grid(x * 1), 1
    rows = g.rows
    return rows[k] + g.put_in_row(k, 10.0)


def under_a_condition(x: Any) -> Any:
    g = Grid(x * 1)
    return g.a, (g.put(3, 10.0) if x[1] > 0 else 0.0)


def in_a_loop(x: Any) -> Any:
    g, t = Grid(x * 1), 0.0
    for k in range(3):
        t = t + (g.a * g.put(k, 2.0 * k)).sum()
    return t


def of_a_method(x: Any) -> Any:
    g = Grid(x * 1)
    return g.a.dot(g.put(3, 10.0) * x)


REFUSED = [
    returned, returned_by_name, multiplied, unpacked, in_a_list, in_a_dict, by_keyword, compared, indexed, an_item, an_item_by_a_variable,
    under_a_condition, in_a_loop, of_a_method,
]  # fmt: skip


def read_afterwards(x: Any) -> Any:
    g = Grid(x * 1)
    return g.put(3, 10.0) + g.a, g.a


def a_copy(x: Any) -> Any:
    g = Grid(x * 1)
    return g.a.copy() * g.put(3, 10.0), g.a


def one_element(x: Any) -> Any:
    g = Grid(x * 1)
    return g.a[3] + g.put(3, 10.0), g.a.sum() + g.put(2, 1.0)


def bound_anew(x: Any) -> Any:
    g = Grid(x * 1)
    return g.a * g.fresh(2.0), g.a


def another_array(x: Any) -> Any:
    g, h = Grid(x * 1), Grid(x * 2)
    return h.a * g.put(3, 10.0), g.a


def statements(x: Any) -> Any:
    g, t = Grid(x * 1), 0.0
    for k in range(3):
        v = g.put(k, 2.0 * k)
        t += (g.a * v).sum() if v > 1 else g.a[0]
    return t, g.a


AS_PYTHON = [read_afterwards, a_copy, one_element, bound_anew, another_array, statements]


@pytest.mark.parametrize("f", REFUSED)
def test_an_operand_that_would_be_the_old_array_is_refused(f: Callable[..., Any]) -> None:
    x = np.array([0.5, 1.5, 2.5, -1.0, 3.0, 4.0], np.float32)
    for got, want in zip(jax.tree.leaves(ag.convert(f)(x.copy())), jax.tree.leaves(f(x.copy())), strict=True):
        np.testing.assert_allclose(got, want)
    runs = [lambda: ag.convert(f)(jnp.asarray(x)), lambda: ag.function(f)(jnp.asarray(x)), lambda: ag.function(f)(x.copy())]
    if f is not indexed:  # an index that is computed is a traced one
        runs.append(lambda: jax.jit(ag.convert(f))(jnp.asarray(x)))
    for run in runs:
        with pytest.raises(AliasError, match="which its statement has read before") as error:
            run()
        assert str(error.value).count(__file__) == 1 and "the call" in str(error.value)


@pytest.mark.parametrize("f", AS_PYTHON)
def test_as_python(f: Callable[..., Any]) -> None:
    x = np.array([0.5, 1.5, 2.5, -1.0, 3.0, 4.0], np.float32)
    want = jax.tree.leaves(f(x.copy()))
    for form in (ag.convert(f), ag.convert(f, form="staged"), ag.function(f), jax.jit(ag.convert(f))):
        for got, expected in zip(jax.tree.leaves(form(jnp.asarray(x))), want, strict=True):
            np.testing.assert_allclose(got, expected)


def test_the_variable_is_named() -> None:
    with pytest.raises(AliasError, match=r"the array `g.d\['x'\]`"):
        ag.function(an_item)(jnp.zeros(6))
    with pytest.raises(AliasError, match=r"the array `rows\[k\]`"):
        ag.function(an_item_by_a_variable)(jnp.zeros(6))


def everything(a: Any, d: Any, f: Any) -> Any:
    with f(a) as g, f:
        try:
            x, *y = [*a, *d["k"]]
            z = {**d, "a": a, 1: [u for u in a if u and (v := f(u, b=d))]}
            del d[a]
        except (ValueError, KeyError) as error:
            raise f(error) from error
        finally:
            f(a, *y, k=a, **z)
    while a < d < f(a):
        for k in f(a):
            a += f"{a!r} {f(a):>3}" if a and not d or k else a[1:k]
            if k:
                break
        else:
            continue
    match f(a):
        case {"x": [p, *q], **r}:
            return p, q, r
        case Grid(a=1) | None:
            assert f(x), f(y)
    return lambda: (yield from f(a)), g, v, super(Grid, a).put


def test_the_stack_is_that_of_the_interpreter() -> None:
    """Every path through a function gives an instruction the same number of values, and an empty stack at the end."""
    for function in [everything, *REFUSED, *AS_PYTHON, dis.dis, np.linspace, jax.jit, pytest.main]:
        code = function.__code__ if hasattr(function, "__code__") else everything.__code__
        instructions, stacks = _stacks(code)
        assert len(stacks) > len(instructions) * 0.8
        for k, stack in stacks.items():
            i = instructions[k]
            assert len(stack) <= code.co_stacksize, (i, stack)
            assert len(stack) + min(_effect(i, False), 0) >= 0, (i, stack)
            if i.opname == "RETURN_VALUE":
                assert len(stack) >= 1


def put_both(a: Any, b: Any, i: Any, v: Any) -> Any:
    a[i] = v
    b[i] = v + 1
    return i + 1


def given_back(x: Any) -> Any:
    a, b, n = x * 1, x * 2, 0
    n = put_both(a, b, n, 5.0)
    put_both(a, b, n, 7.0)
    return a, b, n


def test_what_a_call_gives_back_is_no_operand() -> None:
    want = given_back(np.zeros(3, np.float32))
    for form in (ag.convert(given_back), ag.function(given_back), jax.jit(ag.convert(given_back))):
        for got, expected in zip(form(jnp.zeros(3)), want, strict=True):
            np.testing.assert_allclose(got, expected)
