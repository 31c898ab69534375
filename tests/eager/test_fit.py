"""`compile`, `fit`, `evaluate`, `predict`, callbacks, and weights in files: beside the loop that they stand for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from autograph.runtime.errors.errors import CheckpointError, LayerError

pytest.importorskip("optax", reason="optimizers need the extra `train`")

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(50, 4)).astype(np.float32)
Y = (X[:, :1] * 2 - X[:, 1:2]).astype(np.float32)
CLASSES = (X[:, 0] > 0).astype(np.int32) + (X[:, 1] > 1)


def network(out: int = 1) -> Any:
    ag.set_seed(3)
    return ag.layers.Sequential([ag.layers.Dense(8, "tanh", input_shape=(4,)), ag.layers.Dense(out)])


def test_fit_is_the_loop_that_it_stands_for() -> None:
    model, other = network(), network()
    model.compile(ag.optimizers.Adam(0.05), "mse", ["mae"])
    told = model.fit(X, Y, batch_size=16, epochs=3, verbose=0, shuffle=False).history
    optimizer, losses = ag.optimizers.Adam(0.05), []
    for _ in range(3):
        total, count = 0.0, 0
        for k in range(0, 50, 16):
            x, y = X[k : k + 16], Y[k : k + 16]
            with ag.GradientTape() as tape:
                loss = jnp.mean((other(x, training=True) - y) ** 2)
            optimizer.apply_gradients(zip(tape.gradient(loss, other.trainable_variables), other.trainable_variables, strict=True))
            total, count = total + float(loss) * len(x), count + len(x)
        losses.append(total / count)
    np.testing.assert_allclose(told["loss"], losses, rtol=1e-5)
    np.testing.assert_allclose(model.predict(X, batch_size=20), other(X), rtol=1e-5, atol=1e-6)
    loss, mae = model.evaluate(X, Y)
    np.testing.assert_allclose([loss, mae], [jnp.mean((other(X) - Y) ** 2), jnp.mean(jnp.abs(other(X) - Y))], rtol=1e-5)
    assert list(told) == ["loss", "mae"] and model.evaluate(X, Y, return_dict=True)["loss"] == loss


def test_what_it_goes_over_gives_the_same() -> None:
    def batches() -> Iterator[tuple[Any, Any]]:
        for k in range(0, 50, 10):
            yield X[k : k + 10], Y[k : k + 10]

    found = []
    for x, y in ((X, Y), (list(batches()), None), (batches(), None), (ag.data.Dataset.from_tensor_slices((X, Y)).batch(10), None)):
        model = network()
        model.compile("sgd", "mse")
        found.append(model.fit(x, y, batch_size=10, verbose=0, shuffle=False).history["loss"])
    np.testing.assert_allclose(found, [found[0]] * 4, rtol=1e-5)


def test_accuracy_goes_with_the_loss_and_weights_count(capsys: pytest.CaptureFixture[str]) -> None:
    model = network(3)
    model.compile(ag.optimizers.Adam(0.05), ag.losses.SparseCategoricalCrossentropy(from_logits=True), ["accuracy"])
    history = model.fit(X, CLASSES, epochs=40, validation_data=(X[:10], CLASSES[:10])).history
    assert history["accuracy"][-1] > 0.85 and set(history) == {"loss", "accuracy", "val_loss", "val_accuracy"}
    assert capsys.readouterr().out.count("Epoch ") == 40
    weights = np.zeros(50, np.float32)
    weights[:5] = 1.0
    alone, weighted = network(), network()
    for m in (alone, weighted):
        m.compile(ag.optimizers.SGD(0.1), "mse")
    weighted.fit(X, Y, batch_size=50, verbose=0, sample_weight=weights, shuffle=False)
    before = network().trainable_variables[0].value
    assert not np.allclose(weighted.trainable_variables[0].value, before)


def test_callbacks(tmp_path: Path) -> None:
    model, seen = network(), []
    model.compile(ag.optimizers.SGD(0.1), "mse")

    def told(epoch: int, logs: dict[str, float]) -> None:
        seen.append((epoch, logs["loss"]))

    stop = ag.callbacks.EarlyStopping("loss", min_delta=10.0, patience=2, restore_best_weights=True)
    rates = ag.callbacks.LearningRateScheduler(lambda epoch, rate: rate / 2)
    saved = ag.callbacks.ModelCheckpoint(str(tmp_path / "w-{epoch}.safetensors"))
    history = model.fit(X, Y, epochs=10, verbose=0, callbacks=[ag.callbacks.LambdaCallback(on_epoch_end=told), stop, rates, saved])
    assert [e for e, _ in seen] == history.epoch == [0, 1, 2] and stop.stopped_epoch == 2
    assert float(model.optimizer.learning_rate.value) == pytest.approx(0.1 / 8)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["w-1.safetensors", "w-2.safetensors", "w-3.safetensors"]
    first = network()
    first.load_weights(tmp_path / "w-1.safetensors")
    np.testing.assert_allclose(first.predict(X), model.predict(X), rtol=1e-6)  # the best weights are those of the first epoch


def test_weights_in_a_file(tmp_path: Path) -> None:
    model, other = network(), network()
    other.set_weights([w + 1 for w in model.get_weights()])
    model.save_weights(tmp_path / "a" / "w.safetensors")
    other.load_weights(tmp_path / "a" / "w.safetensors")
    assert all((a == b).all() for a, b in zip(model.get_weights(), other.get_weights(), strict=True))
    (tmp_path / "broken").write_bytes(b"no safetensors")
    for path, why in (("nothing", "there is no file"), ("broken", "is no file of")):
        with pytest.raises(CheckpointError, match=why):
            other.load_weights(tmp_path / path)
    with pytest.raises(CheckpointError, match="the Variable is"):
        network(3).load_weights(tmp_path / "a" / "w.safetensors")
    with pytest.raises(CheckpointError, match="3 arrays are given for 4"):
        other.set_weights(model.get_weights()[:3])
    with pytest.raises(CheckpointError, match="has no Variable"):
        ag.layers.Dense(2).save_weights(tmp_path / "none")


def test_what_is_wrong() -> None:
    model = network()
    with pytest.raises(LayerError, match="is not compiled"):
        model.fit(X, Y)
    with pytest.raises(LayerError, match="there is no loss 'mes'"):
        model.compile("adam", "mes")
    model.compile("adam", "mse")
    with pytest.raises(LayerError, match="without labels"):
        model.fit(X)
    with pytest.raises(LayerError, match="49 and 50 rows"):
        model.fit(X, Y[:49])


def test_an_epoch_is_one_program() -> None:
    model = network()
    model.compile("sgd", "mse")
    model.fit(X, Y, batch_size=10, epochs=1, verbose=0)
    assert model._training.trained._checks.count == 0 < model._training.epoch._checks.count  # no batch has been a step of its own
