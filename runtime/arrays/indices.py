"""Indices of arrays in the forms that JAX takes."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from autograph.runtime.jaxapi.tracers import Array, content


def as_index(i: Any) -> Any:
    """An index as JAX takes it: a list, a `range` and what is known of an array of NumPy's as an `ndarray` of its own.

    JAX keeps an index by reference, so it is given a copy: the program may store into its array later.

    An empty list is one of integers, as in NumPy (https://numpy.org/doc/stable/user/basics.indexing.html).

    >>> as_index((range(2), [], slice(1)))
    (array([0, 1]), array([], dtype=int64), slice(None, 1, None))
    """
    if type(i) is tuple:
        return tuple(map(as_index, i))
    if type(i) is range:
        return np.arange(i.start, i.stop, i.step)
    if type(i) is list:
        parts = _known(i)
        return jnp.array(i) if parts is None else np.array(parts, None if parts else np.int64)
    return np.array(i) if type(i) is np.ndarray else content(i)


def _known(items: list[Any]) -> list[Any] | None:
    """A list of indices of which all are known; None of another."""
    found: list[Any] = []
    for x in items:
        part = _known(x) if type(x) is list else x.now if isinstance(x, Array) and isinstance(x.now, np.ndarray) else x
        if not isinstance(part, (list, int, np.integer, np.bool_, np.ndarray)):
            return None
        found.append(part)
    return found
