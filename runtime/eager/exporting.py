"""`ag.export`: the pure core of a function, to be saved and run without its source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.export

from autograph.runtime.calls.calls import call


def export(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A function for arguments of such shapes and types, as `jax.export.Exported`: `serialize()` gives bytes, `jax.export.deserialize` takes them.

    The Variables that it reads are constants of it, with the values that they have now.

    Args:
      f: an `ag.function`, a converted function, or one that JAX takes as it is.
      args, kwargs: arrays, or `jax.ShapeDtypeStruct`s.

    Raises:
      VariableStateError: (AG702) it assigns a Variable.

    See https://docs.jax.dev/en/latest/export/export.html.

    >>> import jax, jax.numpy as jnp, autograph as ag
    >>> w = ag.Variable(3.0)
    >>> @ag.function
    ... def f(x):
    ...     return x * w if x > 0 else x
    >>> saved = ag.export(f, jnp.float32(0)).serialize()
    >>> _ = w.assign(0.0)
    >>> float(jax.export.deserialize(saved).call(jnp.float32(2)))
    6.0
    """
    return jax.export.export(jax.jit(call(getattr(f, "__wrapped__", f))))(*args, **kwargs)
