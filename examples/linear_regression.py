"""A line through noisy points, as TensorFlow's guide to eager execution fits it: Variables, a tape, and the whole training as one program."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

import autograph as ag

EXAMPLES = 1000


class Model:
    """`W * x + B`."""

    def __init__(self) -> None:
        self.W = ag.Variable(5.0, name="weight")
        self.B = ag.Variable(10.0, name="bias")

    def __call__(self, inputs: Array) -> Array:
        return inputs * self.W + self.B


def data() -> tuple[Array, Array]:
    """Points of 3x + 2, with noise."""
    inputs = jax.random.normal(jax.random.key(0), (EXAMPLES,))
    noise = jax.random.normal(jax.random.key(1), (EXAMPLES,))
    return inputs, inputs * 3 + 2 + noise


def loss(model: Model, inputs: Array, targets: Array) -> Array:
    return jnp.mean(jnp.square(model(inputs) - targets))


def gradients(model: Model, inputs: Array, targets: Array) -> list[Array]:
    with ag.GradientTape() as tape:
        value = loss(model, inputs, targets)
    return tape.gradient(value, [model.W, model.B])


@ag.function
def train(model: Model, inputs: Array, targets: Array, steps: int, rate: float = 0.01) -> Array:
    """Gradient descent, in one compiled program that prints every 20 steps; gives the last loss."""
    for i in range(steps):
        d_weight, d_bias = gradients(model, inputs, targets)
        model.W.assign_sub(rate * d_weight)
        model.B.assign_sub(rate * d_bias)
        if i % 20 == 0:
            print("Loss at step", i, "is", loss(model, inputs, targets))
    return loss(model, inputs, targets)


def main() -> None:
    inputs, targets = data()
    model = Model()
    print(f"Initial loss: {loss(model, inputs, targets):.3f}")
    final = train(model, inputs, targets, 300)
    jax.effects_barrier()
    print(f"Final loss: {final:.3f}")
    print(f"W = {model.W.numpy():.2f}, B = {model.B.numpy():.2f}")


if __name__ == "__main__":
    main()
