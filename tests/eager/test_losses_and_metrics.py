"""Losses, metrics, optimizers, schedules, activations and layers by their values, and what is wrong with what they are given.

The numbers of `LOSSES`, `METRICS`, `OPTIMIZERS` and `ACTIVATIONS` are those of Keras 3.15 on JAX; `test_keras_table.py` compares with Keras itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from autograph.runtime.errors.errors import LayerError, OptimizerError

pytest.importorskip("optax", reason="losses and optimizers need the extra `train`")


def close(got: Any, want: Any) -> None:
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=2e-6)


Y, P, W = [[0.0, 1.0, 1.0], [1.0, 0.0, 1.0]], [[0.1, 0.6, 0.3], [0.7, 0.2, 0.9]], [1.0, 0.5]
H, S = [[0, 1, 0], [0, 0, 1]], [1, 2]  # classes as vectors, and by number
LOSSES: list[tuple[str, dict[str, Any], Any, Any, float, float, float]] = [
    # of each example; their mean; with weights; their sum
    ("MeanSquaredError", {}, Y, [0.22, 0.046667], 0.133333, 0.121667, 0.266667),
    ("MeanAbsoluteError", {}, Y, [0.4, 0.2], 0.3, 0.25, 0.6),
    ("MeanAbsolutePercentageError", {}, [[1.0, 2.0, 4.0], [2.0, 1.0, 1.0]], [84.166664, 51.666672], 67.916672, 55.0, 135.833344),
    ("MeanSquaredLogarithmicError", {}, Y, [0.081484, 0.020762], 0.051123, 0.045932, 0.102245),
    ("Huber", {"delta": 0.3}, Y, [0.081667, 0.023333], 0.0525, 0.046667, 0.105),
    ("LogCosh", {}, Y, [0.103405, 0.023067], 0.063236, 0.057469, 0.126472),
    ("KLDivergence", {}, Y, [1.714797, 0.462034], 1.088416, 0.972907, 2.176831),
    ("Poisson", {}, Y, [0.904933, 0.754012], 0.829472, 0.640969, 1.658944),
    ("Hinge", {}, Y, [0.733333, 0.533333], 0.633333, 0.5, 1.266667),
    ("SquaredHinge", {}, Y, [0.62, 0.513333], 0.566667, 0.438333, 1.133333),
    ("CategoricalHinge", {}, H, [0.7, 0.8], 0.75, 0.55, 1.5),
    ("CosineSimilarity", {}, Y, [-0.938315, -0.977356], -0.957835, -0.713496, -1.91567),
    ("BinaryCrossentropy", {}, Y, [0.60672, 0.228393], 0.417556, 0.360458, 0.835113),
    ("BinaryCrossentropy", {"from_logits": True, "label_smoothing": 0.1}, Y, [0.59208, 0.537493], 0.564786, 0.430413, 1.129573),
    ("CategoricalCrossentropy", {}, H, [0.510826, 0.693147], 0.601986, 0.4287, 1.203973),
    ("CategoricalCrossentropy", {"from_logits": True, "label_smoothing": 0.1}, H, [0.879953, 0.869546], 0.87475, 0.657363, 1.7495),
    ("SparseCategoricalCrossentropy", {}, S, [0.510826, 0.693147], 0.601986, 0.4287, 1.203973),
    ("SparseCategoricalCrossentropy", {"from_logits": True}, S, [0.853287, 0.839546], 0.846416, 0.63653, 1.692833),
    ("SparseCategoricalCrossentropy", {"ignore_class": 2}, S, [0.510826, 0.0], 0.510826, 0.510826, 0.510826),
]


@pytest.mark.parametrize(("name", "options", "labels", "each", "mean", "weighted", "total"), LOSSES, ids=[f"{x[0]}{x[1] or ''}" for x in LOSSES])
def test_losses(name: str, options: dict[str, Any], labels: Any, each: Any, mean: float, weighted: float, total: float) -> None:
    make, labels, predictions = getattr(ag.losses, name), jnp.asarray(labels), jnp.asarray(P)
    close(make(reduction=None, **options)(labels, predictions), each)
    close(make(**options)(labels, predictions), mean)
    close(make(**options)(labels, predictions, sample_weight=W), weighted)
    close(make(reduction="sum", **options)(labels, predictions), total)
    close(ag.function(make(**options))(labels, predictions, jnp.asarray(W)), weighted)


B, C, V = [0, 0, 1, 1, 1, 0], [0.1, 0.6, 0.35, 0.8, 0.9, 0.5], [1.0, 2.0, 1.0, 0.5, 1.0, 3.0]
Q, N, U = [[0.1, 0.6, 0.3], [0.7, 0.2, 0.1], [0.2, 0.3, 0.5]], [1, 2, 2], [1.0, 0.5, 2.0]
O = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]  # noqa: E741
METRICS: list[tuple[str, dict[str, Any], Any, Any, Any, Any, Any]] = [  # without weights, and with them
    ("Accuracy", {}, N, [1, 2, 0], U, 0.666667, 0.428571),
    ("BinaryAccuracy", {}, B, C, V, 0.666667, 0.647059),
    ("BinaryAccuracy", {"threshold": 0.7}, B, C, V, 0.833333, 0.882353),
    ("CategoricalAccuracy", {}, O, Q, U, 0.666667, 0.857143),
    ("SparseCategoricalAccuracy", {}, N, Q, U, 0.666667, 0.857143),
    ("SparseCategoricalAccuracy", {}, [[n] for n in N], Q, U, 0.666667, 0.857143),
    ("TopKCategoricalAccuracy", {"k": 2}, O, Q, U, 0.666667, 0.857143),
    ("SparseTopKCategoricalAccuracy", {"k": 2}, N, Q, U, 0.666667, 0.857143),
    ("MeanSquaredError", {}, O, Q, U, 0.22, 0.160952),
    ("RootMeanSquaredError", {}, O, Q, U, 0.469042, 0.401189),
    ("MeanAbsoluteError", {}, O, Q, U, 0.4, 0.352381),
    ("Precision", {}, B, C, V, 0.666667, 0.428571),
    ("Recall", {}, B, C, V, 0.666667, 0.6),
    ("Precision", {"thresholds": [0.3, 0.7]}, B, C, V, [0.6, 1.0], [0.333333, 1.0]),
    ("AUC", {}, B, C, V, 0.777778, 0.666667),
    ("AUC", {"curve": "PR"}, B, C, V, 0.851238, 0.713798),
    ("TruePositives", {}, B, C, V, 2.0, 1.5),
    ("FalseNegatives", {}, B, C, V, 1.0, 1.0),
    ("BinaryCrossentropy", {}, [[b] for b in B], [[c] for c in C], V, 0.515521, 0.621663),
    ("CategoricalCrossentropy", {}, O, Q, U, 1.168853, 0.870975),
    ("SparseCategoricalCrossentropy", {"from_logits": True}, N, Q, U, 1.053689, 0.976264),
    ("KLDivergence", {}, O, Q, U, 1.16885, 0.870972),
    ("Sum", {}, C, None, V, 3.25, 4.45),
    ("Mean", {}, C, None, V, 0.541667, 0.523529),
]


@pytest.mark.parametrize(
    ("name", "options", "labels", "predictions", "weights", "alone", "weighted"), METRICS, ids=[f"{x[0]}{x[1] or ''}" for x in METRICS]
)
def test_metrics(name: str, options: dict[str, Any], labels: Any, predictions: Any, weights: Any, alone: Any, weighted: Any) -> None:
    given = [jnp.asarray(x) for x in (labels, predictions) if x is not None]
    metric = getattr(ag.metrics, name)(**options)
    close(metric(*given), alone)
    close(metric.result(), alone)
    metric.reset_state()
    close(metric(*given, sample_weight=jnp.asarray(weights)), weighted)
    metric.reset_state()
    assert all((v.value == 0).all() for v in metric.variables)
    update = ag.function(lambda *x: metric(*x))
    close(update(*given), alone)


def test_rows_of_several_sizes_count_as_rows() -> None:
    mean = ag.metrics.Mean()
    mean.update_state([[1.0, 2.0], [3.0, 4.0]])
    assert mean(5.0) == jnp.float32(10 / 3)
    close(ag.metrics.Mean()([[1.0, 2.0], [3.0, 4.0]], sample_weight=[1.0, 0.0]), 1.5)
    close(ag.metrics.Mean()([[1.0, 2.0], [3.0, 4.0]], sample_weight=[[1.0, 0.0], [1.0, 2.0]]), 3.0)
    assert ag.metrics.Mean().result() == 0.0


def test_labels_of_another_rank() -> None:
    p = jnp.asarray(Q)
    assert float(ag.losses.MeanSquaredError()(jnp.arange(3.0), jnp.ones((3, 1)))) == pytest.approx(2 / 3)
    close(ag.losses.SparseCategoricalCrossentropy()([[1], [2], [2]], p), ag.losses.SparseCategoricalCrossentropy()([1, 2, 2], p))
    close(ag.metrics.Accuracy()([1, 2, 3, 4], [[0], [2], [3], [4]]), 0.75)
    close(ag.losses.binary_crossentropy([0, 1], [[0.5], [0.5]]), [np.log(2)] * 2)
    sequences = jnp.ones((2, 4, 3)) / 3
    assert ag.losses.sparse_categorical_crossentropy(jnp.zeros((2, 4), int), sequences).shape == (2, 4)


UNLIKE: list[tuple[Callable[[], Any], str]] = [
    (lambda: ag.losses.MeanAbsoluteError()(jnp.ones((3, 1)), jnp.ones((3, 4))), r"labels have shape \(3, 1\) and the predictions \(3, 4\)"),
    (lambda: ag.losses.BinaryCrossentropy()(jnp.ones(3), jnp.ones((3, 4))), r"labels have shape \(3,\) and the predictions \(3, 4\)"),
    (lambda: ag.losses.huber(jnp.ones(4), jnp.ones((3, 4))), r"labels have shape \(4,\) and the predictions \(3, 4\)"),
    (lambda: ag.losses.CategoricalCrossentropy()([1, 2], jnp.asarray(P)), r"labels have shape \(2,\) and the predictions \(2, 3\)"),
    (lambda: ag.losses.SparseCategoricalCrossentropy()([[0, 1, 0], [0, 0, 1]], jnp.asarray(P)), r"labels have shape \(2, 3\) .* which should be \(2, 3, classes\)"),
    (lambda: ag.losses.SparseCategoricalCrossentropy()([0.0, 1.0], jnp.asarray(P)), "labels are float32"),
    (lambda: ag.losses.Poisson()(1.0, 2.0), "are numbers, and a loss goes over their last axis"),
    (lambda: ag.losses.MeanSquaredError()(jnp.ones((3, 2)), jnp.ones((3, 2)), [1.0, 2.0]), r"weights have shape \(2,\), and what they weigh \(3,\)"),
    (lambda: ag.losses.MeanSquaredError()(jnp.ones((3, 3)), jnp.ones((3, 3)), jnp.ones((3, 3))), r"weights have shape \(3, 3\), and what they weigh \(3,\)"),
    (lambda: ag.losses.MeanSquaredError()(jnp.ones(3), jnp.ones(3), jnp.ones(3)), r"and what they weigh \(\)"),
    (lambda: ag.losses.Hinge(reduction="average"), "there is no reduction 'average'"),
    (lambda: ag.losses.Loss()(1.0, 2.0), "`Loss` has no `call`"),
    (lambda: ag.metrics.SparseCategoricalAccuracy()([1, 2, 2, 0], Q), r"labels have shape \(4,\) and the predictions \(3, 3\)"),
    (lambda: ag.metrics.SparseCategoricalAccuracy()([1, 2, 2], [1, 2, 2]), r"labels have shape \(3,\) and the predictions \(3,\), which should be \(3, classes\)"),
    (lambda: ag.metrics.CategoricalAccuracy()([1, 2, 2], Q), r"labels have shape \(3,\) and the predictions \(3, 3\)"),
    (lambda: ag.metrics.Accuracy()([1, 2, 3], [[1, 2, 3]]), r"labels have shape \(3,\) and the predictions \(1, 3\)"),
    (lambda: ag.metrics.Mean()([1.0, 2.0], [1.0, 2.0, 3.0]), r"weights have shape \(3,\), and what they weigh \(2,\)"),
    (lambda: ag.metrics.Mean()(1.0, [1.0, 2.0, 3.0]), r"weights have shape \(3,\), and what they weigh \(\)"),
    (lambda: ag.metrics.Precision()([0, 1], [0.1, 0.2, 0.3]), r"labels have shape \(2,\) and the predictions \(3,\)"),
    (lambda: ag.metrics.Recall()([0, 1], [0.1, 0.2], [1.0, 1.0, 1.0]), r"weights have shape \(3,\)"),
    (lambda: ag.metrics.Precision(thresholds=2.0), "thresholds 2.0 are not from 0 to 1"),
    (lambda: ag.metrics.Precision(class_id=0)([0, 1], [0.1, 0.2]), "`class_id` is a place of the last axis"),
    (lambda: ag.metrics.AUC(curve="PRC"), "there is no curve 'PRC'"),
    (lambda: ag.metrics.AUC(summation_method="left"), "there is no summation method 'left'"),
    (lambda: ag.metrics.AUC(num_thresholds=1), "there are 1 thresholds"),
    (lambda: ag.layers.Conv2D(3, (2, 2, 2)), "the kernel is"),
    (lambda: ag.layers.Conv1D(3, 2)(jnp.ones((2, 5, 5, 3))), r"takes sequences of shape \(batch, steps, channels\)"),
    (lambda: ag.layers.Conv2D(3, 2, groups=2)(jnp.ones((2, 5, 5, 3))), "has 2 groups, 3 filters and 3 channels"),
    (lambda: ag.layers.Conv2D(3, 7)(jnp.ones((2, 5, 5, 3))), "which its kernel .* does not fit in"),
    (lambda: ag.layers.Conv2D(3, 2, padding="causal"), "there is no padding 'causal'"),
    (lambda: ag.layers.UpSampling2D(2, interpolation="area"), "there is no interpolation 'area'"),
    (lambda: ag.layers.ZeroPadding2D((1, 2, 3)), "the sides are"),
    (lambda: ag.layers.Cropping2D(3)(jnp.ones((1, 5, 5, 1))), "cuts 6 of axis 1"),
    (lambda: ag.layers.Permute((0, 1)), "give each axis once"),
    (lambda: ag.layers.Permute((2, 1))(jnp.ones((2, 3))), "orders 2 axes"),
    (lambda: ag.layers.RepeatVector(2)(jnp.ones((2, 3, 4))), r"takes \(batch, features\)"),
    (lambda: ag.layers.Add()(jnp.ones(3)), "takes a list of arrays"),
    (lambda: ag.layers.Add()([jnp.ones((2, 3)), jnp.ones((2, 4))]), r"is given shapes \(2, 3\), \(2, 4\)"),
    (lambda: ag.layers.Multiply()([jnp.ones((2, 3)), jnp.ones(3)]), r"is given shapes \(2, 3\), \(3,\)"),
    (lambda: ag.layers.Concatenate()([jnp.ones((2, 3)), jnp.ones((3, 3))]), r"is given shapes \(2, 3\), \(3, 3\)"),
    (lambda: ag.layers.Subtract()([jnp.ones(3)] * 3), "is given 3 arrays"),
    (lambda: ag.layers.Lambda(3), "`Lambda` is given an `int`"),
    (lambda: ag.layers.GroupNormalization(3)(jnp.ones((2, 4))), "has 3 groups and is given 4 channels"),
    (lambda: ag.layers.LayerNormalization(axis=3)(jnp.ones((2, 4))), r"has no axis \[3\]"),
    (lambda: ag.layers.MultiHeadAttention(2, 3)(jnp.ones((2, 4, 5))), "with a query only"),
    (lambda: ag.layers.MultiHeadAttention(2, 3)(jnp.ones((2, 4, 5)), jnp.ones((3, 4, 5))), "is given a query, value and key of shapes"),
    (lambda: ag.layers.MultiHeadAttention(2, 3)(jnp.ones((2, 4, 5)), jnp.ones((2, 6, 5)), attention_mask=jnp.ones((2, 6))), r"a mask of shape \(2, 6\), which should be \(2, 4, 6\)"),
    (lambda: ag.layers.Dropout(1.0), "the rate is 1.0"),
    (lambda: ag.layers.Dropout(0.5, noise_shape=(2, 1))(jnp.ones((3, 4)), training=True), "its `noise_shape` is"),
    (lambda: ag.layers.GRU(4, True)(jnp.ones((2, 3, 4))), "there is no activation True"),
    (lambda: ag.layers.Bidirectional(ag.layers.Dense(3)), "is given a `Dense`"),
    (lambda: ag.layers.Bidirectional(ag.layers.GRU(3), "add"), "there is no mode 'add'"),
    (lambda: ag.layers.Bidirectional(ag.layers.GRU(3, go_backwards=True)), "`layer` goes backwards"),
    (lambda: ag.layers.Dense(3, kernel_initializer="identity")(jnp.ones((2, 3))) + ag.layers.Layer().add_variable("w", (3,), "identity"), "an identity matrix of shape"),
    (lambda: ag.layers.initializers.VarianceScaling(mode="fan"), "there is no mode 'fan'"),
    (lambda: ag.layers.initializers.VarianceScaling(distribution="cauchy"), "there is no distribution 'cauchy'"),
]  # fmt: skip


@pytest.mark.parametrize(("give", "says"), UNLIKE, ids=[str(k) for k in range(len(UNLIKE))])
def test_what_does_not_belong_together_is_an_error(give: Callable[[], Any], says: str) -> None:
    with pytest.raises(LayerError, match=says) as caught:
        give()
    assert caught.value.advice


OPTIMIZERS: list[tuple[str, dict[str, Any], list[float], float]] = [  # two Variables, after three steps
    ("SGD", {}, [0.44, -2.9], 4.77),
    ("SGD", {"momentum": 0.9}, [-0.0955, -3.629], 6.228),
    ("SGD", {"momentum": 0.9, "nesterov": True}, [-0.54595, -4.3661], 7.6752),
    ("RMSprop", {}, [0.362323, -1.998587], 2.99361),
    ("RMSprop", {"momentum": 0.5, "centered": True}, [-0.093114, -1.909547], 2.904383),
    ("Adam", {}, [0.755646, -2.019466], 3.018507),
    ("Adam", {"epsilon": 0.01, "beta_1": 0.5, "beta_2": 0.9}, [0.757059, -2.036436], 3.033656),
    ("Adam", {"amsgrad": True}, [0.755665, -2.01944], 3.018486),
    ("AdamW", {"weight_decay": 0.1}, [0.728742, -1.961381], 2.93072),
    ("Adamax", {}, [0.805657, -1.978146], 2.977592),
    ("Nadam", {}, [0.779915, -2.002431], 3.000835),
    ("Adadelta", {}, [0.999654, -2.000058], 3.000053),
    ("Adagrad", {}, [0.814192, -2.004108], 2.999226),
    ("Lion", {}, [0.7, -2.1], 3.1),
    ("SGD", {"clipnorm": 1.0}, [0.900557, -2.0], 2.97),
    ("SGD", {"clipvalue": 0.4}, [0.91, -2.0], 2.97),
    ("SGD", {"global_clipnorm": 1.0}, [0.946356, -2.0], 2.97),
    ("SGD", {"weight_decay": 0.1}, [0.416294, -2.832588], 4.664877),
]
GRADIENTS: list[tuple[list[float], float]] = [([0.5, -1.0], 2.0), ([5.0, 10.0], -20.0), ([0.1, 0.0], 0.3)]


@pytest.mark.parametrize("staged", [False, True], ids=["eager", "function"])
@pytest.mark.parametrize(("name", "options", "a", "b"), OPTIMIZERS, ids=[f"{x[0]}{x[1] or ''}" for x in OPTIMIZERS])
def test_optimizers(name: str, options: dict[str, Any], a: list[float], b: float, staged: bool) -> None:
    optimizer, v, w = getattr(ag.optimizers, name)(0.1, **options), ag.Variable([1.0, -2.0]), ag.Variable(3.0)

    def step(g: Any, h: Any) -> None:
        optimizer.apply_gradients([(g, v), (h, w)])

    for g, h in GRADIENTS:
        (ag.function(step) if staged else step)(jnp.asarray(g), jnp.float32(h))
    close(v.value, a)
    close(w.value, b)


def by_hand_rms(g: Any, w: Any, decay: float, momentum: float, epsilon: float, centered: bool) -> Any:
    square, mean, velocity = np.ones(2), np.zeros(2), np.zeros(2)
    for x in g:
        square, mean = decay * square + (1 - decay) * x**2, decay * mean + (1 - decay) * x
        velocity = momentum * velocity + 0.1 * x / np.sqrt(square - (mean**2 if centered else 0) + epsilon)
        w = w - velocity
    return w


def by_hand_momentum(g: Any, w: Any, momentum: float, nesterov: bool) -> Any:
    held = np.zeros(2)
    for k, x in enumerate(g):
        rate, held = 0.1 if k < 2 else 0.01, momentum * held + x
        w = w - (rate * (x + momentum * held) if nesterov else rate * held)
    return w


@pytest.mark.parametrize(("decay", "momentum", "epsilon", "centered"), [(0.9, 0.0, 1e-10, False), (0.5, 0.7, 1e-2, False), (0.9, 0.5, 1e-3, True)])
def test_rmsprop_of_tensorflow_1(decay: float, momentum: float, epsilon: float, centered: bool) -> None:
    v, optimizer = ag.Variable([1.0, -2.0]), ag.optimizers.RMSPropOptimizer(0.1, decay, momentum, epsilon, centered)
    for g, _ in GRADIENTS:
        optimizer.apply_gradients([(jnp.asarray(g), v)])
    close(v.value, by_hand_rms([np.array(g) for g, _ in GRADIENTS], np.array([1.0, -2.0]), decay, momentum, epsilon, centered))


@pytest.mark.parametrize("nesterov", [False, True])
def test_momentum_of_tensorflow_1_has_the_rate_outside(nesterov: bool) -> None:
    """Another rate is seen by what is remembered too, which Keras's SGD has multiplied by the rate before."""
    v, optimizer = ag.Variable([1.0, -2.0]), ag.optimizers.MomentumOptimizer(0.1, 0.9, use_nesterov=nesterov)
    for k, (g, _) in enumerate(GRADIENTS):
        optimizer.learning_rate = 0.1 if k < 2 else 0.01
        optimizer.apply_gradients([(jnp.asarray(g), v)])
    close(v.value, by_hand_momentum([np.array(g) for g, _ in GRADIENTS], np.array([1.0, -2.0]), 0.9, nesterov))


