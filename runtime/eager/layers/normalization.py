"""Layers that bring numbers to mean 0 and variance 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from autograph.runtime.eager.layers.layer import Layer
from autograph.runtime.errors.errors import LayerError
from autograph.runtime.errors.source_spans import here


class BatchNormalization(Layer):
    """Each channel with mean 0 and variance 1 over the batch, then `gamma * x + beta` (Ioffe and Szegedy, 2015, https://arxiv.org/abs/1502.03167).

    In training mean and variance are those of the batch, and averages of them are kept in `moving_mean` and `moving_variance`; else these are used.

    Args:
      axis: that of the channels.
      momentum: how much of the averages is kept in a step.
      epsilon: is added to the variance.
      center: whether there is `beta`.
      scale: whether there is `gamma`.

    Raises:
      LayerError: (AG708) there is no such axis.
    """

    def __init__(
        self, axis: int = -1, momentum: float = 0.99, epsilon: float = 1e-3, center: bool = True, scale: bool = True, beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones", **options: Any,
    ) -> None:  # fmt: skip
        super().__init__(**options)
        self.axis, self.momentum, self.epsilon, self.center, self.scale = axis, momentum, epsilon, center, scale
        self.beta_initializer, self.gamma_initializer = beta_initializer, gamma_initializer

    def build(self, input_shape: Any) -> None:
        size = _scales(self, input_shape, [self.axis])
        self.moving_mean = self.add_variable("moving_mean", size, "zeros", trainable=False)
        self.moving_variance = self.add_variable("moving_variance", size, "ones", trainable=False)

    def call(self, inputs: Any, training: Any = False) -> Any:
        known = isinstance(training, bool)
        training = bool(training and self.trainable) if known else training  # a frozen layer is one of inference
        mean, variance = self.moving_mean.value, self.moving_variance.value
        if training is not False:
            axes = tuple(k for k in range(inputs.ndim) if k != self.axis % inputs.ndim)
            new_mean, new_variance = jnp.mean(inputs, axes), jnp.var(inputs, axes)
            mean, variance = (new_mean, new_variance) if known else (jnp.where(training, new_mean, mean), jnp.where(training, new_variance, variance))
            rate = 1.0 - self.momentum if known else jnp.where(training, 1.0 - self.momentum, 0.0)
            for average, new in ((self.moving_mean, new_mean), (self.moving_variance, new_variance)):
                average.assign_sub(rate * (average.value - lax.stop_gradient(new)))
        mean, variance = (_along(x, inputs.ndim, [self.axis]) for x in (mean, variance))
        return _scaled((inputs - mean) * lax.rsqrt(variance + self.epsilon), self, [self.axis])


class LayerNormalization(Layer):
    """Each example with mean 0 and variance 1, then `gamma * x + beta` (Ba, Kiros and Hinton, 2016, https://arxiv.org/abs/1607.06450).

    Args:
      axis: over which, an axis or several.
      epsilon: is added to the variance.
      center: whether there is `beta`.
      scale: whether there is `gamma`.

    Raises:
      LayerError: (AG708) there is no such axis.
    """

    def __init__(
        self, axis: Any = -1, epsilon: float = 1e-3, center: bool = True, scale: bool = True, beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones", **options: Any,
    ) -> None:  # fmt: skip
        super().__init__(**options)
        self.axis = [axis] if isinstance(axis, int) else list(axis)
        self.epsilon, self.center, self.scale = epsilon, center, scale
        self.beta_initializer, self.gamma_initializer = beta_initializer, gamma_initializer

    def build(self, input_shape: Any) -> None:
        _scales(self, input_shape, self.axis)

    def call(self, inputs: Any) -> Any:
        axes = tuple(self.axis)
        mean, variance = jnp.mean(inputs, axes, keepdims=True), jnp.var(inputs, axes, keepdims=True)
        return _scaled((inputs - mean) * lax.rsqrt(variance + self.epsilon), self, self.axis)


class GroupNormalization(Layer):
    """Each group of channels of an example with mean 0 and variance 1, then `gamma * x + beta` (Wu and He, 2018, https://arxiv.org/abs/1803.08494).

    Args:
      groups: how many; -1 for one of each channel.
      axis: that of the channels.
      epsilon: is added to the variance.
      center: whether there is `beta`.
      scale: whether there is `gamma`.

    Raises:
      LayerError: (AG708) the channels are no multiple of the groups.

    >>> import jax.numpy as jnp, autograph as ag
    >>> print(ag.layers.GroupNormalization(groups=2)(jnp.array([[1.0, 1.0, 3.0, 3.0]])))
    [[0. 0. 0. 0.]]
    """

    def __init__(
        self, groups: int = 32, axis: int = -1, epsilon: float = 1e-3, center: bool = True, scale: bool = True, beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones", **options: Any,
    ) -> None:  # fmt: skip
        super().__init__(**options)
        self.groups, self.axis, self.epsilon, self.center, self.scale = groups, axis, epsilon, center, scale
        self.beta_initializer, self.gamma_initializer = beta_initializer, gamma_initializer

    def build(self, input_shape: Any) -> None:
        (channels,) = _scales(self, input_shape, [self.axis])
        if self.groups != -1 and (self.groups < 1 or channels % self.groups):
            raise LayerError(f"`{self.name}` has {self.groups} groups and is given {channels} channels", here(), "give groups that divide them")

    def call(self, inputs: Any) -> Any:
        x = jnp.moveaxis(inputs, self.axis, -1)
        groups = x.shape[-1] if self.groups == -1 else self.groups
        grouped = x.reshape(*x.shape[:-1], groups, x.shape[-1] // groups)
        axes = (*range(1, x.ndim - 1), x.ndim)
        mean, variance = jnp.mean(grouped, axes, keepdims=True), jnp.var(grouped, axes, keepdims=True)
        grouped = (grouped - mean) * lax.rsqrt(variance + self.epsilon)
        return _scaled(jnp.moveaxis(grouped.reshape(x.shape), -1, self.axis), self, [self.axis])


def _scales(layer: Any, input_shape: Any, axes: Sequence[int]) -> tuple[int, ...]:
    """Make `gamma` and `beta`, of the sizes of some axes, which are given."""
    rank = len(input_shape)
    if any(not -rank <= axis < rank for axis in axes):
        raise LayerError(f"`{layer.name}` is given shape {tuple(input_shape)}, which has no axis {list(axes)}", here(), "give another `axis`")
    size = tuple(input_shape[k] for k in sorted(axis % rank for axis in axes))
    layer.gamma = layer.add_variable("gamma", size, layer.gamma_initializer) if layer.scale else None
    layer.beta = layer.add_variable("beta", size, layer.beta_initializer) if layer.center else None
    return size


def _along(x: Any, rank: int, axes: Sequence[int]) -> Any:
    """An array of some axes, with 1 for the others."""
    sizes, own = [1] * rank, sorted(axis % rank for axis in axes)
    for k, size in zip(own, x.shape, strict=True):
        sizes[k] = size
    return x.reshape(sizes)


def _scaled(x: Any, layer: Any, axes: Sequence[int]) -> Any:
    x = x if layer.gamma is None else x * _along(layer.gamma.value, x.ndim, axes)
    return x if layer.beta is None else x + _along(layer.beta.value, x.ndim, axes)
