"""Arrays as safetensors holds them: types that NumPy does not have are bytes, and random keys are numbers."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

_PLAIN = frozenset("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split())


class About(NamedTuple):
    dtype: str
    shape: tuple[int, ...]
    key: str  # of a random key, how its numbers are made


def stored(x: Any) -> tuple[np.ndarray, dict[str, Any]]:
    """An array as the file holds it, and what the index says of it."""
    key = ""
    if jnp.issubdtype(x.dtype, jax.dtypes.prng_key):
        key, x = str(jax.random.key_impl(x)), jax.random.key_data(x)
    array = np.asarray(x)
    about = {"dtype": array.dtype.name, "shape": list(array.shape), "key": key}
    if array.dtype.name not in _PLAIN:
        array = np.frombuffer(array.tobytes(), np.uint8)
    return np.ascontiguousarray(array), about


def loaded(array: np.ndarray, about: About) -> Any:
    dtype = jnp.dtype(about.dtype)
    if about.dtype not in _PLAIN:
        array = np.frombuffer(array.tobytes(), dtype)
    array = array.reshape(about.shape)
    return jax.random.wrap_key_data(array, impl=about.key) if about.key else array
