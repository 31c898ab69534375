"""Every loss, metric, optimizer, schedule, activation, initializer and layer gives what Keras 3 gives on JAX, with each option and shape that people use.

What Keras would broadcast silently, and is an error here, is in `test_losses_and_metrics.py`.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag
from tests.harness import assert_same

pytestmark = pytest.mark.libraries
os.environ.setdefault("KERAS_BACKEND", "jax")
pytest.importorskip("optax", reason="losses and optimizers need the extra `train`")


@pytest.fixture(scope="module")
def keras() -> Any:
    found = pytest.importorskip("keras", reason="keras is not installed: `pip install -e .[libraries]`")
    if found.backend.backend() != "jax":
        pytest.skip("Keras runs on another backend in this process")
    return found


@pytest.fixture(scope="module", autouse=True)
def quick() -> Any:
    """XLA compiles fast code of much that is run once."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """By XLA, in less time."""
    return jax.jit(function, compiler_options={"xla_cpu_use_fusion_emitters": False} if jax.default_backend() == "cpu" else None)


@pytest.fixture
def unfilled(keras: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Initial values are zeros: the tests give others."""
    monkeypatch.setattr("autograph.runtime.eager.layers.layer.initial", lambda initializer, shape, dtype: np.zeros(shape, dtype))
    for initializer in (keras.initializers.VarianceScaling, keras.initializers.Orthogonal, keras.initializers.RandomUniform):
        monkeypatch.setattr(initializer, "__call__", lambda self, shape, dtype=None: np.zeros(shape, np.float32))


def same(got: Any, want: Any, **tolerances: float) -> None:
    assert_same(jax.tree.leaves(got), jax.tree.leaves(want), **tolerances)


def normal(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed + len(shape)).normal(size=shape).astype(np.float32)


def shown(kind: Any) -> str:
    return str(kind).replace(" ", "") if isinstance(kind, (dict, tuple)) else str(kind)


# Losses


def positive(*shape: int, seed: int = 0) -> Any:
    return np.abs(normal(*shape, seed=seed)) + 0.1


def chances(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).uniform(0.01, 0.99, shape).astype(np.float32)


def bits(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).integers(0, 2, shape)


def signs(*shape: int, seed: int = 0) -> Any:
    return (2 * bits(*shape, seed=seed) - 1).astype(np.float32)


def one_of(*shape: int, seed: int = 0) -> Any:
    return np.eye(shape[-1], dtype=np.float32)[np.random.default_rng(seed).integers(0, shape[-1], shape[:-1])]


def numbers(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).integers(0, shape[-1], shape[:-1])


def numbers_1(*shape: int, seed: int = 0) -> Any:
    return numbers(*shape, seed=seed)[..., None]


def flat(make: Any) -> Any:  # labels (n,) for predictions (n, 1)
    def made(*shape: int, seed: int = 0) -> Any:
        return make(*shape, seed=seed)[..., 0]

    return made


def shares(*shape: int, seed: int = 0) -> Any:
    x = chances(*shape, seed=seed)
    return x / x.sum(-1, keepdims=True)


SHAPES = [(5, 3), (5, 1), (4, 2, 3)]
CLASSES = [(5, 3), (4, 2, 3)]
REAL = ["MeanSquaredError", "MeanAbsoluteError", "MeanAbsolutePercentageError", "LogCosh"]
LOSSES: list[tuple[str, dict[str, Any], Any, Any, tuple[int, ...]]] = [
    *((name, {}, normal, normal, shape) for name in REAL for shape in CLASSES),
    ("MeanSquaredError", {}, normal, normal, (5, 1)),
    *((name, {}, flat(normal), normal, (5, 1)) for name in REAL),
    *(("Huber", {"delta": d}, normal, normal, shape) for d in (0.3, 1.0) for shape in CLASSES),
    *(("MeanSquaredLogarithmicError", {}, positive, positive, shape) for shape in CLASSES),
    *(("Poisson", {}, positive, positive, shape) for shape in CLASSES),
    *(("KLDivergence", {}, shares, shares, shape) for shape in CLASSES),
    *((name, {}, labels, normal, shape) for name in ("Hinge", "SquaredHinge") for labels in (bits, signs, normal) for shape in [(5, 3)]),
    *((name, {}, bits, normal, shape) for name in ("Hinge", "SquaredHinge") for shape in [(5, 1), (4, 2, 3)]),
    ("Hinge", {}, flat(bits), normal, (5, 1)),
    *(("CategoricalHinge", {}, one_of, normal, shape) for shape in CLASSES),
    *(("CosineSimilarity", {"axis": a}, normal, normal, shape) for a, shape in ((-1, (5, 3)), (1, (4, 2, 3)), (-1, (4, 2, 3)))),
    *(("BinaryCrossentropy", {"label_smoothing": s}, labels, chances, shape) for s, labels in ((0.0, bits), (0.2, chances)) for shape in CLASSES),
    ("BinaryCrossentropy", {"label_smoothing": 0.2}, bits, chances, (5, 1)),
    *(("BinaryCrossentropy", {"label_smoothing": s, "from_logits": True}, bits, normal, shape) for s in (0.0, 0.2) for shape in SHAPES),
    ("BinaryCrossentropy", {"axis": 1}, bits, chances, (4, 2, 3)),
    ("BinaryCrossentropy", {}, flat(bits), chances, (5, 1)),
    ("BinaryCrossentropy", {}, bits, bits, (5, 3)),
    *(("CategoricalCrossentropy", {"label_smoothing": s}, labels, chances, shape) for s, labels in ((0.0, one_of), (0.2, shares)) for shape in CLASSES),
    *(("CategoricalCrossentropy", {"label_smoothing": s, "from_logits": True}, one_of, normal, shape) for s in (0.0, 0.2) for shape in CLASSES),
    ("CategoricalCrossentropy", {"axis": 1}, shares, chances, (4, 2, 3)),
    ("CategoricalCrossentropy", {"axis": 1, "from_logits": True}, shares, normal, (4, 2, 3)),
    *(("SparseCategoricalCrossentropy", {}, labels, chances, shape) for labels in (numbers, numbers_1) for shape in CLASSES),
    *(("SparseCategoricalCrossentropy", {"from_logits": True}, labels, normal, shape) for labels in (numbers, numbers_1) for shape in CLASSES),
    *(("SparseCategoricalCrossentropy", {"ignore_class": c}, numbers, chances, shape) for c in (1, 7) for shape in CLASSES),
]  # fmt: skip


