"""Layers on images: arrays of shape (batch, height, width, channels)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from autograph.runtime.messages.errors import LayerError
from autograph.runtime.messages.places import here
from autograph.runtime.networks.dense import build_at_once
from autograph.runtime.networks.layer import Layer, activation

_AXES = ("NHWC", "HWIO", "NHWC")


class Conv2D(Layer):
    """A convolution with `filters` kernels.

    Args:
      filters: the number of channels of the output.
      kernel_size: height and width of the kernel, or one number for both.
      strides: how far apart the places are that it is applied at.
      padding: "valid" for places in the image only, "same" for zeros around it, so that with stride 1 the size stays.
      activation: a name of `jax.nn`, or a function.
      input_shape: (height, width, channels): then the Variables are made at once.

    >>> import jax.numpy as jnp, autograph as ag
    >>> ag.layers.Conv2D(20, 5, strides=2)(jnp.zeros((2, 28, 28, 3))).shape
    (2, 12, 12, 20)
    """

    def __init__(
        self, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid", activation: Any = None, use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform", bias_initializer: Any = "zeros", input_shape: Sequence[int] | None = None, **options: Any,
    ) -> None:  # fmt: skip
        super().__init__(**options)
        self.filters, self.kernel_size, self.strides, self.padding = filters, both(kernel_size), both(strides), checked_padding(padding)
        self.activation, self.use_bias = activation, use_bias
        self.kernel_initializer, self.bias_initializer = kernel_initializer, bias_initializer
        build_at_once(self, input_shape)

    def build(self, input_shape: Any) -> None:
        check_image(self, input_shape)
        self.kernel = self.add_variable("kernel", (*self.kernel_size, input_shape[-1], self.filters), self.kernel_initializer)
        self.bias = self.add_variable("bias", (self.filters,), self.bias_initializer) if self.use_bias else None

    def call(self, inputs: Any) -> Any:
        check_image(self, inputs.shape)
        kernel = self.kernel.value
        if inputs.shape[-1] != kernel.shape[2]:
            raise LayerError(
                f"`{self.name}` was built for {kernel.shape[2]} channels, and is given shape {inputs.shape}", here(), "make another layer for these"
            )
        dtype = jnp.result_type(inputs, kernel)
        out = lax.conv_general_dilated(inputs.astype(dtype), kernel.astype(dtype), self.strides, self.padding.upper(), dimension_numbers=_AXES)
        return activation(self.activation)(out if self.bias is None else out + self.bias.value)


class _Pooling2D(Layer):
    def __init__(self, pool_size: Any = 2, strides: Any = None, padding: str = "valid", **options: Any) -> None:
        super().__init__(**options)
        self.pool_size, self.padding = both(pool_size), checked_padding(padding)
        self.strides = self.pool_size if strides is None else both(strides)

    def _over(self, inputs: Any, first: Any, operation: Any) -> Any:
        check_image(self, inputs.shape)
        return lax.reduce_window(inputs, first, operation, (1, *self.pool_size, 1), (1, *self.strides, 1), self.padding.upper())


class MaxPooling2D(_Pooling2D):
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


class AveragePooling2D(_Pooling2D):
    """The mean of each window; of zeros around the image none is counted.  The arguments are those of `MaxPooling2D`."""

    def call(self, inputs: Any) -> Any:
        total = self._over(inputs, np.zeros((), inputs.dtype), lax.add)
        return total / self._over(jnp.ones((1, *inputs.shape[1:3], 1), inputs.dtype), np.zeros((), inputs.dtype), lax.add)


class GlobalAveragePooling2D(Layer):
    """The mean of each channel, of shape (batch, channels)."""

    def call(self, inputs: Any) -> Any:
        check_image(self, inputs.shape)
        return jnp.mean(inputs, axis=(1, 2))


class GlobalMaxPooling2D(Layer):
    """The largest number of each channel, of shape (batch, channels)."""

    def call(self, inputs: Any) -> Any:
        check_image(self, inputs.shape)
        return jnp.max(inputs, axis=(1, 2))


def both(size: Any) -> tuple[int, int]:
    """Height and width, of one number or two."""
    return (int(size), int(size)) if isinstance(size, int) else (int(size[0]), int(size[1]))


def checked_padding(padding: str) -> str:
    """Raises LayerError (AG708) unless it is "valid" or "same"."""
    if not isinstance(padding, str) or padding.lower() not in ("valid", "same"):
        raise LayerError(f"there is no padding {padding!r}", here(), "write 'valid' or 'same'")
    return padding.lower()


def check_image(layer: Layer, shape: Sequence[int]) -> None:
    """Raises LayerError (AG708) unless this is a shape of images."""
    if len(shape) != 4:
        raise LayerError(
            f"`{layer.name}` is given shape {tuple(shape)}, and takes images of shape (batch, height, width, channels)", here(),
            "add the axes that are missing: `x[..., None]`",
        )  # fmt: skip