def test_adam_and_adagrad_of_tensorflow_1() -> None:
    v, adam = ag.Variable([1.0, -2.0]), ag.optimizers.AdamOptimizer(0.1, beta1=0.5, beta2=0.9, epsilon=0.1)
    w, adagrad = ag.Variable([1.0, -2.0]), ag.optimizers.AdagradOptimizer(0.1)
    m, s, x, y, total = np.zeros(2), np.zeros(2), np.array([1.0, -2.0]), np.array([1.0, -2.0]), np.full(2, 0.1)
    for t, g in enumerate((np.array(g) for g, _ in GRADIENTS), 1):
        adam.apply_gradients([(jnp.float32(g), v)]), adagrad.apply_gradients([(jnp.float32(g), w)])
        m, s, total = 0.5 * m + 0.5 * g, 0.9 * s + 0.1 * g**2, total + g**2
        x = x - 0.1 * np.sqrt(1 - 0.9**t) / (1 - 0.5**t) * m / (np.sqrt(s) + 0.1)
        y = y - 0.1 * g / np.sqrt(total)
    close(v.value, x)
    close(w.value, y)


def test_steps_without_a_gradient_count() -> None:
    """As in Keras and TensorFlow, what is corrected for the first steps is so by the step of the optimizer."""
    optimizer, a, b = ag.optimizers.Adam(0.1, epsilon=0.0), ag.Variable(1.0), ag.Variable(1.0)
    for _ in range(3):
        optimizer.apply_gradients([(1.0, a)])
    optimizer.apply_gradients([(1.0, b)])
    want = 1 - 0.1 * np.sqrt(1 - 0.999**4) / (1 - 0.9**4) * 0.1 / np.sqrt(0.001)
    np.testing.assert_allclose(b.value, want, rtol=1e-4)