def weights_of(values: Any) -> dict[str, Any]:
    """Weights that Keras takes for the losses of some examples."""
    n = values.shape[0]
    found: dict[str, Any] = {"none": None, "one": 0.5, "each": positive(*values.shape, seed=5), "zero": np.zeros(values.shape, np.float32)}
    if values.ndim == 1:
        found["column"] = positive(n, 1, seed=5)
    else:
        found["rows"] = positive(n, *(1 for _ in values.shape[1:]), seed=5)
    return found


@pytest.mark.parametrize(("name", "options", "labels", "predictions", "shape"), LOSSES, ids=lambda x: shown(x) if not callable(x) else x.__name__)
def test_losses(keras: Any, name: str, options: dict[str, Any], labels: Any, predictions: Any, shape: tuple[int, ...]) -> None:
    y, p = labels(*shape), predictions(*shape, seed=1)
    values = jax.eval_shape(getattr(ag.losses, name)(reduction=None, **options), y, p)
    all_of_them = name == "MeanSquaredError" or "ignore_class" in options
    reductions = ("sum_over_batch_size", "mean", "sum", "none", None, "mean_with_sample_weight") if all_of_them else ("sum_over_batch_size", None)
    function = {"Huber": "huber", "KLDivergence": "kl_divergence"}.get(name) or "".join(f"_{c.lower()}" if c.isupper() else c for c in name)[1:]
    z = y[:, None] if np.ndim(y) == 1 and name != "SparseCategoricalCrossentropy" else y

    def found(losses: Any, y: Any, z: Any, p: Any) -> Any:
        made = [getattr(losses, name)(reduction=reduction, **options) for reduction in reductions]
        kept = [
            (loss, w) for loss in made for k, w in weights_of(values).items() if all_of_them or k == ("none" if loss.reduction is None else "each")
        ]
        out = [loss(y, p, w) for loss, w in kept]
        if p.dtype == np.float32:
            out.append(jax.grad(lambda p: made[0](y, p))(p))
        if function != "mean_squared_error" and "ignore_class" not in options:  # where ours are others
            out.append(getattr(losses, function)(z, p, **options))
        return out

    same(*compiled(lambda *given: [found(losses, *given) for losses in (ag.losses, keras.losses)])(y, z, p))


# Metrics

