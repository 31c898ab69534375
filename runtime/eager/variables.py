"""`ag.Variable`: a value that changes, with the meaning it has in TensorFlow.

Outside of traces it holds an array.  Inside it is state like an attribute of any object: an input and an output of the compiled function, of a loop
and of a branch, exact in the order of the program.
"""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from autograph.runtime.arrays.variable_ref import VariableRef, taken_by_jax, value_of
from autograph.runtime.branches.state_writes import noticed
from autograph.runtime.eager.values import fresh
from autograph.runtime.errors.errors import VariableError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi.tracers import Array, content
from autograph.runtime.jaxapi.traces import Tracer
from autograph.runtime.state.locking import CHANGING
from autograph.runtime.state.variable_reads import Held, creating, note_read, would_keep
from autograph.runtime.tracing.trace_context import watched
from autograph.runtime.values.values import NUMBERS, traced


@taken_by_jax
class Variable(VariableRef):
    """An array that can be assigned.  Operators, indexing, `jnp`, `lax`, `np` and `jit` take it as the array that it holds now.

    Args:
      initial_value: an array, a number, nested lists of them, or a function without arguments that gives one: inside of `ag.function` it has to be
        a function, which is called once and on concrete values.
      trainable: whether optimizers and `watched_variables` of a model count it among what is trained.
      name: shown in errors, and by `repr`.
      dtype: of the array; by default that of the initial value.

    Raises:
      VariableError: (AG701) the initial value is no array.

    The semantics are those of `tf.Variable` (https://www.tensorflow.org/api_docs/python/tf/Variable).

    >>> import autograph as ag
    >>> v = ag.Variable(5)
    >>> @ag.function
    ... def find_next_odd():
    ...     v.assign(v + 1)
    ...     if v % 2 == 0:
    ...         v.assign(v + 1)
    >>> find_next_odd()
    >>> v
    <ag.Variable shape=() dtype=int32, value=7>
    """

    __slots__ = ("_array", "_taken_by_user", "name", "trainable")

    _array: Any
    _taken_by_user: int  # the identity of what it held when its value was taken last: a tape knows Variables by their arrays
    name: str | None
    trainable: bool

    def __new__(cls, initial_value: Any = None, *args: Any, **options: Any) -> Variable:
        if (call := creating()) is None:
            return super().__new__(cls)
        frame = sys._getframe(1)
        if (found := call.next((frame.f_code, frame.f_lasti))) is None:
            call.add(found := super().__new__(cls))
        return found  # type: ignore[no-any-return]

    def __init__(self, initial_value: Any, trainable: bool = True, name: str | None = None, dtype: Any = None) -> None:
        known = hasattr(self, "_array")  # an earlier trace of this call has made it
        if known and callable(initial_value) and not isinstance(initial_value, VariableRef):
            return
        self.name, self.trainable, self._taken_by_user = name, trainable, 0
        first = _first(initial_value, dtype, name)
        if not (traced(first) and watched()):
            self._array = first
            return
        if not known:
            self._array = _before(first)
        self._put(first)

    @property
    def value(self) -> Any:
        """The array that it holds now."""
        note_read(self)
        self._taken_by_user = id(content(self._array))
        return self._array

    def _type(self) -> Any:
        return self._array

    def read_value(self) -> Any:
        """The array that it holds now."""
        return self.value

    def numpy(self) -> Any:
        """The array that it holds now, as NumPy's."""
        return self.__array__(copy=True)

    def assign(self, value: Any) -> Variable:
        """Let it hold another value of the same shape, as its own dtype.

        Raises:
          VariableError: (AG701) the shape is another, or the dtype one that its own does not hold (a fraction in an integer).
          VariableStateError: (AG702) a function under a transformation of JAX's own assigns a traced value.
        """
        self._put(self._converted(value))
        return self

    def assign_add(self, value: Any) -> Variable:
        """`v.assign(v + value)`; no change of another thread comes between."""
        return self._changed(lambda held: held + jnp.asarray(value_of(value)))

    def assign_sub(self, value: Any) -> Variable:
        """`v.assign(v - value)`; no change of another thread comes between."""
        return self._changed(lambda held: held - jnp.asarray(value_of(value)))

    def __setitem__(self, index: Any, value: Any) -> None:
        """`v.assign(v.value.at[index].set(value))`."""
        self._changed(lambda held: held.at[value_of(index)].set(value_of(value)))

    def _operated(self, operate: Callable[[Any, Any], Any], value: Any) -> Variable:
        """`v += value` (or another operator): it stays the Variable, and is assigned."""
        return self._changed(lambda held: operate(held, jnp.asarray(value_of(value))))

    __iadd__ = functools.partialmethod(_operated, operator.add)
    __isub__ = functools.partialmethod(_operated, operator.sub)
    __imul__ = functools.partialmethod(_operated, operator.mul)
    __itruediv__ = functools.partialmethod(_operated, operator.truediv)
    __ifloordiv__ = functools.partialmethod(_operated, operator.floordiv)
    __imod__ = functools.partialmethod(_operated, operator.mod)
    __ipow__ = functools.partialmethod(_operated, operator.pow)
    __imatmul__ = functools.partialmethod(_operated, operator.matmul)

    def _changed(self, change: Callable[[Any], Any]) -> Variable:
        with CHANGING:
            return self.assign(change(self.value))

    def _converted(self, value: Any) -> Any:
        """A value as an array of the Variable's own type, which is no other's."""
        held, given = self._array, value_of(value)
        array = _as_array(given, None, self._named())
        if array.shape != held.shape:
            raise VariableError(f"{self._named()} has shape {held.shape}, and is assigned shape {array.shape}", here(), "assign a value of its shape")
        if array.dtype != held.dtype and not (_is_weak(array) and _kind(array.dtype) <= _kind(held.dtype)):
            if jnp.promote_types(array.dtype, held.dtype) != held.dtype:
                raise VariableError(
                    f"{self._named()} has dtype {held.dtype}, and is assigned {array.dtype}", here(),
                    f"convert the value (`.astype({held.dtype.name!r})`), or make the Variable with `dtype={array.dtype.name!r}`",
                )  # fmt: skip
        if array.dtype != held.dtype or _is_weak(array):
            array = lax.convert_element_type(array, held.dtype)
        if not isinstance(held, Tracer) and not isinstance(array, Tracer) and array.sharding != held.sharding and len(held.sharding.device_set) > 1:
            array = jax.device_put(array, held.sharding)
        return fresh(array) if array is given else array

    def _put(self, array: Any) -> None:
        if watched():
            place = Held(self)
            self._array = noticed(place, array)
        elif isinstance(array, Tracer):
            raise would_keep(self._named(), here())
        else:
            self._array = array

    def _restore(self, value: Any) -> None:
        """Hold what a checkpoint says, as if it had been the initial value."""
        with jax.ensure_compile_time_eval():
            self._array = fresh(jnp.asarray(value) if isinstance(self._array, Tracer) else jax.device_put(value, self._array.sharding))

    def _named(self) -> str:
        return Held(self).name

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        return f"<ag.Variable{name} shape={self.shape} dtype={self.dtype}, value={self._array}>"

    def __deepcopy__(self, memo: Any) -> Variable:
        made = memo[id(self)] = Variable(self.value, self.trainable, self.name)
        return made


