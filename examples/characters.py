"""A language model of characters: a recurrent network that learns what comes next in a text, and writes a text of its own.

The training is one compiled program; so is the writing, which ends at a traced condition.  The text are the descriptions of scikit-learn's data sets.
Needs the extra `examples`.

    python examples/characters.py [--epochs 12]
"""

from __future__ import annotations

import argparse
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

import autograph as ag

STEPS = 64  # characters in a sequence


def text() -> str:
    from sklearn import datasets

    loaders = (datasets.load_iris, datasets.load_digits, datasets.load_wine, datasets.load_breast_cancer, datasets.load_diabetes)
    return "\n".join(load().DESCR for load in loaders)


class Characters(ag.layers.Model):
    """For each character the logits of the one that follows."""

    def __init__(self, letters: int, width: int = 128) -> None:
        super().__init__()
        self.embedding = ag.layers.Embedding(letters, 32)
        self.recurrent = ag.layers.RNN(ag.layers.GRUCell(width), return_sequences=True, return_state=True)
        self.output = ag.layers.Dense(letters)

    def call(self, letters: Array, state: Array | None = None) -> tuple[Array, Array]:
        hidden, state = self.recurrent(self.embedding(letters), initial_state=state)
        return self.output(hidden), state


def clipped(gradients: list[Array], most: float) -> list[Array]:
    """Gradients whose common norm is at most that."""
    norm = jnp.sqrt(sum(jnp.sum(g**2) for g in gradients))
    return [g * (most / norm) for g in gradients] if norm > most else gradients


@ag.function
def train(model: Any, optimizer: Any, dataset: Any, epochs: int) -> Array:
    """Train, and tell the perplexity after each epoch; gives the last one."""
    perplexity = jnp.float32(0.0)
    for epoch in range(epochs):
        mean = ag.metrics.Mean()
        for given, following in dataset:
            with ag.GradientTape() as tape:
                logits, _ = model(given)
                loss = ag.losses.sparse_softmax_cross_entropy(following, logits)
            variables = model.trainable_variables
            optimizer.apply_gradients(zip(clipped(tape.gradient(loss, variables), 1.0), variables))
            mean.update_state(loss)
        perplexity = jnp.exp(mean.result())
        print("epoch", epoch, "perplexity", perplexity)
    return perplexity


@ag.function
def write(model: Any, start: Array, most: int, end: Array, key: Array) -> tuple[Array, int]:
    """Characters drawn one by one, until `end` comes or there are `most`; gives them, and how many they are."""
    written = jnp.zeros(400, jnp.int32)
    logits, state = model(start[None])
    last, count = logits[0, -1], 0
    while count < most:
        key, own = jax.random.split(key)
        letter = jax.random.categorical(own, last / 0.7)
        written[count] = letter
        count += 1
        if letter == end and count > 200:
            break
        logits, state = model(letter[None, None], state)
        last = logits[0, -1]
    return written, count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=12)
    options = parser.parse_args()
    ag.set_seed(0)
    whole = text()
    alphabet = sorted(set(whole))
    numbers = np.array([alphabet.index(c) for c in whole], np.int32)
    starts = np.arange(0, len(numbers) - STEPS - 1, STEPS // 4)
    given = np.stack([numbers[s : s + STEPS] for s in starts])
    following = np.stack([numbers[s + 1 : s + STEPS + 1] for s in starts])
    print(f"{len(whole)} characters, {len(alphabet)} different ones; a perplexity of {len(alphabet)} is chance")
    dataset = ag.data.Dataset.from_tensor_slices((given, following)).shuffle(len(given), seed=0).batch(32, drop_remainder=True)
    model = Characters(len(alphabet))
    perplexity = train(model, ag.optimizers.Adam(3e-3), dataset, options.epochs)
    jax.effects_barrier()
    print(f"the perplexity has come down to {perplexity:.1f}")
    start = np.array([alphabet.index(c) for c in "The data "], np.int32)
    letters, count = write(model, start, 400, alphabet.index("\n"), jax.random.key(1))
    print("The data " + "".join(alphabet[k] for k in letters[:count]))


if __name__ == "__main__":
    main()