Case = tuple[str, dict[str, Any], Any, Any, tuple[int, ...]]
METRICS: list[Case] = [
    *(("Accuracy", {}, bits, bits, shape) for shape in [(6,), (4, 2, 3)]),
    ("Accuracy", {}, flat(bits), bits, (6, 1)),
    *(("BinaryAccuracy", {"threshold": t}, bits, chances, shape) for t in (0.5, 0.3) for shape in [(6, 1), (4, 2, 3)]),
    ("BinaryAccuracy", {}, flat(bits), chances, (6, 1)),
    *(("CategoricalAccuracy", {}, one_of, chances, shape) for shape in [(6, 4), (4, 2, 3)]),
    *(("SparseCategoricalAccuracy", {}, labels, chances, shape) for labels in (numbers, numbers_1) for shape in [(6, 4), (4, 2, 3)]),
    *(("TopKCategoricalAccuracy", {"k": k}, one_of, chances, shape) for k, shape in ((2, (6, 4)), (1, (4, 2, 3)))),
    *(("SparseTopKCategoricalAccuracy", {"k": k}, numbers, chances, shape) for k, shape in ((1, (6, 4)), (2, (6, 4)), (2, (4, 2, 3)))),
    *((name, {}, normal, normal, shape) for name in ("MeanSquaredError", "MeanAbsoluteError", "RootMeanSquaredError") for shape in CLASSES),
    ("RootMeanSquaredError", {}, normal, normal, (6,)),
    ("RootMeanSquaredError", {}, flat(normal), normal, (6, 1)),
    *(("Precision", o, bits, chances, shape) for o in ({}, {"thresholds": 0.3}, {"thresholds": [0.2, 0.9]}) for shape in [(8, 3)]),
    *(("Recall", o, bits, chances, shape) for o in ({}, {"thresholds": 0.3}, {"thresholds": [0.0, 0.5, 1.0]}) for shape in [(20, 1)]),
    *((name, {"class_id": 1}, bits, chances, (8, 3)) for name in ("Precision", "Recall")),
    *((name, {"top_k": 2}, one_of, chances, (8, 4)) for name in ("Precision", "Recall")),
    *((name, {}, bits, chances, (20,)) for name in ("TruePositives", "FalsePositives", "TrueNegatives", "FalseNegatives")),
    *(
        ("AUC", {"curve": curve, "summation_method": method, "num_thresholds": n}, bits, chances, (30,))
        for curve in ("ROC", "PR") for method, n in (("interpolation", 200), ("minoring", 5), ("majoring", 5))
    ),
    ("AUC", {}, bits, chances, (10, 3)),
    ("AUC", {}, bits, bits, (20, 1)),
    ("AUC", {"from_logits": True}, bits, normal, (30,)),
    ("AUC", {"thresholds": [0.1, 0.15, 0.8]}, bits, chances, (30,)),
    *(("BinaryCrossentropy", o, bits, chances, (6, 3)) for o in ({}, {"label_smoothing": 0.2}, {"from_logits": True})),
    *(("CategoricalCrossentropy", o, one_of, chances, (6, 3)) for o in ({}, {"label_smoothing": 0.2}, {"from_logits": True})),
    *(("SparseCategoricalCrossentropy", o, y, chances, (6, 3)) for o in ({}, {"from_logits": True}) for y in (numbers, numbers_1)),
    ("KLDivergence", {}, shares, shares, (6, 3)),
]  # fmt: skip
PER_ELEMENT = ["Accuracy", "BinaryAccuracy", "RootMeanSquaredError"]
COUNTING = ["Precision", "Recall", "AUC", "TruePositives", "FalsePositives", "TrueNegatives", "FalseNegatives"]


@pytest.mark.parametrize(("name", "options", "labels", "predictions", "shape"), METRICS, ids=lambda x: shown(x) if not callable(x) else x.__name__)
def test_metrics(keras: Any, name: str, options: dict[str, Any], labels: Any, predictions: Any, shape: tuple[int, ...]) -> None:
    kinds = ["none", "rows"]
    if name in PER_ELEMENT + COUNTING and len(shape) > 1 and "top_k" not in options and "class_id" not in options:
        kinds.append("each")
    if name not in COUNTING:
        kinds.append("one")
    if len(shape) == 3 and name not in COUNTING:
        kinds.append("steps")
    weights = {"none": None, "rows": positive(shape[0]), "one": 0.3, "each": positive(*shape), "steps": positive(*shape[:2])}
    batches = [(labels(*shape, seed=turn), predictions(*shape, seed=turn + 10)) for turn in range(2)]
    ours, theirs = (getattr(x, name)(**options) for x in (ag.metrics, keras.metrics))

    def of_ours(batches: Any) -> Any:
        results = []
        for kind in kinds:
            ours.reset_state()
            for y, p in batches:
                ours.update_state(y, p, weights[kind])
            results.append(ours.result())
        return results

    def of_keras(batches: Any) -> Any:
        results = []
        for kind in kinds:
            held = [jnp.zeros(v.shape) for v in theirs.variables]
            for y, p in batches:
                held = theirs.stateless_update_state(held, y, p, weights[kind])
            results.append(theirs.stateless_result(held))
        return results

    same(of_ours(batches), compiled(of_keras)(batches))


MEANS: list[tuple[Any, Any]] = [
    (3.0, None), (3.0, 0.5), (normal(4), None), (normal(4), positive(4)), (normal(4), 0.5), (normal(4, 1), positive(4)), (normal(4), positive(4, 1)),
    (normal(4, 3), None), (normal(4, 3), positive(4)), (normal(4, 3), positive(4, 1)), (normal(4, 3), positive(4, 3)), (normal(4, 3), 2.0),
    (normal(4, 2, 3), None), (normal(4, 2, 3), positive(4)), (normal(4, 2, 3), positive(4, 2)), (normal(4, 2, 3), positive(4, 2, 3)),
    (normal(4, 2, 3), positive(4, 1, 1)), (normal(1), 0.5), (normal(1, 3), positive(1)),
]  # fmt: skip


@pytest.mark.parametrize("name", ["Mean", "Sum"])
def test_means_and_sums(keras: Any, name: str) -> None:
    ours, theirs = getattr(ag.metrics, name)(), getattr(keras.metrics, name)()
    for values, weights in MEANS:
        alone, other = getattr(ag.metrics, name)(), getattr(keras.metrics, name)()
        same(alone(values, weights), other(values, weights))
        same(ours(values, weights), theirs(values, weights))
    ours.reset_state(), theirs.reset_state()
    same(ours.result(), theirs.result())


