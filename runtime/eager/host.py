"""`ag.py_func`: an eager Python function, called on the host by a compiled program."""

from __future__ import annotations

import contextlib
import functools
import io
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph.runtime.arrays.variable_ref import value_of
from autograph.runtime.errors.errors import AutographError, ConcreteValueError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.host.effect_order import ordering
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.state.locking import by_the_program
from autograph.runtime.state.tape_operations import is_inexact


def py_func(f: Callable[..., Any] | None = None, inp: Sequence[Any] | None = None, Tout: Any = None, shape: Any = None, stateful: bool = True) -> Any:
    """`f(*inp)`, run by Python: at once where operations are eager, and in a compiled program whenever it comes there, in the order of such calls.

    Also a decorator, `@ag.py_func(Tout=...)`, of functions that are called so.

    It may print, look at the values, and call NumPy, JAX and converted functions.  It is differentiated on the host, by `jax.vjp` of `f`.

    Args:
      f: a function of arrays that gives an array, or a tuple or list of them.
      inp: its arguments.
      Tout: the dtype of the result; a list of dtypes where there are several.
      shape: of the result, a list where there are several; by default what `f` gives for abstract values: it is run for them while it is traced.
      stateful: whether it has effects; if not, a call whose result is not used is left out, and `jax.vmap` may be used.

    Raises:
      ConcreteValueError: (AG502) `f` looks at the values, and no shape is given.

    As `tf.py_function` (https://www.tensorflow.org/api_docs/python/tf/py_function), by `jax.pure_callback` and `io_callback`.

    >>> import jax.numpy as jnp, autograph as ag
    >>> @ag.function
    ... def squared(x):
    ...     return ag.py_func(lambda x: jnp.matmul(x, x), [x], jnp.float32)
    >>> print(squared(jnp.array([[2.0]])))
    [[4.]]
    """
    if f is None:
        return functools.partial(py_func, Tout=Tout, shape=shape, stateful=stateful)
    if inp is None:
        return functools.wraps(f)(lambda *args: py_func(f, args, Tout, shape, stateful))
    given = [value_of(x) for x in inp]
    several = isinstance(Tout, (list, tuple))
    dtypes = list(Tout) if several else [Tout]
    if not _jax.recording():
        return _as(f(*given), dtypes, several)
    arrays = [jnp.asarray(x) for x in given]
    shapes = (list(shape) if several else [shape]) if shape is not None else _shapes(f, arrays, len(dtypes))
    types = [jax.ShapeDtypeStruct(tuple(s), jax.dtypes.canonicalize_dtype(d)) for s, d in zip(shapes, dtypes, strict=True)]
    out = _staged(f, arrays, types, stateful)
    return list(out) if several else out[0]


def _staged(f: Callable[..., Any], arrays: Sequence[Any], types: Sequence[Any], stateful: bool) -> Any:
    def ask(run: Callable[..., Any], given: Sequence[Any], wanted: Any) -> Any:
        if stateful:
            return jax.experimental.io_callback(run, wanted, *given, ordered=ordering.ordered)
        return jax.pure_callback(run, wanted, *given, vmap_method="sequential")

    def on_host(*given: Any) -> Any:
        with by_the_program():
            return _checked(f(*map(jnp.asarray, given)), types)

    def forwards(*given: Any) -> Any:
        return ask(on_host, given, tuple(types))

    def backwards(given: Sequence[Any], cotangents: Any) -> Any:
        by = [k for k, x in enumerate(given) if is_inexact(x)]

        def pulled(*both: Any) -> Any:
            xs, gs = [jnp.asarray(x) for x in both[: len(given)]], both[len(given) :]

            def of(*values: Any) -> Any:
                new = list(xs)
                for k, value in zip(by, values, strict=True):
                    new[k] = value
                out = f(*new)
                return tuple(jnp.asarray(y) for y in (out if isinstance(out, (tuple, list)) else [out]))

            with by_the_program(), contextlib.redirect_stdout(io.StringIO()):
                pullback = jax.vjp(of, *[xs[k] for k in by])[1]
            return tuple(np.asarray(g) for g in pullback(tuple(jnp.asarray(g, t.dtype) for g, t in zip(gs, types, strict=True))))

        found = ask(pulled, [*given, *cotangents], tuple(jax.ShapeDtypeStruct(given[k].shape, given[k].dtype) for k in by))
        at = dict(zip(by, found, strict=True))
        return tuple(at[k] if k in at else np.zeros(x.shape, jax.dtypes.float0) for k, x in enumerate(given))

    call = jax.custom_vjp(forwards)
    call.defvjp(lambda *given: (call(*given), given), backwards)
    return call(*arrays)


def _shapes(f: Callable[..., Any], arrays: Sequence[Any], count: int) -> list[tuple[int, ...]]:
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # what it prints of abstract values is nobody's
            out = jax.eval_shape(f, *arrays)
    except (jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError, AutographError):  # the last of code that is converted
        name = getattr(f, "__name__", str(f))
        raise ConcreteValueError(
            f"`{name}` looks at the values, so that the shape of its result is not known before it runs",
            here(),
            "give it: `py_func(f, [x], dtype, shape=())`",
        ) from None
    found = list(out) if isinstance(out, (tuple, list)) else [out]
    assert len(found) == count, f"{len(found)} results, and {count} dtypes"
    return [x.shape for x in found]


def _as(out: Any, dtypes: Sequence[Any], several: bool) -> Any:
    found = [jnp.asarray(value_of(x), d) for x, d in zip(out if several else [out], dtypes, strict=True)]
    return found if several else found[0]


def _checked(out: Any, types: Sequence[Any]) -> tuple[Any, ...]:
    found = out if isinstance(out, (tuple, list)) else [out]
    return tuple(np.asarray(value_of(x), t.dtype) for x, t in zip(found, types, strict=True))
