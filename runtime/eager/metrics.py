"""Metrics: objects that are given values, and tell a result of all of them; what they hold are Variables.

The definitions are those of Keras (https://keras.io/api/metrics): a batch counts as its rows do, each with the mean of what it has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from autograph.runtime.arrays.variable_ref import value_of
from autograph.runtime.eager.variables import Variable
from autograph.runtime.eager.weighted import fitting, floats, of_one_rank, paired, unlike
from autograph.runtime.errors.errors import LayerError
from autograph.runtime.errors.source_spans import here

__all__ = [
    "AUC", "Accuracy", "BinaryAccuracy", "BinaryCrossentropy", "CategoricalAccuracy", "CategoricalCrossentropy", "FalseNegatives",
    "FalsePositives", "KLDivergence", "Mean", "MeanAbsoluteError", "MeanMetricWrapper", "MeanSquaredError", "Metric", "Precision", "Recall",
    "RootMeanSquaredError", "SparseCategoricalAccuracy", "SparseCategoricalCrossentropy", "SparseTopKCategoricalAccuracy", "Sum",
    "TopKCategoricalAccuracy", "TrueNegatives", "TruePositives", "accuracy", "binary_accuracy", "categorical_accuracy",
    "sparse_categorical_accuracy", "sparse_top_k_categorical_accuracy", "top_k_categorical_accuracy",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)


class Metric:
    """What all metrics share.  One of its own makes Variables in `__init__`, and has `update_state` and `result`.

    >>> import jax.numpy as jnp, autograph as ag
    >>> class Largest(ag.metrics.Metric):
    ...     def __init__(self, name="largest"):
    ...         super().__init__(name)
    ...         self.largest = ag.Variable(0.0, trainable=False)
    ...     def update_state(self, values):
    ...         self.largest.assign(jnp.maximum(self.largest, jnp.max(values)))
    ...     def result(self):
    ...         return self.largest.value
    >>> m = Largest()
    >>> float(m(jnp.array([1.0, 3.0]))), float(m(jnp.array([2.0])))
    (3.0, 3.0)
    """

    def __init__(self, name: str | None = None, dtype: Any = None) -> None:
        self.name, self.dtype = name or type(self).__name__.lower(), jnp.dtype(dtype or jnp.result_type(float))

    def update_state(self, *args: Any, **kwargs: Any) -> None:
        """Take values."""
        raise NotImplementedError

    def result(self) -> Any:
        """What it tells of the values so far."""
        raise NotImplementedError

    def _zeros(self, name: str, shape: tuple[int, ...] = ()) -> Variable:
        return Variable(np.zeros(shape, self.dtype), trainable=False, name=f"{self.name}/{name}")

    @property
    def variables(self) -> list[Variable]:
        """What it holds."""
        return [v for v in vars(self).values() if isinstance(v, Variable)]

    def reset_state(self) -> None:
        """Forget all values."""
        for v in self.variables:
            v.assign(jnp.zeros(v.shape, v.dtype))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Take values, and tell the result so far."""
        self.update_state(*args, **kwargs)
        return self.result()


class Sum(Metric):
    """The sum of all values that it is given.

    >>> import autograph as ag
    >>> m = ag.metrics.Sum()
    >>> float(m([1.0, 2.0])), float(m([3.0, 4.0], sample_weight=[1.0, 0.0]))
    (3.0, 6.0)
    """

    def __init__(self, name: str = "sum", dtype: Any = None) -> None:
        super().__init__(name, dtype)
        self.total = self._zeros("total")

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        """Take values, each with a weight; by default one."""
        self.total.assign_add(jnp.sum(_of_rows(values, sample_weight, self.dtype, jnp.sum)[0]))

    def result(self) -> Any:
        """The sum so far."""
        return self.total.value