def test_a_metric_of_ones_own_function(keras: Any) -> None:
    for shape in [(5,), (5, 3)]:
        ours, theirs = (x.metrics.MeanMetricWrapper(lambda y, p: abs(y - p) ** 3, name="cubes") for x in (ag, keras))
        y, p, w = normal(*shape), normal(*shape, seed=1), positive(5)
        same(ours(y, p, w), theirs(y, p, w))


# Optimizers

COMMON: list[dict[str, Any]] = [
    {}, {"weight_decay": 0.1}, {"clipnorm": 0.5}, {"clipvalue": 0.2}, {"global_clipnorm": 0.7}, {"weight_decay": 0.05, "global_clipnorm": 0.3},
]  # fmt: skip
OWN: dict[str, list[dict[str, Any]]] = {
    "SGD": [{}, {"momentum": 0.9}, {"momentum": 0.8, "nesterov": True}],
    "RMSprop": [{}, {"rho": 0.5, "epsilon": 1e-2}, {"momentum": 0.7}, {"centered": True, "epsilon": 1e-3}, {"centered": True, "momentum": 0.5}],
    "Adam": [{}, {"beta_1": 0.5, "beta_2": 0.9, "epsilon": 1e-2}, {"amsgrad": True}, {"amsgrad": True, "beta_2": 0.5, "epsilon": 0.1}],
    "AdamW": [{}, {"weight_decay": 0.2}, {"weight_decay": 0.0}, {"epsilon": 0.1, "beta_1": 0.3}],
    "Adamax": [{}, {"beta_1": 0.5, "beta_2": 0.9, "epsilon": 1e-2}],
    "Nadam": [{}, {"beta_1": 0.5, "beta_2": 0.9, "epsilon": 1e-2}],
    "Adadelta": [{}, {"rho": 0.5, "epsilon": 1e-2}],
    "Adagrad": [{}, {"initial_accumulator_value": 0.0, "epsilon": 1e-2}, {"initial_accumulator_value": 1.0}],
    "Lion": [{}, {"beta_1": 0.5, "beta_2": 0.9}],
}
OPTIMIZERS = [
    (name, options)
    for name, own in OWN.items()
    for options in [*own, *({**own[-1], **common} for common in (COMMON[1:] if name in ("SGD", "Adam") else COMMON[-1:]))]
]


def steps(names: dict[str, Any]) -> list[list[Any]]:
    """Gradients of several steps, one of them of another scale, and one that is 0."""
    rng = np.random.default_rng(3)
    return [[(rng.normal(size=s) * scale).astype(np.float32) for s in names.values()] for scale in (1.0, 1.0, 100.0, 0.0, 1e-3, 1.0)]


@pytest.mark.parametrize(("name", "options"), OPTIMIZERS, ids=shown)
def test_optimizers(keras: Any, name: str, options: dict[str, Any]) -> None:
    shapes = {"a": (3,), "b": (2, 2), "c": ()}
    first = [np.asarray(normal(*s, seed=7)) for s in shapes.values()]
    ours, theirs = getattr(ag.optimizers, name)(0.1, **options), getattr(keras.optimizers, name)(0.1, **options)
    mine, other = [ag.Variable(x) for x in first], [keras.Variable(x) for x in first]
    with jax.disable_jit():
        for turn, gradients in enumerate(steps(shapes)):
            if turn == 4:
                ours.learning_rate, theirs.learning_rate = 0.02, 0.02
            ours.apply_gradients(list(zip(gradients, mine)))
            theirs.apply(gradients, other)
            same([v.value for v in mine], [v.value for v in other])


@pytest.mark.parametrize("name", ["SGD", "Adam", "Nadam", "RMSprop"])
def test_optimizers_compiled_with_a_schedule_and_gradients_that_are_missing(keras: Any, name: str) -> None:
    options = {"momentum": 0.9} if name == "SGD" else {}
    rates = ag.optimizers.ExponentialDecay(0.1, 2, 0.5), keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5)
    ours, theirs = getattr(ag.optimizers, name)(rates[0], **options), getattr(keras.optimizers, name)(rates[1], **options)
    mine, other = [ag.Variable(normal(3)), ag.Variable(normal(2))], [keras.Variable(normal(3)), keras.Variable(normal(2))]
    theirs.build(other)

    @ag.function
    def step(gradients: Any) -> None:
        ours.apply_gradients(list(zip(gradients, mine)))

    for turn, gradients in enumerate(steps({"a": (3,), "b": (2,)})):
        if turn in (1, 2):  # of the first Variable only: what counts is the step of the optimizer
            ours.apply_gradients([(gradients[0], mine[0])])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that one has no gradient
                theirs.apply([gradients[0], None], other)
        else:
            step(gradients)
            theirs.apply(gradients, other)
        same([v.value for v in mine], [v.value for v in other])


