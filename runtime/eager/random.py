"""`ag.random`: random numbers with a state, eagerly and in compiled code, where each run of a line draws others.

The state is a key of JAX's in a Variable, which every draw splits (https://docs.jax.dev/en/latest/jax.random.html); `ag.set_seed` starts it again.
Code that JAX's own transformations run (`jax.jit`, `jax.vmap`) takes `jax.random` with a key of its own.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from autograph.runtime.arrays.variable_ref import value_of
from autograph.runtime.eager.variables import Variable

__all__ = [
    "Generator", "categorical", "get_global_generator", "normal", "set_seed", "shuffle", "truncated_normal", "uniform",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)


Shape = Sequence[int]


class Generator:
    """A source of random numbers of its own.

    Args:
      seed: where it begins.

    The semantics are those of `tf.random.Generator` (https://www.tensorflow.org/api_docs/python/tf/random/Generator); the numbers are JAX's.

    >>> import autograph as ag
    >>> a, b = ag.random.Generator(1), ag.random.Generator.from_seed(1)
    >>> bool((a.normal((3,)) == b.normal((3,))).all()), bool((a.normal((3,)) == a.normal((3,))).all())
    (True, False)
    """

    def __init__(self, seed: int) -> None:
        self.key = Variable(lambda: jax.random.key(seed), trainable=False, name="random")

    @classmethod
    def from_seed(cls, seed: int) -> Generator:
        """One that begins with a seed."""
        return cls(seed)

    def reset_from_seed(self, seed: int) -> None:
        """Start again."""
        self.key.assign(jax.random.key(seed))

    def next_key(self) -> Any:
        """A key of JAX's that nothing else gets."""
        own, rest = jax.random.split(self.key.value)
        self.key.assign(rest)
        return own

    def normal(self, shape: Shape, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = None) -> Any:
        """Numbers of a normal distribution, of a shape."""
        drawn = jax.random.normal(self.next_key(), tuple(shape), _dtype(dtype))
        return drawn * jnp.asarray(value_of(stddev), drawn.dtype) + jnp.asarray(value_of(mean), drawn.dtype)

    def truncated_normal(self, shape: Shape, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = None) -> Any:
        """The same, none further from the mean than two standard deviations."""
        drawn = jax.random.truncated_normal(self.next_key(), -2.0, 2.0, tuple(shape), _dtype(dtype))
        return drawn * jnp.asarray(value_of(stddev), drawn.dtype) + jnp.asarray(value_of(mean), drawn.dtype)

    def uniform(self, shape: Shape, minval: Any = 0, maxval: Any = None, dtype: Any = None) -> Any:
        """Numbers from `minval` to below `maxval`, of a shape; of an integer dtype `maxval` has to be given."""
        if dtype is not None and jnp.issubdtype(dtype, jnp.integer):
            if maxval is None:
                raise ValueError("`uniform` of integers needs `maxval`, which is not drawn itself")
            return jax.random.randint(self.next_key(), tuple(shape), value_of(minval), value_of(maxval), dtype)
        return jax.random.uniform(self.next_key(), tuple(shape), _dtype(dtype), value_of(minval), 1.0 if maxval is None else value_of(maxval))

    def categorical(self, logits: Any, num_samples: int, dtype: Any = None) -> Any:
        """Classes by unnormalised log-probabilities of shape (batch, classes): integers of shape (batch, num_samples)."""
        logits = jnp.asarray(value_of(logits))
        drawn = jax.random.categorical(self.next_key(), logits[:, None, :], axis=-1, shape=(logits.shape[0], num_samples))
        return drawn if dtype is None else drawn.astype(dtype)

    def shuffle(self, value: Any) -> Any:
        """The rows of an array in another order."""
        return jax.random.permutation(self.next_key(), jnp.asarray(value_of(value)))


def _dtype(dtype: Any) -> Any:
    return jnp.result_type(float) if dtype is None else dtype


_generator: list[Generator] = []


def get_global_generator() -> Generator:
    """The source that the functions of this module draw from."""
    if not _generator:
        _generator.append(Generator(secrets.randbits(31)))
    return _generator[0]


def set_seed(seed: int) -> None:
    """Start the numbers of this module again; `ag.set_seed` does that too, and for layers."""
    get_global_generator().reset_from_seed(seed)


def normal(shape: Shape, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = None) -> Any:
    """Numbers of a normal distribution, of a shape.

    >>> import autograph as ag
    >>> @ag.function
    ... def walk(n):
    ...     x = 0.0
    ...     for _ in range(n):
    ...         x += ag.random.normal(())
    ...     return x
    >>> bool(walk(10) != walk(10))
    True
    """
    return get_global_generator().normal(shape, mean, stddev, dtype)


def truncated_normal(shape: Shape, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = None) -> Any:
    """The same, none further from the mean than two standard deviations."""
    return get_global_generator().truncated_normal(shape, mean, stddev, dtype)


def uniform(shape: Shape, minval: Any = 0, maxval: Any = None, dtype: Any = None) -> Any:
    """Numbers from `minval` to below `maxval` (1 by default), of a shape.

    >>> import autograph as ag
    >>> x = ag.random.uniform((1000,), 2, 5, dtype=int)
    >>> int(x.min()), int(x.max())
    (2, 4)
    """
    return get_global_generator().uniform(shape, minval, maxval, dtype)


def categorical(logits: Any, num_samples: int, dtype: Any = None) -> Any:
    """Classes by unnormalised log-probabilities of shape (batch, classes): integers of shape (batch, num_samples)."""
    return get_global_generator().categorical(logits, num_samples, dtype)


def shuffle(value: Any) -> Any:
    """The rows of an array in another order."""
    return get_global_generator().shuffle(value)