def test_clips_exclude_each_other() -> None:
    with pytest.raises(OptimizerError, match="`clipnorm` and `clipvalue` are given"):
        ag.optimizers.Adam(0.1, clipnorm=1.0, clipvalue=0.5)
    with pytest.raises(TypeError, match="clipnrm"):
        ag.optimizers.SGD(0.1, clipnrm=1.0)


@pytest.mark.parametrize("name", ["Adam", "Nadam", "RMSprop", "Adadelta", "Lion"])
def test_optimizers_are_saved_and_restored(name: str, tmp_path: Any) -> None:
    pytest.importorskip("safetensors", reason="checkpoints need the extra `train`")
    w, optimizer = ag.Variable([1.0, -2.0]), getattr(ag.optimizers, name)(0.1)
    optimizer.apply_gradients([(jnp.array([0.5, 1.0]), w)])
    path = ag.Checkpoint(w=w, optimizer=optimizer).save(tmp_path / "c")
    optimizer.apply_gradients([(jnp.array([2.0, -1.0]), w)])
    other, again = ag.Variable([0.0, 0.0]), getattr(ag.optimizers, name)(0.1)
    ag.Checkpoint(w=other, optimizer=again).restore(path)
    again.apply_gradients([(jnp.array([2.0, -1.0]), other)])
    np.testing.assert_array_equal(w.value, other.value)


