"""`while`, `for`, `break`, `continue`, `return` in loops, `else` on loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag

INPUTS = (0, 1, 2, 3, 7)


def while_(n: Any) -> Any:
    total = 0
    while n > 0:
        total += n
        n -= 1
    return total


def while_break(n: Any) -> Any:
    i = 0
    while True:
        if i * i >= n:
            break
        i += 1
    return i


def while_continue(n: Any) -> Any:
    i, total = 0, 0
    while i < n:
        i += 1
        if i % 2 == 0:
            continue
        total += i
    return total


def while_return(n: Any) -> Any:
    i = 0
    while i < 5:
        if i == n:
            return 100 + i
        i += 1
    return -i


def while_else(n: Any) -> Any:
    i = 0
    while i < 5:
        if i == n:
            break
        i += 1
    else:
        i = 50
    return i


def while_break_and_return(n: Any) -> Any:
    i = 0
    while i < 6:
        i += 1
        if i == n:
            return i * 10
        if i == 5:
            break
        if i == 4:
            continue
        n += 0
    else:
        return -1
    return i


def range_traced(n: Any) -> Any:
    total = 0
    for i in range(n):
        total += i * i
    return total


def range_start_stop(n: Any) -> Any:
    total = 0
    for i in range(n, 2 * n):
        total = total * 2 + i
    return total


def range_down(n: Any) -> Any:
    total = 0
    for i in range(n, -1, -2):
        total = total * 3 + i
    return total


def range_reversed(n: Any) -> Any:
    total = 0
    for i in reversed(range(n)):
        total = total * 2 + i
    return total


def range_static_break(n: Any) -> Any:
    total = 0
    for i in range(5):
        if i > n:
            break
        total += i
    return total


def range_static_index(n: Any) -> Any:
    weights = [3, 1, 4, 1, 5]
    total = 0
    for i in range(5):
        if i < n:
            total += weights[i]
    return total


def for_else(n: Any) -> Any:
    for i in range(4):
        if i == n:
            found = i
            break
    else:
        found = -1
    return found


def for_return_nested(n: Any) -> Any:
    for i in range(4):
        for j in range(4):
            if i * j == n:
                return 10 * i + j
    return -1


def target_after_the_loop(n: Any) -> Any:
    i = -1
    for i in range(n):
        pass
    return i


def first_set_inside(n: Any) -> Any:
    for i in range(3):
        y = n + i
    return y


def nested_bounds(n: Any) -> Any:
    total = 0
    for i in range(n):
        for j in range(i):
            k = 0
            while k < j:
                k += 1
                total += k
    return total


def break_inner_only(n: Any) -> Any:
    total = 0
    for i in range(n):
        j = 0
        while True:
            if j > i:
                break
            j += 1
            total += j
        total += i
    return total


def promotion(n: Any) -> Any:
    total = 0
    for i in range(n):
        total = total + 0.5
    return total


def swap(n: Any) -> Any:
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def tuple_state(n: Any) -> Any:
    p = (0, (1, 2))
    for i in range(n):
        p = (p[0] + i, (p[1][1], p[1][0] + 1))
    return p[0] + 10 * p[1][0] + 100 * p[1][1]


def a_static_list(n: Any) -> Any:
    total = n
    for w in [1, 2, 3]:
        if total > 3:
            total = total - w
        else:
            total = total * 2 + w
    return total


def a_static_list_with_a_traced_break(n: Any) -> Any:
    total = 0
    for w in (1, 2, 3, 4):
        if total > n:
            break
        total += w
    return total


def starts_static_becomes_traced(n: Any) -> Any:
    x = 0
    turns = 0
    while x < 10:
        x = x + 1 if turns < 2 else x + n + 1
        turns += 1
    return x * 100 + turns


def with_in_a_loop(n: Any) -> Any:
    import contextlib

    total = 0
    for i in range(n):
        with contextlib.nullcontext():
            if i == 2:
                continue
            if i == 4:
                break
            total += i
    return total


def try_in_a_loop(n: Any) -> Any:
    total, left = 0, 0
    for i in range(n):
        try:
            if i == 2:
                continue
            if i == 5:
                return total * 1000
            total += i
        finally:
            left += 1
    return total * 10 + left


def captured_loop_variable(n: Any) -> Any:
    x = 1

    def double() -> Any:
        return 2 * x

    for _ in range(n):
        x = double() - 1 + x
    return x + double()


def loop_in_branch(n: Any) -> Any:
    if n > 2:
        s = 0
        while s < n:
            s += 2
    else:
        s = -n
        for i in range(n):
            s += i
    return s


FUNCTIONS = [
    while_, while_break, while_continue, while_return, while_else, while_break_and_return, range_traced, range_start_stop, range_down, range_reversed,
    range_static_break, range_static_index, for_else, for_return_nested, target_after_the_loop, first_set_inside, nested_bounds, break_inner_only, promotion,
    swap, tuple_state, a_static_list, a_static_list_with_a_traced_break, starts_static_becomes_traced, with_in_a_loop, try_in_a_loop,
    captured_loop_variable, loop_in_branch,
]  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_as_python(f: Any, run: Any) -> None:
    g = run(f)
    for n in INPUTS:
        assert g(n) == f(n), n


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_under_vmap(f: Any) -> None:
    got = jax.vmap(ag.convert(f))(jnp.array(INPUTS))
    np.testing.assert_array_equal(got, [f(n) for n in INPUTS])


def rows(v: Any) -> Any:
    total = 0
    for x in v:
        total = total + x * x
    return total


def rows_break(v: Any) -> Any:
    total = 0.0
    for x in v:
        if x > 2:
            break
        total += x
    return total


def rows_return_index(v: Any) -> Any:
    for i, x in enumerate(v):
        if x > 2:
            return i
    return -1


def rows_zip(v: Any) -> Any:
    total = 0.0
    for x, y in zip(v, v[::-1]):
        if x > y:
            total += x
    return total


def rows_reversed(v: Any) -> Any:
    total = 0.0
    for x in reversed(v):
        total = total * 2 + x
    return total


def rows_last(v: Any) -> Any:
    for x in v:
        last = x
    return last


def rows_nested(v: Any) -> Any:
    count = 0
    for x in v:
        for y in v:
            if x < y:
                count += 1
    return count


def rows_newton(v: Any) -> Any:
    total = 0.0
    for x in v:
        y = x + 1.0
        while y * y > x + 1.0 and y > 0.001:
            y = y * 0.5
        total += y
    return total


ROWS = [rows, rows_break, rows_return_index, rows_zip, rows_reversed, rows_last, rows_nested, rows_newton]
VECTORS = ([1.0, 2.0, 3.0, 0.5], [0.0, 0.0, 0.0, 0.0], [3.0, -1.0, 2.5, 2.0])


@pytest.mark.parametrize("f", ROWS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("v", VECTORS, ids=str)
def test_rows(f: Any, v: Any, run: Any) -> None:
    array = jnp.array(v)
    np.testing.assert_allclose(run(f)(array), f(array))


@pytest.mark.parametrize("f", ROWS, ids=lambda f: f.__name__)
def test_rows_under_vmap(f: Any) -> None:
    many = jnp.array(VECTORS)
    np.testing.assert_allclose(jax.vmap(ag.convert(f))(many), [f(v) for v in many])


@pytest.mark.parametrize("f", [rows, rows_zip, rows_reversed, rows_last, rows_newton, rows_break], ids=lambda f: f.__name__)
def test_rows_under_jvp(f: Any) -> None:
    for v in VECTORS:
        x, t = jnp.array(v), jnp.array([1.0, 0.5, -2.0, 0.25])
        want = jax.jvp(f, (x,), (t,))
        got = jax.jit(lambda x, t, g=ag.convert(f): jax.jvp(g, (x,), (t,)))(x, t)
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_rows_of_an_array_have_reverse_mode() -> None:
    v = jnp.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(jax.jit(jax.grad(ag.convert(rows)))(v), 2 * v)


def test_a_matrix_gives_its_rows(run: Any) -> None:
    def f(m: Any) -> Any:
        out = jnp.zeros(2)
        for row in m:
            if row[0] > 1:
                out = out + row
        return out

    m = jnp.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    np.testing.assert_allclose(run(f)(m), [8.0, 10.0])


def test_no_turn_leaves_what_was_there() -> None:
    def f(v: Any) -> Any:
        best = 5
        for x in v:
            best = x
        return best

    assert jax.jit(ag.convert(f))(jnp.zeros(0)) == 5


def test_a_number_that_no_turn_changes_is_still_a_number() -> None:
    @ag.convert
    def f(n: Any) -> Any:
        width, total = 3, 0
        for _ in range(n):
            width, total = width, total + 1
        return jnp.zeros(width) + total

    assert jax.jit(f)(2).shape == (3,)


def test_concrete_values_under_grad_run_in_python() -> None:
    """Under eager `jax.grad` values are known: a loop of unknown length has reverse mode there."""

    @ag.convert
    def f(x: Any) -> Any:
        while x < 10:
            x = x * x
        return x

    assert float(jax.grad(f)(2.0)) == 4 * 2.0**3


def test_an_iterator_is_not_asked_for_one_item_too_many(run: Any) -> None:
    taken: list[int] = []

    def items() -> Any:
        for k in range(10):
            taken.append(k)
            yield k

    def f(n: int) -> int:
        for k in items():
            if k == n:
                return k
        return -1

    assert ag.convert(f, form="staged")(2) == 2 and taken == [0, 1, 2]


def test_a_scan_compiles_to_a_scan_and_a_while_to_a_while() -> None:
    assert str(jax.make_jaxpr(ag.convert(rows))(jnp.ones(3))).count("scan[") == 1
    assert str(jax.make_jaxpr(ag.convert(while_))(3)).count("while[") == 1
    assert "while[" not in str(jax.make_jaxpr(ag.convert(a_static_list))(3))


def test_item_stores(run: Any) -> None:
    def f(n: Any) -> Any:
        x = jnp.zeros(5)
        for i in range(n):
            x[i] = i * 2.0
            x[1:3] += 1
        x[0], last = 7.0, x[4]
        return x, last

    x, last = run(f)(3)
    np.testing.assert_allclose(x, [7.0, 4.0, 5.0, 0.0, 0.0])
    assert last == 0


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_no_tracer_leaks(f: Any) -> None:
    with jax.checking_leaks():
        jax.jit(ag.convert(f))(3)


def test_a_loop_in_a_branch_ends_for_lanes_that_are_not_in_it() -> None:
    """JAX evaluates both sides of a branch for all lanes: 0 doubled is never 100."""

    @ag.convert
    def grown(x):
        if x > 0:
            while x < 100:
                x = x * 2
        return x

    xs = jnp.array([-1.0, 0.0, 3.0, 99.0])
    assert jax.vmap(grown)(xs).tolist() == [-1.0, 0.0, 192.0, 198.0]
    assert jax.jit(jax.vmap(jax.grad(grown)))(xs).tolist() == [1.0, 1.0, 64.0, 2.0]
    assert jax.jit(jax.grad(lambda xs: jax.vmap(grown)(xs).sum()))(xs).tolist() == [1.0, 1.0, 64.0, 2.0]

    @ag.convert
    def by_kind(k, n):
        match k:
            case 0:
                while n != 1:
                    n = n // 2 if n % 2 == 0 else 3 * n + 1
            case 1:
                while n % 5:
                    n += 1
            case _:
                n = -n
        return n

    kinds, numbers = jnp.array([0, 1, 2, 2]), jnp.array([6, 7, 0, 3])
    assert jax.jit(jax.vmap(by_kind))(kinds, numbers).tolist() == [1, 10, 0, -3]


def _newton_in_a_new_dict(x: Any) -> Any:
    d, diff = {"k": x}, 1.0
    while diff > 1e-3:
        new = {}
        new["k"] = d["k"] / 2
        diff = d["k"] - new["k"]
        d = new
    return d["k"]


def _halved_in_a_new_list(x: Any) -> Any:
    d, diff = [x], 1.0
    while diff > 1e-3:
        new = []
        new.append(d[0] / 2)
        diff = d[0] - new[0]
        d = new
    return d[0]


@pytest.mark.parametrize("fn", [_newton_in_a_new_dict, _halved_in_a_new_list])
def test_a_loop_that_begins_static_may_fill_a_new_container(fn: Callable[..., Any]) -> None:
    """Its first iteration is undone, and with it what it has put into the container: the types of the carry are those of before that."""
    assert float(ag.function(fn)(1.0)) == fn(1.0)
    assert float(jax.jit(ag.convert(fn))(1.0)) == fn(1.0)
