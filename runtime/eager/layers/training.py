"""`compile`, `fit`, `evaluate` and `predict` of a model: a thin room over the compiled loop, with the names of Keras (https://keras.io/api/models).

An epoch over arrays is one compiled program; over what Python iterates, each batch is one step of a compiled function.
"""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from autograph.runtime.arrays.variable_ref import value_of
from autograph.runtime.calls.function import jit
from autograph.runtime.eager import losses as _losses
from autograph.runtime.eager import metrics as _metrics
from autograph.runtime.eager import optimizers as _optimizers
from autograph.runtime.eager.data.dataset import Dataset
from autograph.runtime.eager.layers.callbacks import Callback, History
from autograph.runtime.eager.layers.layer import Layer
from autograph.runtime.eager.tape import GradientTape
from autograph.runtime.errors.errors import DatasetError, LayerError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import trees
from autograph.runtime.loops.for_loop import for_loop
from autograph.runtime.state.object_graph import Unseen

_LOSSES = {
    "mse": "MeanSquaredError", "mean_squared_error": "MeanSquaredError", "mae": "MeanAbsoluteError", "mean_absolute_error": "MeanAbsoluteError",
    "binary_crossentropy": "BinaryCrossentropy", "categorical_crossentropy": "CategoricalCrossentropy",
    "sparse_categorical_crossentropy": "SparseCategoricalCrossentropy", "huber": "Huber", "hinge": "Hinge", "poisson": "Poisson",
    "log_cosh": "LogCosh", "kl_divergence": "KLDivergence", "cosine_similarity": "CosineSimilarity",
}  # fmt: skip
_OPTIMIZERS = {"sgd": "SGD", "adam": "Adam", "adamw": "AdamW", "rmsprop": "RMSprop", "adagrad": "Adagrad", "adadelta": "Adadelta", "nadam": "Nadam"}
_METRICS = {
    "mse": "MeanSquaredError",
    "mae": "MeanAbsoluteError",
    "mean_squared_error": "MeanSquaredError",
    "mean_absolute_error": "MeanAbsoluteError",
}
_ACCURACIES = {"SparseCategoricalCrossentropy": "SparseCategoricalAccuracy", "CategoricalCrossentropy": "CategoricalAccuracy"}


def _named(given: Any, names: Mapping[str, str], module: Any, what: str) -> Any:
    """An object by its name, or as it is given."""
    if not isinstance(given, str):
        return given
    name = names.get(given.lower(), given)
    if not hasattr(module, name):
        raise LayerError(f"there is no {what} {given!r}", here(), f"choose among {', '.join(sorted(names))}, or give an object")
    return getattr(module, name)()


class _Training(Unseen):
    """How a model is trained: none of its parts is one of the model."""


