"""TensorFlow's tutorial "Custom training: walkthrough": tensorflow.org/tutorials/customization/custom_training_walkthrough."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag

# in the place of the data set of penguins: 334 rows of four measures between 0 and 1 (mass, length and depth of the beak, flipper), around three
# centres, and the number of a species
CLASS_NAMES = ["Adélie", "Chinstrap", "Gentoo"]
CENTRES = np.array([[0.3, 0.8, 0.4, 0.5], [0.4, 0.1, 0.8, 0.5], [0.7, 0.9, 0.8, 0.4]])


def penguins() -> tuple[ag.data.Dataset, ag.data.Dataset]:
    """A fifth to test, and the others to train."""
    rng = np.random.default_rng(0)
    species = rng.integers(0, 3, 334)
    measures = np.clip(CENTRES[species] + 0.06 * rng.normal(size=(334, 4)), 0, 1).astype(np.float32)
    rows = ag.data.Dataset.from_tensor_slices((measures, species))
    return rows.take(67), rows.skip(67)


def first_batch() -> tuple[Any, Any]:
    _, ds_train = penguins()
    return next(iter(ds_train.batch(32)))


def new_model() -> Any:
    ag.set_seed(1)
    return ag.layers.Sequential(
        [
            ag.layers.Dense(10, activation=jax.nn.relu, input_shape=(4,)),
            ag.layers.Dense(10, activation=jax.nn.relu),
            ag.layers.Dense(3),
        ]
    )


loss_object = ag.losses.SparseCategoricalCrossentropy(from_logits=True)


def loss(model: Any, x: Any, y: Any, training: bool) -> Any:
    y_ = model(x, training=training)
    return loss_object(y, y_)  # by place: see test_the_loss_by_names


def grad(model: Any, inputs: Any, targets: Any) -> Any:
    with ag.GradientTape() as tape:
        loss_value = loss(model, inputs, targets, training=True)
    return loss_value, tape.gradient(loss_value, model.trainable_variables)


def by_hand(model: Any, x: Any, y: Any) -> tuple[float, list[Any], Any]:
    """The loss, its gradients and the logits by the chain rule in NumPy: the page's numbers are those of one random start."""
    weights = [np.asarray(w, np.float64) for w in model.get_weights()]
    inputs, h = [], np.asarray(x, np.float64)
    for k in range(0, 6, 2):
        inputs.append(h)
        h = h @ weights[k] + weights[k + 1]
        h = np.maximum(h, 0) if k < 4 else h
    logits = h
    shares = np.exp(logits - logits.max(-1, keepdims=True))
    shares /= shares.sum(-1, keepdims=True)
    rows = np.arange(len(shares))
    value = -np.log(shares[rows, np.asarray(y)]).mean()
    delta = shares.copy()
    delta[rows, np.asarray(y)] -= 1
    delta /= len(shares)
    gradients: list[Any] = []
    for k in (4, 2, 0):
        gradients = [inputs[k // 2].T @ delta, delta.sum(0), *gradients]
        delta = (delta @ weights[k].T) * (inputs[k // 2] > 0)
    return float(value), gradients, logits


# the data


def test_the_two_datasets() -> None:
    ds_test, ds_train = penguins()
    assert isinstance(ds_test, ag.data.Dataset)
    assert (ds_test.cardinality(), ds_train.cardinality()) == (67, 267)  # 20 % of 334 rows and the rest, as on the page
    assert ds_train.element_spec == (ag.TensorSpec((4,), "float32"), ag.TensorSpec((), "int32"))  # int64 in TensorFlow


def test_a_batch_of_features_and_labels() -> None:
    features, labels = first_batch()
    assert (features.shape, features.dtype) == ((32, 4), jnp.float32)
    assert labels.shape == (32,) and set(labels.tolist()) == {0, 1, 2}
    assert 0 <= float(features.min()) and float(features.max()) <= 1
    assert features[:, 0].shape == (32,)  # what the page plots


# the model


def test_the_model_is_built() -> None:
    model = new_model()
    assert [v.shape for v in model.trainable_variables] == [(4, 10), (10,), (10, 10), (10,), (10, 3), (3,)]
    assert model.count_params() == 193


def test_logits_shares_and_classes() -> None:
    model = new_model()
    features, labels = first_batch()
    predictions = model(features)
    assert predictions.shape == (32, 3)
    _, _, logits = by_hand(model, features, labels)
    np.testing.assert_allclose(predictions[:5], logits[:5], rtol=1e-4, atol=1e-6)
    shares = np.exp(logits[:5]) / np.exp(logits[:5]).sum(-1, keepdims=True)
    np.testing.assert_allclose(jax.nn.softmax(predictions[:5]), shares, rtol=1e-4)
    prediction = jnp.argmax(predictions, axis=1)
    assert prediction.tolist() == logits.argmax(1).tolist()


# the loss, its gradients and one step


def test_the_loss_of_a_batch() -> None:
    model = new_model()
    features, labels = first_batch()
    value = loss(model, features, labels, training=False)
    assert f"Loss test: {value}" == f"Loss test: {float(value)}"
    assert abs(float(value) - np.log(3)) < 0.5  # an untrained model's
    assert float(value) == pytest.approx(by_hand(model, features, labels)[0], rel=1e-5)


def test_the_loss_by_names() -> None:
    model = new_model()
    features, labels = first_batch()
    value = loss_object(y_true=labels, y_pred=model(features))
    assert float(value) == pytest.approx(by_hand(model, features, labels)[0], rel=1e-5)


def test_a_metric_by_names() -> None:
    accuracy = ag.metrics.SparseCategoricalAccuracy()
    accuracy.update_state(y_true=jnp.array([1]), y_pred=jnp.array([[0.0, 1.0]]))
    assert float(accuracy.result()) == 1


def test_the_gradients() -> None:
    model = new_model()
    features, labels = first_batch()
    loss_value, grads = grad(model, features, labels)
    expected, by_weight, _ = by_hand(model, features, labels)
    assert float(loss_value) == pytest.approx(expected, rel=1e-5)
    assert len(grads) == 6
    for found, g in zip(grads, by_weight):
        np.testing.assert_allclose(found, g, rtol=1e-3, atol=1e-6)


def test_one_step() -> None:
    model = new_model()
    features, labels = first_batch()
    optimizer = ag.optimizers.SGD(learning_rate=0.01)
    _, gradients, _ = by_hand(model, features, labels)
    after = [w - 0.01 * g for w, g in zip(model.get_weights(), gradients)]
    loss_value, grads = grad(model, features, labels)
    assert f"Step: {optimizer.iterations.numpy()}, Initial Loss: {loss_value:.2f}" == f"Step: 0, Initial Loss: {float(loss_value):.2f}"
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    assert int(optimizer.iterations.numpy()) == 1
    for found, w in zip(model.get_weights(), after):
        np.testing.assert_allclose(found, w, rtol=1e-4, atol=1e-6)
    assert float(loss(model, features, labels, training=True)) < float(loss_value)


# the training


def test_two_epochs_by_hand() -> None:
    # the loop of the page, with its metrics, as it is: eagerly
    ds_train_batch = penguins()[1].batch(32)
    model, other = new_model(), new_model()
    optimizer = ag.optimizers.SGD(learning_rate=0.01)
    for _ in range(2):
        epoch_loss_avg = ag.metrics.Mean()
        epoch_accuracy = ag.metrics.SparseCategoricalAccuracy()
        for x, y in ds_train_batch:
            loss_value, grads = grad(model, x, y)
            optimizer.apply_gradients(zip(grads, model.trainable_variables))
            epoch_loss_avg.update_state(loss_value)
            epoch_accuracy.update_state(y, model(x, training=True))
        losses, hits, count = [], 0, 0
        for x, y in ds_train_batch:
            value, gradients, _ = by_hand(other, x, y)
            other.set_weights([(w - 0.01 * g).astype(np.float32) for w, g in zip(other.get_weights(), gradients)])
            losses.append(value)
            hits += int((by_hand(other, x, y)[2].argmax(1) == np.asarray(y)).sum())
            count += len(y)
        assert count == 267
        assert float(epoch_loss_avg.result()) == pytest.approx(np.mean(losses), rel=1e-4)
        assert float(epoch_accuracy.result()) == pytest.approx(hits / count, abs=1.5 / count)
    assert int(optimizer.iterations.numpy()) == 18


@pytest.fixture(scope="module")
def trained() -> tuple[Any, list[float], list[float], list[str]]:
    """The 201 epochs of the page; a step is compiled, all else is as there."""
    ds_train_batch = penguins()[1].batch(32)
    model = new_model()
    optimizer = ag.optimizers.SGD(learning_rate=0.01)

    @ag.function
    def step(x: Any, y: Any) -> Any:
        loss_value, grads = grad(model, x, y)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss_value, model(x, training=True)

    train_loss_results, train_accuracy_results, said = [], [], []
    num_epochs = 201
    for epoch in range(num_epochs):
        epoch_loss_avg = ag.metrics.Mean()
        epoch_accuracy = ag.metrics.SparseCategoricalAccuracy()
        for x, y in ds_train_batch:
            loss_value, predictions = step(x, y)
            epoch_loss_avg.update_state(loss_value)
            epoch_accuracy.update_state(y, predictions)
        train_loss_results.append(float(epoch_loss_avg.result()))
        train_accuracy_results.append(float(epoch_accuracy.result()))
        if epoch % 50 == 0:
            said.append(f"Epoch {epoch:03d}: Loss: {epoch_loss_avg.result():.3f}, Accuracy: {epoch_accuracy.result():.3%}")
    return model, train_loss_results, train_accuracy_results, said


def test_the_training(trained: tuple[Any, list[float], list[float], list[str]]) -> None:
    _, losses, accuracies, said = trained
    assert [line[:10] for line in said] == ["Epoch 000:", "Epoch 050:", "Epoch 100:", "Epoch 150:", "Epoch 200:"]
    assert said[0] == f"Epoch 000: Loss: {losses[0]:.3f}, Accuracy: {accuracies[0]:.3%}"
    assert losses[200] < losses[100] < losses[50] < losses[0]
    assert losses[200] < 0.2 and accuracies[200] > 0.97  # 0.0 something and 97 % on the page


def test_all_epochs_as_one_program(trained: tuple[Any, list[float], list[float], list[str]]) -> None:
    # the whole of the page's training loop in one compiled function
    ds_train_batch = penguins()[1].batch(32)
    model = new_model()
    optimizer = ag.optimizers.SGD(learning_rate=0.01)
    epoch_loss_avg, epoch_accuracy = ag.metrics.Mean(), ag.metrics.SparseCategoricalAccuracy()

    @ag.function
    def train() -> Any:
        results = []
        for epoch in range(201):
            epoch_loss_avg.reset_state()
            epoch_accuracy.reset_state()
            for x, y in ds_train_batch:
                loss_value, grads = grad(model, x, y)
                optimizer.apply_gradients(zip(grads, model.trainable_variables))
                epoch_loss_avg.update_state(loss_value)
                epoch_accuracy.update_state(y, model(x, training=True))
            results.append((epoch_loss_avg.result(), epoch_accuracy.result()))
        return results

    results = train()
    _, losses, accuracies, _ = trained
    assert len(results) == 201
    np.testing.assert_allclose([float(value) for value, _ in results], losses, rtol=2e-2, atol=1e-3)
    assert abs(float(results[-1][1]) - accuracies[-1]) < 0.02


def test_fit_does_the_same(trained: tuple[Any, list[float], list[float], list[str]]) -> None:
    # the page names Model.fit(ds_train_batch); its loss is the mean over rows, that of the loop the mean over batches
    model = new_model()
    model.compile(optimizer=ag.optimizers.SGD(learning_rate=0.01), loss=loss_object, metrics=["accuracy"])
    history = model.fit(penguins()[1].batch(32), epochs=3, verbose=0)
    np.testing.assert_allclose(history.history["loss"], trained[1][:3], rtol=2e-2)


# on the test set


def test_the_test_set(trained: tuple[Any, list[float], list[float], list[str]]) -> None:
    model = trained[0]
    test_accuracy = ag.metrics.Accuracy()
    ds_test, _ = penguins()
    hits = 0
    for x, y in ds_test.batch(10):
        logits = model(x, training=False)
        prediction = jnp.argmax(logits, axis=1)  # int64 on the page
        test_accuracy(prediction, y)
        hits += int((prediction == y).sum())
    assert float(test_accuracy.result()) == pytest.approx(hits / 67)
    assert hits >= 65
    assert f"Test set accuracy: {test_accuracy.result():.3%}" == f"Test set accuracy: {hits / 67:.3%}"
    pairs = jnp.stack([y, prediction], axis=1)
    assert pairs.shape == (7, 2)  # the last batch has what is left of 67 rows
    assert float((pairs[:, 0] == pairs[:, 1]).mean()) > 0.8


def test_evaluate(trained: tuple[Any, list[float], list[float], list[str]]) -> None:
    model, *_ = trained
    model.compile(loss=loss_object, metrics=["accuracy"])
    ds_test, _ = penguins()
    found = model.evaluate(ds_test.batch(10), return_dict=True)
    assert sorted(found) == ["accuracy", "loss"] and found["accuracy"] > 0.96


def test_unlabelled_examples(trained: tuple[Any, list[float], list[float], list[str]]) -> None:
    model = trained[0]
    predict_dataset = jnp.array([[0.3, 0.8, 0.4, 0.5], [0.4, 0.1, 0.8, 0.5], [0.7, 0.9, 0.8, 0.4]])
    predictions = model(predict_dataset, training=False)
    said = []
    for i, logits in enumerate(predictions):
        class_idx = jnp.argmax(logits).item()
        p = jax.nn.softmax(logits)[class_idx]
        said.append(f"Example {i} prediction: {CLASS_NAMES[class_idx]} ({100 * p:4.1f}%)")
        assert p > 0.7
    assert [line.split(" (")[0] for line in said] == [
        "Example 0 prediction: Adélie",
        "Example 1 prediction: Chinstrap",
        "Example 2 prediction: Gentoo",
    ]
