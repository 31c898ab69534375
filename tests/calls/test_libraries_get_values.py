"""Code that is not converted gets NumPy's constants as what they are: for hashes, buffers, files, and what asks for the type."""

from __future__ import annotations

import copy
import hashlib
import heapq
import io
import json
import os
import pickle
import statistics
import zlib
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag

G = np.array([1.0, 2.0], np.float32)


def hashed(x: Any) -> Any:
    return x * hashlib.sha1(G).digest()[0]  # noqa: S324


def a_buffer(x: Any) -> Any:
    return x * memoryview(np.arange(3.0)).nbytes + len(bytes(G))


def pickled(x: Any) -> Any:
    return x * len(pickle.dumps(G)) + len(pickle.dumps({"a": G, "b": [G]}))


def unpickled(x: Any) -> Any:
    return x * pickle.loads(pickle.dumps(G))  # noqa: S301


def copied(x: Any) -> Any:
    return x * copy.deepcopy(G)[0] + copy.copy([G])[0][1]


def a_heap_keeps_them(x: Any) -> Any:
    heap: list[Any] = []
    heapq.heappush(heap, (1, G))
    heapq.heappush(heap, (0, G + 1))
    return x * heapq.heappop(heap)[1]


def a_checksum(x: Any) -> Any:
    return x * (zlib.crc32(G) % 7) + hash(G.tobytes()) % 3


def mean_of_python(x: Any) -> Any:
    return x * statistics.mean(G) + len(json.dumps({"a": G.tolist()}))


def a_file(x: Any) -> Any:
    held = io.BytesIO()
    np.save(held, G)
    return x * len(held.getvalue())


def asked(x: Any) -> Any:
    return x * isinstance(G, np.ndarray) + (type(G) is np.ndarray)


PROGRAMS = [hashed, a_buffer, pickled, unpickled, copied, a_heap_keeps_them, a_checksum, mean_of_python, a_file, asked]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("compiled", [ag.function, lambda f: jax.jit(ag.convert(f))], ids=["function", "jit"])
def test_constants_are_arrays_of_numpys(f: Any, compiled: Any) -> None:
    x = jnp.float32(3)
    assert np.allclose(compiled(f)(x), f(x))


FILLING = """
def fill(a, k):
    a[k] = a[k] + 1.0
    return a.sum()
"""


@pytest.mark.parametrize("compiled", [ag.function, lambda f: jax.jit(ag.convert(f))], ids=["function", "jit"])
def test_a_library_that_stores_into_them(compiled: Any) -> None:
    """It gets an object that tells of the store: an array that a compiled loop changes is state of the loop."""
    space: dict[str, Any] = {}
    exec(compile(FILLING, f"{os.path.dirname(jax.__path__[0])}/filling.py", "exec"), space)  # noqa: S102
    fill = space["fill"]

    def f(x: Any) -> Any:
        a, total = np.zeros(3), 0.0
        while x > 0:
            total = total + fill(a, 1)
            x = x - 1
        return total, a[1]

    assert np.allclose(compiled(f)(jnp.float32(3)), f(3.0))