def test_schedules() -> None:
    o = ag.optimizers
    close([o.PiecewiseConstantDecay([2, 4], [1.0, 0.5, 0.0])(k) for k in range(6)], [1, 1, 1, 0.5, 0.5, 0])
    close([o.InverseTimeDecay(1.0, 2, 0.5)(k) for k in (0, 2, 4)], [1, 2 / 3, 0.5])
    close([o.InverseTimeDecay(1.0, 2, 0.5, staircase=True)(k) for k in (0, 1, 2, 3)], [1, 1, 2 / 3, 2 / 3])
    close([o.PolynomialDecay(1.0, 4, 0.2)(k) for k in (0, 2, 4, 9)], [1, 0.6, 0.2, 0.2])
    close([o.PolynomialDecay(1.0, 4, 0.2, cycle=True)(k) for k in (0, 2, 4, 6, 8)], [1, 0.6, 0.2, 0.4, 0.2])
    close([o.CosineDecay(1.0, 4, 0.2)(k) for k in (0, 2, 4, 9)], [1, 0.6, 0.2, 0.2])
    close([o.CosineDecay(0.0, 4, 0.0, 1.0, 2)(k) for k in (0, 1, 2, 4, 6)], [0, 0.5, 1, 0.5, 0])
    with pytest.raises(OptimizerError, match="2 boundaries and 2 values"):
        o.PiecewiseConstantDecay([1, 2], [1.0, 0.5])
    with pytest.raises(OptimizerError, match="`decay_steps` is 0"):
        o.CosineDecay(1.0, 0)
    w, optimizer = ag.Variable(0.0), o.SGD(o.PiecewiseConstantDecay([0], [1.0, 0.1]))
    step = ag.function(lambda: optimizer.apply_gradients([(jnp.float32(-1.0), w)]))
    step(), step()
    close(w.value, 1.1)