class Trained(Layer):
    """What a model can do with data, once `compile` has said how."""

    def compile(
        self, optimizer: Any = "rmsprop", loss: Any = None, metrics: Iterable[Any] = (), run_eagerly: bool = False, jit_compile: Any = "auto",
        steps_per_execution: int = 1,
    ) -> None:  # fmt: skip
        """Say how the model is trained.

        Args:
          optimizer: one of `ag.optimizers`, or its name.
          loss: one of `ag.losses`, its name, or a function of labels and predictions.
          metrics: of `ag.metrics`, or names; "accuracy" is the one that goes with the loss.
          run_eagerly: whether nothing is compiled, as in `with ag.run_eagerly()`.
          jit_compile, steps_per_execution: Keras's, which say nothing here: whole epochs are compiled by XLA.

        Raises:
          LayerError: (AG708) there is nothing of this name.

        A class that has `train_step(data)` or `test_step(data)` of its own is trained and tested by these, batch by batch: they give a dict of what
        is told of an epoch, by the last batch.
        """
        loss = _named(loss, _LOSSES, _losses, "loss")
        accuracy = _ACCURACIES.get(type(loss).__name__, "BinaryAccuracy")
        names = {**_METRICS, "accuracy": accuracy, "acc": accuracy}
        found = [_named(m, names, _metrics, "metric") for m in metrics]
        for m, given in zip(found, metrics, strict=True):
            if isinstance(given, str):
                m.name = given
        compiled = (lambda f: f) if run_eagerly else jit
        train, test = self._own_step("train_step"), self._own_step("test_step")
        self._training: Any = _Training(
            by_step=run_eagerly or train is not None or test is not None,
            optimizer=_named(optimizer, _OPTIMIZERS, _optimizers, "optimizer"), loss=loss, metrics=found, total=_metrics.Mean("loss"),
            trained=compiled(train or self._train_batch),
            tested=compiled(test or self._test_batch),
            epoch=compiled(self._epoch), tests=compiled(self._tests), given=compiled(self._predicted),
        )  # fmt: skip
        self.stop_training = False

    @property
    def optimizer(self) -> Any:
        """What `compile` was given."""
        return self._compiled().optimizer

    @property
    def loss(self) -> Any:
        """What `compile` was given, or an attribute of the class's own."""
        return vars(self)["loss"] if "loss" in vars(self) else self._compiled().loss

    @loss.setter
    def loss(self, value: Any) -> None:
        vars(self)["loss"] = value

    @property
    def metrics(self) -> list[Any]:
        """The mean of the loss, and what `compile` was given."""
        return [self._compiled().total, *self._compiled().metrics]

    def _compiled(self) -> Any:
        if "_training" not in vars(self):
            raise LayerError(
                f"`{self.name}` is not compiled: nothing says how it is trained", here(), 'call `model.compile(optimizer="adam", loss="mse")` before'
            )
        return self._training

    # what is compiled

    def _own_step(self, name: str) -> Any:
        """The user's method for a batch, if the class has one."""
        method = getattr(self, name, None)
        return None if method is None else lambda *batch: method(batch)

    def _loss(self, labels: Any, predictions: Any, weights: Any) -> Any:
        loss = self._training.loss
        if loss is None:
            raise LayerError(f"`{self.name}` has no loss", here(), 'give `compile` one: `loss="mse"`')
        value = loss(labels, predictions) if weights is None else loss(labels, predictions, sample_weight=weights)
        return jnp.mean(value)

    def _note(self, labels: Any, predictions: Any, loss: Any) -> None:
        self._training.total.update_state(loss, sample_weight=trees.leaves(predictions)[0].shape[0])
        for metric in self._training.metrics:
            metric.update_state(labels, predictions)

    def _train_batch(self, inputs: Any, labels: Any, weights: Any = None) -> None:
        with GradientTape() as tape:
            predictions = self(inputs, training=True)
            loss = self._loss(labels, predictions, weights)
        variables = self.trainable_variables
        self._training.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        self._note(labels, predictions, loss)

    def _test_batch(self, inputs: Any, labels: Any, weights: Any = None) -> None:
        predictions = self(inputs, training=False)
        self._note(labels, predictions, self._loss(labels, predictions, weights))

    def _epoch(self, batches: Any) -> None:
        for_loop(batches, lambda batch: self._train_batch(*batch))

    def _tests(self, batches: Any) -> None:
        for_loop(batches, lambda batch: self._test_batch(*batch))

    def _predicted(self, inputs: Any) -> Any:
        return self(inputs, training=False)

    # what is called

    def fit(
        self, x: Any, y: Any = None, batch_size: int = 32, epochs: int = 1, verbose: int | str = "auto", callbacks: Sequence[Callback] = (),
        validation_data: Any = None, shuffle: bool = True, sample_weight: Any = None, steps_per_epoch: int | None = None,
        validation_steps: int | None = None, initial_epoch: int = 0,
    ) -> History:  # fmt: skip
        """Train the model, and tell of each epoch the loss and the metrics.

        Args:
          x, y: arrays of inputs and labels with one first axis (also in tuples and dicts); or `x` is an `ag.data.Dataset`, or anything that Python
            iterates, of pairs of these in batches.
          batch_size: how many rows of arrays one step takes.
          epochs: how often all of them are gone over.
          verbose: 0 prints nothing, else a line for each epoch.
          callbacks: of `ag.callbacks`.
          validation_data: a pair of arrays, or a dataset, of which loss and metrics are told as `val_...`.
          shuffle: whether arrays are gone over in another order each time.
          sample_weight: what each row counts.
          steps_per_epoch, validation_steps: how many batches are taken; the next epoch goes on with those after them.
          initial_epoch: the number of epochs that have been made before.

        Raises:
          LayerError: (AG708) `compile` has not been called; the arrays do not go together.

        >>> import jax.numpy as jnp, autograph as ag
        >>> ag.set_seed(0)
        >>> model = ag.layers.Sequential([ag.layers.Dense(1)])
        >>> model.compile(ag.optimizers.SGD(0.1), loss="mse")
        >>> x = jnp.linspace(-1.0, 1.0, 64)[:, None]
        >>> history = model.fit(x, 3 * x + 1, epochs=30, verbose=0)
        >>> history.history["loss"][-1] < 1e-3, abs(float(model.predict(jnp.array([[2.0]]))[0, 0]) - 7) < 0.1
        (True, True)
        """
        self._compiled()
        batches = _some(_batches(x, y, sample_weight, batch_size, shuffle), steps_per_epoch, True)
        history = History()
        told = [history, *callbacks]
        for callback in told:
            callback.set_model(self)
        self.stop_training = False
        _tell(told, "on_train_begin")
        for epoch in range(initial_epoch, epochs):
            _tell(told, "on_epoch_begin", epoch)
            logs = self._gone_over(batches, "epoch", "trained")
            if validation_data is not None:
                inputs, labels = validation_data if isinstance(validation_data, (tuple, list)) else (validation_data, None)
                tested = self.evaluate(inputs, labels, batch_size, return_dict=True, steps=validation_steps)
                logs |= {f"val_{name}": value for name, value in tested.items()}
            if verbose:
                builtins.print(f"Epoch {epoch + 1}/{epochs} - " + " - ".join(f"{name}: {value:.4f}" for name, value in logs.items()))
            _tell(told, "on_epoch_end", epoch, logs)
            if self.stop_training:
                break
        _tell(told, "on_train_end")
        return history

    def evaluate(
        self,
        x: Any,
        y: Any = None,
        batch_size: int = 32,
        verbose: int | str = 0,
        sample_weight: Any = None,
        return_dict: bool = False,
        steps: int | None = None,
    ) -> Any:
        """The loss, or a list of it and the metrics; with `return_dict` a dict.  `steps`: how many batches are taken.

        Raises:
          LayerError: (AG708) `compile` has not been called; the arrays do not go together.
        """
        self._compiled()
        logs = self._gone_over(_some(_batches(x, y, sample_weight, batch_size, False), steps, False), "tests", "tested")
        if verbose:
            builtins.print(" - ".join(f"{name}: {value:.4f}" for name, value in logs.items()))
        return logs if return_dict else next(iter(logs.values())) if len(logs) == 1 else list(logs.values())

    def predict(self, x: Any, batch_size: int = 32, verbose: int | str = 0, steps: int | None = None) -> Any:
        """What the model gives for the rows of arrays, or the batches of a dataset: as NumPy's arrays.  `steps`: how many batches are taken."""
        run = self._training.given if "_training" in vars(self) else jit(self._predicted)
        if isinstance(x, Dataset) or not trees.leaves(x) or not all(hasattr(v, "shape") for v in trees.leaves(x)):
            found = [run(batch[0] if isinstance(batch, tuple) else batch) for batch in _some(x, steps, False)]
        else:
            arrays = trees.map(lambda v: jnp.asarray(value_of(v)), x)
            count = trees.leaves(arrays)[0].shape[0]
            found = [run(trees.map(lambda v, k=k: v[k : k + batch_size], arrays)) for k in range(0, count, batch_size)]
        return trees.map(lambda *parts: np.concatenate([np.asarray(p) for p in parts]), *found)

    def train_on_batch(self, x: Any, y: Any, sample_weight: Any = None) -> float:
        """One step; gives the loss since the metrics were reset."""
        self._compiled().trained(x, y, *([] if sample_weight is None else [sample_weight]))
        return float(self._training.total.result())

    def reset_metrics(self) -> None:
        """Reset all metrics."""
        for metric in self.metrics:
            metric.reset_state()

    def _gone_over(self, batches: Any, whole: str, step: str) -> dict[str, float]:
        self.reset_metrics()
        held = self._training
        if isinstance(batches, Dataset) and not held.by_step:
            try:
                getattr(held, whole)(batches)
            except DatasetError:  # it is gone over by Python
                held.by_step = True
        if not isinstance(batches, Dataset) or held.by_step:
            said = None
            for batch in batches:
                said = getattr(held, step)(*batch)
            if isinstance(said, dict):
                return {name: float(np.asarray(value)) for name, value in said.items()}
        return {metric.name: float(metric.result()) for metric in self.metrics}


