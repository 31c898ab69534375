"""mlxtend: learners with epochs, classes with state."""

from __future__ import annotations

from typing import Any

import numpy as np
from mlxtend.classifier import Adaline, LogisticRegression, MultiLayerPerceptron, Perceptron, SoftmaxRegression
from mlxtend.cluster import Kmeans
from mlxtend.evaluate import confusion_matrix
from mlxtend.feature_extraction import PrincipalComponentAnalysis
from mlxtend.preprocessing import minmax_scaling, standardize
from mlxtend.regressor import LinearRegression

from tests.campaigns.published import entry

PACKAGE = "mlxtend"


def _data(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    y = np.arange(10) % 2
    return rng.normal(size=(10, 2)) + 2.0 * y[:, None], y


def _fitted(model: Any, X: np.ndarray, y: np.ndarray) -> Any:
    model.fit(X, y)
    return model.w_, model.b_, model.predict(X)


def _ready(model: Any, rng: np.random.Generator) -> Any:
    return model.fit(*_data(rng))


ENTRIES = [
    entry("Perceptron.fit", _fitted, lambda rng: (Perceptron(epochs=4, eta=0.1, random_seed=1), *_data(rng))),
    entry("Perceptron.predict", Perceptron.predict, lambda rng: (_ready(Perceptron(epochs=4, random_seed=1), rng), rng.normal(size=(5, 2)))),
    entry("Adaline.fit", _fitted, lambda rng: (Adaline(epochs=5, eta=0.01, minibatches=1, random_seed=1), *_data(rng))),
    entry("LogisticRegression.fit", _fitted, lambda rng: (LogisticRegression(epochs=5, eta=0.05, minibatches=1, random_seed=1), *_data(rng))),
    entry(
        "LogisticRegression.predict_proba",
        LogisticRegression.predict_proba,
        lambda rng: (_ready(LogisticRegression(epochs=3, random_seed=1), rng), rng.normal(size=(5, 2))),
    ),
    entry("SoftmaxRegression.fit", _fitted, lambda rng: (SoftmaxRegression(epochs=5, eta=0.05, minibatches=1, random_seed=1), *_data(rng))),
    entry(
        "MultiLayerPerceptron.predict_proba",
        MultiLayerPerceptron.predict_proba,
        lambda rng: (_ready(MultiLayerPerceptron(hidden_layers=[4], epochs=3, random_seed=1), rng), rng.normal(size=(5, 2))),
    ),
    entry(
        "LinearRegression.fit, normal equation", _fitted, lambda rng: (LinearRegression(method="direct"), rng.normal(size=(8, 2)), rng.normal(size=8))
    ),
    entry(
        "LinearRegression.fit, gradient descent",
        _fitted,
        lambda rng: (LinearRegression(method="sgd", eta=0.01, epochs=6, minibatches=1, random_seed=1), rng.normal(size=(8, 2)), rng.normal(size=8)),
    ),
    entry("Kmeans.predict", Kmeans.predict, lambda rng: (Kmeans(k=2, max_iter=9, random_seed=1).fit(_data(rng)[0]), rng.normal(size=(5, 2)))),
    entry("Kmeans.fit", lambda model, X: model.fit(X).centroids_, lambda rng: (Kmeans(k=2, max_iter=9, random_seed=1), _data(rng)[0])),
    entry(
        "PrincipalComponentAnalysis.fit", lambda X: PrincipalComponentAnalysis(n_components=2).fit(X).e_vals_, lambda rng: (rng.normal(size=(9, 3)),)
    ),
    entry("standardize", lambda X: standardize(X, columns=[0, 1]), lambda rng: (rng.normal(size=(6, 2)),)),
    entry("minmax_scaling", lambda X: minmax_scaling(X, columns=[0, 1]), lambda rng: (rng.normal(size=(6, 2)),)),
    entry("confusion_matrix", confusion_matrix, lambda rng: (rng.integers(0, 2, 9), rng.integers(0, 2, 9))),
]