ACTIVATIONS = {  # of -2, -1/2, 0, 1/2 and 2
    "relu": [0.0, 0.0, 0.0, 0.5, 2.0],
    "relu6": [0.0, 0.0, 0.0, 0.5, 2.0],
    "sigmoid": [0.119203, 0.377541, 0.5, 0.622459, 0.880797],
    "hard_sigmoid": [0.166667, 0.416667, 0.5, 0.583333, 0.833333],
    "hard_silu": [-0.333333, -0.208333, 0.0, 0.291667, 1.666667],
    "tanh": [-0.964028, -0.462117, 0.0, 0.462117, 0.964028],
    "softmax": [0.012555, 0.056266, 0.092767, 0.152948, 0.685464],
    "log_softmax": [-4.377659, -2.87766, -2.37766, -1.87766, -0.377659],
    "elu": [-0.864665, -0.393469, 0.0, 0.5, 2.0],
    "selu": [-1.520167, -0.691758, 0.0, 0.525351, 2.101402],
    "gelu": [-0.0455, -0.154269, 0.0, 0.345731, 1.9545],
    "silu": [-0.238406, -0.18877, 0.0, 0.31123, 1.761594],
    "mish": [-0.252501, -0.220744, 0.0, 0.375245, 1.943959],
    "softplus": [0.126928, 0.474077, 0.693147, 0.974077, 2.126928],
    "softsign": [-0.666667, -0.333333, 0.0, 0.333333, 0.666667],
    "exponential": [0.135335, 0.606531, 1.0, 1.648721, 7.389056],
    "linear": [-2.0, -0.5, 0.0, 0.5, 2.0],
    "leaky_relu": [-0.4, -0.1, 0.0, 0.5, 2.0],
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name: str) -> None:
    close(ag.layers.Activation(name)(jnp.array([-2.0, -0.5, 0.0, 0.5, 2.0])), ACTIVATIONS[name])