SCHEDULES: list[tuple[str, dict[str, Any]]] = [
    ("ExponentialDecay", {"initial_learning_rate": 0.1, "decay_steps": 7, "decay_rate": 0.5}),
    ("ExponentialDecay", {"initial_learning_rate": 0.1, "decay_steps": 7, "decay_rate": 0.5, "staircase": True}),
    ("PiecewiseConstantDecay", {"boundaries": [5, 12], "values": [1.0, 0.5, 0.0]}),
    ("PolynomialDecay", {"initial_learning_rate": 0.1, "decay_steps": 10}),
    ("PolynomialDecay", {"initial_learning_rate": 0.1, "decay_steps": 10, "end_learning_rate": 0.01, "power": 2.0}),
    ("PolynomialDecay", {"initial_learning_rate": 0.1, "decay_steps": 10, "end_learning_rate": 0.01, "power": 0.5, "cycle": True}),
    ("InverseTimeDecay", {"initial_learning_rate": 0.1, "decay_steps": 7, "decay_rate": 0.5}),
    ("InverseTimeDecay", {"initial_learning_rate": 0.1, "decay_steps": 7, "decay_rate": 0.5, "staircase": True}),
    ("CosineDecay", {"initial_learning_rate": 0.1, "decay_steps": 10}),
    ("CosineDecay", {"initial_learning_rate": 0.1, "decay_steps": 10, "alpha": 0.2}),
    ("CosineDecay", {"initial_learning_rate": 0.0, "decay_steps": 10, "alpha": 0.2, "warmup_target": 0.3, "warmup_steps": 4}),
]


@pytest.mark.parametrize(("name", "options"), SCHEDULES, ids=shown)
def test_schedules(keras: Any, name: str, options: dict[str, Any]) -> None:
    ours, theirs = getattr(ag.optimizers, name)(**options), getattr(keras.optimizers.schedules, name)(**options)
    for step in (0, 1, 4, 5, 6, 7, 10, 12, 13, 14, 25):
        same(ours(jnp.int32(step)), theirs(jnp.int32(step)))


# Activations and initializers

ACTIVATIONS = (
    "relu relu6 sigmoid hard_sigmoid hard_silu hard_swish tanh softmax log_softmax elu selu celu glu gelu silu swish mish softplus softsign "
    "exponential linear leaky_relu log_sigmoid hard_tanh tanh_shrink hard_shrink soft_shrink sparse_plus sparse_sigmoid squareplus"
).split()


def test_all_names_of_activations(keras: Any) -> None:
    from keras.src.activations import ALL_OBJECTS_DICT

    assert set(ALL_OBJECTS_DICT) - set(ACTIVATIONS) == {"sparsemax", "threshold"}  # of which we have none


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(keras: Any, name: str) -> None:
    ours, theirs = ag.layers.Activation(name), keras.activations.get(name)
    x = np.linspace(-8, 8, 60, dtype=np.float32).reshape(2, 3, 10)
    for f in (ours, theirs):
        c = normal(*jax.eval_shape(f, x).shape, seed=4)
    of_both = [jax.value_and_grad(lambda x, f=f: ((f(x) * c).sum(), f(x)), has_aux=True) for f in (ours, theirs)]
    same(*compiled(lambda x: [of(x) for of in of_both])(x))


INITIALIZERS = (
    "glorot_uniform glorot_normal he_uniform he_normal lecun_uniform lecun_normal random_uniform random_normal uniform normal truncated_normal "
    "variance_scaling orthogonal zeros ones zero one constant identity GlorotUniform HeNormal Zeros RandomNormal Orthogonal"
).split()
INITIAL_SHAPES = [(60, 90), (3, 3, 15, 30)]


@pytest.mark.parametrize("name", INITIALIZERS)
def test_initializers(keras: Any, name: str) -> None:
    ag.set_seed(3)
    keras.utils.set_random_seed(3)
    for shape in [*INITIAL_SHAPES, (3000,)] if name == "glorot_uniform" else INITIAL_SHAPES[: 2 if "_" in name else 1]:
        if len(shape) != 2 and name == "identity":
            continue
        theirs = np.asarray((keras.initializers.Constant() if name == "constant" else keras.initializers.get(name))(shape))
        ours = np.asarray(ag.layers.Layer().add_variable("w", shape, name).value)
        distributed(ours, theirs, name)


def distributed(ours: Any, theirs: Any, name: str) -> None:
    assert ours.shape == theirs.shape
    if name.lower() in ("zeros", "ones", "zero", "one", "constant", "identity"):
        np.testing.assert_array_equal(ours, theirs)
    assert abs(ours.mean() - theirs.mean()) < 6 * (theirs.std() + 1e-9) / theirs.size**0.5
    np.testing.assert_allclose(ours.std(), theirs.std(), rtol=0.06, atol=1e-9)
    far = 0.4 if name.lower() in ("random_normal", "normal", "randomnormal", "orthogonal", "untruncated_normal") else 0.03
    ends = [[x.min() - theirs.mean(), x.max() - theirs.mean()] for x in (ours, theirs)]
    np.testing.assert_allclose(*ends, rtol=far, atol=1e-9)
    if name.lower() == "orthogonal":
        for x in (ours, theirs):
            x = x.reshape(-1, x.shape[-1])
            x = x if x.shape[0] >= x.shape[1] else x.T
            np.testing.assert_allclose(x.T @ x, np.eye(x.shape[1]), atol=1e-4)