class Mean(Metric):
    """The mean of all values that it is given.

    >>> import autograph as ag
    >>> m = ag.metrics.Mean("loss")
    >>> m(0), m(5)
    (Array(0., dtype=float32), Array(2.5, dtype=float32))
    >>> print(m([8, 9]))
    5.5
    """

    def __init__(self, name: str = "mean", dtype: Any = None) -> None:
        super().__init__(name, dtype)
        self.total, self.count = self._zeros("total"), self._zeros("count")

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        """Take values.

        Args:
          values: of shape (n, ...); the mean of a row counts, or a number.
          sample_weight: one for each row (n,), one for each value, or one for the mean of all.

        Raises:
          LayerError: (AG708) the weights have another shape.
        """
        rows, weights = _of_rows(values, sample_weight, self.dtype, jnp.mean)
        self.total.assign_add(jnp.sum(rows))
        count = rows.shape[0] if weights is None and rows.ndim else 1 if weights is None else jnp.sum(weights)
        self.count.assign_add(jnp.asarray(count, self.dtype))

    def result(self) -> Any:
        """The mean so far; 0 of nothing."""
        return _ratio(self.total.value, self.count.value)


def _of_rows(values: Any, sample_weight: Any, dtype: Any, reduce: Callable[..., Any]) -> tuple[Any, Any]:
    """One number for each row, times its weight; and the weights."""
    x = jnp.asarray(value_of(values), dtype)
    if sample_weight is None:
        return (reduce(x, tuple(range(1, x.ndim))) if x.ndim > 1 else x), None
    x, weights = of_one_rank(x, jnp.asarray(value_of(sample_weight), dtype))
    if x.ndim > weights.ndim:
        x = reduce(x, tuple(range(weights.ndim, x.ndim)))
    weights = jnp.broadcast_to(fitting(weights, x), x.shape)
    inner = tuple(range(1, x.ndim))
    return (reduce(x * weights, inner), reduce(weights, inner)) if inner else (x * weights, weights)


def _ratio(a: Any, b: Any) -> Any:
    """`a / b`, and 0 where b is 0."""
    return jnp.where(b == 0, 0.0, a / jnp.where(b == 0, 1.0, b))


class MeanMetricWrapper(Mean):
    """The mean of what a function gives of labels and predictions.

    Args:
      fn: of labels and predictions; its options are given by name.

    >>> import jax.numpy as jnp, autograph as ag
    >>> m = ag.metrics.MeanMetricWrapper(lambda labels, predictions: jnp.abs(labels - predictions), name="error")
    >>> float(m(jnp.array([1.0, 2.0]), jnp.array([1.0, 4.0])))
    1.0
    """

    def __init__(self, fn: Callable[..., Any], name: str | None = None, dtype: Any = None, **options: Any) -> None:
        super().__init__(name or str(getattr(fn, "__name__", "mean")), dtype)
        self.fn, self.options = fn, options

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:  # type: ignore[override]
        """Take labels and predictions, each example with a weight; by default one."""
        super().update_state(self.fn(y_true, y_pred, **self.options), sample_weight)


def accuracy(y_true: Any, y_pred: Any) -> Any:
    """1 where labels and predictions are equal, else 0."""
    y_true, y_pred = paired(y_true, y_pred)
    return (y_true.astype(y_pred.dtype) == y_pred).astype(jnp.result_type(float))


def binary_accuracy(y_true: Any, y_pred: Any, threshold: float = 0.5) -> Any:
    """1 where a label, 0 or 1, says whether the prediction is above a threshold."""
    y_true, y_pred = paired(y_true, y_pred)
    return ((y_pred > threshold).astype(y_true.dtype) == y_true).astype(jnp.result_type(float))


def categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """1 where the largest label of (..., classes) is that of the largest prediction."""
    y_true, y_pred = _with_classes(y_true, y_pred)
    return (jnp.argmax(y_true, -1) == jnp.argmax(y_pred, -1)).astype(jnp.result_type(float))


def sparse_categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """1 where the largest of the predictions (..., classes) is the class that the label says by number.

    Args:
      y_true: of shape (...), or (..., 1).
      y_pred: of shape (..., classes).

    Raises:
      LayerError: (AG708) they have other shapes.
    """
    y_true, y_pred = _numbered(y_true, y_pred)
    return (jnp.argmax(y_pred, -1) == y_true).astype(jnp.result_type(float))


def top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Any:
    """1 where the largest label of (..., classes) is that of one of the k largest predictions."""
    y_true, y_pred = _with_classes(y_true, y_pred)
    return sparse_top_k_categorical_accuracy(jnp.argmax(y_true, -1), y_pred, k)


