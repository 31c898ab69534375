"""How many programs XLA compiles for what a TensorFlow user does first: one for each layer and shape, not one for each operation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import autograph as ag


class Compiled:
    programs = 0


@contextmanager
def counted() -> Iterator[Compiled]:
    """Count the programs that are compiled meanwhile."""
    found = Compiled()

    def listen(event: str, _: float, **options: Any) -> None:
        found.programs += event == "/jax/core/compile/backend_compile_duration"

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        yield found
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)


def of_layers() -> Any:
    """Three layers of sizes that no other test has."""
    return ag.layers.Sequential([ag.layers.Dense(43, activation="relu"), ag.layers.Dense(41, activation="relu"), ag.layers.Dense(37)])


def batch(n: int) -> Any:
    return jax.device_put(np.ones((n, 47), np.float32)), jax.device_put(np.arange(n) % 37)


def test_the_first_call_of_three_layers() -> None:
    x, _ = batch(19)
    with counted() as first:
        of_layers()(x)
    assert first.programs <= 6, first.programs  # an initial value and a call for each
    with counted() as second:
        of_layers()(x)
    assert second.programs == 0


def test_steps_with_a_tape() -> None:
    model, optimizer = of_layers(), ag.optimizers.Adam(1e-3)

    def step(n: int) -> None:
        x, y = batch(n)
        with ag.GradientTape() as tape:
            loss = ag.losses.sparse_softmax_cross_entropy(y, model(x))
        weights = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))

    with counted() as first:
        step(23)
    assert 0 < first.programs <= 24, first.programs
    with counted() as second:
        step(23)
    assert second.programs == 0
    with counted() as other:
        step(21)
    assert 0 < other.programs <= 9, other.programs  # a call of each layer, the loss, and their derivatives


def test_a_compiled_call_is_one_program() -> None:
    model = of_layers()
    x, _ = batch(29)
    with counted() as first:
        ag.function(lambda x: model(x))(x)
    assert first.programs <= 6, first.programs  # the call, and an initial value for each shape that is new


def test_initial_values_are_those_of_the_seed() -> None:
    """One program makes what the initializer makes of the key."""
    ag.set_seed(7)
    layer = ag.layers.Dense(5)
    layer(jnp.zeros((1, 3)))
    key = jax.random.fold_in(jax.random.key(7), 0)
    want = ag.layers.initializers.named("glorot_uniform")(key, (3, 5), jnp.dtype("float32"))
    np.testing.assert_array_equal(layer.kernel.value, want)
