"""Handwritten digits: a convolutional network whose whole training is one compiled program, written as plain Python.

Epochs, shuffled batches, the tape, the optimizer and its schedule, an evaluation after each epoch, a line every second epoch, and early stopping are
all in `train`.  The data are scikit-learn's 1797 images of 8 by 8 pixels, of which 360 are held out.  Needs the extra `examples`.

    python examples/digits.py [--epochs 30] [--plot digits.png]
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

import autograph as ag

MOST_EPOCHS = 100


def data() -> tuple[Any, Any]:
    """The images with their labels: those to train with, and those that are held out."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    images, labels = (digits.images[..., None] / 16.0).astype(np.float32), digits.target.astype(np.int32)
    order = np.random.default_rng(0).permutation(len(images))
    held_out, used = order[:360], order[360:]
    return (images[used], labels[used]), (images[held_out], labels[held_out])


def network() -> ag.layers.Sequential:
    return ag.layers.Sequential(
        [
            ag.layers.Conv2D(16, 3, padding="same", use_bias=False),
            ag.layers.BatchNormalization(momentum=0.9),
            ag.layers.Activation("relu"),
            ag.layers.MaxPooling2D(2),
            ag.layers.Conv2D(32, 3, padding="same", activation="relu"),
            ag.layers.Flatten(),
            ag.layers.Dropout(0.4),
            ag.layers.Dense(10),
        ]
    )


def evaluate(model: Any, dataset: Any) -> Array:
    """The share of the images that are classified rightly."""
    accuracy = ag.metrics.SparseCategoricalAccuracy()
    for images, labels in dataset:
        accuracy.update_state(labels, model(images))
    return accuracy.result()


@ag.function
def train(model: Any, optimizer: Any, training: Any, held_out: Any, epochs: int, patience: int = 8) -> tuple[Array, Array, Array, int]:
    """Train until the accuracy on the held-out images has not risen for some epochs; gives losses, accuracies, the best accuracy, and the epochs."""
    losses, accuracies = jnp.zeros(MOST_EPOCHS), jnp.zeros(MOST_EPOCHS)
    best, waited = jnp.float32(0.0), 0
    for epoch in range(epochs):
        loss, batches = jnp.float32(0.0), 0
        for images, labels in training:
            with ag.GradientTape() as tape:
                value = ag.losses.sparse_softmax_cross_entropy(labels, model(images, training=True))
            variables = model.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(value, variables), variables))
            loss += value
            batches += 1
        accuracy = evaluate(model, held_out)
        losses[epoch], accuracies[epoch] = loss / batches, accuracy
        if epoch % 2 == 0:
            print("epoch", epoch, "loss", loss / batches, "accuracy", accuracy)
        if accuracy > best:
            best, waited = accuracy, 0
        else:
            waited += 1
            if waited == patience:
                print("no better for", patience, "epochs: stopped after epoch", epoch)
                break
    return losses, accuracies, best, epoch + 1


def plot(losses: Array, accuracies: Array, file: str) -> None:
    """The loss and the accuracy of each epoch, as a picture."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3), layout="constrained")
    left.semilogy(losses, color="tab:blue")
    left.set(xlabel="epoch", ylabel="training loss")
    right.plot(100 * accuracies, color="tab:green")
    right.set(xlabel="epoch", ylabel="accuracy on held-out images (%)", ylim=(90, 100))
    figure.savefig(file, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--plot", metavar="FILE", help="where a picture of the training is saved")
    options = parser.parse_args()
    ag.set_seed(0)
    (images, labels), held_out = data()
    training = ag.data.Dataset.from_tensor_slices((images, labels)).shuffle(len(images), seed=0).batch(32)
    testing = ag.data.Dataset.from_tensor_slices(held_out).batch(128)
    rate = ag.optimizers.ExponentialDecay(2e-3, decay_steps=200, decay_rate=0.8)
    start = time.perf_counter()
    losses, accuracies, best, epochs = train(network(), ag.optimizers.Adam(rate), training, testing, min(options.epochs, MOST_EPOCHS))
    jax.effects_barrier()
    print(f"{int(epochs)} epochs in {time.perf_counter() - start:.0f} s, compilation among them; the best accuracy is {100 * best:.1f} %")
    if options.plot:
        plot(losses[:epochs], accuracies[:epochs], options.plot)
        print("the picture is in", options.plot)


if __name__ == "__main__":
    main()
