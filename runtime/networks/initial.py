"""What a layer's Variables hold at first, by the names of Keras (https://keras.io/api/layers/initializers); the arithmetic is JAX's.

Random keys come from one sequence of the program: `set_seed` begins it anew.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from autograph.runtime.messages.errors import LayerError
from autograph.runtime.messages.places import here

initializers = jax.nn.initializers

_NAMED: dict[str, Callable[[], Any]] = {
    "glorot_uniform": initializers.glorot_uniform, "glorot_normal": initializers.glorot_normal, "he_uniform": initializers.he_uniform,
    "he_normal": initializers.he_normal, "lecun_uniform": initializers.lecun_uniform, "lecun_normal": initializers.lecun_normal,
    "orthogonal": initializers.orthogonal, "zeros": lambda: initializers.zeros, "ones": lambda: initializers.ones,
    "uniform": lambda: lambda key, shape, dtype: jax.random.uniform(key, shape, dtype, -0.05, 0.05),
    "random_uniform": lambda: lambda key, shape, dtype: jax.random.uniform(key, shape, dtype, -0.05, 0.05),
    "normal": lambda: initializers.normal(0.05), "random_normal": lambda: initializers.normal(0.05),
}  # fmt: skip

_keys: list[Any] = [secrets.randbits(31), 0]  # the seed, and how many keys have been given


def set_seed(seed: int) -> None:
    """Begin the sequence of random keys anew: layers that are made after it have the same initial values, and drop the same units, each time.

    >>> import autograph as ag
    >>> ag.set_seed(0)
    >>> a = ag.layers.Dense(2)(jnp.ones((1, 3)))
    >>> ag.set_seed(0)
    >>> bool((a == ag.layers.Dense(2)(jnp.ones((1, 3)))).all())
    True
    """
    _keys[:] = [int(seed), 0]


def next_key() -> Any:
    """The next random key."""
    seed, count = _keys
    _keys[1] += 1
    with jax.ensure_compile_time_eval():
        return jax.random.fold_in(jax.random.key(seed), count)


def initial(initializer: Any, shape: Sequence[int], dtype: Any) -> Any:
    """The first value of a Variable.

    Args:
      initializer: a name; a function of key, shape and dtype, as those of `jax.nn.initializers`; or one of shape and dtype.

    Raises:
      LayerError: (AG708) there is no initializer of this name.
    """
    if isinstance(initializer, str):
        if initializer not in _NAMED:
            raise LayerError(f"there is no initializer {initializer!r}", here(), f"choose among {', '.join(_NAMED)}, or give a function")
        initializer = _NAMED[initializer]()
    key = next_key()
    with jax.ensure_compile_time_eval():
        return jnp.asarray(initializer(key, tuple(shape), jnp.dtype(dtype)))
