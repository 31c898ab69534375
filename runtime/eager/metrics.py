"""Metrics: objects that are given values, and tell a result of all of them; what they hold are Variables."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from autograph.runtime.arrays.handles import value_of
from autograph.runtime.eager.variables import Variable


class Mean:
    """The mean of all values that it is given.

    >>> import autograph as ag
    >>> m = ag.metrics.Mean("loss")
    >>> m(0), m(5)
    (Array(0., dtype=float32), Array(2.5, dtype=float32))
    >>> print(m([8, 9]))
    5.5
    """

    def __init__(self, name: str = "mean") -> None:
        self.name = name
        self.total = Variable(0.0, trainable=False, name=f"{name}/total")
        self.count = Variable(0.0, trainable=False, name=f"{name}/count")

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        """Take values, each with a weight; by default one."""
        x = jnp.asarray(value_of(values), self.total.dtype)
        weight = jnp.broadcast_to(jnp.asarray(1.0 if sample_weight is None else value_of(sample_weight), x.dtype), x.shape)
        self.total.assign_add(jnp.sum(x * weight))
        self.count.assign_add(jnp.sum(weight))

    def result(self) -> Any:
        """The mean so far; 0 of nothing."""
        return jnp.where(self.count.value == 0, 0.0, self.total.value / jnp.where(self.count.value == 0, 1.0, self.count.value))

    def reset_state(self) -> None:
        """Forget all values."""
        for v in (self.total, self.count):
            v.assign(0.0)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Take values, and tell the result so far."""
        self.update_state(*args, **kwargs)
        return self.result()


class SparseCategoricalAccuracy(Mean):
    """How often the largest of the predictions is the class that the label says by number.

    >>> import jax.numpy as jnp, autograph as ag
    >>> accuracy = ag.metrics.SparseCategoricalAccuracy()
    >>> print(accuracy(jnp.array([1, 0]), jnp.array([[0.1, 0.9], [0.2, 0.8]])))
    0.5
    """

    def __init__(self, name: str = "sparse_categorical_accuracy") -> None:
        super().__init__(name)

    def update_state(self, labels: Any, predictions: Any, sample_weight: Any = None) -> None:  # type: ignore[override]
        """Take labels of shape (...), and predictions of shape (..., classes)."""
        right = jnp.argmax(value_of(predictions), axis=-1) == jnp.asarray(value_of(labels))
        super().update_state(right, sample_weight)
