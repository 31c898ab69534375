"""What the caller has given as a number is one for `isinstance`, `type` and `np.isscalar`; one function is asked about all kinds, in any order."""

from __future__ import annotations

import numbers
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag

GIVEN = {
    "float": 4.0, "int": 4, "bool": True, "complex": 4j, "float32": np.float32(4), "float64": np.float64(4), "int64": np.int64(4), "bool_": np.bool_(True),
    "ndarray": np.ones(2), "array": jnp.ones(2), "0-d array": jnp.float32(2.0), "weak array": jnp.sin(2.0), "0-d ndarray": np.array(3.0),
}  # fmt: skip
ASKED = {
    "float": lambda x: isinstance(x, float),
    "int or float": lambda x: isinstance(x, int | float),
    "tuple": lambda x: isinstance(x, (int, np.floating)),
    "bool": lambda x: isinstance(x, bool),
    "np.number": lambda x: isinstance(x, np.number),
    "np.generic": lambda x: isinstance(x, np.generic),
    "np.integer": lambda x: isinstance(x, np.integer),
    "np.ndarray": lambda x: isinstance(x, np.ndarray),
    "Number": lambda x: isinstance(x, numbers.Number),
    "Real": lambda x: isinstance(x, numbers.Real),
    "isscalar": lambda x: np.isscalar(x),
    "type is float": lambda x: type(x) is float,
    "type in": lambda x: type(x) in (int, float),
    "type": lambda x: type(x).__name__ in ("float", "int", "float32", "ndarray", "ArrayImpl"),
}


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("backwards", [False, True])
def test_what_was_given(asked: str, backwards: bool) -> None:
    f = ASKED[asked]
    compiled = ag.function(f)
    in_tuple = ag.function(lambda pair: f(pair[1]))
    in_dict = ag.function(lambda values: f(values["x"]))
    by_name = ag.function(lambda *, x: f(x))
    for name in sorted(GIVEN, reverse=backwards):
        if name == "0-d ndarray":  # it is a number in a trace, which NumPy makes of most of them
            continue
        x = GIVEN[name]
        got = compiled(x), in_tuple((1.0, x)), in_dict({"x": x}), by_name(x=x)
        assert [*map(bool, got)] == [f(x)] * 4, name


def test_a_branch_of_what_was_given_keeps_its_shape() -> None:
    def wrap(a: Any) -> Any:
        scalar = isinstance(a, (int, float))
        a = np.asarray(a).reshape(-1) % 6.0
        return a[0] if scalar else a

    f = ag.function(wrap)
    for x in (7.0, np.array([7.0, 8.0]), 8, np.array([5.0])):
        np.testing.assert_allclose(f(x), wrap(x))
        assert np.shape(f(x)) == np.shape(wrap(x))


def test_what_numpy_computes_of_no_axis_is_a_number() -> None:
    def f(x: Any) -> Any:
        total = np.sum(x)
        return np.isscalar(total), isinstance(total, float), isinstance(x[0], np.floating), np.isscalar(x)

    x = np.arange(3.0)
    assert [bool(v) for v in ag.function(f)(x)] == [*f(x)]


def test_what_is_computed_of_a_number_is_one() -> None:
    f = ag.function(lambda x: isinstance(x * 2 + 1, float))
    assert [bool(f(x)) for x in (1.0, 2, np.ones(2))] == [True, False, False]


def test_stores_and_questions_in_one_function() -> None:
    def f(a: Any, v: Any) -> Any:
        a[0] = v if isinstance(v, float) else v[0]
        return isinstance(a, np.ndarray)

    compiled = ag.function(f)
    for v in (2.0, np.array([3.0]), jnp.array([4.0]), 5.0):
        mine, own = np.zeros(2, np.float32), np.zeros(2, np.float32)
        assert bool(compiled(mine, v)) == f(own, v)
        np.testing.assert_allclose(mine, own)


def test_a_function_is_traced_again_only_if_it_asks() -> None:
    compiled = ag.function(lambda x: x + 1 if np.ndim(x) == 0 else hasattr(x, "shape"))
    for x in (jnp.float32(1.0), np.float32(2.0)):
        compiled(x)
    assert compiled._checks.count == 1


def test_jit_knows_arrays_only() -> None:
    f = jax.jit(ag.convert(lambda x: isinstance(x, float)))
    assert not f(2.0)


def test_a_later_trace_that_asks_or_stores_is_right_at_once() -> None:
    def f(p: Any) -> Any:
        if np.ndim(p[1]):
            p[1][0] = 5.0
        return p[1] * 1.0

    def g(p: Any) -> Any:
        if np.ndim(p) > 1:
            p[0] = 5.0
        return p * 1.0

    def h(p: Any) -> Any:
        return isinstance(p, np.ndarray) if np.ndim(p) > 1 else False

    compiled, own = ag.function(f), np.ones(2, np.float32)
    compiled((1.0, jnp.float32(2.0)))
    assert compiled((1.0, own)).tolist() == [5.0, 1.0] == own.tolist()
    compiled, own = ag.function(g), np.ones((2, 1), np.float32)
    compiled(jnp.ones(3))
    compiled(jnp.ones(3))
    assert compiled(own).tolist() == [[5.0], [1.0]] == own.tolist()
    for first in (jnp.ones(3), np.ones(3)):
        compiled = ag.function(h)
        compiled(first)
        compiled(first)
        assert [bool(compiled(x)) for x in (np.ones((2, 1)), jnp.ones((2, 1)), np.ones((2, 1)))] == [True, False, True]


def test_lowering_knows_what_it_is_given() -> None:
    f = ag.function(lambda x: x + 1 if isinstance(x, float) else x * 2)
    assert "add" in f.lower(3.0).as_text() and "multiply" in f.lower(jnp.float32(3.0)).as_text()


def test_a_question_that_all_arrays_answer_alike_costs_nothing() -> None:
    for f in (lambda x: hasattr(x, "shape"), lambda x: isinstance(x, (np.ndarray, jax.Array)), lambda x: x * callable(x)):
        compiled = ag.function(f)
        for x in (np.ones(2, np.float32), jnp.ones(2), np.ones(2, np.float32)):
            compiled(x)
        assert compiled._checks.count == 1
