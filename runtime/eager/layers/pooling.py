"""Layers that make one number of windows, or of all places: of images, (batch, height, width, channels), and sequences, (batch, steps, channels)."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from autograph.runtime.eager.layers.layer import Layer
from autograph.runtime.eager.layers.windows import check_rank, checked_padding, sizes


class _Pooling(Layer):
    rank = 2

    def __init__(self, pool_size: Any = 2, strides: Any = None, padding: str = "valid", **options: Any) -> None:
        super().__init__(**options)
        self.pool_size, self.padding = sizes(pool_size, self.rank, "window"), checked_padding(padding)
        self.strides = self.pool_size if strides is None else sizes(strides, self.rank, "stride")

    def _over(self, inputs: Any, first: Any, operation: Any) -> Any:
        check_rank(self, inputs.shape, self.rank)
        return lax.reduce_window(inputs, first, operation, (1, *self.pool_size, 1), (1, *self.strides, 1), self.padding.upper())


class MaxPooling2D(_Pooling):
    """The largest number of each window.

    Args:
      pool_size: of the windows, height and width or one number for both.
      strides: how far apart they are; by default their size.
      padding: "valid" for whole windows only, or "same".

    >>> import jax.numpy as jnp, autograph as ag
    >>> ag.layers.MaxPooling2D(2)(jnp.arange(16.0).reshape(1, 4, 4, 1))[0, :, :, 0].tolist()
    [[5.0, 7.0], [13.0, 15.0]]
    """

    def call(self, inputs: Any) -> Any:
        least = -np.inf if jnp.issubdtype(inputs.dtype, jnp.floating) else jnp.iinfo(inputs.dtype).min
        return self._over(inputs, np.array(least, inputs.dtype), lax.max)


class AveragePooling2D(_Pooling):
    """The mean of each window; of zeros around the image none is counted.  The arguments are those of `MaxPooling2D`."""

    def call(self, inputs: Any) -> Any:
        total = self._over(inputs, np.zeros((), inputs.dtype), lax.add)
        return total / self._over(jnp.ones((1, *inputs.shape[1:-1], 1), inputs.dtype), np.zeros((), inputs.dtype), lax.add)


class MaxPooling1D(MaxPooling2D):
    """The largest number of each window of steps.  The arguments are those of `MaxPooling2D`, of one axis."""

    rank = 1


class AveragePooling1D(AveragePooling2D):
    """The mean of each window of steps.  The arguments are those of `MaxPooling2D`, of one axis."""

    rank = 1


class _Global(Layer):
    rank = 2
    of: Any

    def __init__(self, keepdims: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self.keepdims = keepdims

    def call(self, inputs: Any) -> Any:
        check_rank(self, inputs.shape, self.rank)
        return type(self).of(inputs, axis=tuple(range(1, inputs.ndim - 1)), keepdims=self.keepdims)


class GlobalAveragePooling2D(_Global):
    """The mean of each channel, of shape (batch, channels).

    Args:
      keepdims: whether height and width stay, of size 1.
    """

    of = staticmethod(jnp.mean)


class GlobalMaxPooling2D(_Global):
    """The largest number of each channel, of shape (batch, channels).

    Args:
      keepdims: whether height and width stay, of size 1.
    """

    of = staticmethod(jnp.max)


class GlobalAveragePooling1D(GlobalAveragePooling2D):
    """The mean of each channel over the steps, of shape (batch, channels)."""

    rank = 1


class GlobalMaxPooling1D(GlobalMaxPooling2D):
    """The largest number of each channel over the steps, of shape (batch, channels)."""

    rank = 1