def test_initializers_with_options(keras: Any) -> None:
    ag.set_seed(3)
    keras.utils.set_random_seed(3)
    ours, theirs = ag.layers.initializers, keras.initializers
    made: list[tuple[str, dict[str, Any]]] = [
        ("Constant", {"value": 0.3}), ("Identity", {"gain": 2.0}), ("RandomNormal", {"mean": 1.0, "stddev": 0.2}), ("Orthogonal", {"gain": 1.0}),
        ("TruncatedNormal", {"mean": -1.0, "stddev": 0.2}), ("RandomUniform", {"minval": 0.0, "maxval": 2.0}),
        *(("VarianceScaling", {"scale": 2.0, "mode": mode, "distribution": "uniform"}) for mode in ("fan_in", "fan_out", "fan_avg")),
        *(("VarianceScaling", {"distribution": d}) for d in ("truncated_normal", "untruncated_normal", "uniform")),
    ]  # fmt: skip
    for name, options in made:
        x, y = getattr(ours, name)(**options)(jax.random.key(0), (60, 90), jnp.float32), getattr(theirs, name)(**options)((60, 90))
        distributed(np.asarray(x), np.asarray(y), options.get("distribution", name).replace("RandomNormal", "normal"))


# Layers

LAYERS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "dense": (lambda l: l.Dense(4, "relu"), (3, 5)),
    "dense of 3 axes": (lambda l: l.Dense(4, "gelu", use_bias=False), (3, 2, 5)),
    "dense, softmax": (lambda l: l.Dense(4, activation="softmax"), (3, 5)),
    "conv2d": (lambda l: l.Conv2D(4, 3, activation="relu"), (2, 6, 7, 3)),
    "conv2d same strided": (lambda l: l.Conv2D(4, (3, 2), strides=2, padding="same", use_bias=False), (2, 6, 7, 3)),
    "conv2d dilated": (lambda l: l.Conv2D(4, 3, dilation_rate=2, padding="SAME"), (2, 6, 7, 3)),
    "conv2d dilated valid": (lambda l: l.Conv2D(4, (2, 3), dilation_rate=(2, 1)), (2, 6, 7, 3)),
    "conv2d groups": (lambda l: l.Conv2D(4, 3, groups=2), (2, 6, 7, 2)),
    "conv1d": (lambda l: l.Conv1D(4, 3), (2, 8, 3)),
    "conv1d same": (lambda l: l.Conv1D(4, 3, strides=2, padding="same", activation="tanh"), (2, 8, 3)),
    "conv1d causal": (lambda l: l.Conv1D(4, 3, padding="causal"), (2, 8, 3)),
    "conv1d causal dilated": (lambda l: l.Conv1D(4, 3, padding="causal", dilation_rate=2), (2, 8, 3)),
    **{
        f"conv2d transpose {k} {s} {p} {o} {d}": (
            lambda l, k=k, s=s, p=p, o=o, d=d: l.Conv2DTranspose(4, k, strides=s, padding=p, output_padding=o, dilation_rate=d), (2, 4, 5, 3)
        )
        for k, s, p, o, d in (
            (3, 1, "valid", None, 1), (3, 2, "valid", None, 1), (3, 1, "same", None, 1), (3, 2, "same", None, 1), (2, 3, "same", None, 1),
            ((4, 3), (2, 3), "same", None, 1), (2, 3, "valid", None, 1), (3, 2, "same", 1, 1), (3, 2, "valid", 1, 1), (3, 1, "valid", None, 2),
        )
    },
    "conv1d transpose": (lambda l: l.Conv1DTranspose(4, 3, strides=2, padding="same", use_bias=False), (2, 5, 3)),
    **{
        f"{name} {size} {stride} {padding}": (
            lambda l, n=name, z=size, s=stride, p=padding: getattr(l, n)(z, strides=s, padding=p), (2, 7, 8, 3) if "2D" in name else (2, 7, 3)
        )
        for name in ("MaxPooling2D", "AveragePooling2D", "MaxPooling1D", "AveragePooling1D")
        for size, stride, padding in ((2, None, "valid"), (3, 2, "same"))
    },
    "max pooling 2d of sides": (lambda l: l.MaxPooling2D((2, 3), (1, 2)), (2, 7, 8, 3)),
    **{
        f"{name} {keep}": (lambda l, n=name, k=keep: getattr(l, n)(keepdims=k), (2, 7, 8, 3) if "2D" in name else (2, 7, 3))
        for name in ("GlobalAveragePooling2D", "GlobalMaxPooling2D", "GlobalAveragePooling1D", "GlobalMaxPooling1D")
        for keep in ((False, True) if "Max" in name else (False,))
    },
    "flatten": (lambda l: l.Flatten(), (2, 3, 4, 2)),
    "reshape": (lambda l: l.Reshape((8, -1)), (2, 4, 6)),
    "permute": (lambda l: l.Permute((3, 1, 2)), (2, 3, 4, 5)),
    "repeat": (lambda l: l.RepeatVector(3), (2, 5)),
    "up sampling": (lambda l: l.UpSampling2D((2, 3)), (2, 3, 4, 2)),
    "up sampling bilinear": (lambda l: l.UpSampling2D(2, interpolation="bilinear"), (2, 3, 4, 2)),
    "up sampling 1d": (lambda l: l.UpSampling1D(3), (2, 3, 4)),
    "padding": (lambda l: l.ZeroPadding2D(), (2, 3, 4, 2)),
    "padding of sides": (lambda l: l.ZeroPadding2D(((1, 0), (2, 3))), (2, 3, 4, 2)),
    "padding 1d": (lambda l: l.ZeroPadding1D((1, 2)), (2, 3, 4)),
    "cropping": (lambda l: l.Cropping2D(((1, 0), (1, 2))), (2, 4, 5, 2)),
    "cropping 1d": (lambda l: l.Cropping1D(1), (2, 4, 5)),
    "activation": (lambda l: l.Activation("softmax"), (2, 5)),
    "relu": (lambda l: l.ReLU(), (4, 5)),
    "relu with all": (lambda l: l.ReLU(max_value=1.0, negative_slope=0.2, threshold=0.3), (4, 5)),
    "relu sloped": (lambda l: l.ReLU(negative_slope=0.2), (4, 5)),
    "leaky relu": (lambda l: l.LeakyReLU(), (4, 5)),
    "elu": (lambda l: l.ELU(0.5), (4, 5)),
    "softmax": (lambda l: l.Softmax(), (4, 5)),
    "softmax of axis 1": (lambda l: l.Softmax(axis=1), (4, 5, 2)),
    "softmax of axes": (lambda l: l.Softmax(axis=[1, 2]), (4, 5, 2)),
    "lambda": (lambda l: l.Lambda(lambda x: x**2), (4, 5)),
    **{
        name: (lambda l, n=name: getattr(l, n)(), [(4, 5), (4, 5), (4, 5)])
        for name in ("Add", "Multiply", "Maximum", "Minimum", "Average", "Concatenate")
    },
    "subtract": (lambda l: l.Subtract(), [(4, 5), (4, 5)]),
    "add along an axis": (lambda l: l.Add(), [(4, 5, 2), (4, 1, 2)]),
    "concatenate along 1": (lambda l: l.Concatenate(axis=1), [(4, 5, 2), (4, 1, 2)]),
    "batch normalization": (lambda l: l.BatchNormalization(), (6, 5)),
    "batch normalization of images": (lambda l: l.BatchNormalization(momentum=0.9, epsilon=1e-5, scale=False), (4, 3, 3, 2)),
    "batch normalization of axis 1": (lambda l: l.BatchNormalization(axis=1, center=False), (4, 3, 2)),
    "layer normalization": (lambda l: l.LayerNormalization(), (3, 4, 5)),
    "layer normalization of axis 1": (lambda l: l.LayerNormalization(axis=1, epsilon=1e-5, center=False), (3, 4, 5)),
    "layer normalization of axes": (lambda l: l.LayerNormalization(axis=[1, 2]), (3, 4, 5)),
    "group normalization": (lambda l: l.GroupNormalization(2), (3, 5, 5, 4)),
    "group normalization of each": (lambda l: l.GroupNormalization(-1, epsilon=1e-5, scale=False), (3, 5, 4)),
    "group normalization of axis 1": (lambda l: l.GroupNormalization(2, axis=1), (3, 4, 5)),
    **{
        f"{name} {shown(o)}": (lambda l, n=name, o=o: getattr(l, n)(4, **o), (2, 6, 3))
        for name in ("SimpleRNN", "GRU", "LSTM")
        for o in (
            {}, {"return_state": True, "use_bias": False}, {"go_backwards": True, "return_sequences": True}, {"activation": "relu"},
            {"recurrent_activation": "hard_sigmoid"}, {"reset_after": False},
        )
        if not ("recurrent_activation" in o and name == "SimpleRNN" or "reset_after" in o and name != "GRU")
    },
    **{
        f"bidirectional {shown(o)} {mode}": (lambda l, o=o, m=mode: l.Bidirectional(l.LSTM(4, **o), merge_mode=m), (2, 6, 3))
        for o, mode in (
            ({}, "concat"), ({"return_sequences": True, "return_state": True}, "mul"), ({"return_sequences": True}, "ave"), ({}, None),
        )
    },
    "a cell": (lambda l: l.RNN(l.LSTMCell(4), return_sequences=True), (2, 6, 3)),
}  # fmt: skip


