"""A recurrent network over the rows of a sequence.

`encode` stops after a traced number of rows; `predict` goes over all of them, and its gradient trains the network.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

import autograph as ag


class Params(NamedTuple):
    inputs: Array
    recurrent: Array
    bias: Array
    output: Array


def init(key: Array, features: int, hidden: int) -> Params:
    a, b, c = jax.random.split(key, 3)
    return Params(
        0.5 * jax.random.normal(a, (features, hidden)),
        0.5 * jax.random.normal(b, (hidden, hidden)),
        jnp.zeros(hidden),
        0.5 * jax.random.normal(c, (hidden,)),
    )


def cell(params: Params, state: Array, x: Array) -> Array:
    return jnp.tanh(x @ params.inputs + state @ params.recurrent + params.bias)


@ag.function
def encode(params: Params, xs: Array, length: ArrayLike) -> Array:
    """The state after the first `length` rows; what stands behind them is padding."""
    state = jnp.zeros_like(params.bias)
    for i, x in enumerate(xs):
        if i == length:
            break
        state = cell(params, state, x)
    return state


@ag.convert
def predict(params: Params, xs: Array) -> Array:
    state = jnp.zeros_like(params.bias)
    for x in xs:
        state = cell(params, state, x)
    return state @ params.output


@jax.jit
def loss(params: Params, sequences: Array, targets: Array) -> Array:
    return jnp.mean((jax.vmap(predict, in_axes=(None, 0))(params, sequences) - targets) ** 2)


@ag.function
def train(params: Params, sequences: Array, targets: Array, steps: ArrayLike, rate: float = 0.1) -> Params:
    """Gradient descent, `steps` times."""
    for _ in range(steps):
        slope = jax.grad(loss)(params, sequences, targets)
        params = jax.tree.map(lambda p, g: p - rate * g, params, slope)
    return params


def main() -> None:
    keys = jax.random.split(jax.random.key(0), 2)
    params = init(keys[0], 2, 8)
    sequences = jax.random.normal(keys[1], (32, 10, 2))
    lengths = jnp.array([0, 3, 10])
    states = jax.vmap(encode, in_axes=(None, None, 0))(params, sequences[0], lengths)
    for length, state in zip(lengths, states, strict=True):
        print(f"state after {length} rows: {jnp.linalg.norm(state):.4f}")

    targets = sequences[:, -1, 0] - sequences[:, -2, 1]
    print(f"loss before: {loss(params, sequences, targets):.4f}")
    params = train(params, sequences, targets, 200)
    print(f"loss after:  {loss(params, sequences, targets):.4f}")


if __name__ == "__main__":
    main()
