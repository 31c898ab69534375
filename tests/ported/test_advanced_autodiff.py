"""TensorFlow's guide "Advanced automatic differentiation", tensorflow.org/guide/advanced_autodiff."""

# The layers and inputs of the page are random: besides the shapes that it prints, the derivatives are compared with those of JAX or NumPy.

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag


@pytest.fixture(autouse=True)
def seeded() -> None:
    ag.set_seed(0)


# Controlling gradient recording


def test_recording_is_stopped() -> None:
    x = ag.Variable(2.0)
    y = ag.Variable(3.0)

    with ag.GradientTape() as t:
        x_sq = x * x
        with t.stop_recording():
            y_sq = y * y
        z = x_sq + y_sq

    grad = t.gradient(z, {"x": x, "y": y})

    assert float(z) == 13.0
    assert float(grad["x"]) == 4.0
    assert grad["y"] is None


def test_recording_starts_again() -> None:
    x = ag.Variable(2.0)
    y = ag.Variable(3.0)
    reset = True

    with ag.GradientTape() as t:
        y_sq = y * y
        if reset:
            t.reset()
        z = x * x + y_sq

    grad = t.gradient(z, {"x": x, "y": y})

    assert float(grad["x"]) == 4.0
    assert grad["y"] is None


def test_the_gradient_of_a_part_is_stopped() -> None:
    x = ag.Variable(2.0)
    y = ag.Variable(3.0)

    with ag.GradientTape() as t:
        y_sq = y**2
        z = x**2 + jax.lax.stop_gradient(y_sq)

    grad = t.gradient(z, {"x": x, "y": y})

    assert float(grad["x"]) == 4.0
    assert grad["y"] is None


# Custom gradients


def clip_by_norm(t: Any, clip_norm: float) -> Any:
    """As `tf.clip_by_norm`, which `jnp` does not have."""
    return t * clip_norm / jnp.maximum(jnp.linalg.norm(jnp.ravel(t)), clip_norm)


@ag.custom_gradient
def clip_gradients(y: Any) -> Any:
    def backward(dy: Any) -> Any:
        return clip_by_norm(dy, 0.5)

    return y, backward


def test_a_gradient_that_is_clipped() -> None:
    v = ag.Variable(2.0)
    with ag.GradientTape() as t:
        output = clip_gradients(v * v)
    assert float(t.gradient(output, v)) == 2.0


class MyModule(ag.Module):
    @ag.function(input_signature=[ag.TensorSpec(None)])
    def call_custom_grad(self, x: Any) -> Any:
        return clip_gradients(x)


def test_a_custom_gradient_in_a_function_of_a_module() -> None:
    model = MyModule()
    v = ag.Variable(2.0)
    with ag.GradientTape() as t:
        output = model.call_custom_grad(v * v)
    assert float(t.gradient(output, v)) == 2.0


SCALAR = jax.ShapeDtypeStruct((), jnp.float32)  # a program is saved for known shapes


def gradient_of_what_is_saved(saved: Any, file: Path) -> Any:
    # a derivative is saved when it is asked for, as with `experimental_custom_gradients=True`
    file.write_bytes(saved.serialize(vjp_order=1))

    v = ag.Variable(2.0)
    loaded = jax.export.deserialize(bytearray(file.read_bytes()))
    with ag.GradientTape() as t:
        output = loaded.call(v * v)
    return t.gradient(output, v)


def test_a_custom_gradient_is_saved(tmp_path: Path) -> None:
    model = MyModule()
    saved = ag.export(lambda x: model.call_custom_grad(x), SCALAR)
    assert float(gradient_of_what_is_saved(saved, tmp_path / "saved_model")) == 2.0


def test_a_custom_gradient_of_a_method_is_saved(tmp_path: Path) -> None:
    saved = ag.export(MyModule().call_custom_grad, SCALAR)
    assert float(gradient_of_what_is_saved(saved, tmp_path / "saved_model")) == 2.0


def test_a_function_with_a_custom_gradient_is_saved(tmp_path: Path) -> None:
    saved = ag.export(clip_gradients, SCALAR)
    assert float(gradient_of_what_is_saved(saved, tmp_path / "saved_model")) == 2.0


# Multiple tapes


