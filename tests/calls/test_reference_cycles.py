"""What a call leaves is freed at once: arrays that wait for the garbage collector are memory that a training loop does not have."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag

pytest.importorskip("optax", reason="optimizers need the extra `train`")
X, Y = jnp.asarray(np.random.default_rng(0).normal(size=(32, 8)), jnp.float32), jnp.zeros(32, jnp.int32)


def training() -> Callable[[], Any]:
    """A model, its optimizer and a step."""
    model = ag.layers.Sequential([ag.layers.Dense(16, "relu", input_shape=(8,)), ag.layers.Dropout(0.1), ag.layers.Dense(10)])
    optimizer = ag.optimizers.Adam(1e-3)

    def step(model: Any = model, optimizer: Any = optimizer, x: Any = X, y: Any = Y) -> Any:
        with ag.GradientTape() as tape:
            loss = ag.losses.sparse_softmax_cross_entropy(y, model(x, training=True))
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    step.parts = model, optimizer  # type: ignore[attr-defined]
    return step


def eager_step() -> Callable[[], Any]:
    return training()


def compiled_step() -> Callable[[], Any]:
    step: Any = training()
    compiled = ag.function(step)
    return lambda: compiled(*step.parts, X, Y)


def step_of_what_it_closes_over() -> Callable[[], Any]:
    step = training()
    return ag.function(lambda: step())


def compiled_epoch() -> Callable[[], Any]:
    step: Any = training()
    dataset = ag.data.Dataset.from_tensor_slices((X, Y)).shuffle(32).batch(8)

    @ag.function
    def epoch(model: Any, optimizer: Any, dataset: Any) -> Any:
        total = 0.0
        for x, y in dataset:
            total += step(model, optimizer, x, y)
        return total

    return lambda: epoch(*step.parts, dataset)


class Counter:
    def __init__(self) -> None:
        self.total, self.found, self.kept = jnp.zeros(4), [jnp.zeros(2)], {"k": jnp.ones(3)}

    def add(self, x: Any) -> Any:
        self.total = self.total + x
        self.kept["k"] = self.kept["k"] * 0.5
        self.found = [x]
        for i in range(3):
            self.found.append(x * i)
        return self.total


def method() -> Callable[[], Any]:
    counter, add = Counter(), ag.function(Counter.add)
    return lambda: add(counter, 1.0)


def numpys_argument() -> Callable[[], Any]:
    @ag.function
    def store(a: Any, v: Any) -> None:
        for i in range(3):
            a[i] = v * i

    return lambda: store(np.zeros(4, np.float32), jnp.float32(2))


def errors_that_are_raised() -> Callable[[], Any]:
    @ag.function
    def positive(x: Any) -> Any:
        assert x > 0, "negative"
        return x * jnp.ones(3)

    def call() -> None:
        with pytest.raises(AssertionError, match="negative"):
            positive(-2.0)

    return call


def a_persistent_tape() -> Callable[[], Any]:
    w = ag.Variable(jnp.ones(8))

    def call() -> None:
        with ag.GradientTape(persistent=True) as tape:
            loss = jnp.sum(jnp.sin(w * w))
        tape.gradient(loss, w)

    return call


def a_tape_of_a_tape() -> Callable[[], Any]:
    w = ag.Variable(jnp.ones(8))

    def call() -> None:
        with ag.GradientTape() as outer:
            with ag.GradientTape() as tape:
                loss = jnp.sum(jnp.sin(w * w))
            slope = jnp.sum(tape.gradient(loss, w))
        outer.gradient(slope, w)

    return call


def recurrent() -> Callable[[], Any]:
    layer = ag.layers.LSTM(4)
    return lambda: layer(jnp.ones((2, 5, 3)))


CALLS = [
    eager_step, compiled_step, step_of_what_it_closes_over, compiled_epoch, method, numpys_argument, errors_that_are_raised, a_persistent_tape,
    a_tape_of_a_tape, recurrent,
]  # fmt: skip


@pytest.fixture
def garbage() -> Iterator[list[Any]]:
    """What only the garbage collector has found."""
    try:
        yield gc.garbage
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


@pytest.mark.parametrize("made", CALLS, ids=lambda f: f.__name__)
def test_no_array_waits_for_the_garbage_collector(made: Callable[[], Callable[[], Any]], garbage: list[Any]) -> None:
    call = made()
    for _ in range(3):
        call()
    while gc.collect():  # what other tests have left may take several
        pass
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    call()
    gc.collect()
    assert [type(x) for x in garbage if isinstance(x, (jax.Array, np.ndarray))] == []
