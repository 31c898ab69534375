"""TensorFlow's guide "Basic training loops", tensorflow.org/guide/basic_training_loops."""

# The noise of the page is random, so its losses are those of one run: each number is compared with the same steps in NumPy, in double precision.
# Instead of a plot, what it would show is compared.

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag

TRUE_W = 3.0
TRUE_B = 2.0

NUM_EXAMPLES = 201

EPOCHS = range(10)


def f(x: Any) -> Any:
    return x * TRUE_W + TRUE_B


def data() -> tuple[Any, Any]:
    x = jnp.linspace(-2, 2, NUM_EXAMPLES)
    x = x.astype(jnp.float32)
    noise = jax.random.normal(jax.random.key(0), shape=[NUM_EXAMPLES])
    return x, f(x) + noise


def steps_by_hand(learning_rate: float) -> list[tuple[float, float, float]]:
    """The weight, the bias and the loss before the first step and after each."""
    x, y = (np.asarray(v, np.float64) for v in data())
    w, b = 5.0, 0.0
    found = []
    for _ in range(len(EPOCHS) + 1):
        error = w * x + b - y
        found.append((w, b, np.mean(error**2)))
        w, b = w - learning_rate * np.mean(2 * error * x), b - learning_rate * np.mean(2 * error)
    return found


# Data


def test_the_data() -> None:
    x, y = data()
    assert x.shape == y.shape == (201,)
    assert x.dtype == y.dtype == jnp.float32
    assert [float(v) for v in (x[0], x[100], x[-1])] == pytest.approx([-2.0, 0.0, 2.0], abs=1e-6)
    noise = np.asarray(y) - (3 * np.asarray(x) + 2)
    assert abs(noise.mean()) < 0.3 and 0.8 < noise.std() < 1.2


# Define the model


class MyModel(ag.Module):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.w = ag.Variable(5.0)
        self.b = ag.Variable(0.0)

    def __call__(self, x: Any) -> Any:
        return self.w * x + self.b


def test_the_model() -> None:
    model = MyModel()
    assert [float(v) for v in model.variables] == [0.0, 5.0]  # by the names of the attributes
    assert model.variables[0] is model.b and model.variables[1] is model.w
    assert model(3.0) == 15.0


# Define a loss function


def loss(target_y: Any, predicted_y: Any) -> Any:
    return jnp.mean(jnp.square(target_y - predicted_y))


def test_the_loss_before_training() -> None:
    x, y = data()
    model = MyModel()

    np.testing.assert_allclose(f(x), np.linspace(-4, 8, 201), atol=1e-6)  # what the plot shows: the line, and the predictions
    np.testing.assert_allclose(model(x), np.linspace(-10, 10, 201), atol=1e-6)

    printed = f"Current loss: {loss(y, model(x)):1.6f}"
    assert re.fullmatch(r"Current loss: \d+\.\d{6}", printed)
    assert float(printed.split()[-1]) == pytest.approx(steps_by_hand(0.1)[0][2], rel=1e-5)


# Define a training loop


def train(model: Any, x: Any, y: Any, learning_rate: float) -> None:
    with ag.GradientTape() as t:
        current_loss = loss(y, model(x))

    dw, db = t.gradient(current_loss, [model.w, model.b])

    model.w.assign_sub(learning_rate * dw)
    model.b.assign_sub(learning_rate * db)


compiled_train = ag.function(train)


def report(model: Any, loss: Any) -> str:
    return f"W = {model.w.numpy():1.2f}, b = {model.b.numpy():1.2f}, loss={loss:2.5f}"


def training_loop(model: Any, x: Any, y: Any, step: Any = train) -> list[tuple[Any, Any, Any]]:
    history = []
    for epoch in EPOCHS:
        step(model, x, y, learning_rate=0.1)

        current_loss = loss(y, model(x))
        history.append((model.w.numpy(), model.b.numpy(), current_loss))

        print(f"Epoch {epoch:2d}:")
        print("    ", report(model, current_loss))
    return history


def check(printed: str, history: list[tuple[Any, Any, Any]]) -> None:
    expected = steps_by_hand(0.1)[1:]
    np.testing.assert_allclose(np.array(history, float), expected, rtol=1e-5)
    lines = re.findall(r"Epoch +(\d+):\n +W = (-?\d+\.\d\d), b = (-?\d+\.\d\d), loss=(\d+\.\d{5})\n", printed)
    assert [int(epoch) for epoch, *_ in lines] == list(EPOCHS)
    np.testing.assert_allclose([[float(v) for v in values] for _, *values in lines], expected, atol=0.0051)