def test_losses_of_nodes_and_variables() -> None:
    graph = ag.graph
    with graph.Graph().as_default(), graph.Session() as session:
        x, y = graph.placeholder("float32", [None, 3]), graph.placeholder("int32", [None])
        loss, each = ag.losses.SparseCategoricalCrossentropy(from_logits=True)(y, x), ag.losses.mean_absolute_error(x, x * 2)
        got = session.run([loss, each], {x: np.ones((2, 3), np.float32), y: np.array([0, 2], np.int32)})
    close(got[0], np.log(3.0))
    close(got[1], [1.0, 1.0])
    v = ag.Variable(P)
    with ag.GradientTape() as tape:
        value = ag.losses.BinaryCrossentropy()(jnp.asarray(Y), v)
    want = jax.grad(lambda p: ag.losses.BinaryCrossentropy()(jnp.asarray(Y), p))(v.value)
    close(tape.gradient(value, v), want)


def test_a_model_with_the_new_layers_is_trained() -> None:
    ag.set_seed(0)
    l = ag.layers
    model = l.Sequential(
        [l.Conv1D(8, 3, padding="same", activation="relu"), l.MaxPooling1D(2), l.Bidirectional(l.GRU(4)), l.LeakyReLU(), l.Dropout(0.1), l.Dense(3)]
    )
    x, y = jnp.asarray(np.random.default_rng(0).normal(size=(32, 6, 2)), jnp.float32), jnp.arange(32) % 3
    loss, optimizer = ag.losses.SparseCategoricalCrossentropy(from_logits=True), ag.optimizers.AdamW(0.02, clipnorm=1.0)
    mean, accuracy = ag.metrics.Mean(), ag.metrics.SparseCategoricalAccuracy()
    model(x)

    @ag.function
    def train(x: Any, y: Any, steps: Any) -> Any:
        for _ in range(steps):
            with ag.GradientTape() as tape:
                out = model(x, training=True)
                value = loss(y, out)
            optimizer.apply_gradients(zip(tape.gradient(value, model.trainable_variables), model.trainable_variables, strict=True))
            mean.update_state(value)
            accuracy.update_state(y, out)
        return mean.result(), accuracy.result()

    first = float(loss(y, model(x)))
    train(x, y, jnp.int32(60))
    assert float(loss(y, model(x))) < 0.8 * first
    assert float(mean.count) == 60 and float(accuracy.count) == 60 * 32


