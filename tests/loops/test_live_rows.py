"""Loops over arrays that their body stores into: each row is read when its turn comes, as NumPy's iterators do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from tests.numpys import JITTED, as_numpy


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


def of_an_item(x: Any, n: Any) -> Any:
    d, rows, t = {"x": x * 1}, [x * 1, x * 2], 0.0
    for v, w in zip(d["x"], rows[1]):
        d["x"][7] += v
        rows[1][5] += w
        t += v * w
    return d["x"], rows, t


def of_an_item_under_a_condition(x: Any, n: Any) -> Any:
    d, t = {"x": x * 1}, 0.0
    for i, v in enumerate(d["x"]):
        if v > 1:
            d["x"][11 - i] += v
        t += v
    return d["x"], t


def each_in_its_place(x: Any, n: Any) -> Any:
    d, t = {"x": x * 1}, 0.0
    for i, v in enumerate(d["x"]):
        d["x"][i] = v * 2
        t += v
    return d["x"], t


def by_an_iterator(x: Any, n: Any) -> Any:
    a, t = x * 1, 0.0
    rows = iter(a)
    t = next(rows)
    a[1] += 10
    t += next(rows)
    for v in rows:
        a[9] += v
        t += v
    return a, t


def by_a_named_zip(x: Any, n: Any) -> Any:
    a, t = x * 1, 0.0
    pairs = zip(range(12), a)
    for i, v in pairs:
        a[(i + 1) % 12] += v
        t += v
    return a, t


class Series:
    def __init__(self, a: Any) -> None:
        self.a = a

    def put(self, i: Any, v: Any) -> None:
        self.a[i] = v

    def step(self, v: Any) -> Any:
        self.put(9, v)
        return v * 2

    def __iter__(self) -> Any:
        return iter(self.a)


def by_a_class_of_ones_own(x: Any, n: Any) -> Any:
    s, t = Series(x * 1), 0.0
    for v in s:
        s.a[9] += v
        t += v
    return s.a, t


def by_a_comprehension(x: Any, n: Any) -> Any:
    s = Series(x * 1)
    values = [s.step(v) for v in s.a]
    t = sum(values)
    return s.a, t


def by_generators(x: Any, n: Any) -> Any:
    a, t = x * 1, 0.0

    def rows() -> Any:
        for v in a:
            yield v + 1

    def all_rows() -> Any:
        yield from a

    for v, w, z, u in zip(rows(), all_rows(), (u for u in a), map(lambda u: u * 2, a)):
        a[9] += v
        t += v + w * u - z
    return a, t


def bound_anew(x: Any, n: Any) -> Any:
    a, t = x * 1, 0.0
    for v in a:  # Python goes on with the array that the loop began with
        a[9] += v
        a = a * 0.5
        t += v
    return a, t


def one_of_two(x: Any, n: Any) -> Any:
    a, b, t = x * 1, x * 2, 0.0
    for v in a if x.shape[0] > 3 else b:
        a[9] += v
        t += v
    return a, t


def stored_by_a_method(x: Any, n: Any) -> Any:
    s, t = Series(x * 1), 0.0
    for v in s.a:
        s.put(9, v)
        t += v
    return s.a, t


def reversed_by_name(x: Any, n: Any) -> Any:
    a, t = x * 1, 0.0
    rows = reversed(a)
    for v in rows:
        a[0] += v
        t += v
    return a, t


def stored_in_another_loop(x: Any, n: Any) -> Any:
    s, t = Series(x * 1), 0.0
    for v in s.a:
        for k in range(n):
            s.put(k + 5, v)
        t += v
    return s.a, t


def an_item_bound_anew(x: Any, n: Any) -> Any:
    d, t = {"x": x * 1}, 0.0
    for v in d["x"]:
        d["x"][9] += v
        d["x"] = d["x"] * 0.5
        t += v
    return d["x"], t


def left_when_found(x: Any, n: Any) -> Any:
    s, t = Series(x * 1), 0.0
    for v in s.a:
        if v > n:
            break
        s.put(9, v)
        t += v
    return s.a, t


def folded(x: Any, n: Any) -> Any:
    s = Series(x * 1)
    t = sum(s.step(v) for v in s.a)
    return s.a, t


def beside_a_range_of_turns(x: Any, n: Any) -> Any:
    s, t = Series(x * 1), 0.0
    for v, k in zip(s.a, range(n)):
        s.put(1, v + 1)
        t += v * k
    return s.a, t


PROGRAMS = [
    beside_a_range, nested, backwards, left_early, few_rows, of_an_attribute, by_another_name,
    of_a_function_named_zip, of_an_item, of_an_item_under_a_condition, each_in_its_place, by_an_iterator, by_a_named_zip,
    by_a_class_of_ones_own, by_a_comprehension, by_generators, bound_anew, one_of_two, stored_by_a_method, reversed_by_name, stored_in_another_loop,
    an_item_bound_anew, left_when_found, folded, beside_a_range_of_turns,
]  # fmt: skip


def static_n(f: Callable[..., Any]) -> Callable[..., Any]:
    return ag.function(f, static_argnames="n")


@pytest.mark.parametrize("f", PROGRAMS)
def test_as_numpy(f: Callable[..., Any]) -> None:
    as_numpy(f, lambda: (np.arange(12, dtype=np.float32) / 4, 3), [*JITTED, (static_n, np), (static_n, jnp)])


@pytest.mark.parametrize("f", [parts_and_a_callee, stored_by_the_target])
def test_parts_of_numpys_arrays_are_views(f: Callable[..., Any]) -> None:
    """Those of JAX's are values."""
    as_numpy(f, lambda: (np.arange(12, dtype=np.float32) / 4, 3), [(ag.function, np), (static_n, np)])


