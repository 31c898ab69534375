"""Activations by their names in Keras (https://keras.io/api/layers/activations); the arithmetic is JAX's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from autograph.runtime.errors.errors import LayerError
from autograph.runtime.errors.source_spans import here


def linear(x: Any) -> Any:
    """x itself."""
    return x


def gelu(x: Any) -> Any:
    """`x * P(X <= x)` of the normal distribution, exact (Hendrycks and Gimpel, 2016, https://arxiv.org/abs/1606.08415)."""
    return jax.nn.gelu(x, approximate=False)


def leaky_relu(x: Any) -> Any:
    """x where it is above 0, and a fifth of it below."""
    return jax.nn.leaky_relu(x, negative_slope=0.2)


def tanh_shrink(x: Any) -> Any:
    """`x - tanh(x)`."""
    return x - jnp.tanh(x)


def hard_shrink(x: Any) -> Any:
    """x, and 0 where it is from -1/2 to 1/2."""
    return jnp.where(jnp.abs(x) > 0.5, x, 0.0)


def soft_shrink(x: Any) -> Any:
    """x brought nearer to 0 by 1/2, and 0 where it is from -1/2 to 1/2."""
    return jnp.where(x > 0.5, x - 0.5, jnp.where(x < -0.5, x + 0.5, 0.0))


_OF_JAX = (
    "relu relu6 sigmoid hard_sigmoid hard_silu hard_swish softmax log_softmax elu selu celu glu silu swish mish softplus log_sigmoid hard_tanh "
    "sparse_plus sparse_sigmoid squareplus"
).split()
NAMED: dict[str, Callable[[Any], Any]] = {
    **{name: getattr(jax.nn, name) for name in _OF_JAX},
    **{f.__name__: f for f in (linear, gelu, leaky_relu, tanh_shrink, hard_shrink, soft_shrink)},
    "tanh": jnp.tanh, "softsign": jax.nn.soft_sign, "exponential": jnp.exp,
}  # fmt: skip


def activation(given: Any) -> Callable[[Any], Any]:
    """A function by its name in Keras, `jax.nn` or `jnp` (`"relu"`, `"tanh"`), a function as it is, or None for the identity.

    Raises:
      LayerError: (AG708) there is none.

    >>> import jax.numpy as jnp
    >>> print(activation("leaky_relu")(jnp.array([-2.0, 1.0])))
    [-0.4  1. ]
    """
    if given is None:
        return linear
    if callable(given):
        return given  # type: ignore[no-any-return]
    found = NAMED.get(given) if isinstance(given, str) else None
    if isinstance(given, str) and found is None:
        found = getattr(jax.nn, given, None) or getattr(jnp, given, None)
    if not callable(found):
        raise LayerError(f"there is no activation {given!r}", here(), "give a name of `jax.nn`, as 'relu', 'tanh' or 'softmax', or a function")
    return found  # type: ignore[no-any-return]
