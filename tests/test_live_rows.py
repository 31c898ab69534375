"""Loops over arrays that their body stores into: each row is read when its turn comes, as NumPy's iterators do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag


def beside_a_range(x: Any, n: Any) -> Any:
    a, t = x * 1, 0.0
    for i, v in zip(range(20), a):
        a[(i + 1) % 12] += v
        t += v
    return a, t


def nested(x: Any, n: Any) -> Any:
    a, b, t = x * 1, x * 2, 0.0
    for i, (u, v) in enumerate(zip(a, b), 1):
        a[3] += v * 0.1
        b[2] = a[3] + u * i
        t += v
    return a, b, t


def backwards(x: Any, n: Any) -> Any:
    a, t = x * 1, 0.0
    for i, v in enumerate(reversed(a)):
        a[0] += v - i
        t += v
    return a, t


def put(a: Any, i: Any, v: Any) -> None:
    a[i] = v


def parts_and_a_callee(x: Any, n: Any) -> Any:
    a, t = x * 1, 0.0
    for pair in zip(a[1:], a[:-1]):
        put(a, -2, pair[0] - 2 * pair[1])
        t = t * 0.5 + pair[0]
    return a, t


def left_early(x: Any, n: Any) -> Any:
    a, t = x * 1, 0.0
    for v in a:
        if v > 2:
            a[9] += v
            continue
        t += v
        if t > n:
            break
    else:
        t = -1.0
    return a, t


def few_rows(x: Any, n: Any) -> Any:
    m, t = x.reshape(4, 3) * 1, 0.0
    for row, k in zip(m, [3, 5, 7, 11]):
        t += row.sum() * k
        m[-1, 0] += t
    return m, t


def bound_anew(x: Any, n: Any) -> Any:
    a, t = x * 1, 0.0
    for v in a:  # Python goes on with the array that the loop began with
        a[0] += v
        a = a * 0.5
        t += v
    return a, t


class Box:
    pass


def of_an_attribute(x: Any, n: Any) -> Any:
    o, t = Box(), 0.0
    o.a = x * 1
    for v in o.a:
        o.a[9] += v
        t += v
    return o.a, t


def by_another_name(x: Any, n: Any) -> Any:
    a, t = x * 1, 0.0
    b = a
    for v in b:
        a[9] += v
        t += v
    return a, b, t


def stored_by_the_target(x: Any, n: Any) -> Any:
    a, t = x * 1, 0.0
    for a[3], v in zip(a, a[2:]):  # noqa: B020
        a[9] += v
        t += v
    return a, t


def of_a_function_named_zip(x: Any, n: Any) -> Any:
    def zip(a: Any) -> Any:
        return [a[0] + 1, a[1] + 2]

    a, t = x * 1, 0.0
    for v in zip(a):
        a[9] += v
        t += v
    return a, t


PROGRAMS = [
    beside_a_range, nested, backwards, parts_and_a_callee, left_early, few_rows, bound_anew, of_an_attribute, by_another_name,
    stored_by_the_target, of_a_function_named_zip,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_as_numpy(f: Callable[..., Any]) -> None:
    x = np.arange(12, dtype=np.float32) / 4
    want = f(x, 3)
    for form in (ag.convert(f), ag.convert(f, form="staged"), ag.function(f), ag.function(f, static_argnames="n")):
        for array in (x, jnp.asarray(x)):
            for got, expected in zip(form(array, 3), want, strict=True):
                np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_long_arrays_are_one_compiled_loop() -> None:
    import jax

    for f in (beside_a_range, nested, backwards):
        text = str(jax.make_jaxpr(ag.convert(f))(jnp.arange(100.0), 3))
        assert text.count("scan[") == 1, text


def test_lengths_are_compared() -> None:
    def f(x: Any) -> Any:
        a = x * 1
        for i, v in zip(range(11), a, strict=True):
            a[i] = v
        return a

    with pytest.raises(ValueError, match="argument 2 is longer than argument 1") as plain:
        f(np.arange(12.0))
    for form in (ag.convert(f), ag.function(f)):
        with pytest.raises(ValueError) as error:
            form(jnp.arange(12.0))
        assert str(error.value).splitlines()[0] == str(plain.value)
