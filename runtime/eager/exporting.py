"""`ag.export`: the pure core of a function, to be saved and run without its source."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import jax
import jax.export

from autograph.runtime.calls.callees import call
from autograph.runtime.calls.function import Function, Method
from autograph.runtime.calls.input_signature import Signed, TensorSpec, as_abstract
from autograph.runtime.jaxapi import trees


def export(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A function for arguments of such shapes and types, as `jax.export.Exported`: `serialize()` gives bytes, `jax.export.deserialize` takes them.

    The Variables that it reads are constants of it, with the values that they have now.

    Args:
      f: an `ag.function`, a converted function, or one that JAX takes as it is.
      args, kwargs: arrays, `jax.ShapeDtypeStruct` or `ag.TensorSpec`; in the last a size of None stands for any size.

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
    sizes = (f"n{k}" for k in itertools.count())
    scope = jax.export.SymbolicScope()

    def typed(x: Any) -> Any:
        if not isinstance(x, TensorSpec) or x.shape is None or None not in x.shape:
            return as_abstract(x)
        shape = ", ".join(next(sizes) if n is None else str(n) for n in x.shape)
        return jax.ShapeDtypeStruct(jax.export.symbolic_shape(shape, scope=scope), x.dtype)

    args, kwargs = trees.map(typed, (args, kwargs), is_leaf=lambda x: isinstance(x, TensorSpec))
    return jax.export.export(jax.jit(_core(f)))(*args, **kwargs)


def _core(f: Any) -> Callable[..., Any]:
    """The function that is compiled, given the object that a method is bound to."""
    if isinstance(f, Signed):
        return functools.partial(_core(f.function), *f.bound_to)
    if isinstance(f, Method):
        return functools.partial(_core(f.__func__), f.__self__)
    return call(f.__wrapped__ if isinstance(f, Function) else f)  # type: ignore[no-any-return]