def test_attention_in_a_function_and_dropout_of_its_scores() -> None:
    layer, x = ag.layers.MultiHeadAttention(2, 4, dropout=0.5, seed=1), jnp.asarray(np.random.default_rng(0).normal(size=(2, 5, 6)), jnp.float32)
    quiet = layer(x, x)
    close(ag.function(lambda x: layer(x, x))(x), quiet)
    a, b = layer(x, x, training=True), layer(x, x, training=True)
    assert (a != quiet).any() and (a != b).any()
    plain = ag.layers.MultiHeadAttention(2, 4)
    plain(x, x)
    out, scores = plain(x, x, use_causal_mask=True, return_attention_scores=True)
    assert scores.shape == (2, 2, 5, 5) and (np.triu(scores, 1) == 0).all()
    close(plain(x, x, use_causal_mask=True), out)


def test_dropout_of_whole_channels() -> None:
    out = ag.layers.Dropout(0.5, noise_shape=(None, 1, None), seed=0)(jnp.ones((20, 7, 5)), training=True)
    assert set(np.unique(out)) == {0.0, 2.0} and (out == out[:, :1]).all()


def test_lambda_has_control_flow() -> None:
    def halved(x: Any) -> Any:
        if jnp.sum(x) > 0:
            return x / 2
        return x

    model = ag.layers.Sequential([ag.layers.Lambda(halved)])
    close(ag.function(lambda x: model(x))(jnp.ones(3)), [0.5] * 3)
    close(ag.function(lambda x: model(x))(-jnp.ones(3)), [-1.0] * 3)


def test_initial_values_with_options() -> None:
    i = ag.layers.initializers
    layer = ag.layers.Dense(3, kernel_initializer=i.Constant(2.0), bias_initializer="ones")
    close(layer(jnp.ones((1, 2))), [[5.0] * 3])
    a, b = (ag.layers.Dense(50, kernel_initializer=i.RandomNormal(stddev=0.5, seed=3)) for _ in range(2))
    close(a(jnp.ones((1, 40))), b(jnp.ones((1, 40))))
    assert abs(float(jnp.std(a.kernel)) - 0.5) < 0.05
    assert ag.layers.Layer().add_variable("w", (7,)).shape == (7,)  # of a vector too
    close(ag.layers.Layer().add_variable("w", (2, 3), i.Identity(2.0)).value, [[2, 0, 0], [0, 2, 0]])
