"""Layers without Variables that are one function of their input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from autograph.runtime.calls.callees import call
from autograph.runtime.eager.layers.layer import Layer
from autograph.runtime.errors.errors import LayerError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import traces as _jax


class Lambda(Layer):
    """A function of the input, which may have `if` and `while` on the values.

    >>> import jax.numpy as jnp, autograph as ag
    >>> model = ag.layers.Sequential([ag.layers.Lambda(lambda x: x ** 2), ag.layers.Flatten()])
    >>> model(jnp.array([[1.0, 2.0]])).tolist()
    [[1.0, 4.0]]
    """

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        super().__init__(**options)
        if not callable(function):
            raise LayerError(f"`Lambda` is given a `{type(function).__name__}`", here(), "give it a function of the input")
        self.function = function

    def call(self, inputs: Any) -> Any:
        return (call(self.function) if _jax.recording() else self.function)(inputs)


class ReLU(Layer):
    """0 where x is below a threshold, else x.

    Args:
      max_value: what nothing is larger than.
      negative_slope: what the difference to the threshold is times below it, instead of 0.
      threshold: below which x is 0.
    """

    def __init__(self, max_value: float | None = None, negative_slope: float = 0.0, threshold: float = 0.0, **options: Any) -> None:
        super().__init__(**options)
        self.max_value, self.negative_slope, self.threshold = max_value, negative_slope, threshold

    def call(self, inputs: Any) -> Any:
        out = jax.nn.relu(inputs) if self.threshold == 0 else jnp.where(inputs > self.threshold, inputs, jnp.zeros_like(inputs))
        out = out if self.max_value is None else jnp.clip(out, 0.0, self.max_value)
        return out - self.negative_slope * jax.nn.relu(self.threshold - inputs) if self.negative_slope else out


class LeakyReLU(Layer):
    """x where it is above 0, and a part of it below (Maas, Hannun and Ng, 2013).

    Args:
      negative_slope: that part.

    >>> import jax.numpy as jnp, autograph as ag
    >>> print(ag.layers.LeakyReLU(0.5)(jnp.array([-3.0, 2.0])))
    [-1.5  2. ]
    """

    def __init__(self, negative_slope: float = 0.3, **options: Any) -> None:
        super().__init__(**options)
        self.negative_slope = negative_slope

    def call(self, inputs: Any) -> Any:
        return jax.nn.leaky_relu(inputs, self.negative_slope)


class ELU(Layer):
    """x where it is above 0, and `alpha * (exp(x) - 1)` below (Clevert et al., 2015, https://arxiv.org/abs/1511.07289)."""

    def __init__(self, alpha: float = 1.0, **options: Any) -> None:
        super().__init__(**options)
        self.alpha = alpha

    def call(self, inputs: Any) -> Any:
        return jax.nn.elu(inputs, self.alpha)


class Softmax(Layer):
    """`exp(x)` divided by its sum.

    Args:
      axis: along which the sum is 1; an axis, or several.
    """

    def __init__(self, axis: Any = -1, **options: Any) -> None:
        super().__init__(**options)
        self.axis = axis

    def call(self, inputs: Any, mask: Any = None) -> Any:  # type: ignore[override]
        """`mask`: of the shape of the input; where it is false, the result is 0."""
        axis = tuple(self.axis) if isinstance(self.axis, list) else self.axis
        if mask is None:
            return jax.nn.softmax(inputs, axis)
        kept = jnp.asarray(mask, bool)
        return jnp.where(kept, jax.nn.softmax(jnp.where(kept, inputs, -1e9), axis), 0.0)