def copied(ours: Any, theirs: Any) -> list[Any]:
    """Random values in the Variables of both; those of Keras without random keys."""
    rng, of_keras = np.random.default_rng(1), [v for v in theirs.variables if "seed" not in v.path]
    assert [v.shape for v in ours.variables] == [tuple(v.shape) for v in of_keras]
    for v, other in zip(ours.variables, of_keras):
        value = rng.uniform(0.1, 0.6, v.shape).astype(np.float32)
        v.assign(value), other.assign(value)
    return of_keras


def compared(ours: Any, theirs: Any, x: Any, call: dict[str, Any] | None = None) -> None:
    """Values, gradients and what is remembered."""
    shapes = [a.shape for a in x] if isinstance(x, (list, tuple)) else x.shape
    ours.build_for(shapes)
    theirs.build(*shapes) if isinstance(x, tuple) else theirs.build(shapes)
    of_keras = copied(ours, theirs)
    call = call or {}

    def total(out: Any) -> Any:
        return sum(jnp.sum(a * normal(*a.shape, seed=2)) for a in jax.tree.leaves(out))

    def of_tape(given: Any) -> Any:
        with ag.GradientTape() as tape:
            tape.watch(given)
            out = ours(*given, **call) if isinstance(given, tuple) else ours(given)
            value = total(out)
        return out, tape.gradient(value, [list(ours.trainable_variables), given])

    def stateless(trainable: Any, x: Any) -> Any:
        held = [v.value for v in theirs.non_trainable_variables]
        out, _ = theirs.stateless_call(trainable, held, *(x if isinstance(x, tuple) else (x,)), **call)
        return total(out), out

    of_keras_too = jax.value_and_grad(stateless, (0, 1), has_aux=True)
    held = [v.value for v in theirs.trainable_variables]
    (mine, gradients), ((_, out), others) = compiled(lambda held, x: (of_tape(x), of_keras_too(held, x)))(held, x)
    same(mine, out)
    same(gradients, list(others), rtol=2e-5, atol=5e-6)
    same([v.value for v in ours.variables if not jnp.issubdtype(v.dtype, jax.dtypes.prng_key)], [v.value for v in of_keras])