def test_two_tapes() -> None:
    x0 = jnp.asarray(0.0)
    x1 = jnp.asarray(0.0)

    with ag.GradientTape() as tape0, ag.GradientTape() as tape1:
        tape0.watch(x0)
        tape1.watch(x1)

        y0 = jnp.sin(x0)
        y1 = jax.nn.sigmoid(x1)

        y = y0 + y1

        ys = jnp.sum(y)

    assert float(tape0.gradient(ys, x0)) == 1.0
    assert float(tape1.gradient(ys, x1)) == 0.25


def test_higher_order_gradients() -> None:
    x = ag.Variable(1.0)

    with ag.GradientTape() as t2:
        with ag.GradientTape() as t1:
            y = x * x * x

        # in the block of the outer tape, which records it
        dy_dx = t1.gradient(y, x)
    d2y_dx2 = t2.gradient(dy_dx, x)

    assert float(dy_dx) == 3.0
    assert float(d2y_dx2) == 6.0


def test_input_gradient_regularization() -> None:
    x = ag.random.normal([7, 5])

    layer = ag.layers.Dense(10, activation=jax.nn.relu)

    with ag.GradientTape() as t2:
        with ag.GradientTape(watch_accessed_variables=False) as t1:
            t1.watch(x)
            y = layer(x)
            out = jnp.sum(layer(x) ** 2)
        g1 = t1.gradient(out, x)
        g1_mag = jnp.linalg.norm(g1)

    dg1_mag = t2.gradient(g1_mag, layer.trainable_variables)

    assert y.shape == (7, 10)
    assert [var.shape for var in dg1_mag] == [(5, 10), (10,)]

    def magnitude(kernel: Any, bias: Any) -> Any:
        return jnp.linalg.norm(jax.grad(lambda x: jnp.sum(jax.nn.relu(x @ kernel + bias) ** 2))(x))

    expected = jax.jit(jax.grad(magnitude, (0, 1)))(layer.kernel.value, layer.bias.value)
    for g, e in zip(dg1_mag, expected):
        np.testing.assert_allclose(g, e, rtol=1e-4, atol=1e-5)


# Jacobians


def test_the_jacobian_by_a_scalar() -> None:
    x = jnp.linspace(-10.0, 10.0, 200 + 1)
    delta = ag.Variable(0.0)

    with ag.GradientTape() as tape:
        y = jax.nn.sigmoid(x + delta)

    dy_dx = tape.jacobian(y, delta)

    assert y.shape == (201,)
    assert dy_dx.shape == (201,)
    # the curve of the plot, by NumPy
    sigmoid = 1 / (1 + np.exp(-np.linspace(-10.0, 10.0, 201)))
    np.testing.assert_allclose(dy_dx, sigmoid * (1 - sigmoid), rtol=1e-4, atol=1e-7)


def test_the_jacobian_by_a_kernel() -> None:
    x = ag.random.normal([7, 5])
    layer = ag.layers.Dense(10, activation=jax.nn.relu)

    with ag.GradientTape(persistent=True) as tape:
        y = layer(x)

    assert y.shape == (7, 10)
    assert layer.kernel.shape == (5, 10)

    j = tape.jacobian(y, layer.kernel)
    assert j.shape == (7, 10, 5, 10)

    g = tape.gradient(y, layer.kernel)
    assert g.shape == (5, 10)

    j_sum = jnp.sum(j, axis=[0, 1])
    delta = float(jnp.max(abs(g - j_sum)))
    assert delta < 1e-3

    # by hand: an output depends on the column of the kernel that it belongs to, where it is positive
    positive = (np.asarray(y) > 0).astype(np.float32)
    np.testing.assert_allclose(j, np.einsum("bo,bi,op->boip", positive, np.asarray(x), np.eye(10)), rtol=1e-5, atol=1e-6)


