"""`ag.callbacks`: what is done between the epochs of `model.fit`, by the names of Keras (https://keras.io/api/callbacks)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = [
    "Callback", "EarlyStopping", "History", "LambdaCallback", "LearningRateScheduler", "ModelCheckpoint",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)


class Callback:
    """Something whose methods `fit` calls; `model` is the model."""

    model: Any = None

    def set_model(self, model: Any) -> None:
        """Called first."""
        self.model = model

    def on_train_begin(self) -> None:
        """Before the first epoch."""

    def on_train_end(self) -> None:
        """After the last."""

    def on_epoch_begin(self, epoch: int) -> None:
        """Before each."""

    def on_epoch_end(self, epoch: int, logs: dict[str, float]) -> None:
        """After each; `logs` has the loss and the metrics."""


class History(Callback):
    """What all epochs have told: `epoch`, and by name the values in `history`; `fit` gives one."""

    def __init__(self) -> None:
        self.epoch: list[int] = []
        self.history: dict[str, list[float]] = {}

    def on_epoch_end(self, epoch: int, logs: dict[str, float]) -> None:
        self.epoch.append(epoch)
        for name, value in logs.items():
            self.history.setdefault(name, []).append(value)


class LambdaCallback(Callback):
    """A callback of functions."""

    def __init__(self, on_epoch_begin: Callable[..., Any] | None = None, on_epoch_end: Callable[..., Any] | None = None) -> None:
        self._begin, self._end = on_epoch_begin, on_epoch_end

    def on_epoch_begin(self, epoch: int) -> None:
        if self._begin is not None:
            self._begin(epoch)

    def on_epoch_end(self, epoch: int, logs: dict[str, float]) -> None:
        if self._end is not None:
            self._end(epoch, logs)


class _Watching(Callback):
    """One that asks whether a value is the best so far."""

    def __init__(self, monitor: str, mode: str, min_delta: float = 0.0) -> None:
        self.monitor, self._delta = monitor, abs(min_delta)
        larger = mode == "max" or mode == "auto" and any(part in monitor for part in ("acc", "auc", "precision", "recall"))
        self._sign = -1.0 if larger else 1.0
        self.best = math.inf

    def is_best(self, logs: dict[str, float]) -> bool:
        """Whether it is better than all before.  Raises KeyError if it is not told."""
        if self.monitor not in logs:
            raise KeyError(f"`{self.monitor}` is not told: there are {', '.join(logs)}")
        value = self._sign * logs[self.monitor]
        better = value < self.best - self._delta
        self.best = value if better else self.best
        return better


class EarlyStopping(_Watching):
    """Ends the training once a value has not become better for some epochs.

    Args:
      monitor: which value, as "val_loss".
      min_delta: how much better it has to become.
      patience: for how many epochs it need not.
      mode: "min", "max", or "auto" by the name.
      restore_best_weights: whether the model has the weights of the best epoch at the end.
    """

    def __init__(
        self, monitor: str = "val_loss", min_delta: float = 0.0, patience: int = 0, mode: str = "auto", restore_best_weights: bool = False
    ) -> None:
        super().__init__(monitor, mode, min_delta)
        self._patience, self._restores = patience, restore_best_weights
        self._waited, self._weights = 0, None
        self.stopped_epoch = 0

    def on_epoch_end(self, epoch: int, logs: dict[str, float]) -> None:
        if self.is_best(logs):
            self._waited = 0
            self._weights = self.model.get_weights() if self._restores else None
            return
        self._waited += 1
        if self._waited >= max(self._patience, 1):
            self.stopped_epoch, self.model.stop_training = epoch, True

    def on_train_end(self) -> None:
        if self._weights is not None:
            self.model.set_weights(self._weights)


class ModelCheckpoint(_Watching):
    """Saves the weights after each epoch.

    Args:
      filepath: of the file; `{epoch}` and the names of values in it are filled in.
      monitor: which value tells the best.
      save_best_only: whether only the best are saved.
      mode: "min", "max", or "auto" by the name.
      save_weights_only: False writes the whole model, as `model.save`.
      verbose: says nothing here.
    """

    def __init__(
        self,
        filepath: str,
        monitor: str = "val_loss",
        save_best_only: bool = False,
        mode: str = "auto",
        save_weights_only: bool = True,
        verbose: int = 0,
    ) -> None:
        super().__init__(monitor, mode)
        self._whole = not save_weights_only
        self._path, self._best_only = filepath, save_best_only

    def on_epoch_end(self, epoch: int, logs: dict[str, float]) -> None:
        if not self._best_only or self.is_best(logs):
            path = self._path.format(epoch=epoch + 1, **logs)
            self.model.save(path) if self._whole else self.model.save_weights(path)


class LearningRateScheduler(Callback):
    """Sets the learning rate before each epoch.

    Args:
      schedule: a function of the epoch, counted from 0, and of the rate so far.
    """

    def __init__(self, schedule: Callable[[int, float], float]) -> None:
        self._schedule = schedule

    def on_epoch_begin(self, epoch: int) -> None:
        rate = self.model.optimizer.learning_rate
        self.model.optimizer.learning_rate = float(self._schedule(epoch, float(np.asarray(rate))))
