"""What a layer's Variables hold at first, by the names of Keras (https://keras.io/api/layers/initializers); the arithmetic is JAX's.

Random keys come from one sequence of the program: `set_seed` starts it again.
"""

from __future__ import annotations

import functools
import secrets
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph.runtime.eager import random
from autograph.runtime.eager.layers.initializers import named
from autograph.runtime.jaxapi import traces as _jax

_CONSTANT = {"zeros": 0, "ones": 1}  # nothing is to compile for them
_keys: list[Any] = [secrets.randbits(31), 0]  # the seed, and how many keys have been given


def set_seed(seed: int) -> None:
    """Start the sequence of random keys again, and the numbers of `ag.random`.

    Layers that are made after it have the same initial values, and drop the same units, each time.

    >>> import autograph as ag
    >>> ag.set_seed(0)
    >>> a = ag.layers.Dense(2)(jnp.ones((1, 3)))
    >>> ag.set_seed(0)
    >>> bool((a == ag.layers.Dense(2)(jnp.ones((1, 3)))).all())
    True
    """
    _keys[:] = [int(seed), 0]
    random.set_seed(int(seed))


def next_key() -> Any:
    """The next random key."""
    seed, count = _next_number()
    with jax.ensure_compile_time_eval():
        return jax.random.fold_in(jax.random.key(seed), count)


def _next_number() -> tuple[int, int]:
    """The seed, and how many keys have been given before."""
    seed, count = _keys
    _keys[1] += 1
    return seed, count


def initial(initializer: Any, shape: Sequence[int], dtype: Any) -> Any:
    """The first value of a Variable.

    Args:
      initializer: a name; a function of key, shape and dtype, as those of `jax.nn.initializers`; or one of shape and dtype.

    Raises:
      LayerError: (AG708) there is no initializer of this name.
    """
    if isinstance(initializer, str):
        named(initializer)  # there is one
        seed, count = _next_number()
        with _jax.evaluating():
            if initializer in _CONSTANT:
                return jax.device_put(np.full(shape, _CONSTANT[initializer], jnp.dtype(dtype)))
            return _named(np.uint32(seed & 0xFFFFFFFF), np.uint32(count), initializer, tuple(shape), jnp.dtype(dtype))
    key = next_key()
    with jax.ensure_compile_time_eval():
        return jnp.asarray(initializer(key, tuple(shape), jnp.dtype(dtype)))


@functools.partial(jax.jit, static_argnums=(2, 3, 4))
def _named(seed: Any, count: Any, name: str, shape: tuple[int, ...], dtype: Any) -> Any:
    """One program for each initializer and shape."""
    return jnp.asarray(named(name)(jax.random.fold_in(jax.random.key(seed), count), shape, dtype))
