"""Losses: each gives the mean over the examples.  The arithmetic is optax's (https://optax.readthedocs.io/en/latest/api/losses.html)."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from autograph.runtime.arrays.handles import value_of
from autograph.runtime.eager.extras import needed

optax = needed("optax", "losses")


def mean_squared_error(labels: Any, predictions: Any) -> Any:
    """The mean of the squared differences.

    >>> import jax.numpy as jnp, autograph as ag
    >>> float(ag.losses.mean_squared_error(jnp.array([1.0, 2.0]), jnp.array([1.0, 4.0])))
    2.0
    """
    return jnp.mean(optax.losses.squared_error(value_of(predictions), value_of(labels)))


def sparse_softmax_cross_entropy(labels: Any, logits: Any) -> Any:
    """The mean cross-entropy of classes given by number.

    Args:
      labels: integers of shape (...).
      logits: unnormalised log-probabilities of shape (..., classes).

    >>> import jax.numpy as jnp, autograph as ag
    >>> f"{float(ag.losses.sparse_softmax_cross_entropy(jnp.array([0, 1]), jnp.zeros((2, 4)))):.4f}"
    '1.3863'
    """
    return jnp.mean(optax.losses.softmax_cross_entropy_with_integer_labels(value_of(logits), value_of(labels)))
