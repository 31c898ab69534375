"""Layers that convolve: images, of shape (batch, height, width, channels), and sequences, of shape (batch, steps, channels)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from autograph.runtime.eager.layers.dense import build_at_once
from autograph.runtime.eager.layers.layer import Layer, activation
from autograph.runtime.eager.layers.windows import check_rank, checked_padding, sizes
from autograph.runtime.errors.errors import LayerError
from autograph.runtime.errors.source_spans import here

_AXES = {1: ("NWC", "WIO", "NWC"), 2: ("NHWC", "HWIO", "NHWC")}


class _Convolution(Layer):
    rank = 2
    paddings: tuple[str, ...] = ("valid", "same")

    def __init__(
        self, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid", activation: Any = None, use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform", bias_initializer: Any = "zeros", input_shape: Sequence[int] | None = None,
        dilation_rate: Any = 1, groups: int = 1, **options: Any,
    ) -> None:  # fmt: skip
        super().__init__(**options)
        self.filters, self.kernel_size, self.strides = filters, sizes(kernel_size, self.rank, "kernel"), sizes(strides, self.rank, "stride")
        self.padding, self.dilation_rate, self.groups = checked_padding(padding, self.paddings), sizes(dilation_rate, self.rank, "dilation"), groups
        self.activation, self.use_bias = activation, use_bias
        self.kernel_initializer, self.bias_initializer = kernel_initializer, bias_initializer
        build_at_once(self, input_shape)

    def build(self, input_shape: Any) -> None:
        check_rank(self, input_shape, self.rank)
        channels = input_shape[-1]
        if channels % self.groups or self.filters % self.groups:
            raise LayerError(
                f"`{self.name}` has {self.groups} groups, {self.filters} filters and {channels} channels of input", here(),
                "give a number of groups that divides both",
            )  # fmt: skip
        self.kernel = self.add_variable("kernel", self._kernel_shape(channels), self.kernel_initializer)
        self.bias = self.add_variable("bias", (self.filters,), self.bias_initializer) if self.use_bias else None

    def _kernel_shape(self, channels: int) -> tuple[int, ...]:
        return (*self.kernel_size, channels // self.groups, self.filters)

    def _channels(self) -> int:
        return self.kernel.shape[-2] * self.groups  # type: ignore[no-any-return]

    def call(self, inputs: Any) -> Any:
        check_rank(self, inputs.shape, self.rank)
        if inputs.shape[-1] != self._channels():
            raise LayerError(
                f"`{self.name}` was built for {self._channels()} channels, and is given shape {inputs.shape}", here(), "make another layer for these"
            )
        kernel = self.kernel.value
        dtype = jnp.result_type(inputs, kernel)
        out = self._convolved(inputs.astype(dtype), kernel.astype(dtype))
        if inputs.size and not out.size:
            raise LayerError(f"`{self.name}` is given shape {inputs.shape}, which its kernel {self.kernel_size} does not fit in", here(), "pad it")
        return activation(self.activation)(out if self.bias is None else out + self.bias.value)

    def _convolved(self, inputs: Any, kernel: Any) -> Any:
        padding: Any = self.padding.upper()
        if padding == "CAUSAL":
            padding = [((k - 1) * d, 0) for k, d in zip(self.kernel_size, self.dilation_rate, strict=True)]
        return lax.conv_general_dilated(
            inputs,
            kernel,
            self.strides,
            padding,
            rhs_dilation=self.dilation_rate,
            dimension_numbers=_AXES[self.rank],
            feature_group_count=self.groups,
        )


class Conv2D(_Convolution):
    """A convolution with `filters` kernels.

    Args:
      filters: the number of channels of the output.
      kernel_size: height and width of the kernel, or one number for both.
      strides: how far apart the places are that it is applied at.
      padding: "valid" for places in the image only, "same" for zeros around it, so that with stride 1 the size stays.
      activation: a name of Keras or `jax.nn`, or a function.
      input_shape: (height, width, channels): then the Variables are made at once.
      dilation_rate: how far apart the numbers are that the kernel is applied to.
      groups: how many parts the channels have, each with kernels of its own.

    >>> import jax.numpy as jnp, autograph as ag
    >>> ag.layers.Conv2D(20, 5, strides=2)(jnp.zeros((2, 28, 28, 3))).shape
    (2, 12, 12, 20)
    """


class Conv1D(_Convolution):
    """A convolution of sequences with `filters` kernels.  The arguments are those of `Conv2D`, of one axis.

    Args:
      padding: "causal" too, for zeros before the first step only: no output depends on a later step.

    >>> import jax.numpy as jnp, autograph as ag
    >>> ag.layers.Conv1D(4, 3, padding="causal", dilation_rate=2)(jnp.zeros((2, 10, 3))).shape
    (2, 10, 4)
    """

    rank = 1
    paddings = ("valid", "same", "causal")


class Conv2DTranspose(_Convolution):
    """What a convolution's gradient does: from the shape of the output of one to that of its input (Zeiler et al., 2010).

    Args:
      strides: how many times as large the output is.
      output_padding: how many rows and columns are added to one edge of the output; by default by the padding.

    The other arguments are those of `Conv2D`, but for `groups`.

    >>> import jax.numpy as jnp, autograph as ag
    >>> ag.layers.Conv2DTranspose(4, 3, strides=2, padding="same")(jnp.zeros((2, 5, 5, 3))).shape
    (2, 10, 10, 4)
    """

    def __init__(self, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid", output_padding: Any = None, **options: Any) -> None:
        self.output_padding = None if output_padding is None else sizes(output_padding, self.rank, "output padding")
        super().__init__(filters, kernel_size, strides, padding, **options)

    def _kernel_shape(self, channels: int) -> tuple[int, ...]:
        return (*self.kernel_size, self.filters, channels)

    def _channels(self) -> int:
        return self.kernel.shape[-1]  # type: ignore[no-any-return]

    def _convolved(self, inputs: Any, kernel: Any) -> Any:
        more = self.output_padding or (None,) * self.rank
        padding = [self._sides(*of) for of in zip(self.kernel_size, self.strides, self.dilation_rate, more, strict=True)]
        return lax.conv_transpose(
            inputs, kernel, self.strides, padding, rhs_dilation=self.dilation_rate, dimension_numbers=_AXES[self.rank], transpose_kernel=True
        )

    def _sides(self, size: int, stride: int, dilation: int, more: int | None) -> tuple[int, int]:
        """How many zeros are added before and after, as Keras does."""
        size = (size - 1) * dilation + 1
        if self.padding == "valid":
            return size - 1, size - 1 + (max(size, stride) - size if more is None else more)
        total = stride + size - 2 if more is None else size + size % 2 - 2 + more
        before = min(total // 2 + total % 2, size - 1)
        return before, total - before


class Conv1DTranspose(Conv2DTranspose):
    """What a convolution's gradient does, for sequences.  The arguments are those of `Conv2DTranspose`, of one axis."""

    rank = 1
