"""Whole models in one file: `model.save`, `ag.layers.load_model`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from autograph.layers import (
    GRU,
    LSTM,
    BatchNormalization,
    Bidirectional,
    Conv2D,
    Dense,
    Dropout,
    Embedding,
    Flatten,
    LayerNormalization,
    MaxPooling2D,
    Model,
    Sequential,
    load_model,
)

pytest.importorskip("safetensors", reason="files need the extra `train`")


def doubled(x: Any) -> Any:
    return x * 2


class Net(Model):
    def __init__(self, width: int, *, depth: int = 2, activation: Any = "relu") -> None:
        super().__init__(name="net")
        self.blocks = [Dense(width, activation) for _ in range(depth)]
        self.last = Dense(3)

    def call(self, x: Any) -> Any:
        for block in self.blocks:
            x = block(x)
        return self.last(x)


class Lazy(Model):
    """Makes a layer in its first call."""

    def build(self, input_shape: Any) -> None:
        self.inner = Sequential([Dense(input_shape[-1]), Dropout(0.5)])

    def call(self, x: Any) -> Any:
        return x + self.inner(x)


MODELS: dict[str, tuple[Any, Any]] = {
    "dense": (lambda: Sequential([Dense(8, "gelu"), Dense(2)]), np.ones((2, 3), np.float32)),
    "built at once": (lambda: Sequential([Dense(8, "relu", input_shape=(3,)), Dense(2)]), np.ones((2, 3), np.float32)),
    "images": (
        lambda: Sequential([Conv2D(4, 3, activation="relu"), BatchNormalization(), MaxPooling2D(2), Flatten(), Dense(2)]),
        np.ones((2, 8, 8, 1), np.float32),
    ),
    "text": (lambda: Sequential([Embedding(11, 6), Bidirectional(LSTM(5)), Dense(2)]), np.arange(8).reshape(2, 4)),
    "recurrent": (lambda: Sequential([GRU(5, return_sequences=True), LayerNormalization(), Dense(1, jnp.tanh)]), np.ones((2, 4, 3), np.float32)),
    "nested": (lambda: Sequential([Sequential([Dense(4)], name="inner"), Dense(2, kernel_initializer="he_normal")]), np.ones((2, 3), np.float32)),
    "an initializer": (lambda: Sequential([Dense(4, kernel_initializer=ag.layers.initializers.RandomNormal(0.0, 3.0))]), np.ones((2, 3), np.float32)),
    "a class": (lambda: Net(5, depth=3), np.ones((2, 3), np.float32)),
    "a function": (lambda: Net(5, activation=doubled), np.ones((2, 3), np.float32)),
    "a layer made late": (lambda: Sequential([Lazy(), Dense(2)]), np.ones((2, 3), np.float32)),
    "functions between": (lambda: Sequential([Dense(4), doubled, Dense(2)]), np.ones((2, 3), np.float32)),
}
CUSTOM = {"Net": Net, "Lazy": Lazy, "doubled": doubled}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("compiled", [False, True])
def test_as_before(name: str, compiled: bool, tmp_path: Path) -> None:
    make, x = MODELS[name]
    model = make()
    want = model(x)
    for v in model.trainable_variables:
        v.assign_add(jnp.full(v.shape, 0.25, v.dtype))
    want = model(x)
    file = tmp_path / "model.safetensors"
    model.save(file)
    again = load_model(file, CUSTOM)
    got = ag.function(again)(x) if compiled else again(x)
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-7)  # compiled, sums may be rounded in another order
    assert type(again) is type(model) and [v.shape for v in again.variables] == [v.shape for v in model.variables]
    other = make()
    other(x)
    other.load_weights(file)  # the weights alone, too
    np.testing.assert_allclose(other(x), want, rtol=1e-6)
    again.save(tmp_path / "again.safetensors")
    np.testing.assert_allclose(load_model(tmp_path / "again.safetensors", CUSTOM)(x), want, rtol=1e-6)


def test_what_is_frozen_stays_so(tmp_path: Path) -> None:
    model = Sequential([Dense(3, jax.nn.gelu), Dense(2)])
    model(np.ones((1, 3), np.float32))
    model.parts[0].trainable = False
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert len(again.trainable_variables) == len(model.trainable_variables) == 2
    np.testing.assert_allclose(again(np.ones((1, 3), np.float32)), model(np.ones((1, 3), np.float32)))


def test_a_loaded_model_is_trained(tmp_path: Path) -> None:
    model = Sequential([Dense(4, "tanh"), Dense(1)])
    x = np.linspace(-1, 1, 32, dtype=np.float32)[:, None]
    model(x)
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    again.compile(optimizer="adam", loss="mse")
    losses = again.fit(x, 2 * x, epochs=20, verbose=0).history["loss"]
    assert losses[-1] < losses[0]


def test_what_is_not_known(tmp_path: Path) -> None:
    model = Net(4)
    model(np.ones((1, 3), np.float32))
    model.save(tmp_path / "model")
    with pytest.raises(ag.AutographError, match="AG705.*names the class `Net`"):
        load_model(tmp_path / "model")
    with pytest.raises(ag.AutographError, match="AG705.*there is no file"):
        load_model(tmp_path / "none")
    model.save_weights(tmp_path / "weights")
    with pytest.raises(ag.AutographError, match="AG705.*is no file of `model.save`"):
        load_model(tmp_path / "weights")
    (tmp_path / "broken").write_bytes(b"{}")
    with pytest.raises(ag.AutographError, match="AG705"):
        load_model(tmp_path / "broken")
    unnamed = Sequential([Dense(2, lambda x: x)])
    unnamed(np.ones((1, 3), np.float32))
    with pytest.raises(ag.AutographError, match="AG708.*`activation` of `dense`"):
        unnamed.save(tmp_path / "unnamed")
    assert not (tmp_path / "unnamed").exists()
    with pytest.raises(ag.AutographError, match="AG705.*no Variable"):
        Sequential([Flatten()]).save(tmp_path / "empty")
