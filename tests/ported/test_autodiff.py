"""TensorFlow's guide "Introduction to gradients and automatic differentiation", tensorflow.org/guide/autodiff."""

# Results are arrays of JAX's, which have no `numpy()`: `float(...)` and `tolist()` stand in its place.
# Instead of a plot, what it would show is compared.

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from autograph.runtime.errors.errors import TapeError


@pytest.fixture(autouse=True)
def seeded() -> None:
    ag.set_seed(0)


# Gradient tapes


def test_the_gradient_of_a_square() -> None:
    x = ag.Variable(3.0)

    with ag.GradientTape() as tape:
        y = x**2

    dy_dx = tape.gradient(y, x)
    assert float(dy_dx) == 6.0


def linear() -> tuple[ag.Variable, ag.Variable, Any]:
    w = ag.Variable(ag.random.normal((3, 2)), name="w")
    b = ag.Variable(jnp.zeros(2, dtype=jnp.float32), name="b")
    return w, b, [[1.0, 2.0, 3.0]]


def check_linear(w: ag.Variable, b: ag.Variable, x: Any, loss: Any, tape: ag.GradientTape) -> None:
    [dl_dw, dl_db] = tape.gradient(loss, [w, b])
    assert w.shape == (3, 2) and dl_dw.shape == (3, 2)

    my_vars = {"w": w, "b": b}
    grad = tape.gradient(loss, my_vars)
    # the weights are random, so by hand: the loss is the mean of two squares, and its derivative by `b` is `y` itself
    y = np.array(x) @ w.numpy() + b.numpy()
    np.testing.assert_allclose(loss, np.mean(y**2), rtol=1e-5)
    for db, dw in ((dl_db, dl_dw), (grad["b"], grad["w"])):
        np.testing.assert_allclose(db, y[0], rtol=1e-5)
        np.testing.assert_allclose(dw, np.outer(x[0], y[0]), rtol=1e-5)


def test_the_gradients_of_a_linear_layer_of_a_nested_list() -> None:
    w, b, x = linear()

    with ag.GradientTape(persistent=True) as tape:
        y = x @ w + b
        loss = jnp.mean(y**2)

    check_linear(w, b, x, loss, tape)


def test_the_gradients_of_a_linear_layer_of_an_array() -> None:
    w, b, x = linear()

    with ag.GradientTape(persistent=True) as tape:
        y = jnp.array(x) @ w + b
        loss = jnp.mean(y**2)

    check_linear(w, b, x, loss, tape)


# Gradients with respect to a model


def test_the_gradients_of_a_model() -> None:
    layer = ag.layers.Dense(2, activation="relu")
    x = jnp.array([[1.0, 2.0, 3.0]])

    with ag.GradientTape() as tape:
        y = layer(x)
        loss = jnp.mean(y**2)

    grad = tape.gradient(loss, layer.trainable_variables)

    lines = [f"{var.name}, shape: {g.shape}" for var, g in zip(layer.trainable_variables, grad)]
    # TensorFlow appends ":0" to the names, which tells the outputs of an operation of a graph
    assert lines == ["dense/kernel, shape: (3, 2)", "dense/bias, shape: (2,)"]


# Controlling what the tape watches


def test_only_trainable_variables_are_watched() -> None:
    x0 = ag.Variable(3.0, name="x0")
    x1 = ag.Variable(3.0, name="x1", trainable=False)
    x2 = ag.Variable(2.0, name="x2") + 1.0
    x3 = jnp.asarray(3.0)

    with ag.GradientTape() as tape:
        y = (x0**2) + (x1**2) + (x2**2)

    grad = tape.gradient(y, [x0, x1, x2, x3])

    assert float(grad[0]) == 6.0
    assert grad[1:] == [None, None, None]
    assert [var.name for var in tape.watched_variables()] == ["x0"]  # "x0:0" in TensorFlow


def test_an_array_is_watched_when_asked_for() -> None:
    x = jnp.asarray(3.0)
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = x**2

    dy_dx = tape.gradient(y, x)
    assert float(dy_dx) == 6.0


def test_variables_are_not_watched_when_told_so() -> None:
    x0 = ag.Variable(0.0)
    x1 = ag.Variable(10.0)

    with ag.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(x1)
        y0 = jnp.sin(x0)
        y1 = jax.nn.softplus(x1)
        y = y0 + y1
        ys = jnp.sum(y)

    grad = tape.gradient(ys, {"x0": x0, "x1": x1})

    assert grad["x0"] is None
    assert float(grad["x1"]) == pytest.approx(0.9999546, abs=1e-6)  # the sigmoid of 10


# Intermediate results


def test_the_gradient_by_an_intermediate_value() -> None:
    x = jnp.asarray(3.0)

    with ag.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        z = y * y

    assert float(tape.gradient(z, y)) == 18.0


def test_a_persistent_tape_gives_several_gradients() -> None:
    x = jnp.array([1, 3.0])
    with ag.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * y

    assert tape.gradient(z, x).tolist() == [4.0, 108.0]
    assert tape.gradient(y, x).tolist() == [2.0, 6.0]
    del tape


def test_another_tape_gives_them_once() -> None:
    x = jnp.asarray(3.0)
    with ag.GradientTape() as tape:
        tape.watch(x)
        y = x * x

    assert float(tape.gradient(y, x)) == 6.0
    with pytest.raises(RuntimeError, match="persistent") as error:  # TensorFlow raises a RuntimeError too
        tape.gradient(y, x)
    assert isinstance(error.value, TapeError) and error.value.id == "AG703"


# Gradients of non-scalar targets


def test_each_target_for_itself() -> None:
    x = ag.Variable(2.0)
    with ag.GradientTape(persistent=True) as tape:
        y0 = x**2
        y1 = 1 / x

    assert float(tape.gradient(y0, x)) == 4.0
    assert float(tape.gradient(y1, x)) == -0.25


