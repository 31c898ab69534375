"""Digits by a static graph, as "Deep MNIST for experts" of TensorFlow 1 did: placeholders, two convolutions, pooling, and dropout with a fed share.

All gradients are fetched in one evaluation, changed outside (here: scaled to a norm), fed back, and applied.  Needs the extra `examples`.

    python examples/deep_mnist.py [--steps 1000]
"""

from __future__ import annotations

import argparse
from typing import Any

import jax
import numpy as np
from digits import data  # the script beside this one

import autograph as ag

graph = ag.graph
jnp, nn, lax = graph.ops(jax.numpy), graph.ops(jax.nn), graph.ops(jax.lax)
AXES = ("NHWC", "HWIO", "NHWC")


def weights(*shape: int, name: str) -> ag.Variable:
    deviation = np.float32((2 / np.prod(shape[:-1])) ** 0.5)
    return ag.Variable(deviation * np.random.default_rng(len(name)).standard_normal(shape, np.float32), name=name)


def build() -> dict[str, Any]:
    """The nodes of the graph."""
    x = graph.placeholder("float32", [None, 64], name="x")
    y = graph.placeholder("int32", [None], name="y")
    keep = graph.placeholder("float32", [], name="keep")

    h = jnp.reshape(x, (-1, 8, 8, 1))
    for name, inputs, outputs in [("conv1", 1, 16), ("conv2", 16, 32)]:
        h = lax.conv_general_dilated(h, weights(3, 3, inputs, outputs, name=name), (1, 1), "SAME", dimension_numbers=AXES)
        h = ag.layers.MaxPooling2D(2)(nn.relu(h + ag.Variable(np.full(outputs, 0.1, np.float32), name=f"{name}/bias")))
    h = nn.relu(jnp.reshape(h, (-1, 2 * 2 * 32)) @ weights(128, 128, name="full"))
    logits = graph.dropout(h, keep) @ weights(128, 10, name="readout")

    loss = -jnp.mean(jnp.take_along_axis(nn.log_softmax(logits), y[:, None], axis=1))
    accuracy = jnp.mean(jnp.equal(jnp.argmax(logits, axis=1), y))
    optimizer = ag.optimizers.AdamOptimizer(3e-3)
    pairs = optimizer.compute_gradients(loss)
    changed = [(graph.placeholder(g.dtype, g.shape, name=f"changed/{v.name}"), v) for g, v in pairs]
    return {
        "x": x, "y": y, "keep": keep, "loss": loss, "accuracy": accuracy, "gradients": [g for g, _ in pairs], "changed": [g for g, _ in changed],
        "apply": optimizer.apply_gradients(changed),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=1000)
    options = parser.parse_args()
    (images, labels), (test_images, test_labels) = data()
    rng = np.random.default_rng(0)
    with graph.Graph().as_default(), graph.Session() as session:
        nodes = build()
        x, y, keep = nodes["x"], nodes["y"], nodes["keep"]
        for step in range(options.steps):
            chosen = rng.integers(len(images), size=50)
            batch = {x: images[chosen].reshape(-1, 64), y: labels[chosen]}
            if step % 200 == 0:
                print(f"step {step}, training accuracy {session.run(nodes['accuracy'], {**batch, keep: 1.0}):.2f}")
            gradients = session.run(nodes["gradients"], {**batch, keep: 0.5})  # one evaluation for all of them
            norm = np.sqrt(sum(np.sum(g**2) for g in gradients))
            scaled = [g * min(1.0, 5.0 / norm) for g in gradients]
            session.run(nodes["apply"], dict(zip(nodes["changed"], scaled)))
        accuracy = session.run(nodes["accuracy"], {x: test_images.reshape(-1, 64), y: test_labels, keep: 1.0})
    print(f"{100 * accuracy:.1f} % of the held-out images are right")


if __name__ == "__main__":
    main()
