"""Labels beside predictions, and values beside weights: their shapes, and what a loss makes of the values, with the rules of Keras.

Keras (https://keras.io/api/losses) adds or takes away a last axis of size 1 where the one has it and the other has not.  All else that is unlike is
an error here: broadcasting would compare each with all.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from autograph.runtime.arrays.variable_ref import value_of
from autograph.runtime.errors.errors import LayerError
from autograph.runtime.errors.source_spans import here

REDUCTIONS = ("sum_over_batch_size", "sum", "mean", "mean_with_sample_weight", "none")


def floats(x: Any) -> Any:
    """An array of floating-point numbers: integers and bools as the default float."""
    x = jnp.asarray(value_of(x))
    return x if jnp.issubdtype(x.dtype, jnp.inexact) else x.astype(jnp.result_type(float))


def paired(labels: Any, predictions: Any) -> tuple[Any, Any]:
    """Labels and predictions as arrays of one shape: of (n,) and (n, 1), both as (n, 1).

    Raises:
      LayerError: (AG708) their shapes are others.
    """
    labels, predictions = of_one_rank(jnp.asarray(value_of(labels)), jnp.asarray(value_of(predictions)))
    if labels.shape != predictions.shape:
        raise unlike("predictions", predictions, labels, labels.shape)
    return labels, predictions


def of_one_rank(a: Any, b: Any) -> tuple[Any, Any]:
    """Two arrays, with a last axis of size 1 added to the one or taken from the other where their ranks differ by one."""
    if a.ndim == b.ndim + 1 and a.shape[-1] == 1:
        return (a, b[:, None]) if b.ndim == 1 else (a[..., 0], b)
    if b.ndim == a.ndim + 1 and b.shape[-1] == 1:
        return (a[:, None], b) if a.ndim == 1 else (a, b[..., 0])
    return a, b


def unlike(name: str, given: Any, labels: Any, wanted: Any) -> LayerError:
    """The error of labels and what is compared with them."""
    shape = f"({', '.join(map(str, wanted))}{',' * (len(wanted) == 1)})"
    return LayerError(
        f"the labels have shape {jnp.shape(labels)} and the {name} {jnp.shape(given)}, which should be {shape}", here(),
        "change the shape of one (`labels[:, None]`, `labels.squeeze(-1)`): broadcasting them would compare each with all",
    )  # fmt: skip


def fitting(weights: Any, values: Any) -> Any:
    """Weights that values can be multiplied by: one for all, or one for each along each axis, or 1 along it.

    Raises:
      LayerError: (AG708) their shape is another.
    """
    if weights.ndim and (weights.ndim != values.ndim or any(w not in (1, n) for w, n in zip(weights.shape, values.shape, strict=True))):
        advice = f"give weights of shape {values.shape}" if values.ndim else "give labels and predictions another axis (`x[:, None]`)"
        raise LayerError(f"the weights have shape {weights.shape}, and what they weigh {values.shape}", here(), f"{advice}, or one number for all")
    return weights


def reduced(values: Any, weights: Any, mask: Any, reduction: str | None) -> Any:
    """What a loss gives.

    Args:
      values: one for each example.
      weights: one for each, one for all, or None.
      mask: which of them are counted, or None for all.
      reduction: one of `REDUCTIONS`, or None.
    """
    counted = None
    if mask is not None:
        share = values.size / jnp.maximum(jnp.sum(mask), 1) if reduction in ("mean", "sum_over_batch_size") else 1.0
        counted = jnp.where(mask, share, 0.0).astype(values.dtype)
    if weights is not None:
        values, weights = of_one_rank(values, jnp.asarray(value_of(weights), values.dtype))
        weights = fitting(weights, values)
    if counted is not None:
        weights = counted.reshape(values.shape) * (1.0 if weights is None else weights)
    if weights is not None:
        values = values * weights
    if reduction in (None, "none") or not values.ndim:
        return values
    if reduction == "sum":
        return jnp.sum(values)
    if reduction == "mean_with_sample_weight" and weights is not None:
        total = jnp.sum(weights)
        return jnp.where(total == 0, 0.0, jnp.sum(values) / jnp.where(total == 0, 1.0, total))
    return jnp.sum(values) / max(values.size, 1)


def checked_reduction(reduction: str | None) -> str | None:
    """Raises LayerError (AG708) unless it is one of `REDUCTIONS`, or None."""
    if reduction is not None and reduction not in REDUCTIONS:
        raise LayerError(f"there is no reduction {reduction!r}", here(), f"write one of {', '.join(map(repr, REDUCTIONS))}")
    return reduction