def sparse_top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Any:
    """1 where the class that the label says by number is among the k largest of the predictions (..., classes)."""
    y_true, y_pred = _numbered(y_true, y_pred)
    own = jnp.take_along_axis(y_pred, y_true.astype(jnp.int32)[..., None], -1)
    own = jnp.where(jnp.isnan(own), -jnp.inf, own)
    return (jnp.sum(y_pred > own, -1) < k).astype(jnp.result_type(float))


def _with_classes(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    y_true, y_pred = jnp.asarray(value_of(y_true)), jnp.asarray(value_of(y_pred))
    if y_true.shape != y_pred.shape or not y_true.ndim:
        raise unlike("predictions", y_pred, y_true, y_true.shape or ("...", "classes"))
    return y_true, y_pred


def _numbered(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    y_true, y_pred = jnp.asarray(value_of(y_true)), jnp.asarray(value_of(y_pred))
    if y_true.ndim == y_pred.ndim and y_true.shape[-1:] == (1,):
        y_true = y_true[..., 0]
    if y_true.shape != y_pred.shape[:-1] or not y_pred.ndim:
        raise unlike("predictions", y_pred, y_true, (*y_true.shape, "classes"))
    return y_true, y_pred


class Accuracy(MeanMetricWrapper):
    """How often predictions are equal to labels.

    >>> import autograph as ag
    >>> print(ag.metrics.Accuracy()([[1], [2], [3], [4]], [[0], [2], [3], [4]]))
    0.75
    """

    def __init__(self, name: str = "accuracy", dtype: Any = None) -> None:
        super().__init__(accuracy, name, dtype)


class BinaryAccuracy(MeanMetricWrapper):
    """How often a label, 0 or 1, says whether the prediction is above a threshold."""

    def __init__(self, name: str = "binary_accuracy", dtype: Any = None, threshold: float = 0.5) -> None:
        super().__init__(binary_accuracy, name, dtype, threshold=threshold)


class CategoricalAccuracy(MeanMetricWrapper):
    """How often the largest label of (..., classes) is that of the largest prediction."""

    def __init__(self, name: str = "categorical_accuracy", dtype: Any = None) -> None:
        super().__init__(categorical_accuracy, name, dtype)


class SparseCategoricalAccuracy(MeanMetricWrapper):
    """How often the largest of the predictions is the class that the label says by number.

    Labels have shape (...) or (..., 1), and predictions (..., classes).

    >>> import jax.numpy as jnp, autograph as ag
    >>> accuracy = ag.metrics.SparseCategoricalAccuracy()
    >>> print(accuracy(jnp.array([1, 0]), jnp.array([[0.1, 0.9], [0.2, 0.8]])))
    0.5
    """

    def __init__(self, name: str = "sparse_categorical_accuracy", dtype: Any = None) -> None:
        super().__init__(sparse_categorical_accuracy, name, dtype)


class TopKCategoricalAccuracy(MeanMetricWrapper):
    """How often the largest label of (..., classes) is that of one of the k largest predictions."""

    def __init__(self, k: int = 5, name: str = "top_k_categorical_accuracy", dtype: Any = None) -> None:
        super().__init__(top_k_categorical_accuracy, name, dtype, k=k)


class SparseTopKCategoricalAccuracy(MeanMetricWrapper):
    """How often the class that the label says by number is among the k largest of the predictions."""

    def __init__(self, k: int = 5, name: str = "sparse_top_k_categorical_accuracy", dtype: Any = None) -> None:
        super().__init__(sparse_top_k_categorical_accuracy, name, dtype, k=k)


def _squared(y_true: Any, y_pred: Any) -> Any:
    y_true, y_pred = paired(floats(y_true), floats(y_pred))
    return jnp.square(y_pred - y_true)


class MeanSquaredError(MeanMetricWrapper):
    """The mean of the squared differences, over the last axis and the examples."""

    def __init__(self, name: str = "mean_squared_error", dtype: Any = None) -> None:
        super().__init__(_mean_squared, name, dtype)


class RootMeanSquaredError(MeanMetricWrapper):
    """The square root of the mean of the squared differences.

    >>> import autograph as ag
    >>> print(ag.metrics.RootMeanSquaredError()([[0.0, 1.0], [0.0, 0.0]], [[1.0, 1.0], [0.0, 0.0]]))
    0.5
    """

    def __init__(self, name: str = "root_mean_squared_error", dtype: Any = None) -> None:
        super().__init__(_squared, name, dtype)

    def result(self) -> Any:
        """The root so far."""
        return jnp.sqrt(super().result())


class MeanAbsoluteError(MeanMetricWrapper):
    """The mean of the differences without their sign, over the last axis and the examples."""

    def __init__(self, name: str = "mean_absolute_error", dtype: Any = None) -> None:
        super().__init__(_mean_absolute, name, dtype)


def _mean_squared(y_true: Any, y_pred: Any) -> Any:
    return jnp.mean(_squared(y_true, y_pred), -1)


def _mean_absolute(y_true: Any, y_pred: Any) -> Any:
    y_true, y_pred = paired(floats(y_true), floats(y_pred))
    return jnp.mean(jnp.abs(y_pred - y_true), -1)


class _MeanLoss(MeanMetricWrapper):
    """The mean of a function of `ag.losses`, which is imported when one is made: it needs optax."""

    def __init__(self, name: str, dtype: Any, **options: Any) -> None:
        from autograph.runtime.eager import losses

        super().__init__(getattr(losses, type(self).loss), name, dtype, **options)

    loss: ClassVar[str]


class BinaryCrossentropy(_MeanLoss):
    """The mean of `ag.losses.binary_crossentropy`."""

    loss = "binary_crossentropy"

    def __init__(self, name: str = "binary_crossentropy", dtype: Any = None, from_logits: bool = False, label_smoothing: float = 0.0) -> None:
        super().__init__(name, dtype, from_logits=from_logits, label_smoothing=label_smoothing)


class CategoricalCrossentropy(_MeanLoss):
    """The mean of `ag.losses.categorical_crossentropy`."""

    loss = "categorical_crossentropy"

    def __init__(
        self, name: str = "categorical_crossentropy", dtype: Any = None, from_logits: bool = False, label_smoothing: float = 0.0, axis: int = -1
    ) -> None:
        super().__init__(name, dtype, from_logits=from_logits, label_smoothing=label_smoothing, axis=axis)


class SparseCategoricalCrossentropy(_MeanLoss):
    """The mean of `ag.losses.sparse_categorical_crossentropy`."""

    loss = "sparse_categorical_crossentropy"

    def __init__(self, name: str = "sparse_categorical_crossentropy", dtype: Any = None, from_logits: bool = False) -> None:
        super().__init__(name, dtype, from_logits=from_logits)


class KLDivergence(_MeanLoss):
    """The mean of `ag.losses.kl_divergence`."""

    loss = "kl_divergence"

    def __init__(self, name: str = "kl_divergence", dtype: Any = None) -> None:
        super().__init__(name, dtype)


class _Counting(Metric):
    """How many predictions are above thresholds, where the label is 1 and where it is 0."""

    kinds: ClassVar[tuple[str, ...]] = ("true_positives", "false_positives", "true_negatives", "false_negatives")

    def __init__(self, thresholds: Sequence[float], name: str, dtype: Any) -> None:
        super().__init__(name, dtype)
        self.thresholds = tuple(float(t) for t in thresholds)
        even = np.arange(len(self.thresholds)) / max(len(self.thresholds) - 1, 1)
        self._even = len(even) > 2 and np.allclose(self.thresholds, even, atol=1e-7)
        for kind in type(self).kinds:
            setattr(self, kind, self._zeros(kind, (len(self.thresholds),)))

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Take labels, which are 0 or 1, and predictions from 0 to 1.

        Args:
          y_true: of shape (n,) or (n, ...).
          y_pred: of the same shape.
          sample_weight: one for each row, or one for each label.

        Raises:
          LayerError: (AG708) they have other shapes.
        """
        y, p = paired(jnp.asarray(value_of(y_true)).astype(self.dtype), jnp.asarray(value_of(y_pred)).astype(self.dtype))
        weights = jnp.ones((), self.dtype) if sample_weight is None else jnp.asarray(value_of(sample_weight), self.dtype)
        if weights.ndim == y.ndim - 1:
            weights = weights[..., None]
        weights = jnp.broadcast_to(fitting(weights, y), y.shape)
        y, p, weights = (x.ravel() for x in self._selected(y, p, weights))
        true = (y != 0).astype(self.dtype)
        for positive, negative, w in (
            ("true_positives", "false_negatives", true * weights),
            ("false_positives", "true_negatives", (1 - true) * weights),
        ):
            above = self._above(p, w)
            for kind, count in ((positive, above), (negative, jnp.sum(w) - above)):
                if kind in type(self).kinds:
                    getattr(self, kind).assign_add(count)

    def _selected(self, y_true: Any, y_pred: Any, weights: Any) -> tuple[Any, Any, Any]:
        return y_true, y_pred, weights

    def _above(self, y_pred: Any, weights: Any) -> Any:
        """The weights of the predictions above each threshold."""
        if not self._even:
            return jnp.sum((y_pred > jnp.asarray(self.thresholds, self.dtype)[:, None]) * weights, -1)
        count = len(self.thresholds)
        places = jnp.ceil(jnp.clip(y_pred, 0.0, 1.0) * (count - 1)) - 1
        places = jnp.maximum(places, 0) if self.thresholds[0] < 0 or self.thresholds[-1] > 1 else places
        sums = jax.ops.segment_sum(weights, places.astype(jnp.int32), count)
        return jnp.cumsum(sums[::-1])[::-1]


class _OfOneThreshold(_Counting):
    def __init__(self, thresholds: Any = None, name: str | None = None, dtype: Any = None) -> None:
        found = np.atleast_1d(np.asarray(self._default() if thresholds is None else thresholds))
        if thresholds is not None and ((found < 0) | (found > 1)).any():
            raise LayerError(f"the thresholds {thresholds!r} are not from 0 to 1", here(), "give numbers from 0 to 1")
        super().__init__(found.tolist(), name or type(self).__name__.lower(), dtype)

    def _default(self) -> float:
        return 0.5

    def result(self) -> Any:
        """The count so far; of several thresholds, one for each."""
        return self._told(getattr(self, type(self).kinds[0]).value)

    def _told(self, found: Any) -> Any:
        return found[0] if len(self.thresholds) == 1 else found


class TruePositives(_OfOneThreshold):
    """How many predictions are above a threshold where the label is 1."""

    kinds = ("true_positives",)


class FalsePositives(_OfOneThreshold):
    """How many predictions are above a threshold where the label is 0."""

    kinds = ("false_positives",)


class TrueNegatives(_OfOneThreshold):
    """How many predictions are at most a threshold where the label is 0."""

    kinds = ("true_negatives",)


class FalseNegatives(_OfOneThreshold):
    """How many predictions are at most a threshold where the label is 1."""

    kinds = ("false_negatives",)


class _Share(_OfOneThreshold):
    """Of true positives among others.

    Args:
      thresholds: one or several, from 0 to 1; by default 0.5.
      top_k: count the k largest predictions of the last axis as positive.
      class_id: look at this place of the last axis only.
    """

    def __init__(
        self, thresholds: Any = None, top_k: int | None = None, class_id: int | None = None, name: str | None = None, dtype: Any = None
    ) -> None:
        self.top_k, self.class_id = top_k, class_id
        super().__init__(thresholds, name, dtype)

    def _default(self) -> float:
        return 0.5 if self.top_k is None else -1e10

    def _selected(self, y_true: Any, y_pred: Any, weights: Any) -> tuple[Any, Any, Any]:
        if self.top_k is not None:
            chosen = jax.nn.one_hot(jax.lax.top_k(y_pred, self.top_k)[1], y_pred.shape[-1]).sum(-2)
            y_pred = jnp.where(chosen > 0, y_pred, -1e10)
        if self.class_id is None:
            return y_true, y_pred, weights
        if y_true.ndim < 2:
            raise LayerError(f"`class_id` is a place of the last axis, and the labels have shape {y_true.shape}", here(), "give shape (n, classes)")
        return y_true[..., self.class_id], y_pred[..., self.class_id], weights[..., self.class_id]

    def result(self) -> Any:
        """The share so far; 0 of nothing.  Of several thresholds, one for each."""
        true, others = (getattr(self, kind).value for kind in type(self).kinds)
        return self._told(_ratio(true, true + others))


class Precision(_Share):
    """Which share of the predictions above a threshold has the label 1.

    Args:
      thresholds: one or several, from 0 to 1; by default 0.5.
      top_k: count the k largest predictions of the last axis as above it.
      class_id: look at this place of the last axis only.

    >>> import autograph as ag
    >>> print(ag.metrics.Precision()([0, 1, 1, 1], [1.0, 0.0, 1.0, 0.0]))
    0.5
    """

    kinds = ("true_positives", "false_positives")


class Recall(_Share):
    """Which share of the labels 1 has a prediction above a threshold.  The arguments are those of `Precision`."""

    kinds = ("true_positives", "false_negatives")


class AUC(_Counting):
    """The area under a curve over many thresholds.

    Args:
      num_thresholds: how many, evenly from 0 to 1.
      curve: "ROC", of the true positives over the false ones; or "PR", of precision over recall.
      summation_method: "interpolation"; "minoring" or "majoring" for the smaller or larger side of each step.
      thresholds: those between 0 and 1 instead.
      from_logits: whether predictions are logits.

    The interpolation of "PR" is that of Davis and Goadrich (2006, https://www.biostat.wisc.edu/~page/rocpr.pdf).

    Raises:
      LayerError: (AG708) there is no such curve or method.

    >>> import autograph as ag
    >>> print(ag.metrics.AUC(num_thresholds=3)([0, 0, 1, 1], [0.0, 0.5, 0.3, 0.9]))
    0.75
    """

    def __init__(
        self, num_thresholds: int = 200, curve: str = "ROC", summation_method: str = "interpolation", name: str = "auc", dtype: Any = None,
        thresholds: Sequence[float] | None = None, from_logits: bool = False,
    ) -> None:  # fmt: skip
        for what, given, known in (
            ("curve", curve, ("ROC", "PR")),
            ("summation method", summation_method, ("interpolation", "minoring", "majoring")),
        ):
            if given not in known:
                raise LayerError(f"there is no {what} {given!r}", here(), f"write one of {', '.join(map(repr, known))}")
        if thresholds is None and num_thresholds < 2:
            raise LayerError(f"there are {num_thresholds} thresholds, and a curve has two or more", here(), "give a larger `num_thresholds`")
        inner = [(k + 1) / (num_thresholds - 1) for k in range(num_thresholds - 2)] if thresholds is None else sorted(thresholds)
        super().__init__([-1e-7, *inner, 1.0 + 1e-7], name, dtype)
        self.curve, self.summation_method, self.from_logits = curve, summation_method, from_logits

    def _selected(self, y_true: Any, y_pred: Any, weights: Any) -> tuple[Any, Any, Any]:
        return y_true, jax.nn.sigmoid(y_pred) if self.from_logits else y_pred, weights

    def result(self) -> Any:
        """The area so far."""
        tp, fp, tn, fn = (getattr(self, kind).value for kind in type(self).kinds)
        if self.curve == "PR" and self.summation_method == "interpolation":
            p = tp + fp
            slope = _ratio(tp[:-1] - tp[1:], jnp.maximum(p[:-1] - p[1:], 0))
            start = tp[1:] - slope * p[1:]
            ratio = jnp.where((p[:-1] > 0) & (p[1:] > 0), _ratio(p[:-1], jnp.maximum(p[1:], 0)), 1.0)
            return jnp.sum(_ratio(slope * (tp[:-1] - tp[1:] + start * jnp.log(ratio)), jnp.maximum(tp[1:] + fn[1:], 0)))
        recall = _ratio(tp, tp + fn)
        x, y = (_ratio(fp, fp + tn), recall) if self.curve == "ROC" else (recall, _ratio(tp, tp + fp))
        heights = {"interpolation": (y[:-1] + y[1:]) / 2, "minoring": jnp.minimum(y[:-1], y[1:]), "majoring": jnp.maximum(y[:-1], y[1:])}
        return jnp.sum((x[:-1] - x[1:]) * heights[self.summation_method])
