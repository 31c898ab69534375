"""Initial values, with the names and definitions of Keras (https://keras.io/api/layers/initializers); the arithmetic is JAX's.

Each gives a function of a random key, a shape and a dtype, as those of `jax.nn.initializers`.  With a `seed` the values are the same each time; else
they come from the key, of the sequence that `ag.set_seed` begins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from autograph.runtime.errors.errors import LayerError
from autograph.runtime.errors.source_spans import here

__all__ = [
    "Constant", "GlorotNormal", "GlorotUniform", "HeNormal", "HeUniform", "Identity", "LecunNormal", "LecunUniform", "Ones", "Orthogonal",
    "RandomNormal", "RandomUniform", "TruncatedNormal", "VarianceScaling", "Zeros", "named",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)


Initializer = Callable[[Any, Sequence[int], Any], Any]


def Constant(value: Any = 0.0) -> Initializer:
    """One number everywhere.

    >>> import jax, autograph as ag
    >>> print(ag.layers.Dense(2, bias_initializer=ag.layers.initializers.Constant(0.5))(jax.numpy.zeros((1, 3))))
    [[0.5 0.5]]
    """
    return lambda key, shape, dtype: jnp.broadcast_to(jnp.asarray(value, dtype), tuple(shape))


def Zeros() -> Initializer:
    """0 everywhere."""
    return Constant(0.0)


def Ones() -> Initializer:
    """1 everywhere."""
    return Constant(1.0)


def Identity(gain: float = 1.0) -> Initializer:
    """The identity matrix, times `gain`.

    Raises:
      LayerError: (AG708) when it is asked for another shape than that of a matrix.
    """

    def make(key: Any, shape: Sequence[int], dtype: Any) -> Any:
        if len(shape) != 2:
            raise LayerError(f"an identity matrix of shape {tuple(shape)} is asked for", here(), "choose another initializer, as 'glorot_uniform'")
        return gain * jnp.eye(shape[0], shape[1], dtype=dtype)

    return make


def RandomNormal(mean: float = 0.0, stddev: float = 0.05, seed: int | None = None) -> Initializer:
    """Normally distributed numbers."""
    return _seeded(lambda key, shape, dtype: mean + stddev * jax.random.normal(key, tuple(shape), dtype), seed)


def TruncatedNormal(mean: float = 0.0, stddev: float = 0.05, seed: int | None = None) -> Initializer:
    """Normally distributed numbers, without those further than `2 * stddev` from the mean."""
    return _seeded(lambda key, shape, dtype: mean + stddev * jax.random.truncated_normal(key, -2.0, 2.0, tuple(shape), dtype), seed)


def RandomUniform(minval: float = -0.05, maxval: float = 0.05, seed: int | None = None) -> Initializer:
    """Numbers from `minval` to `maxval`."""
    return _seeded(lambda key, shape, dtype: jax.random.uniform(key, tuple(shape), dtype, minval, maxval), seed)


def Orthogonal(gain: float = 1.0, seed: int | None = None) -> Initializer:
    """An orthogonal matrix, times `gain`, whose rows are all axes but the last (Saxe, McClelland and Ganguli, 2014, https://arxiv.org/abs/1312.6120)."""
    return _seeded(jax.nn.initializers.orthogonal(gain), seed)


def VarianceScaling(
    scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal", seed: int | None = None
) -> Initializer:  # fmt: skip
    """Numbers of variance `scale / n`, where n is how many inputs, outputs or the mean of both a unit has.

    Args:
      mode: "fan_in", "fan_out" or "fan_avg".
      distribution: "truncated_normal", "untruncated_normal" or "uniform".

    Raises:
      LayerError: (AG708) there is no such mode or distribution.
    """
    of_jax: Any = {"normal": "truncated_normal", "untruncated_normal": "normal", "truncated_normal": "truncated_normal", "uniform": "uniform"}
    if mode not in ("fan_in", "fan_out", "fan_avg"):
        raise LayerError(f"there is no mode {mode!r}", here(), "write 'fan_in', 'fan_out' or 'fan_avg'")
    if distribution not in of_jax:
        raise LayerError(f"there is no distribution {distribution!r}", here(), "write 'truncated_normal', 'untruncated_normal' or 'uniform'")
    of_matrices: Any = jax.nn.initializers.variance_scaling(scale, mode, of_jax[distribution])

    def make(key: Any, shape: Sequence[int], dtype: Any) -> Any:
        # a vector is n inputs and n outputs
        wide = tuple(shape) if len(shape) > 1 else (*shape, 1, 1)
        return of_matrices(key, wide, dtype).reshape(tuple(shape))

    return _seeded(make, seed)


def GlorotUniform(seed: int | None = None) -> Initializer:
    """Uniform, by inputs and outputs (Glorot and Bengio, 2010, https://proceedings.mlr.press/v9/glorot10a.html)."""
    return VarianceScaling(1.0, "fan_avg", "uniform", seed)


def GlorotNormal(seed: int | None = None) -> Initializer:
    """Normal, by inputs and outputs (Glorot and Bengio, 2010)."""
    return VarianceScaling(1.0, "fan_avg", "truncated_normal", seed)


def HeUniform(seed: int | None = None) -> Initializer:
    """Uniform, by inputs, for `relu` (He et al., 2015, https://arxiv.org/abs/1502.01852)."""
    return VarianceScaling(2.0, "fan_in", "uniform", seed)


def HeNormal(seed: int | None = None) -> Initializer:
    """Normal, by inputs, for `relu` (He et al., 2015)."""
    return VarianceScaling(2.0, "fan_in", "truncated_normal", seed)


def LecunUniform(seed: int | None = None) -> Initializer:
    """Uniform, by inputs (LeCun et al., *Efficient backprop*, 1998)."""
    return VarianceScaling(1.0, "fan_in", "uniform", seed)


def LecunNormal(seed: int | None = None) -> Initializer:
    """Normal, by inputs (LeCun et al., 1998)."""
    return VarianceScaling(1.0, "fan_in", "truncated_normal", seed)


def _seeded(make: Initializer, seed: int | None) -> Initializer:
    return make if seed is None else lambda key, shape, dtype: make(jax.random.key(seed), shape, dtype)


NAMED: dict[str, Callable[[], Initializer]] = {
    "zeros": Zeros, "zero": Zeros, "ones": Ones, "one": Ones, "constant": Constant, "identity": Identity, "orthogonal": Orthogonal,
    "glorot_uniform": GlorotUniform, "glorot_normal": GlorotNormal, "he_uniform": HeUniform, "he_normal": HeNormal,
    "lecun_uniform": LecunUniform, "lecun_normal": LecunNormal, "variance_scaling": VarianceScaling, "truncated_normal": TruncatedNormal,
    "uniform": RandomUniform, "random_uniform": RandomUniform, "normal": RandomNormal, "random_normal": RandomNormal,
}  # fmt: skip
NAMED |= {make.__name__: make for make in NAMED.values()}


def named(name: str) -> Initializer:
    """The initializer of a name, as "glorot_uniform" or "GlorotUniform".

    Raises:
      LayerError: (AG708) there is none.
    """
    if name not in NAMED:
        listed = ", ".join(sorted(n for n in NAMED if n.islower()))
        raise LayerError(f"there is no initializer {name!r}", here(), f"choose among {listed}, or give a function")
    return NAMED[name]()
