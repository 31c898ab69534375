"""Layers that bring numbers to mean 0 and variance 1."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from autograph.runtime.networks.layer import Layer


class BatchNormalization(Layer):
    """Each channel with mean 0 and variance 1 over the batch, then `gamma * x + beta` (Ioffe and Szegedy, 2015, https://arxiv.org/abs/1502.03167).

    In training mean and variance are those of the batch, and averages of them are kept in `moving_mean` and `moving_variance`; else these are used.

    Args:
      momentum: how much of the averages is kept in a step.
      epsilon: is added to the variance.
    """

    def __init__(self, momentum: float = 0.99, epsilon: float = 1e-3, center: bool = True, scale: bool = True, **options: Any) -> None:
        super().__init__(**options)
        self.momentum, self.epsilon, self.center, self.scale = momentum, epsilon, center, scale

    def build(self, input_shape: Any) -> None:
        size = (input_shape[-1],)
        self.gamma = self.add_variable("gamma", size, "ones") if self.scale else None
        self.beta = self.add_variable("beta", size, "zeros") if self.center else None
        self.moving_mean = self.add_variable("moving_mean", size, "zeros", trainable=False)
        self.moving_variance = self.add_variable("moving_variance", size, "ones", trainable=False)

    def call(self, inputs: Any, training: Any = False) -> Any:
        known = isinstance(training, bool)
        training = bool(training and self.trainable) if known else training  # a frozen layer is one of inference
        mean, variance = self.moving_mean.value, self.moving_variance.value
        if training is not False:
            axes = tuple(range(inputs.ndim - 1))
            new_mean, new_variance = jnp.mean(inputs, axes), jnp.var(inputs, axes)
            mean, variance = (new_mean, new_variance) if known else (jnp.where(training, new_mean, mean), jnp.where(training, new_variance, variance))
            rate = 1.0 - self.momentum if known else jnp.where(training, 1.0 - self.momentum, 0.0)
            for average, new in ((self.moving_mean, new_mean), (self.moving_variance, new_variance)):
                average.assign_sub(rate * (average.value - lax.stop_gradient(new)))
        return _scaled((inputs - mean) * lax.rsqrt(variance + self.epsilon), self)


class LayerNormalization(Layer):
    """Each example with mean 0 and variance 1 over its last axis, then `gamma * x + beta` (Ba, Kiros and Hinton, 2016, https://arxiv.org/abs/1607.06450)."""

    def __init__(self, epsilon: float = 1e-3, center: bool = True, scale: bool = True, **options: Any) -> None:
        super().__init__(**options)
        self.epsilon, self.center, self.scale = epsilon, center, scale

    def build(self, input_shape: Any) -> None:
        size = (input_shape[-1],)
        self.gamma = self.add_variable("gamma", size, "ones") if self.scale else None
        self.beta = self.add_variable("beta", size, "zeros") if self.center else None

    def call(self, inputs: Any) -> Any:
        mean, variance = jnp.mean(inputs, -1, keepdims=True), jnp.var(inputs, -1, keepdims=True)
        return _scaled((inputs - mean) * lax.rsqrt(variance + self.epsilon), self)


def _scaled(x: Any, layer: Any) -> Any:
    x = x if layer.gamma is None else x * layer.gamma.value
    return x if layer.beta is None else x + layer.beta.value
