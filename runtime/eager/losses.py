"""Losses, with the definitions of Keras (https://keras.io/api/losses); the arithmetic is optax's where it has it.

A function gives one number for each example: the last axis is that of what belongs to one.  A class (`MeanAbsoluteError`, ...) is made with options,
and called with labels, predictions and perhaps weights; it makes one number of them.  Two functions give the mean over all examples:
`mean_squared_error` and `sparse_softmax_cross_entropy`.

See https://optax.readthedocs.io/en/latest/api/losses.html.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from autograph.runtime.arrays.variable_ref import Deferred, value_of
from autograph.runtime.eager.kernels import kernel
from autograph.runtime.eager.weighted import checked_reduction, floats, paired, reduced, unlike
from autograph.runtime.errors.errors import LayerError
from autograph.runtime.errors.extras import needed
from autograph.runtime.errors.source_spans import here

__all__ = [
    "BinaryCrossentropy", "CategoricalCrossentropy", "CategoricalHinge", "CosineSimilarity", "Hinge", "Huber", "KLDivergence", "LogCosh",
    "Loss", "MeanAbsoluteError", "MeanAbsolutePercentageError", "MeanSquaredError", "MeanSquaredLogarithmicError", "Poisson",
    "SparseCategoricalCrossentropy", "SquaredHinge", "binary_crossentropy", "categorical_crossentropy", "categorical_hinge",
    "cosine_similarity", "hinge", "huber", "kl_divergence", "log_cosh", "mean_absolute_error", "mean_absolute_percentage_error",
    "mean_squared_error", "mean_squared_logarithmic_error", "poisson", "sparse_categorical_crossentropy", "sparse_softmax_cross_entropy",
    "squared_hinge",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)


optax = needed("optax", "losses")

EPSILON = 1e-7  # Keras's: probabilities stay as far from 0 and 1


def mean_squared_error(y_true: Any, y_pred: Any) -> Any:
    """The mean of all squared differences; labels and predictions have one shape.

    Raises:
      LayerError: (AG708) they have not.

    >>> import jax.numpy as jnp, autograph as ag
    >>> float(ag.losses.mean_squared_error(jnp.array([1.0, 2.0]), jnp.array([1.0, 4.0])))
    2.0
    """
    for node in (y_true, y_pred):
        if isinstance(node, Deferred):
            return node.deferred(mean_squared_error, y_true, y_pred)
    y_true, y_pred = value_of(y_true), value_of(y_pred)
    if jnp.shape(y_true) != jnp.shape(y_pred):
        raise unlike("predictions", y_pred, y_true, jnp.shape(y_true))
    return _mean_square(y_pred, y_true)


@kernel
def _mean_square(y_pred: Any, y_true: Any) -> Any:
    return jnp.mean(optax.losses.squared_error(y_pred, y_true))


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
    labels, logits = _classes(labels), value_of(logits)
    if labels.shape != jnp.shape(logits)[:-1]:
        raise unlike("logits", logits, labels, (*labels.shape, "classes"))
    return _mean_of_classes(logits, labels)


@kernel
def _mean_of_classes(logits: Any, y_true: Any) -> Any:
    return jnp.mean(optax.losses.softmax_cross_entropy_with_integer_labels(logits, y_true))


def _of_examples(function: Callable[..., Any]) -> Callable[..., Any]:
    """A loss of each example, as a function that takes Variables, lists, and nodes of `ag.graph` too."""

    @functools.wraps(function)
    def of(y_true: Any, y_pred: Any, *args: Any, **options: Any) -> Any:
        for node in (y_true, y_pred):
            if isinstance(node, Deferred):
                return node.deferred(of, y_true, y_pred, *args, **options)
        y_pred = floats(y_pred)
        y_true, y_pred = paired(jnp.asarray(value_of(y_true)).astype(y_pred.dtype), y_pred)
        if not y_pred.ndim:
            raise LayerError("the labels and predictions are numbers, and a loss goes over their last axis", here(), "give them an axis: `x[None]`")
        return function(y_true, y_pred, *args, **options)

    return of


@_of_examples
def mean_absolute_error(y_true: Any, y_pred: Any) -> Any:
    """The mean of the differences without their sign, over the last axis.

    Args:
      y_true: of shape (..., k); where the predictions have shape (n, 1), (n,) too.
      y_pred: of shape (..., k).

    Raises:
      LayerError: (AG708) they have other shapes.  So do all losses of examples.

    >>> import jax.numpy as jnp, autograph as ag
    >>> ag.losses.mean_absolute_error(jnp.array([[1.0, 2.0], [0.0, 0.0]]), jnp.array([[1.0, 4.0], [0.0, 1.0]])).tolist()
    [1.0, 0.5]
    """
    return jnp.mean(jnp.abs(y_pred - y_true), -1)


@_of_examples
def mean_absolute_percentage_error(y_true: Any, y_pred: Any) -> Any:
    """The mean of the differences without their sign, each in per cent of its label, over the last axis."""
    return 100.0 * jnp.mean(jnp.abs((y_true - y_pred) / jnp.maximum(jnp.abs(y_true), EPSILON)), -1)


@_of_examples
def mean_squared_logarithmic_error(y_true: Any, y_pred: Any) -> Any:
    """The mean of the squared differences of `log(1 + x)`, over the last axis; what is below 0 counts as 0."""
    return jnp.mean(jnp.square(jnp.log(jnp.maximum(y_pred, EPSILON) + 1.0) - jnp.log(jnp.maximum(y_true, EPSILON) + 1.0)), -1)


@_of_examples
def huber(y_true: Any, y_pred: Any, delta: float = 1.0) -> Any:
    """The mean over the last axis of half the squared difference; above `delta` a line goes on (Huber, 1964)."""
    return jnp.mean(optax.losses.huber_loss(y_pred, y_true, delta=delta), -1)


@_of_examples
def log_cosh(y_true: Any, y_pred: Any) -> Any:
    """The mean over the last axis of the logarithm of the hyperbolic cosine of the difference."""
    return jnp.mean(optax.losses.log_cosh(y_pred, y_true), -1)


@_of_examples
def kl_divergence(y_true: Any, y_pred: Any) -> Any:
    """`sum(y_true * log(y_true / y_pred))` over the last axis, for two distributions (Kullback and Leibler, 1951)."""
    y_true, y_pred = jnp.clip(y_true, EPSILON, 1.0), jnp.clip(y_pred, EPSILON, 1.0)
    return optax.losses.kl_divergence(jnp.log(y_pred), y_true)


@_of_examples
def poisson(y_true: Any, y_pred: Any) -> Any:
    """The mean over the last axis of `y_pred - y_true * log(y_pred)`: of counts and the rates that are predicted for them."""
    return jnp.mean(y_pred - y_true * jnp.log(y_pred + EPSILON), -1)


@_of_examples
def hinge(y_true: Any, y_pred: Any) -> Any:
    """The mean over the last axis of `max(1 - y_true * y_pred, 0)`.  Labels are -1 or 1; labels that are all 0 or 1 count as these."""
    return jnp.mean(optax.losses.hinge_loss(y_pred, _signs(y_true)), -1)


@_of_examples
def squared_hinge(y_true: Any, y_pred: Any) -> Any:
    """The mean over the last axis of the square of what `hinge` takes the mean of."""
    return jnp.mean(jnp.square(optax.losses.hinge_loss(y_pred, _signs(y_true))), -1)


@_of_examples
def categorical_hinge(y_true: Any, y_pred: Any) -> Any:
    """How much the largest prediction of another class comes near that of the class whose label is 1: `max(0, other - own + 1)`."""
    own, other = jnp.sum(y_true * y_pred, -1), jnp.max((1.0 - y_true) * y_pred, -1)
    return jnp.maximum(other - own + 1.0, 0.0)


@_of_examples
def cosine_similarity(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
    """The cosine of the angle between labels and predictions with its sign turned, so that it is -1 where they point the same way."""
    return -optax.losses.cosine_similarity(y_pred, y_true, epsilon=EPSILON, axis=axis)


@_of_examples
def binary_crossentropy(y_true: Any, y_pred: Any, from_logits: bool = False, label_smoothing: float = 0.0, axis: int = -1) -> Any:
    """The mean cross-entropy of labels that are 0 or 1.

    Args:
      y_true: of shape (..., k), or (n,) where the predictions have shape (n, 1).
      y_pred: of shape (..., k): probabilities of 1.
      from_logits: whether they are the logits of these instead.
      label_smoothing: how far labels are moved to 1/2, from 0 to 1.
      axis: which the mean is over.

    >>> import jax.numpy as jnp, autograph as ag
    >>> labels = jnp.array([[0.0, 1.0], [0.0, 0.0]])
    >>> print(ag.losses.binary_crossentropy(labels, jnp.array([[0.5, 0.5], [0.5, 0.5]])).round(4))
    [0.6931 0.6931]
    """
    if label_smoothing:
        y_true = y_true * (1.0 - label_smoothing) + 0.5 * label_smoothing
    if from_logits:
        each = optax.losses.sigmoid_binary_cross_entropy(y_pred, y_true)
    else:
        p = jnp.clip(y_pred, EPSILON, 1.0 - EPSILON)
        each = -(y_true * jnp.log(p) + (1.0 - y_true) * jnp.log(1.0 - p))
    return jnp.mean(each, axis)


@_of_examples
def categorical_crossentropy(y_true: Any, y_pred: Any, from_logits: bool = False, label_smoothing: float = 0.0, axis: int = -1) -> Any:
    """The cross-entropy of labels that are probabilities of classes, one of them 1 for the most part.

    Args:
      y_true: of shape (..., classes).
      y_pred: of shape (..., classes): probabilities, which are brought to the sum 1.
      from_logits: whether they are logits instead.
      label_smoothing: how far labels are moved to the uniform distribution, from 0 to 1.
      axis: that of the classes.

    >>> import jax.numpy as jnp, autograph as ag
    >>> labels = jnp.array([[0, 1, 0], [0, 0, 1]])
    >>> print(ag.losses.categorical_crossentropy(labels, jnp.array([[0.05, 0.95, 0.0], [0.1, 0.8, 0.1]])).round(4))
    [0.0513 2.3026]
    """
    if label_smoothing:
        y_true = optax.losses.smooth_labels(y_true, label_smoothing)
    return _cross_entropy(y_true, y_pred, from_logits, axis)


def sparse_categorical_crossentropy(y_true: Any, y_pred: Any, from_logits: bool = False, ignore_class: int | None = None) -> Any:
    """The cross-entropy of classes given by number.

    Args:
      y_true: integers of shape (...), or (..., 1).
      y_pred: of shape (..., classes): probabilities, which are brought to the sum 1.
      from_logits: whether they are logits instead.
      ignore_class: a number of which the loss is 0.

    Raises:
      LayerError: (AG708) the labels are no integers, or have another shape.

    >>> import jax.numpy as jnp, autograph as ag
    >>> print(ag.losses.sparse_categorical_crossentropy(jnp.array([1, 2]), jnp.array([[0.05, 0.95, 0.0], [0.1, 0.8, 0.1]])).round(4))
    [0.0513 2.3026]
    """
    for node in (y_true, y_pred):
        if isinstance(node, Deferred):
            return node.deferred(sparse_categorical_crossentropy, y_true, y_pred, from_logits, ignore_class)
    y_true, y_pred = _by_number(y_true, y_pred)
    each = _cross_entropy(jax.nn.one_hot(y_true, y_pred.shape[-1], dtype=y_pred.dtype), y_pred, from_logits, -1)
    return each if ignore_class is None else jnp.where(y_true == ignore_class, 0.0, each)


def _cross_entropy(y_true: Any, y_pred: Any, from_logits: bool, axis: int) -> Any:
    return _cross_entropies(y_true, y_pred, from_logits=from_logits, axis=axis)


@kernel
def _cross_entropies(y_true: Any, y_pred: Any, *, from_logits: bool, axis: int) -> Any:
    if from_logits:
        return optax.losses.softmax_cross_entropy(y_pred, y_true, axis=axis)
    shares = y_pred / jnp.sum(y_pred, axis, keepdims=True)
    return -jnp.sum(y_true * jnp.log(jnp.clip(shares, EPSILON, 1.0 - EPSILON)), axis)


def _classes(y_true: Any) -> Any:
    y_true = jnp.asarray(value_of(y_true))
    if not jnp.issubdtype(y_true.dtype, jnp.integer):
        raise LayerError(f"the labels are {y_true.dtype}, and classes are given by their numbers", here(), "convert them: `y_true.astype(int)`")
    return y_true


def _by_number(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    """Classes of shape (...), and predictions of shape (..., classes)."""
    y_true, y_pred = _classes(y_true), floats(y_pred)
    if y_true.ndim == y_pred.ndim and y_true.shape[-1:] == (1,):
        y_true = y_true[..., 0]
    if y_true.shape != y_pred.shape[:-1] or not y_pred.ndim:
        raise unlike("predictions", y_pred, y_true, (*y_true.shape, "classes"))
    return y_true, y_pred


def _signs(y_true: Any) -> Any:
    """Labels that are all 0 or 1 as -1 and 1."""
    return jnp.where(jnp.all((y_true == 0) | (y_true == 1)), 2.0 * y_true - 1.0, y_true)


class Loss:
    """A loss that is called with labels and predictions, and makes one number of what `call` gives for each example.

    A loss of one's own has `call(y_true, y_pred)`, which gives one number for each example.

    Args:
      reduction: "sum_over_batch_size" or "mean" for the mean over the examples, each times its weight; "sum"; "mean_with_sample_weight" for the sum
        divided by that of the weights; "none" or None for the numbers as they are.

    Raises:
      LayerError: (AG708) there is no such reduction.

    The semantics are those of `tf.keras.losses.Loss`.

    >>> import jax.numpy as jnp, autograph as ag
    >>> class Largest(ag.losses.Loss):
    ...     def call(self, y_true, y_pred):
    ...         return jnp.max(jnp.abs(y_pred - y_true), axis=-1)
    >>> float(Largest()(jnp.zeros((2, 2)), jnp.array([[1.0, 2.0], [0.0, 4.0]]), sample_weight=[1.0, 0.5]))
    2.0
    """

    def __init__(self, name: str | None = None, reduction: str | None = "sum_over_batch_size") -> None:
        self.name, self.reduction = name or type(self).__name__.lower(), checked_reduction(reduction)

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """One number for each example."""
        raise LayerError(f"`{type(self).__name__}` has no `call`, which gives the loss of each example", here(), "give the class a method `call`")

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """The loss.

        Args:
          sample_weight: one for each example, of the shape of what `call` gives, or one for all.

        Raises:
          LayerError: (AG708) shapes do not belong together.
        """
        for node in (y_true, y_pred, sample_weight):
            if isinstance(node, Deferred):
                return node.deferred(self, y_true, y_pred, sample_weight)
        return reduced(self.call(y_true, y_pred), sample_weight, self._counted(y_true, y_pred), self.reduction)

    def _counted(self, y_true: Any, y_pred: Any) -> Any:
        return None


class _OfFunction(Loss):
    function: ClassVar[Callable[..., Any]]

    def __init__(self, reduction: str | None = "sum_over_batch_size", name: str | None = None) -> None:
        super().__init__(name or getattr(type(self).function, "__name__", None), reduction)

    def call(self, y_true: Any, y_pred: Any) -> Any:
        return type(self).function(y_true, y_pred)


class MeanSquaredError(_OfFunction):
    """The mean of the squared differences.

    Args:
      reduction: as in `Loss`.

    >>> import jax.numpy as jnp, autograph as ag
    >>> loss = ag.losses.MeanSquaredError()
    >>> float(loss(jnp.array([[0.0, 1.0], [0.0, 0.0]]), jnp.array([[1.0, 1.0], [1.0, 0.0]]), sample_weight=jnp.array([0.7, 0.3])))
    0.25
    """

    @staticmethod
    @_of_examples
    def function(y_true: Any, y_pred: Any) -> Any:
        return jnp.mean(optax.losses.squared_error(y_pred, y_true), -1)

    def __init__(self, reduction: str | None = "sum_over_batch_size", name: str = "mean_squared_error") -> None:
        super().__init__(reduction, name)


class MeanAbsoluteError(_OfFunction):
    """The mean of the differences without their sign: `mean_absolute_error`."""

    function = staticmethod(mean_absolute_error)


class MeanAbsolutePercentageError(_OfFunction):
    """The mean of the differences without their sign in per cent of the labels: `mean_absolute_percentage_error`."""

    function = staticmethod(mean_absolute_percentage_error)


class MeanSquaredLogarithmicError(_OfFunction):
    """The mean of the squared differences of logarithms: `mean_squared_logarithmic_error`."""

    function = staticmethod(mean_squared_logarithmic_error)


class LogCosh(_OfFunction):
    """The logarithm of the hyperbolic cosine of the difference: `log_cosh`."""

    function = staticmethod(log_cosh)


class KLDivergence(_OfFunction):
    """How far a distribution is from that of the labels: `kl_divergence`."""

    function = staticmethod(kl_divergence)


class Poisson(_OfFunction):
    """Of counts, and the rates that are predicted for them: `poisson`."""

    function = staticmethod(poisson)


class Hinge(_OfFunction):
    """Of labels -1 and 1: `hinge`."""

    function = staticmethod(hinge)


class SquaredHinge(_OfFunction):
    """Of labels -1 and 1: `squared_hinge`."""

    function = staticmethod(squared_hinge)


class CategoricalHinge(_OfFunction):
    """Of labels that are 1 for one class and 0 for the others: `categorical_hinge`."""

    function = staticmethod(categorical_hinge)


class Huber(Loss):
    """Squares of small differences, and the size of large ones: `huber`.

    Args:
      delta: the difference from which on it is the size.
    """

    def __init__(self, delta: float = 1.0, reduction: str | None = "sum_over_batch_size", name: str = "huber_loss") -> None:
        super().__init__(name, reduction)
        self.delta = delta

    def call(self, y_true: Any, y_pred: Any) -> Any:
        return huber(y_true, y_pred, self.delta)


class CosineSimilarity(Loss):
    """The cosine of the angle between labels and predictions with its sign turned: `cosine_similarity`.

    Args:
      axis: along which they are vectors.
    """

    def __init__(self, axis: int = -1, reduction: str | None = "sum_over_batch_size", name: str = "cosine_similarity") -> None:
        super().__init__(name, reduction)
        self.axis = axis

    def call(self, y_true: Any, y_pred: Any) -> Any:
        return cosine_similarity(y_true, y_pred, self.axis)


class BinaryCrossentropy(Loss):
    """The cross-entropy of labels that are 0 or 1: `binary_crossentropy`, whose options it has.

    >>> import jax.numpy as jnp, autograph as ag
    >>> loss = ag.losses.BinaryCrossentropy(from_logits=True)
    >>> f"{float(loss(jnp.array([0, 1, 0, 0]), jnp.array([[-18.6], [0.51], [2.94], [-12.8]]))):.3f}"
    '0.865'
    """

    def __init__(
        self, from_logits: bool = False, label_smoothing: float = 0.0, axis: int = -1, reduction: str | None = "sum_over_batch_size",
        name: str = "binary_crossentropy",
    ) -> None:  # fmt: skip
        super().__init__(name, reduction)
        self.from_logits, self.label_smoothing, self.axis = from_logits, label_smoothing, axis

    def call(self, y_true: Any, y_pred: Any) -> Any:
        return binary_crossentropy(y_true, y_pred, self.from_logits, self.label_smoothing, self.axis)


class CategoricalCrossentropy(Loss):
    """The cross-entropy of labels that are probabilities of classes: `categorical_crossentropy`, whose options it has."""

    def __init__(
        self, from_logits: bool = False, label_smoothing: float = 0.0, axis: int = -1, reduction: str | None = "sum_over_batch_size",
        name: str = "categorical_crossentropy",
    ) -> None:  # fmt: skip
        super().__init__(name, reduction)
        self.from_logits, self.label_smoothing, self.axis = from_logits, label_smoothing, axis

    def call(self, y_true: Any, y_pred: Any) -> Any:
        return categorical_crossentropy(y_true, y_pred, self.from_logits, self.label_smoothing, self.axis)


class SparseCategoricalCrossentropy(Loss):
    """The cross-entropy of classes given by number: `sparse_categorical_crossentropy`, whose options it has.

    Examples of the class `ignore_class` are not counted.

    >>> import jax.numpy as jnp, autograph as ag
    >>> loss = ag.losses.SparseCategoricalCrossentropy(from_logits=True)
    >>> f"{float(loss(jnp.array([[0], [1]]), jnp.zeros((2, 4)))):.4f}"
    '1.3863'
    """

    def __init__(
        self, from_logits: bool = False, ignore_class: int | None = None, reduction: str | None = "sum_over_batch_size",
        name: str = "sparse_categorical_crossentropy",
    ) -> None:  # fmt: skip
        super().__init__(name, reduction)
        self.from_logits, self.ignore_class = from_logits, ignore_class

    def call(self, y_true: Any, y_pred: Any) -> Any:
        return sparse_categorical_crossentropy(y_true, y_pred, self.from_logits, self.ignore_class)

    def _counted(self, y_true: Any, y_pred: Any) -> Any:
        return None if self.ignore_class is None else _by_number(y_true, y_pred)[0] != self.ignore_class