def test_a_training_loop(capsys: pytest.CaptureFixture[str]) -> None:
    x, y = data()
    model = MyModel()

    current_loss = loss(y, model(x))

    print("Starting:")
    print("    ", report(model, current_loss))
    # the noise decides the loss, which the page gives as 10.30
    assert re.fullmatch(r"Starting:\n +W = 5.00, b = 0.00, loss=1\d\.\d{5}\n", capsys.readouterr().out)

    history = training_loop(model, x, y)
    check(capsys.readouterr().out, history)

    # what the plots show: weight and bias come near to the line
    assert abs(model.w.numpy() - TRUE_W) < 0.1 and abs(model.b.numpy() - TRUE_B) < 0.3
    assert float(loss(model(x), y)) == pytest.approx(steps_by_hand(0.1)[-1][2], rel=1e-5)
    np.testing.assert_allclose(model(x), f(x), atol=0.5)


def test_a_training_loop_of_compiled_steps(capsys: pytest.CaptureFixture[str]) -> None:
    x, y = data()
    history = training_loop(MyModel(), x, y, compiled_train)
    check(capsys.readouterr().out, history)


# The same solution, but with Keras


class MyModelKeras(ag.layers.Model):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.w = ag.Variable(5.0)
        self.b = ag.Variable(0.0)

    def call(self, x: Any) -> Any:
        return self.w * x + self.b


def test_a_model_of_keras_in_the_same_loop(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    x, y = data()
    keras_model = MyModelKeras()

    history = training_loop(keras_model, x, y)
    check(capsys.readouterr().out, history)

    keras_model.save_weights(tmp_path / "my_checkpoint")
    loaded = MyModelKeras()
    loaded.load_weights(tmp_path / "my_checkpoint")
    assert [float(v) for v in loaded.variables] == [float(v) for v in keras_model.variables]
    assert loaded(1.5) == keras_model(1.5)


def check_fit(keras_model: Any, printed: str, history: Any) -> None:
    by_hand = steps_by_hand(0.1)
    # the loss of an epoch is that of its batch before the step, as in Keras
    expected = [value for _, _, value in by_hand[:-1]]
    assert list(history.history) == ["loss"]
    np.testing.assert_allclose(history.history["loss"], expected, rtol=1e-5)
    np.testing.assert_allclose([keras_model.w.numpy(), keras_model.b.numpy()], by_hand[-1][:2], rtol=1e-5)

    lines = re.findall(r"Epoch (\d+)/10 - loss: (\d+\.\d{4})\n", printed)  # one line for an epoch, without Keras's bar
    assert [int(epoch) for epoch, _ in lines] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    np.testing.assert_allclose([float(value) for _, value in lines], expected, atol=0.00011)


def test_fit_of_a_model_compiled_with_run_eagerly(capsys: pytest.CaptureFixture[str]) -> None:
    x, y = data()
    keras_model = MyModelKeras()

    keras_model.compile(
        run_eagerly=False,
        optimizer=ag.optimizers.SGD(learning_rate=0.1),
        loss=ag.losses.mean_squared_error,
    )
    history = keras_model.fit(x, y, epochs=10, batch_size=1000)
    check_fit(keras_model, capsys.readouterr().out, history)


def test_fit(capsys: pytest.CaptureFixture[str]) -> None:
    x, y = data()
    keras_model = MyModelKeras()

    keras_model.compile(
        optimizer=ag.optimizers.SGD(learning_rate=0.1),
        loss=ag.losses.mean_squared_error,
    )

    assert x.shape[0] == 201
    history = keras_model.fit(x, y, epochs=10, batch_size=1000)
    check_fit(keras_model, capsys.readouterr().out, history)


def test_fit_by_the_loss_of_the_training_loop(capsys: pytest.CaptureFixture[str]) -> None:
    x, y = data()
    keras_model = MyModelKeras()
    keras_model.compile(optimizer=ag.optimizers.SGD(learning_rate=0.1), loss=loss)
    history = keras_model.fit(x, y, epochs=10, batch_size=1000)
    check_fit(keras_model, capsys.readouterr().out, history)