def test_a_copy_is_another_array() -> None:
    def f(x: Any) -> Any:
        s, t = Series(x * 1), 0.0
        for v in s.a.copy():
            s.put(9, v)
            t += v
        return s.a, t

    as_numpy(f, lambda: (np.arange(12, dtype=np.float32) / 4,), JITTED)


def test_long_arrays_are_one_compiled_loop() -> None:
    for f in (nested, backwards):
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


def a_row(m: Any, v: Any) -> Any:
    t = 0.0
    for u in m[1]:
        m[1, 2] += u + v
        t += u
    return m, t


def a_part(m: Any, v: Any) -> Any:
    t, k = 0.0, m.shape[0] - 2
    for row in m[k:]:
        m[2, 0] += row.sum() + v
        t += row.sum()
    return m, t


def raveled(m: Any, v: Any) -> Any:
    t = 0.0
    for u in m.ravel():
        m[1, 2] += u + v
        t += u
    return m, t


def turned(m: Any, v: Any) -> Any:
    t = 0.0
    columns = iter(m.T)
    for column in columns:
        m[1, 2] += column.sum() + v
        t += column.sum()
    return m, t


@pytest.mark.parametrize("f", [a_row, a_part, raveled, turned])
def test_a_view_of_numpys_is_gone_over_as_its_array_is_then(f: Callable[..., Any]) -> None:
    def made_inside(v: Any) -> Any:
        return f(np.arange(12, dtype=np.float32).reshape(4, 3).copy(), v)

    as_numpy(f, lambda: (np.arange(12, dtype=np.float32).reshape(4, 3), np.float32(2)), [(ag.convert, np), (ag.function, np)])
    as_numpy(made_inside, lambda: (np.float32(2),), JITTED)


def test_numpys_made_in_a_trace_are_gone_over_as_they_are_then() -> None:
    def f(v: Any) -> Any:
        d, s, t = {"x": np.arange(6.0, dtype=np.float32)}, Series(np.ones(6, np.float32)), 0.0
        pairs = zip(d["x"], s)
        for a, b in pairs:
            d["x"][4] += a + v
            s.put(5, b + v)
            t += a * b
        return d["x"], s.a, t + sum(list(map(lambda u: u * 2, s.a)))

    as_numpy(f, lambda: (np.float32(2),), JITTED)
