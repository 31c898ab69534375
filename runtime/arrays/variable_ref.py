"""An object that JAX and NumPy take as the array that it holds now: what holds the object sees each change, and JAX keeps only the arrays.

JAX asks an operand of a class that it does not know for the array that stands for it; no operation of JAX ever holds the object itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi.tracers import Array, content

OPERATORS = (
    "add sub mul truediv floordiv mod pow matmul divmod and or xor lshift rshift radd rsub rmul rtruediv rfloordiv rmod rpow rmatmul rdivmod rand "
    "ror rxor rlshift rrshift neg pos abs invert lt le gt ge eq ne"
).split()


used = False  # is there a class of them?


class _Building(threading.local):
    def __init__(self) -> None:
        self.makers: list[Callable[[Any], Any]] = []


building = _Building()  # while this thread builds a graph: what makes a node that reads a Variable when it is run; the innermost last


class VariableRef:
    """What all such objects share; `value` is the array."""

    __slots__ = ("__weakref__",)
    __hash__ = object.__hash__

    @property
    def value(self) -> Any:
        """The array that it holds now."""
        raise NotImplementedError

    def _type(self) -> Any:
        """The array, where only its type is looked at."""
        return self.value

    def __jax_array__(self) -> Any:
        return _now(self)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Functions of NumPy, and its operators (`numpy_array * handle`), are JAX's: a tape sees them."""
        values = [*map(value_of, inputs)]
        if method == "__call__" and not kwargs and (function := getattr(jnp, ufunc.__name__, None)) is not None:
            return function(*values)
        return getattr(ufunc, method)(*(np.asarray(x) if isinstance(x, jax.Array) else x for x in values), **kwargs)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.value, dtype) if copy else np.asarray(self.value, dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        return self._type().shape  # type: ignore[no-any-return]

    @property
    def dtype(self) -> Any:
        return self._type().dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return self._type().size  # type: ignore[no-any-return]

    @property
    def aval(self) -> Any:
        return jax.typeof(self._type())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or hasattr(type(self), name):  # of a property that has failed, the error is its own
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(_read(self), name)

    def __getitem__(self, index: Any) -> Any:
        return _read(self)[_values(index)]

    def __len__(self) -> int:
        return len(self._type())

    def __iter__(self) -> Iterator[Any]:
        return iter(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __complex__(self) -> complex:
        return complex(self.value)

    def __index__(self) -> int:
        return self.value.__index__()  # type: ignore[no-any-return]

    def __round__(self, digits: int | None = None) -> Any:
        return round(self.value) if digits is None else round(self.value, digits)

    def __str__(self) -> str:
        return str(self.value)

    def __format__(self, spec: str) -> str:
        return format(self.value, spec)


class Deferred:
    """A computation that waits for its inputs: `deferred` gives one that waits for this one."""

    __slots__ = ()

    def deferred(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def gradients(self, variables: Any) -> Any:
        """Pairs of what waits for a gradient, and its Variable."""
        raise NotImplementedError


def value_of(x: Any) -> Any:
    """The array that a Variable holds; anything else as it is."""
    return x.value if type(x) is not Array and isinstance(x, VARIABLES) else x


VARIABLES: tuple[type[Any], ...] = (VariableRef,)  # the classes of what tapes watch when it is read


def also_variables(cls: type) -> None:
    """Take the objects of a library's class, which have `value` and `trainable`, as Variables."""
    global VARIABLES
    VARIABLES += (cls,)


def is_variable(x: Any) -> bool:
    return isinstance(x, VARIABLES)


def values_in(x: Any) -> Any:
    """The same in a tuple, list or dict; containers without handles stay the objects that they are."""
    if not used or type(x) not in (list, tuple, dict):
        return value_of(x)
    held = list(x.values()) if type(x) is dict else x
    found = [*map(values_in, held)]
    if all(a is b for a, b in zip(found, held, strict=True)):
        return x
    return dict(zip(x, found, strict=True)) if type(x) is dict else type(x)(found)


def _values(x: Any) -> Any:
    return tuple(map(value_of, x)) if type(x) is tuple else value_of(x)


def _read(x: VariableRef) -> Any:
    """The array that it holds now; while a graph is built, a node for what it holds when that is run."""
    return building.makers[-1](x) if builds() else x.value


def builds() -> bool:
    """Whether this thread builds a graph now: what a function makes of traced values is no part of one."""
    return bool(building.makers) and not _jax.staging()


def _now(x: VariableRef) -> Any:
    """The array that it holds now, for a function of JAX's."""
    return jnp.asarray(_read(x)) if builds() else x.value


def _operand(x: Any) -> Any:
    """What an operator of a Variable is given: lists of numbers are arrays, as in TensorFlow."""
    return jnp.asarray(values_in(x)) if type(x) in (list, tuple) else value_of(x)


def _operator(name: str) -> Callable[..., Any]:
    waits = name not in ("__eq__", "__ne__")  # which no node has

    def operate(self: VariableRef, *others: Any) -> Any:
        if others and isinstance(others[0], Deferred):
            return NotImplemented
        return getattr(_read(self) if waits else self.value, name)(*map(_operand, others))

    operate.__name__ = operate.__qualname__ = name
    return operate


for _name in OPERATORS:
    setattr(VariableRef, f"__{_name}__", _operator(f"__{_name}__"))


def taken_by_jax(cls: type[VariableRef]) -> type[VariableRef]:
    """Let JAX take objects of a class as the arrays that they hold."""
    global used
    used = True
    _jax.takes_as_array(cls, lambda x: content(_now(x)), lambda x: x._type())
    return cls
