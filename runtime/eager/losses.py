"""Losses: each gives the mean over the examples.  The arithmetic is optax's (https://optax.readthedocs.io/en/latest/api/losses.html)."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from autograph.runtime.arrays.handles import Deferred, value_of
from autograph.runtime.eager.extras import needed
from autograph.runtime.messages.errors import LayerError
from autograph.runtime.messages.places import here

optax = needed("optax", "losses")


def mean_squared_error(labels: Any, predictions: Any) -> Any:
    """The mean of the squared differences; labels and predictions have one shape.

    Raises:
      LayerError: (AG708) they have not.

    >>> import jax.numpy as jnp, autograph as ag
    >>> float(ag.losses.mean_squared_error(jnp.array([1.0, 2.0]), jnp.array([1.0, 4.0])))
    2.0
    """
    for node in (labels, predictions):
        if isinstance(node, Deferred):
            return node.deferred(mean_squared_error, labels, predictions)
    labels, predictions = value_of(labels), value_of(predictions)
    if jnp.shape(labels) != jnp.shape(predictions):
        raise _unlike("predictions", predictions, labels, jnp.shape(labels))
    return jnp.mean(optax.losses.squared_error(predictions, labels))


def sparse_softmax_cross_entropy(labels: Any, logits: Any) -> Any:
    """The mean cross-entropy of classes given by number.

    Args:
      labels: integers of shape (...).
      logits: unnormalised log-probabilities of shape (..., classes).

    Raises:
      LayerError: (AG708) the labels are no integers, or have another shape.

    >>> import jax.numpy as jnp, autograph as ag
    >>> f"{float(ag.losses.sparse_softmax_cross_entropy(jnp.array([0, 1]), jnp.zeros((2, 4)))):.4f}"
    '1.3863'
    """
    for node in (labels, logits):
        if isinstance(node, Deferred):
            return node.deferred(sparse_softmax_cross_entropy, labels, logits)
    labels, logits = jnp.asarray(value_of(labels)), value_of(logits)
    if not jnp.issubdtype(labels.dtype, jnp.integer):
        raise LayerError(f"the labels are {labels.dtype}, and classes are given by their numbers", here(), "convert them: `labels.astype(int)`")
    if labels.shape != jnp.shape(logits)[:-1]:
        raise _unlike("logits", logits, labels, (*labels.shape, "classes"))
    return jnp.mean(optax.losses.softmax_cross_entropy_with_integer_labels(logits, labels))


def _unlike(name: str, given: Any, labels: Any, wanted: Any) -> LayerError:
    shape = f"({', '.join(map(str, wanted))}{',' * (len(wanted) == 1)})"
    return LayerError(
        f"the labels have shape {jnp.shape(labels)} and the {name} {jnp.shape(given)}, which should be {shape}", here(),
        "change the shape of one (`labels[:, None]`, `labels.squeeze(-1)`): broadcasting them would compare each with all",
    )  # fmt: skip