@pytest.mark.parametrize("name", LAYERS)
def test_layers(keras: Any, unfilled: None, name: str) -> None:
    make, shape = LAYERS[name]
    ours, theirs = make(ag.layers), make(keras.layers)
    x = [normal(*s, seed=k) for k, s in enumerate(shape)] if isinstance(shape, list) else normal(*shape)
    compared(ours, theirs, x)
    if "normalization" in name:
        for _ in range(2):
            same(ours(x, training=True) if "batch" in name else ours(x), theirs(x, training=True))
        same([v.value for v in ours.variables], [v.value for v in theirs.variables])
        same(ours(x), theirs(x))


@pytest.mark.parametrize("labels", [np.array([[1, 6], [0, 1]]), np.array([3, 2, 2])], ids=["2 axes", "1 axis"])
def test_embeddings(keras: Any, unfilled: None, labels: Any) -> None:
    ours, theirs = ag.layers.Embedding(7, 3), keras.layers.Embedding(7, 3)
    ours(labels), theirs(labels)
    copied(ours, theirs)
    same(ours(labels), theirs(labels))
    with ag.GradientTape() as tape:
        value = jnp.sum(ours(labels) ** 3)
    want = jax.grad(lambda w: jnp.sum(theirs.stateless_call(w, [], labels)[0] ** 3))([v.value for v in theirs.variables])
    same(tape.gradient(value, ours.variables), want)


ATTENTION: dict[str, tuple[dict[str, Any], dict[str, Any], int]] = {
    "plain": ({}, {}, 2),
    "key": ({}, {}, 3),
    "self": ({}, {}, 1),
    "without bias": ({"use_bias": False}, {}, 2),
    "causal": ({}, {"use_causal_mask": True}, 1),
    "value dim": ({"value_dim": 5}, {"return_attention_scores": True}, 3),  # without scores, Keras on JAX takes no other one
    "value dim, causal": ({"value_dim": 5}, {"return_attention_scores": True, "use_causal_mask": True}, 1),
    "output": ({"output_shape": 7}, {}, 2),
    "mask": ({}, {"attention_mask": True}, 2),
    "mask, causal": ({}, {"attention_mask": True, "use_causal_mask": True}, 2),
    "scores": ({}, {"return_attention_scores": True}, 2),
    "scores, mask": ({}, {"return_attention_scores": True, "attention_mask": True}, 2),
    "dropout, not in training": ({"dropout": 0.5}, {}, 2),
}


@pytest.mark.parametrize("name", ATTENTION)
def test_attention(keras: Any, unfilled: None, name: str) -> None:
    options, call, count = ATTENTION[name]
    x = (normal(2, 4, 6), normal(2, 4 if count == 1 else 5, 6, seed=1), normal(2, 4 if count == 1 else 5, 3, seed=2))[: max(count, 2)]
    if "attention_mask" in call:
        mask = np.random.default_rng(0).integers(0, 2, (2, 4, 5)).astype(bool)
        mask[..., 0] = True
        call = {**call, "attention_mask": mask}
    ours, theirs = ag.layers.MultiHeadAttention(2, 3, **options), keras.layers.MultiHeadAttention(2, 3, **options)
    if len(x) == 2:
        x = (*x, x[1])
    compared(ours, theirs, x, call)
