"""Items 21 and 25 of the articles: layers and models."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from autograph.runtime.errors.errors import LayerError

layers = ag.layers


def given(*shape: int) -> Any:
    return jnp.asarray(np.random.default_rng(len(shape)).normal(size=shape), jnp.float32)


class Reusing(layers.Model):
    def __init__(self) -> None:
        super().__init__()
        self.dense1, self.dense2 = layers.Dense(10), layers.Dense(10)

    def call(self, x: Any) -> Any:
        x = self.dense1(x)
        x = self.dense2(x)
        return self.dense2(x)


def test_21_a_model_with_a_layer_that_is_used_twice() -> None:
    model = Reusing()
    assert model.variables == [] and not model.built
    assert model(jnp.zeros([1, 1, 784])).shape == (1, 1, 10)
    assert [v.shape for v in model.variables] == [(784, 10), (10,), (10, 10), (10,)]
    assert model.layers == [model.dense1, model.dense2]

    class Around(layers.Model):
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.same, self.more = model, model.dense2, [layers.Dense(3, use_bias=False)]

        def call(self, x: Any) -> Any:
            return self.more[0](self.same(self.inner(x)))

    around = Around()
    assert around(jnp.zeros((2, 784))).shape == (2, 3) and len(around.variables) == 5


def test_21_a_layer_of_ones_own() -> None:
    class MyDense(layers.Layer):
        def __init__(self, units: int) -> None:
            super().__init__()
            self.units = units

        def build(self, input_shape: Any) -> None:
            self.kernel = self.add_variable("kernel", shape=[input_shape[-1], self.units])

        def call(self, inputs: Any) -> Any:
            return jnp.matmul(inputs, self.kernel)

    layer = MyDense(10)
    assert layer(jnp.zeros([10, 5])).shape == (10, 10) and len(layer.trainable_variables) == 1
    assert layer.kernel.name == "mydense/kernel"


def test_21_variables_are_made_at_once_where_the_shape_is_told() -> None:
    model = layers.Sequential([layers.Dense(7, "relu", input_shape=(4,)), layers.Dense(3)])
    assert [v.shape for v in model.variables] == [(4, 7), (7,), (7, 3), (3,)] and model.count_params() == 59
    assert model.summary().splitlines()[-1] == "59 parameters, 59 of them trained"
    later = layers.Sequential([layers.Dense(7), layers.Dense(3)])
    assert later.variables == [] and "not built" in later.summary()


@pytest.mark.parametrize("wrap", [lambda f: f, ag.function, jax.jit], ids=["eager", "function", "jit"])
def test_21_variables_are_made_when_a_model_is_first_called(wrap: Any) -> None:
    ag.set_seed(0)
    model = layers.Sequential([layers.Conv2D(4, 3, activation="relu"), layers.BatchNormalization(), layers.Flatten(), layers.Dense(3)])
    x = given(2, 6, 6, 1)
    out = wrap(lambda x: model(x))(x)
    assert out.shape == (2, 3) and len(model.variables) == 8
    ag.set_seed(0)
    same = layers.Sequential([layers.Conv2D(4, 3, activation="relu"), layers.BatchNormalization(), layers.Flatten(), layers.Dense(3)])
    np.testing.assert_allclose(out, same(x), rtol=1e-5, atol=1e-6)


def lstm(x: Any, w: list[Any]) -> Any:
    kernel, recurrent, bias = w
    h = c = jnp.zeros((x.shape[0], recurrent.shape[0]))
    for k in range(x.shape[1]):
        i, f, g, o = jnp.split(x[:, k] @ kernel + h @ recurrent + bias, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
    return h


BY_HAND: dict[str, tuple[Any, tuple[int, ...], Callable[[Any, list[Any]], Any]]] = {
    "dense": (lambda: layers.Dense(4, "tanh"), (3, 5), lambda x, w: jnp.tanh(x @ w[0] + w[1])),
    "without bias": (lambda: layers.Dense(4, use_bias=False), (3, 5), lambda x, w: x @ w[0]),
    "strided convolution": (
        lambda: layers.Conv2D(20, 5, strides=2), (2, 28, 28, 3),
        lambda x, w: jax.lax.conv_general_dilated(x, w[0], (2, 2), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")) + w[1],
    ),
    "max": (lambda: layers.MaxPooling2D(2), (2, 4, 6, 3), lambda x, w: x.reshape(2, 2, 2, 3, 2, 3).max((2, 4))),
    "average": (lambda: layers.AveragePooling2D(2), (2, 4, 6, 3), lambda x, w: x.reshape(2, 2, 2, 3, 2, 3).mean((2, 4))),
    "layer normalization": (lambda: layers.LayerNormalization(), (3, 8), lambda x, w: (x.T - x.mean(-1)).T / jnp.sqrt(x.var(-1) + 1e-3)[:, None]),
    "simple recurrent": (lambda: layers.SimpleRNN(4), (2, 1, 3), lambda x, w: jnp.tanh(x[:, 0] @ w[0] + w[2])),
    "lstm": (lambda: layers.LSTM(4), (2, 5, 3), lstm),
}  # fmt: skip


@pytest.mark.parametrize("name", BY_HAND)
def test_21_layers_by_hand(name: str) -> None:
    make, shape, by_hand = BY_HAND[name]
    layer, x = make(), given(*shape)
    want = layer(x)
    np.testing.assert_allclose(want, by_hand(x, [v.value for v in layer.variables]), rtol=2e-5, atol=2e-6)
    np.testing.assert_allclose(ag.function(lambda x: layer(x))(x), want, rtol=2e-5, atol=2e-6)


AS_KERAS: dict[str, tuple[Callable[[Any], Any], tuple[int, ...]]] = {
    "dense": (lambda l: l.Dense(4, "relu"), (3, 5)),
    "dense of matrices": (lambda l: l.Dense(4), (3, 2, 5)),
    "conv valid": (lambda l: l.Conv2D(4, 3, activation="relu"), (2, 8, 9, 3)),
    "conv same strided": (lambda l: l.Conv2D(4, (3, 2), strides=2, padding="same", use_bias=False), (2, 8, 9, 3)),
    "max": (lambda l: l.MaxPooling2D(2), (2, 7, 8, 3)),
    "max same": (lambda l: l.MaxPooling2D(3, strides=2, padding="same"), (2, 7, 8, 3)),
    "average": (lambda l: l.AveragePooling2D(2), (2, 7, 8, 3)),
    "average same": (lambda l: l.AveragePooling2D(3, strides=2, padding="same"), (2, 7, 8, 3)),
    "global average": (lambda l: l.GlobalAveragePooling2D(), (2, 7, 8, 3)),
    "global max": (lambda l: l.GlobalMaxPooling2D(), (2, 7, 8, 3)),
    "flatten": (lambda l: l.Flatten(), (2, 7, 8, 3)),
    "reshape": (lambda l: l.Reshape((8, -1)), (2, 4, 6)),
    "activation": (lambda l: l.Activation("softmax"), (2, 5)),
    "batch normalization": (lambda l: l.BatchNormalization(), (6, 5)),
    "batch normalization of images": (lambda l: l.BatchNormalization(momentum=0.9, epsilon=1e-5, scale=False), (4, 3, 3, 2)),
    "layer normalization": (lambda l: l.LayerNormalization(), (3, 4, 5)),
    "simple recurrent": (lambda l: l.SimpleRNN(4), (2, 6, 3)),
    "simple recurrent, all": (lambda l: l.SimpleRNN(4, activation="relu", return_sequences=True), (2, 6, 3)),
    "gru": (lambda l: l.GRU(4), (2, 6, 3)),
    "gru, all": (lambda l: l.GRU(4, return_sequences=True, return_state=True), (2, 6, 3)),
    "lstm": (lambda l: l.LSTM(4), (2, 6, 3)),
    "lstm, all": (lambda l: l.LSTM(4, return_sequences=True, return_state=True), (2, 6, 3)),
    "backwards": (lambda l: l.LSTM(4, go_backwards=True, use_bias=False), (2, 6, 3)),
}


@pytest.mark.libraries
@pytest.mark.parametrize("name", AS_KERAS)
def test_21_layers_are_those_of_keras(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    keras = of_keras(monkeypatch)
    make, shape = AS_KERAS[name]
    ours, theirs, x = make(layers), make(keras.layers), given(*shape)
    ours(x), theirs(x)
    assert [v.shape for v in ours.variables] == [tuple(v.shape) for v in theirs.variables if "seed" not in v.path]
    rng = np.random.default_rng(1)
    for v, other in zip(ours.variables, theirs.variables):
        value = rng.uniform(0.1, 1.0, v.shape).astype(np.float32)
        v.assign(value), other.assign(value)
    for training in (True, False):
        got, want = jax.tree.leaves(ours(x, training=training)), jax.tree.leaves(theirs(x, training=training))
        for a, b in zip(got, want, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
        for v, other in zip(ours.variables, theirs.variables):
            np.testing.assert_allclose(v.value, other.value, rtol=1e-5, atol=1e-6)


@pytest.mark.libraries
def test_21_embeddings_are_those_of_keras(monkeypatch: pytest.MonkeyPatch) -> None:
    keras = of_keras(monkeypatch)
    ours, theirs, x = layers.Embedding(7, 3), keras.layers.Embedding(7, 3), jnp.array([[1, 6], [0, 1]])
    theirs(x), ours(x)
    theirs.embeddings.assign(ours.embeddings.value)
    np.testing.assert_array_equal(ours(x), theirs(x))


INITIALIZERS = "glorot_uniform glorot_normal he_normal he_uniform lecun_normal random_uniform random_normal orthogonal zeros ones".split()


@pytest.mark.libraries
@pytest.mark.parametrize("name", INITIALIZERS)
@pytest.mark.parametrize("shape", [(300, 200), (3, 3, 64, 96)], ids=str)
def test_21_initial_values_are_distributed_as_in_keras(name: str, shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    keras = of_keras(monkeypatch)
    ag.set_seed(3)
    keras.utils.set_random_seed(3)
    ours = np.asarray(layers.Layer().add_variable("w", shape, name).value)
    theirs = np.asarray(keras.initializers.get(name)(shape))
    assert abs(ours.mean() - theirs.mean()) < 5 * (theirs.std() + 1e-9) / theirs.size**0.5
    near = 0.3 if "normal" in name or name == "orthogonal" else 0.02  # the largest of a normal distribution varies
    np.testing.assert_allclose([ours.std(), abs(ours).max()], [theirs.std(), abs(theirs).max()], rtol=near)


def of_keras(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("KERAS_BACKEND", "jax")
    keras = pytest.importorskip("keras", reason="Keras, whose definitions these are, is in the extra `libraries`")
    if keras.backend.backend() != "jax":
        pytest.skip("Keras runs on another backend in this process")
    return keras


def test_21_dropout_in_training_only() -> None:
    drop, x = layers.Dropout(0.25, seed=0), jnp.ones((200, 50))
    np.testing.assert_array_equal(drop(x), x)
    a, b = drop(x, training=True), drop(x, training=True)
    assert np.allclose(np.unique(a), [0, 4 / 3]) and abs(float((a == 0).mean()) - 0.25) < 0.02 and (a != b).any()

    @ag.function
    def twice(n: Any) -> Any:
        share = jnp.zeros(10)
        for k in range(n):
            share = share.at[k].set((drop(x, training=True) == 0).mean())
        return share

    shares = twice(4)[:4]
    assert len(set(shares.tolist())) > 1 and (abs(shares - 0.25) < 0.02).all()


def test_21_modes_reach_the_layers_inside() -> None:
    class Inner(layers.Model):
        def __init__(self) -> None:
            super().__init__()
            self.norm, self.drop = layers.BatchNormalization(), layers.Dropout(0.5)

        def call(self, x: Any) -> Any:
            return self.drop(self.norm(x))

    model = layers.Sequential([Inner(), layers.Dense(2)])
    x = given(16, 3)
    quiet = model(x)
    np.testing.assert_array_equal(model(x), quiet)
    assert (model(x, training=True) != quiet).any() and (model[0].norm.moving_mean.value != 0).all()
    model[0].trainable = False
    assert len(model.trainable_variables) == 2 and len(model.non_trainable_variables) == 5


@pytest.mark.parametrize("staged", [False, True], ids=["eager", "function"])
def test_21_a_traced_mode(staged: bool) -> None:
    model = layers.Sequential([layers.BatchNormalization(momentum=0.5), layers.Dropout(0.5, seed=1)])
    x = given(64, 3) + 2.0
    model(x)

    def run(x: Any, training: Any) -> Any:
        return model(x, training=training)

    run = ag.function(run) if staged else run
    np.testing.assert_allclose(run(x, jnp.bool_(False)), x / jnp.sqrt(1 + 1e-3), rtol=1e-5)
    assert (model[0].moving_mean.value == 0).all()
    assert (run(x, jnp.bool_(True)) == 0).any() and (model[0].moving_mean.value > 0.5).all()


def test_25_a_model_with_an_if_on_the_values() -> None:
    class Halving(layers.Model):
        @ag.function
        def call(self, x: Any) -> Any:
            if jnp.mean(x) > 0:
                return x * 2
            return x // 2

    model = Halving()
    out = model(jnp.array([-2, -4]))
    assert out.tolist() == [-1, -2] and out.dtype == jnp.int32
    assert model(jnp.array([3, 5])).tolist() == [6, 10]

    class Plain(layers.Model):
        def call(self, x: Any) -> Any:
            if jnp.mean(x) > 0:
                return x * 2
            return x // 2

    assert ag.function(lambda x: Plain()(x))(jnp.array([-2, -4])).tolist() == [-1, -2]


def test_21_a_cell_of_ones_own_with_control_flow() -> None:
    class Gate(layers.Cell):
        def __init__(self, units: int) -> None:
            super().__init__()
            self.units = units

        def build(self, input_shape: Any) -> None:
            self.w = self.add_variable("w", (input_shape[-1], self.units))

        def call(self, inputs: Any, states: Any) -> Any:
            (h,) = states
            if jnp.mean(inputs) > 0:
                h = h + inputs @ self.w
            return h, [h]

    layer, x = layers.RNN(Gate(3), return_sequences=True, return_state=True), given(2, 6, 4)
    want = layer(x)
    got = ag.function(lambda x: layer(x))(x)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6), got, want)
    assert want[0].shape == (2, 6, 3) and want[1].shape == (2, 3)


def test_21_gradients_of_a_recurrent_layer() -> None:
    layer, x = layers.GRU(4), given(2, 5, 3)
    layer(x)
    with ag.GradientTape() as tape:
        loss = jnp.sum(layer(x) ** 2)
    of_tape = tape.gradient(loss, layer.trainable_variables)
    _, of_function = ag.value_and_grad(lambda: jnp.sum(layer(x) ** 2), layer.trainable_variables)()
    for a, b, v in zip(of_tape, of_function, layer.trainable_variables):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)
        before, step = v.value, jnp.zeros(v.size).at[1].set(1e-2).reshape(v.shape)
        ends = []
        for sign in (1, -1):
            v.assign(before + sign * step)
            ends.append(float(jnp.sum(layer(x) ** 2)))
        v.assign(before)
        np.testing.assert_allclose((ends[0] - ends[1]) / 2e-2, jnp.ravel(a)[1], rtol=2e-2, atol=1e-4)


def test_21_models_are_saved_and_restored_as_they_are_made(tmp_path: Path) -> None:
    pytest.importorskip("safetensors", reason="checkpoints need the extra `train`")
    model, x = layers.Sequential([layers.Dense(4), layers.BatchNormalization(), layers.Dense(2)]), given(5, 3)
    want = model(x, training=True), model(x)
    path = ag.Checkpoint(model=model).save(tmp_path / "c")
    later = layers.Sequential([layers.Dense(4), layers.BatchNormalization(), layers.Dense(2)])
    restored = ag.Checkpoint(model=later).restore(path)  # there is no Variable yet
    np.testing.assert_allclose(later(x), want[1], rtol=1e-6)
    restored.assert_consumed()


def test_21_what_is_wrong() -> None:
    with pytest.raises(LayerError, match=r"`dense` was built for a last axis of 3, and is given shape \(2, 4\)"):
        layer = layers.Dense(2)
        layer(given(2, 3)), layer(given(2, 4))
    with pytest.raises(LayerError, match=r"takes images of shape \(batch, height, width, channels\)"):
        layers.Conv2D(2, 3)(given(5, 5, 1))
    with pytest.raises(LayerError, match="there is no activation 'rleu'"):
        layers.Dense(2, "rleu")(given(2, 3))
    with pytest.raises(LayerError, match="there is no initializer 'glorot'"):
        layers.Dense(2, kernel_initializer="glorot")(given(2, 3))
    with pytest.raises(LayerError, match="there is no padding 'full'"):
        layers.Conv2D(2, 3, padding="full")
    with pytest.raises(LayerError, match="takes integers"):
        layers.Embedding(3, 2)(given(2, 3))
    with pytest.raises(LayerError, match="takes sequences"):
        layers.GRU(3)(given(2, 3))
    with pytest.raises(LayerError, match="`Sequential` is given an `int`"):
        layers.Sequential([3])

    class Forgetful(layers.Model):
        def __init__(self) -> None:
            self.dense = layers.Dense(2)

    with pytest.raises(LayerError, match="has not called that of its base class"):
        Forgetful()(given(2, 3))


def test_21_attributes_of_inner_layers_are_looked_at_in_each_call() -> None:
    class Scale(ag.layers.Layer):
        def __init__(self, factor: float) -> None:
            super().__init__()
            self.factor = factor

        def call(self, inputs: Any) -> Any:
            return inputs * self.factor

    scale = Scale(2.0)
    model = ag.layers.Sequential([scale])
    compiled = ag.function(lambda model, x: model(x))
    assert float(compiled(model, 1.0)) == 2.0
    scale.factor = 5.0
    assert float(compiled(model, 1.0)) == 5.0


def test_21_an_inner_layer_is_frozen_between_calls() -> None:
    pytest.importorskip("optax", reason="optimizers need the extra `train`")
    base, head = ag.layers.Dense(2), ag.layers.Dense(1)
    model, optimizer, x = ag.layers.Sequential([base, head]), ag.optimizers.SGD(0.1), jnp.ones((4, 3))

    @ag.function
    def step(model: Any, optimizer: Any, x: Any) -> int:
        with ag.GradientTape() as tape:
            loss = jnp.mean(model(x) ** 2)
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return len(variables)

    assert step(model, optimizer, x) == 4
    base.trainable = False
    before = base.kernel.numpy()
    assert step(model, optimizer, x) == 2
    np.testing.assert_array_equal(base.kernel, before)


def test_21_the_rate_of_an_inner_dropout_changes() -> None:
    class Trainer:
        def __init__(self) -> None:
            self.model = ag.layers.Sequential([ag.layers.Dropout(0.5)])

        @ag.function
        def outputs(self, x: Any) -> Any:
            return self.model(x, training=True)

    trainer = Trainer()
    assert set(np.unique(trainer.outputs(jnp.ones(100)))) == {0.0, 2.0}
    trainer.model[0].rate = 0.0
    np.testing.assert_array_equal(trainer.outputs(jnp.ones(100)), np.ones(100))


def test_a_layer_that_does_not_say_what_it_computes() -> None:
    class Forward(ag.layers.Layer):
        def forward(self, x: Any) -> Any:
            return x * 2

    class Nothing(ag.layers.Model):
        pass

    with pytest.raises(LayerError, match="`Forward` has no `call`.*\n.*\n.*\n.*name its method `forward` `call`"):
        Forward()(jnp.ones(3))
    with pytest.raises(LayerError, match="`Nothing` has no `call`"):
        Nothing()(jnp.ones(3))
    with pytest.raises(LayerError, match="`dense` is given a number"):
        layers.Dense(2)(jnp.float32(1.0))