def test_the_gradients_of_several_targets_are_added() -> None:
    x = ag.Variable(2.0)
    with ag.GradientTape() as tape:
        y0 = x**2
        y1 = 1 / x

    assert float(tape.gradient({"y0": y0, "y1": y1}, x)) == 3.75


def test_the_gradient_of_a_vector_is_that_of_its_sum_of_a_list() -> None:
    x = ag.Variable(2.0)

    with ag.GradientTape() as tape:
        y = x * [3.0, 4.0]

    assert float(tape.gradient(y, x)) == 7.0


def test_the_gradient_of_a_vector_is_that_of_its_sum() -> None:
    x = ag.Variable(2.0)

    with ag.GradientTape() as tape:
        y = x * jnp.array([3.0, 4.0])

    assert float(tape.gradient(y, x)) == 7.0


def test_an_elementwise_function() -> None:
    x = jnp.linspace(-10.0, 10.0, 200 + 1)

    with ag.GradientTape() as tape:
        tape.watch(x)
        y = jax.nn.sigmoid(x)

    dy_dx = tape.gradient(y, x)
    # the two curves of the plot, by NumPy
    sigmoid = 1 / (1 + np.exp(-np.linspace(-10.0, 10.0, 201)))
    np.testing.assert_allclose(y, sigmoid, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(dy_dx, sigmoid * (1 - sigmoid), rtol=1e-4, atol=1e-7)
    assert float(dy_dx[100]) == 0.25


# Control flow


def test_only_the_branch_that_is_taken_is_recorded() -> None:
    x = jnp.asarray(1.0)

    v0 = ag.Variable(2.0)
    v1 = ag.Variable(2.0)

    with ag.GradientTape(persistent=True) as tape:
        tape.watch(x)
        if x > 0.0:
            result = v0
        else:
            result = v1**2

    dv0, dv1 = tape.gradient(result, [v0, v1])
    assert float(dv0) == 1.0
    assert dv1 is None

    dx = tape.gradient(result, x)
    assert dx is None


# Cases where the gradient is None


def test_what_is_not_connected() -> None:
    x = ag.Variable(2.0)
    y = ag.Variable(3.0)

    with ag.GradientTape() as tape:
        z = y * y
    assert tape.gradient(z, x) is None


def test_a_variable_that_is_replaced_by_an_array() -> None:
    x: Any = ag.Variable(2.0)
    seen = []

    for _ in range(2):
        with ag.GradientTape() as tape:
            y = x + 1

        seen.append((isinstance(x, ag.Variable), tape.gradient(y, x)))
        x = x + 1  # not `x.assign_add(1)`

    # TensorFlow prints "ResourceVariable : 1.0" and "EagerTensor : None"
    (first, by_first), (second, by_second) = seen
    assert first and float(by_first) == 1.0
    assert not second and by_second is None


def test_a_calculation_by_a_function_of_numpy() -> None:
    x = ag.Variable([[1.0, 2.0], [3.0, 4.0]], dtype=jnp.float32)

    with ag.GradientTape() as tape:
        x2 = x**2
        y = np.mean(x2, axis=0)  # NumPy calls the array's own method, which is recorded: None in TensorFlow, right here
        y = jnp.mean(y, axis=0)

    np.testing.assert_allclose(tape.gradient(y, x), x.value / 2)


def test_a_calculation_outside_of_jax() -> None:
    x = ag.Variable([[1.0, 2.0], [3.0, 4.0]], dtype=jnp.float32)

    with ag.GradientTape() as tape:
        x2 = x**2
        y = np.asarray(x2).mean(axis=0)  # a NumPy array, and certainly not recorded
        y = jnp.mean(y, axis=0)

    assert float(y) == 7.5
    assert tape.gradient(y, x) is None


def test_a_gradient_through_integers() -> None:
    x = jnp.asarray(10)

    with ag.GradientTape() as g:
        g.watch(x)
        y = x * x

    assert g.gradient(y, x) is None


def test_a_gradient_through_a_stateful_object() -> None:
    x0 = ag.Variable(3.0)
    x1 = ag.Variable(0.0)

    with ag.GradientTape() as tape:
        x1.assign_add(x0)
        y = x1**2

    assert float(y) == 9.0
    assert tape.gradient(y, x0) is None


# No gradient registered


def test_an_operation_without_a_gradient() -> None:
    image = ag.Variable([[[0.5, 0.0, 0.0]]])
    delta = ag.Variable(0.1)

    def adjust_contrast(image: Any, delta: Any) -> Any:
        mean = np.mean(image, axis=(-3, -2), keepdims=True)
        return (image - mean) * delta + mean

    # TensorFlow's operation is a kernel of its own; here a callback to the host is what has no derivative
    def opaque(image: Any, delta: Any) -> Any:
        return jax.pure_callback(adjust_contrast, jax.ShapeDtypeStruct((1, 1, 3), jnp.float32), image, delta)

    with ag.GradientTape() as tape:
        new_image = opaque(image, delta)

    np.testing.assert_allclose(new_image, [[[0.5, 0.0, 0.0]]])
    with pytest.raises(ValueError, match="Pure callbacks do not support JVP"):  # JAX's error, where TensorFlow raises a LookupError
        tape.gradient(new_image, [image, delta])


# Zeros instead of None


def test_zeros_for_what_is_not_connected() -> None:
    x = ag.Variable([2.0, 2.0])
    y = ag.Variable(3.0)

    with ag.GradientTape() as tape:
        z = y**2
    # "zero" is the value of `tf.UnconnectedGradients.ZERO`
    assert tape.gradient(z, x, unconnected_gradients="zero").tolist() == [0.0, 0.0]
