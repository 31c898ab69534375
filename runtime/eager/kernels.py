"""Functions of arrays that are one compiled program where they are called eagerly, as TensorFlow's kernels are.

JAX compiles each operation of eager code by itself, for each shape: a layer of three operations would compile three programs, and six more in a tape.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import jax

from autograph.runtime.jaxapi import traces as _jax


def kernel(f: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function be one program eagerly; in a trace its operations are recorded as they are written.

    Keyword-only arguments are static: hashable, and another one is another program.

    >>> import jax.numpy as jnp
    >>> @kernel
    ... def scaled(x, *, by):
    ...     return jnp.exp(x) * by + 1
    >>> print(scaled(jnp.zeros(2), by=2))
    [3. 3.]
    """
    static = [name for name, p in inspect.signature(f).parameters.items() if p.kind is p.KEYWORD_ONLY]
    compiled = jax.jit(f, static_argnames=static)

    @functools.wraps(f)
    def call(*args: Any, **options: Any) -> Any:
        return (f if _jax.staging() else compiled)(*args, **options)

    return call