def _first(value: Any, dtype: Any, name: str | None) -> Any:
    """The array that a new Variable holds."""
    if callable(value) and not isinstance(value, VariableRef):
        with jax.ensure_compile_time_eval():
            return _first(value(), dtype, name)
    given = value_of(value)
    with jax.ensure_compile_time_eval() if isinstance(given, (*NUMBERS, np.ndarray)) else nullcontext():  # it is known, in a trace too
        array = _as_array(given, dtype, f"the Variable `{name}`" if name else "a Variable")
        if _is_weak(array):
            array = lax.convert_element_type(array, array.dtype)
    if isinstance(array, Array) and not isinstance(array.now, Tracer):
        array = content(array)
    return fresh(array) if array is given else array


def _before(array: Any) -> Any:
    """What a Variable holds before it is given its first value, which only the program computes: nobody reads it."""
    with jax.ensure_compile_time_eval():
        if jnp.issubdtype(array.dtype, jax.dtypes.prng_key):
            data = jax.eval_shape(jax.random.key_data, jax.ShapeDtypeStruct(array.shape, array.dtype))
            return content(jax.random.wrap_key_data(jnp.zeros(data.shape, data.dtype), impl=jax.random.key_impl(array)))
        return content(jnp.zeros(array.shape, array.dtype))


def _as_array(value: Any, dtype: Any, name: str) -> Any:
    try:
        return jnp.asarray(value, dtype)
    except (TypeError, ValueError) as error:
        why = str(error).splitlines()[0]
        raise VariableError(f"{name} is given a `{type(value).__name__}`: {why}", here(), "give it an array or a number") from None


def _is_weak(array: Any) -> bool:
    return getattr(array, "weak_type", False)  # a random key has no such thing


def _kind(dtype: Any) -> int:
    """Python's numbers are taken as any dtype of their kind or a later one."""
    return "biufc".replace("u", "i").find(dtype.kind) if dtype.kind in "biufc" else 3
