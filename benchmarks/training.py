"""Training, over what one writes by hand; ratios within one process.

    python benchmarks/training.py [--seconds 3]

1. An epoch in one `ag.function` (dataset, tape, optimizer, metric) over a `lax.scan` by hand, with optax.
2. A compiled loop over a shuffled dataset, over one with an index by hand.
3. A model eagerly, step by step, over the same step in an `ag.function`: a small one, of many small operations, and a large one.

Each cell is the best of many interleaved runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from eager import best  # the script beside this one
from jax import lax

import autograph as ag

ROWS, BATCH = 2048, 64


def data(width: int) -> tuple[np.ndarray, np.ndarray]:
    x = np.random.default_rng(0).normal(size=(ROWS, width)).astype(np.float32)
    return x, (x[:, :10].argmax(1)).astype(np.int32)


def network(width: int, hidden: int) -> Any:
    ag.set_seed(0)
    return ag.layers.Sequential([ag.layers.Dense(hidden, "relu", input_shape=(width,)), ag.layers.Dense(10)])


def epoch(width: int, hidden: int) -> dict[str, Callable[[], Any]]:
    x, y = data(width)
    model, optimizer = network(width, hidden), ag.optimizers.Adam(1e-3)
    dataset = ag.data.Dataset.from_tensor_slices((x, y)).shuffle(ROWS, seed=0).batch(BATCH)

    @ag.function
    def ours() -> Any:
        total = jnp.float32(0.0)
        for a, b in dataset:
            with ag.GradientTape() as tape:
                loss = ag.losses.sparse_softmax_cross_entropy(b, model(a, training=True))
            variables = model.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
            total += loss
        return total

    transformation = optax.adam(1e-3, eps=1e-7)
    params = [v.value for v in network(width, hidden).trainable_variables]
    held = [params, transformation.init(params), jax.random.key(0)]
    rows, labels = jnp.asarray(x), jnp.asarray(y)

    def loss_of(params: Any, a: Any, b: Any) -> Any:
        w1, b1, w2, b2 = params
        return optax.losses.softmax_cross_entropy_with_integer_labels(jax.nn.relu(a @ w1 + b1) @ w2 + b2, b).mean()

    @jax.jit
    def by_hand(params: Any, state: Any, key: Any, rows: Any, labels: Any) -> Any:
        own, key = jax.random.split(key)
        order = jax.random.permutation(own, ROWS).reshape(-1, BATCH)

        def turn(carry: Any, index: Any) -> Any:
            params, state, total = carry
            value, grads = jax.value_and_grad(loss_of)(params, rows[index], labels[index])
            updates, state = transformation.update(grads, state, params)
            return (optax.apply_updates(params, updates), state, total + value), None

        (params, state, total), _ = lax.scan(turn, (params, state, jnp.float32(0.0)), order)
        return params, state, key, total

    def theirs() -> Any:
        *held[:], total = by_hand(*held, rows, labels)
        return total

    return {"ours": ours, "by hand": theirs}


def pipeline() -> dict[str, Callable[[], Any]]:
    x, y = data(64)
    dataset = ag.data.Dataset.from_tensor_slices((x, y)).shuffle(ROWS, seed=0).batch(BATCH)

    @ag.function
    def ours() -> Any:
        s = jnp.float32(0.0)
        for a, b in dataset:
            s += jnp.tanh(a).sum() + b[0]
        return s

    rows, labels = jnp.asarray(x), jnp.asarray(y)

    @jax.jit
    def by_hand(key: Any, rows: Any, labels: Any) -> Any:
        own, key = jax.random.split(key)
        order = jax.random.permutation(own, ROWS).reshape(-1, BATCH)
        s, _ = lax.scan(lambda s, i: (s + jnp.tanh(rows[i]).sum() + labels[i][0], None), jnp.float32(0.0), order)
        return s, key

    held = [jax.random.key(0)]

    def theirs() -> Any:
        s, held[0] = by_hand(held[0], rows, labels)
        return s

    return {"ours": ours, "by hand": theirs}


def steps(width: int, hidden: int, layers: int) -> dict[str, Callable[[], Any]]:
    """A step of training, eagerly and compiled."""
    x, y = data(width)
    a, b = jnp.asarray(x[:BATCH]), jnp.asarray(y[:BATCH])
    ag.set_seed(0)
    model = ag.layers.Sequential([*(ag.layers.Dense(hidden, "tanh") for _ in range(layers)), ag.layers.Dense(10)])
    optimizer = ag.optimizers.SGD(1e-3)

    def step() -> Any:
        with ag.GradientTape() as tape:
            loss = ag.losses.sparse_softmax_cross_entropy(b, model(a))
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    return {"eager": step, "compiled": ag.function(step)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=3.0)
    seconds = parser.parse_args().seconds
    print(f"jax {jax.__version__}, {jax.devices()[0].device_kind}")
    for told, runs in [
        ("an epoch of 32 steps, 64-128-10", epoch(64, 128)),
        ("an epoch of 32 steps, 256-1024-10", epoch(256, 1024)),
        ("a loop over 32 batches of a shuffled dataset", pipeline()),
    ]:
        t = best(runs, seconds)
        print(f"{told}: {t['ours'] * 1e3:.2f} ms, by hand {t['by hand'] * 1e3:.2f} ms: {t['ours'] / t['by hand']:.2f}", flush=True)
    for told, runs in [("8 layers of 16 units", steps(64, 16, 8)), ("2 layers of 2048 units", steps(256, 2048, 2))]:
        t = best(runs, seconds)
        print(
            f"a step of {told}: eager {t['eager'] * 1e3:.2f} ms, compiled {t['compiled'] * 1e3:.2f} ms: {t['eager'] / t['compiled']:.1f}", flush=True
        )


if __name__ == "__main__":
    main()
