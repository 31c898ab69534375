"""Arrays where no trace makes them objects: outside of all traces, and what libraries give.

The arguments of a call are objects for as long as it runs.  Of any other array a store binds the name that holds it anew, which is right only
where nothing else holds the array: how many do is counted, who they are is not asked.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph.runtime import _jax
from autograph.runtime.arrays.numpys import KINDS, numpys
from autograph.runtime.arrays.objects import OBJECTS, Array, as_object, taken
from autograph.runtime.arrays.stores import store, stored_at
from autograph.runtime.errors import AliasError, ArrayStoreError
from autograph.runtime.frames import in_block, watched
from autograph.runtime.places import here, variable_of
from autograph.runtime.raw_errors import mark_of
from autograph.runtime.values import traced


def as_objects(*args: Any) -> tuple[Any, ...] | None:
    """The arguments of a function in its plain form, arrays of JAX's as objects into which it may store; None where there are none, or its caller knows them."""
    if not any(map(_has_array, args)) or mark_of(sys._getframe(2).f_code) == "Form":  # for other callers arrays are values
        return None
    return tuple(map(_object, args))


def evaluated(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The staged form of a function, for calls outside of every trace: what operations give are objects in it, as in a trace."""

    @functools.wraps(fn)
    def run(*args: Any, **kwargs: Any) -> Any:
        if _jax.trace_state.value is not _jax.eval_trace:
            return fn(*args, **kwargs)
        with _jax.set_current_trace(OBJECTS):
            return taken(fn(*map(_object, args), **{k: _object(v) for k, v in kwargs.items()}))

    return run


def _has_array(x: Any) -> bool:
    return type(x) is _jax.ArrayImpl and x.ndim > 0 or type(x) is tuple and any(map(_has_array, x))


def _object(x: Any) -> Any:
    if type(x) is tuple:
        return tuple(map(_object, x))
    return as_object(x) if type(x) is _jax.ArrayImpl and x.ndim else x


def stored_outside(x: Any, i: Any, value: Any, shared: bool) -> Any:
    """`x[i] = value` of an array that is no object: what the name, or place, that holds it is bound to afterwards; `shared`: others hold it.

    Raises:
      AliasError: (AG407) others hold the array.
      ArrayStoreError: (AG403) a view of a NumPy array, in a trace.
    """
    if isinstance(x, np.ndarray) and not (watched() and (in_block() or traced(value) or traced(i)) and x.dtype.kind in KINDS):
        x[i] = value
        return x
    if isinstance(x, np.ndarray) and x.base is not None:
        raise ArrayStoreError(
            "a traced value is stored into a view of a NumPy array that this function did not make, which the array would not show", here(),
            "store into the array itself: `a[i, j] = v` instead of `row = a[i]; row[j] = v`, or into a copy",
        )  # fmt: skip
    if shared:
        name = variable_of(x)
        raise AliasError(
            f"{f'`{name}`' if name else 'an array'} is stored into, and others hold the same array, which {'is' if watched() else 'JAX'} "
            f"{'none of this function' if watched() else 'does not change'}: they would keep what it was", here(),
            "give it a copy (`b = a.copy()`), or make it an argument" if watched() else "decorate the function with `@ag.function`, or store into a copy (`b = a.copy()`)",
        )  # fmt: skip
    if not watched():
        return stored_at(x, i, value)
    new = numpys(x.copy()) if isinstance(x, np.ndarray) else as_object(x)
    if not isinstance(new, Array):
        return stored_at(jnp.asarray(x), i, value)
    store(new, i, value)
    return new


def is_held_elsewhere(x: Any) -> bool:
    """Whether something holds an array beside a variable or place, a variable of ours, and the question itself."""
    alone, more = _counts()
    refused = _is_refused(x)  # first: the frame keeps what it is asked for
    return sys.getrefcount(x) > alone + (more if refused else 0)


def _is_refused(x: Any) -> bool:
    """Whether the error that is handled is JAX's, which has refused to store into an array, as the plain form tries."""
    error = sys.exception()
    tb = error.__traceback__.tb_next if type(error) is TypeError and error.__traceback__ is not None else None
    return tb is not None and tb.tb_next is None and tb.tb_frame.f_locals.get("self") is x


@functools.cache
def _counts() -> tuple[int, int]:
    """How many references there are to an array that nothing else holds; and how many more in the error of JAX that refuses to store into it."""

    def asked(x: Any) -> int:
        return sys.getrefcount(x)

    def stored(x: Any) -> int:
        return asked(x)

    with jax.ensure_compile_time_eval():
        x = jnp.zeros(1)
    alone = stored(x)
    try:
        x[0] = 0
    except TypeError:
        refused = _is_refused(x)
        return alone, stored(x) - alone if refused else 0
    return alone, 0
