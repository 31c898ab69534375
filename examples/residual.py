"""A small residual network (He et al., 2016) on the digits: blocks whose input is added to their output, trained step by step.

Here the step is compiled and the loop is Python's, as one does with data that come from elsewhere; the learning rate is a Variable that the loop
lowers, and a checkpoint is kept.  Needs the extra `examples`.

    python examples/residual.py [--epochs 8]
"""

from __future__ import annotations

import argparse
import tempfile
from typing import Any

import jax.numpy as jnp
from digits import data  # the script beside this one
from jax import Array

import autograph as ag

layers = ag.layers


class Block(layers.Model):
    """Two convolutions, to whose result the input is added; with a stride, or more channels than before, the input goes through one of size 1."""

    def __init__(self, filters: int, strides: int = 1) -> None:
        super().__init__()
        self.first, self.first_norm = layers.Conv2D(filters, 3, strides, "same", use_bias=False), layers.BatchNormalization(momentum=0.9)
        self.second, self.second_norm = layers.Conv2D(filters, 3, 1, "same", use_bias=False), layers.BatchNormalization(momentum=0.9)
        self.shortcut = layers.Conv2D(filters, 1, strides, use_bias=False)
        self.filters, self.strides = filters, strides

    def call(self, x: Array) -> Array:
        h = jnp.maximum(self.first_norm(self.first(x)), 0)
        h = self.second_norm(self.second(h))
        if x.shape[-1] != self.filters or self.strides != 1:
            x = self.shortcut(x)
        return jnp.maximum(h + x, 0)


def network() -> layers.Sequential:
    return layers.Sequential(
        [layers.Conv2D(16, 3, padding="same"), Block(16), Block(32, 2), Block(64, 2), layers.GlobalAveragePooling2D(), layers.Dense(10)]
    )


@ag.function
def step(model: Any, optimizer: Any, images: Array, labels: Array) -> Array:
    with ag.GradientTape() as tape:
        loss = ag.losses.sparse_softmax_cross_entropy(labels, model(images, training=True))
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


@ag.function
def predict(model: Any, images: Array) -> Array:
    return jnp.argmax(model(images), axis=-1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=8)
    options = parser.parse_args()
    ag.set_seed(0)
    training, (images, labels) = data()
    dataset = ag.data.Dataset.from_tensor_slices(training).shuffle(2000, seed=0).batch(64, drop_remainder=True).prefetch()
    model, rate = network(), ag.Variable(0.05, trainable=False)
    optimizer = ag.optimizers.Momentum(rate, 0.9, use_nesterov=True)
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = ag.Checkpoint(model=model, optimizer=optimizer, rate=rate)
        for epoch in range(options.epochs):
            mean = ag.metrics.Mean()
            for given, answers in ag.progress(dataset, desc=f"epoch {epoch}", every=22):
                mean.update_state(step(model, optimizer, given, answers))
            rate.assign(rate * 0.7)
            checkpoint.save(folder + "/residual", max_to_keep=2)
            right = float(jnp.mean(predict(model, images) == labels))
            print(f"epoch {epoch}: loss {float(mean.result()):.3f}, {100 * right:.1f} % of the held-out images are right")
        again = network()
        ag.Checkpoint(model=again).restore(ag.latest_checkpoint(folder))
        same = bool(jnp.all(predict(again, images) == predict(model, images)))
    print(f"{model.count_params():,} parameters; a model from the checkpoint gives the same: {same}")


if __name__ == "__main__":
    main()
