"""Asynchronous training: this process holds the Variables and applies gradients as they come, others compute them; and the modern answer beside it.

Workers pull values, compute gradients of a batch, and push them as plain arrays over a socket.  One of them is killed on the way and started again.
At the end the same model is trained by one program whose batch is sharded over 4 devices, which needs no server.  Needs the extra `examples`.

    python examples/parameter_server.py [--steps 150]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from digits import data  # the script beside this one
from jax import Array
from jax.sharding import AxisType, NamedSharding, PartitionSpec

import autograph as ag

BATCH = 64


def network() -> ag.layers.Sequential:
    ag.set_seed(0)
    return ag.layers.Sequential([ag.layers.Flatten(), ag.layers.Dense(64, "relu", input_shape=(64,)), ag.layers.Dense(10)])


def built() -> ag.layers.Sequential:
    model = network()
    model(jnp.zeros((1, 8, 8, 1)))
    return model


@ag.function
def gradients(model: Any, images: Array, labels: Array) -> list[Array]:
    with ag.GradientTape() as tape:
        loss = ag.losses.sparse_softmax_cross_entropy(labels, model(images))
    return tape.gradient(loss, model.trainable_variables)


def work(port: int, number: int, steps: int) -> None:
    """A worker: a process of its own."""
    (images, labels), _ = data()
    rng, model = np.random.default_rng(number), built()
    with ag.parameter_server.Worker(("127.0.0.1", port), model, name=f"worker {number}") as worker:
        for _ in range(steps):
            chosen = rng.integers(len(images), size=BATCH)
            worker.pull()
            worker.push(gradients(model, images[chosen], labels[chosen]))


def start(port: int, number: int, steps: int) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "XLA_FLAGS": ""}
    return subprocess.Popen([sys.executable, __file__, "--port", str(port), "--number", str(number), "--steps", str(steps)], env=environment)


def accuracy(model: Any) -> float:
    _, (images, labels) = data()
    return float(jnp.mean(jnp.argmax(model(images), -1) == labels))


def with_server(steps: int) -> None:
    model = built()
    begin = time.perf_counter()
    with ag.parameter_server.Server(model, ag.optimizers.Momentum(0.02, 0.9)) as server:
        workers = [start(server.address[1], number, steps) for number in range(3)]
        server.wait(steps // 4)
        workers[2].kill()
        workers[2].wait()
        print(f"a worker is killed after {server.steps} steps, and started again")
        workers[2] = start(server.address[1], 3, steps)
        for worker in workers:
            worker.wait()
    ages = sum(age * count for age, count in server.ages.items()) / server.steps
    took = time.perf_counter() - begin
    print(f"{server.steps} steps of 3 workers in {took:.0f} s, with gradients {ages:.1f} steps old: {accuracy(model):.1%} right")


@ag.function
def sharded(model: Any, optimizer: Any, images: Array, labels: Array, steps: int, key: Array) -> None:
    """The same training as one program: the batch is spread over the devices, and XLA adds their gradients up."""
    for _ in range(steps):
        key, own = jax.random.split(key)
        chosen = jax.random.randint(own, (3 * BATCH,), 0, len(images))
        values = gradients(model, images[chosen], labels[chosen])
        optimizer.apply_gradients(zip(values, model.trainable_variables))


def with_sharding(steps: int) -> None:
    (images, labels), _ = data()
    mesh = jax.make_mesh((4,), ("batch",), axis_types=(AxisType.Auto,))
    rows = len(images) // 4 * 4
    spread = [jax.device_put(x[:rows], NamedSharding(mesh, PartitionSpec("batch"))) for x in (images, labels)]
    model, begin = built(), time.perf_counter()
    for v in model.variables:
        v.assign(jax.device_put(v.value, NamedSharding(mesh, PartitionSpec())))
    sharded(model, ag.optimizers.Momentum(0.02, 0.9), *spread, steps, jax.random.key(0))
    print(f"{steps} steps of one program on 4 devices in {time.perf_counter() - begin:.0f} s, compilation among them: {accuracy(model):.1%} right")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=150, help="of each worker")
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--number", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.port is not None:
        work(options.port, options.number, options.steps)
        return
    with_server(options.steps)
    with_sharding(options.steps)


if __name__ == "__main__":
    if "--port" not in sys.argv:
        os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"  # before JAX begins
    main()