class _Going:
    """Some batches of an iterator for each epoch."""

    def __init__(self, batches: Any, count: int) -> None:
        self._batches, self._items, self._count = batches, iter(batches), count

    def __iter__(self) -> Any:
        for _ in range(self._count):
            try:
                batch = next(self._items)
            except StopIteration:
                self._items = iter(self._batches)
                batch = next(self._items, None)
                if batch is None:
                    return
            yield batch


def _some(batches: Any, count: int | None, goes_on: bool) -> Any:
    """As many batches as are wanted of all; those of an epoch follow those of the one before."""
    if count is None:
        return batches
    return _Going(batches, count) if goes_on else batches.take(count) if isinstance(batches, Dataset) else itertools.islice(batches, count)


def _tell(callbacks: Sequence[Any], what: str, *args: Any) -> None:
    for callback in callbacks:
        getattr(callback, what)(*args)


def _batches(x: Any, y: Any, weights: Any, size: int, shuffle: bool) -> Any:
    if y is None and not hasattr(x, "shape"):
        return x
    if y is None:
        raise LayerError("arrays of inputs are given without labels", here(), "give both: `fit(x, y)`")
    arrays = trees.map(lambda v: jnp.asarray(value_of(v)), (x, y) if weights is None else (x, y, weights))
    counts = sorted({v.shape[0] if v.ndim else 0 for v in trees.leaves(arrays)})
    if len(counts) != 1:
        raise LayerError(f"the arrays have {' and '.join(map(str, counts))} rows", here(), "give inputs and labels for the same rows")
    rows = Dataset.from_tensor_slices(arrays)
    return (rows.shuffle(counts[0]) if shuffle else rows).batch(size)
