"""Items 1 to 5 of the articles: operations run at once, NumPy and arrays take each other, the same text eagerly and staged."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from autograph.runtime.jaxapi import traces as _jax
from examples.fizzbuzz import fizzbuzz


def test_01_operations_run_at_once() -> None:
    assert ag.executing_eagerly()
    m = jnp.array([[2.0]])
    assert f"hello, {jnp.matmul(m, m)}" == "hello, [[4.]]"
    seen = []
    ag.function(lambda x: seen.append(ag.executing_eagerly()) or x)(1.0)
    assert seen == [False]
    with ag.GradientTape():
        assert ag.executing_eagerly()


def test_02_convolution_with_a_variable_filter() -> None:
    images = np.random.default_rng(0).normal(size=(2, 28, 28, 3)).astype(np.float32)
    make = jax.nn.initializers.truncated_normal(1.0)
    w = ag.Variable(lambda: make(jax.random.key(0), (5, 5, 3, 20)), name="conv_w0")

    def convolved(x: Any) -> Any:
        return jax.lax.conv_general_dilated(x, w, (2, 2), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    assert convolved(images).shape == (2, 12, 12, 20)
    np.testing.assert_allclose(ag.function(convolved)(images), convolved(images), rtol=1e-4, atol=1e-4)


def test_03_numpy_and_arrays_take_each_other() -> None:
    a = jnp.array([[1, 2], [3, 4]])
    b = jnp.add(a, 1)
    assert np.array_equal(a * b, [[2, 6], [12, 20]])
    c = np.multiply(a, b)
    assert type(c) is np.ndarray and np.array_equal(c, [[2, 6], [12, 20]])
    v = ag.Variable([[1.0, 2.0]])
    assert type(v.numpy()) is np.ndarray and type(np.multiply(v.numpy(), 2)) is np.ndarray
    assert np.array_equal(np.ones(2) * v, [[1.0, 2.0]]) and np.array_equal(np.asarray(v) + 1, [[2.0, 3.0]])
    assert np.array_equal(np.sin(np.asarray(v)), np.sin([[1.0, 2.0]], dtype=np.float32))


def test_04_fizzbuzz_eagerly_and_staged(capfd: pytest.CaptureFixture[str]) -> None:
    assert fizzbuzz.__wrapped__(16) == 16
    eager = capfd.readouterr().out
    assert fizzbuzz(jnp.int32(16)) == 16
    jax.effects_barrier()
    assert capfd.readouterr().out == eager
    assert eager.split()[:6] == ["FizzBuzz", "1", "2", "Fizz", "4", "Buzz"]


def relu(x: Any) -> Any:
    if x >= 0:
        return x
    return jnp.zeros(x.shape)


def test_05_relu_with_an_if() -> None:
    assert np.array_equal(relu(jnp.array([[5.0]])), [[5.0]]) and np.array_equal(relu(jnp.array([[-5.0]])), [[0.0]])
    staged = ag.function(relu)
    assert np.array_equal(staged(jnp.array([[5.0]])), [[5.0]]) and np.array_equal(staged(jnp.array([[-5.0]])), [[0.0]])
    with pytest.raises(ag.AutographError, match="which is not converted") as caught:
        ag.function(lambda x: ag.do_not_convert(relu)(x))(jnp.array([[5.0]]))
    assert caught.value.id == "AG501" and "convert" in str(caught.value)
    assert not _jax.recording()
