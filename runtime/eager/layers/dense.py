"""Layers that work on the last axis, on each number, or on the shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from autograph.runtime.eager.kernels import kernel
from autograph.runtime.eager.layers.initial import next_key
from autograph.runtime.eager.layers.layer import Layer, activation
from autograph.runtime.eager.variables import Variable
from autograph.runtime.errors.errors import LayerError
from autograph.runtime.errors.source_spans import here


def affine(x: Any, weights: Any, bias: Any, given: Any) -> Any:
    """`activation(x @ weights + bias)`; of an activation that is no name, nothing is known."""
    function = activation(given)
    if given is None or isinstance(given, str):
        return _affine(x, weights, bias, named=given)
    return function(_affine(x, weights, bias, named=None))


@kernel
def _affine(x: Any, weights: Any, bias: Any, *, named: str | None) -> Any:
    out = x @ weights
    return activation(named)(out if bias is None else out + bias)


class Dense(Layer):
    """`activation(inputs @ kernel + bias)`.

    Args:
      units: the size of the last axis of the output.
      activation: a name of `jax.nn`, or a function.
      use_bias: whether there is a `bias`.
      input_shape: of the inputs without the axis of the batch: then the Variables are made at once.

    >>> import jax.numpy as jnp, autograph as ag
    >>> layer = ag.layers.Dense(10)
    >>> layer(jnp.zeros((1, 1, 784))).shape, [v.shape for v in layer.variables]
    ((1, 1, 10), [(784, 10), (10,)])
    """

    def __init__(
        self, units: int, activation: Any = None, use_bias: bool = True, kernel_initializer: Any = "glorot_uniform", bias_initializer: Any = "zeros",
        input_shape: Sequence[int] | None = None, **options: Any,
    ) -> None:  # fmt: skip
        super().__init__(**options)
        self.units, self.use_bias, self.activation = units, use_bias, activation
        self.kernel_initializer, self.bias_initializer = kernel_initializer, bias_initializer
        build_at_once(self, input_shape)

    def build(self, input_shape: Any) -> None:
        if not len(input_shape):
            raise LayerError(f"`{self.name}` is given a number, and works on the last axis of its input", here(), "give it an axis: `x[None]`")
        self.kernel = self.add_variable("kernel", (input_shape[-1], self.units), self.kernel_initializer)
        self.bias = self.add_variable("bias", (self.units,), self.bias_initializer) if self.use_bias else None

    def call(self, inputs: Any) -> Any:
        if inputs.shape[-1] != self.kernel.shape[0]:
            raise LayerError(
                f"`{self.name}` was built for a last axis of {self.kernel.shape[0]}, and is given shape {inputs.shape}", here(),
                "give it what it was built for, or make another layer",
            )  # fmt: skip
        return affine(inputs, self.kernel.value, None if self.bias is None else self.bias.value, self.activation)


class Embedding(Layer):
    """A vector for each of some integers: rows of `embeddings`.

    Args:
      input_dim: how many integers there are, from 0.
      output_dim: the length of a vector.
    """

    def __init__(self, input_dim: int, output_dim: int, embeddings_initializer: Any = "uniform", **options: Any) -> None:
        super().__init__(**options)
        self.input_dim, self.output_dim, self.embeddings_initializer = input_dim, output_dim, embeddings_initializer

    def build(self, input_shape: Any) -> None:
        self.embeddings = self.add_variable("embeddings", (self.input_dim, self.output_dim), self.embeddings_initializer)

    def call(self, inputs: Any) -> Any:
        if not jnp.issubdtype(inputs.dtype, jnp.integer):
            raise LayerError(f"`{self.name}` is given {inputs.dtype}, and takes integers", here(), "convert them: `x.astype(int)`")
        return jnp.take(self.embeddings.value, inputs, axis=0)


class Activation(Layer):
    """A function of each number, by its name in `jax.nn`."""

    def __init__(self, activation: Any, **options: Any) -> None:
        super().__init__(**options)
        self.activation = activation

    def call(self, inputs: Any) -> Any:
        return activation(self.activation)(inputs)


class Flatten(Layer):
    """All axes but that of the batch as one."""

    def call(self, inputs: Any) -> Any:
        return inputs.reshape(inputs.shape[0], -1)


class Reshape(Layer):
    """Another shape, but for the axis of the batch.

    Args:
      target_shape: without that axis; one size may be -1.
    """

    def __init__(self, target_shape: Sequence[int], **options: Any) -> None:
        super().__init__(**options)
        self.target_shape = tuple(target_shape)

    def call(self, inputs: Any) -> Any:
        return inputs.reshape(inputs.shape[0], *self.target_shape)


class Dropout(Layer):
    """In training a share of the numbers is 0, and the others are larger for it; else nothing happens.

    Which ones is told by a random key in the Variable `random`, so that it is another time others, in a compiled loop too.

    Args:
      rate: the share that is dropped, from 0 to below 1; a traced number too.
      noise_shape: of what is dropped together, with 1 for axes along which all is dropped or nothing; by default each number by itself.
      seed: of the key; by default it comes from the sequence that `ag.set_seed` begins.
    """

    def __init__(self, rate: Any, noise_shape: Sequence[int | None] | None = None, seed: int | None = None, **options: Any) -> None:
        super().__init__(**options)
        if isinstance(rate, (int, float)) and not 0 <= rate < 1:
            raise LayerError(f"the rate is {rate}", here(), "give a number from 0 to below 1")
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed

    def build(self, input_shape: Any) -> None:
        self.random = Variable(lambda: next_key() if self.seed is None else jax.random.key(self.seed), trainable=False, name=f"{self.name}/random")

    def call(self, inputs: Any, training: Any = False) -> Any:
        if training is False or isinstance(self.rate, (int, float)) and self.rate == 0:
            return inputs
        own, rest = jax.random.split(self.random.value)
        self.random.assign(rest)
        shape = inputs.shape if self.noise_shape is None else self._noise(inputs.shape)
        kept = jax.random.bernoulli(own, 1.0 - self.rate, shape)
        dropped = jnp.where(kept, inputs / jnp.asarray(1.0 - self.rate, inputs.dtype), jnp.zeros_like(inputs))
        return dropped if training is True else jnp.where(training, dropped, inputs)

    def _noise(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        asked = tuple(self.noise_shape or ())
        if len(asked) != len(shape) or any(k not in (None, 1, n) for k, n in zip(asked, shape, strict=True)):
            raise LayerError(f"`{self.name}` is given shape {shape}, and its `noise_shape` is {asked}", here(), "give its size or 1 for each axis")
        return tuple(n if k is None else k for k, n in zip(asked, shape, strict=True))


def build_at_once(layer: Layer, input_shape: Sequence[int] | None) -> None:
    """Make the Variables of a layer that is told the shape of its inputs."""
    if input_shape is not None:
        layer.input_shape = tuple(input_shape)  # type: ignore[attr-defined]
        layer.build_for((None, *input_shape))