def test_the_hessian_and_a_step_of_newton() -> None:
    x = ag.random.normal([7, 5])
    x_in = x
    layer1 = ag.layers.Dense(8, activation=jax.nn.relu)
    layer2 = ag.layers.Dense(6, activation=jax.nn.relu)

    with ag.GradientTape() as t2:
        with ag.GradientTape() as t1:
            x = layer1(x)
            x = layer2(x)
            loss = jnp.mean(x**2)

        g = t1.gradient(loss, layer1.kernel)

    h = t2.jacobian(g, layer1.kernel)

    assert layer1.kernel.shape == (5, 8)
    assert h.shape == (5, 8, 5, 8)

    n_params = np.prod(layer1.kernel.shape)

    g_vec = jnp.reshape(g, [n_params, 1])
    h_mat = jnp.reshape(h, [n_params, n_params])
    # the picture of the page shows that it is symmetric
    np.testing.assert_allclose(h_mat, h_mat.T, atol=1e-6)

    k2, b1, b2 = layer2.kernel.value, layer1.bias.value, layer2.bias.value

    def of_kernel(kernel: Any) -> Any:
        return jnp.mean(jax.nn.relu(jax.nn.relu(x_in @ kernel + b1) @ k2 + b2) ** 2)

    before = layer1.kernel.numpy()
    np.testing.assert_allclose(h, jax.jit(jax.hessian(of_kernel))(before), rtol=1e-4, atol=1e-6)

    eps = 1e-3
    eye_eps = jnp.eye(h_mat.shape[0]) * eps

    update = jnp.linalg.solve(h_mat + eye_eps, g_vec)

    _ = layer1.kernel.assign_sub(jnp.reshape(update, layer1.kernel.shape))

    solved = np.linalg.solve(np.asarray(h_mat + eye_eps, np.float64), np.asarray(g_vec, np.float64)).reshape(5, 8)
    np.testing.assert_allclose(layer1.kernel.numpy(), before - solved, rtol=1e-2, atol=1e-3)
    assert of_kernel(layer1.kernel.value) < loss


# Batch Jacobian


def test_the_jacobian_of_each_item_of_a_batch() -> None:
    x = ag.random.normal([7, 5])

    layer1 = ag.layers.Dense(8, activation=jax.nn.elu)
    layer2 = ag.layers.Dense(6, activation=jax.nn.elu)

    with ag.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
        tape.watch(x)
        y = layer1(x)
        y = layer2(y)

    assert y.shape == (7, 6)

    j = tape.jacobian(y, x)
    assert j.shape == (7, 6, 7, 5)

    # the pictures of the page show that each slice of batch by batch is diagonal
    off_diagonal = np.asarray(j)[~np.eye(7, dtype=bool)[:, None, :, None].repeat(6, 1).repeat(5, 3)]
    assert not off_diagonal.any()

    j_sum = jnp.sum(j, axis=2)
    assert j_sum.shape == (7, 6, 5)
    j_select = jnp.einsum("bxby->bxy", j)
    assert j_select.shape == (7, 6, 5)
    np.testing.assert_allclose(j_sum, j_select, rtol=1e-6)

    jb = tape.batch_jacobian(y, x)
    assert jb.shape == (7, 6, 5)

    error = jnp.max(abs(jb - j_sum))
    assert error < 1e-3

    expected = jax.jit(jax.vmap(jax.jacobian(lambda row: layer2(layer1(row[None]))[0])))(x)
    np.testing.assert_allclose(jb, expected, rtol=1e-4, atol=1e-6)


def test_items_of_a_batch_that_depend_on_each_other() -> None:
    x = ag.random.normal([7, 5])

    layer1 = ag.layers.Dense(8, activation=jax.nn.elu)
    bn = ag.layers.BatchNormalization()
    layer2 = ag.layers.Dense(6, activation=jax.nn.elu)

    with ag.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
        tape.watch(x)
        y = layer1(x)
        y = bn(y, training=True)
        y = layer2(y)

    j = tape.jacobian(y, x)
    assert j.shape == (7, 6, 7, 5)

    # the picture of the page shows that these slices are not diagonal
    off_diagonal = np.asarray(j)[~np.eye(7, dtype=bool)[:, None, :, None].repeat(6, 1).repeat(5, 3)]
    assert np.abs(off_diagonal).max() > 1e-3

    # it runs, and gives the sum over the batch, which means little
    jb = tape.batch_jacobian(y, x)
    assert jb.shape == (7, 6, 5)
    np.testing.assert_allclose(jb, jnp.sum(j, axis=0).transpose(1, 0, 2), rtol=1e-4, atol=1e-5)
