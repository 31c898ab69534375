"""`ag.TensorSpec`, and functions that take what such specs say: `ag.function(input_signature=[...])`.

The names are those of `tf.function` (https://www.tensorflow.org/api_docs/python/tf/function).  A size that is None stands for any; each size that
comes is compiled for, as `jax.jit` does.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from autograph.runtime.arrays.variable_ref import value_of
from autograph.runtime.jaxapi import trees


class TensorSpec:
    """The shape and dtype of an argument; None in the place of a size, or of the shape, stands for any.

    >>> import autograph as ag
    >>> ag.TensorSpec([None, 3], float)
    TensorSpec(shape=(None, 3), dtype=float32)
    """

    def __init__(self, shape: Sequence[int | None] | None = None, dtype: Any = jnp.float32, name: str | None = None) -> None:
        self.shape = None if shape is None else tuple(shape)
        self.dtype = jax.dtypes.canonicalize_dtype(dtype)
        self.name = name

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype.name}{f', name={self.name!r}' if self.name else ''})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorSpec) and (self.shape, self.dtype) == (other.shape, other.dtype)

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))

    @classmethod
    def from_tensor(cls, x: Any) -> TensorSpec:
        """That of an array."""
        return cls(jnp.shape(x), jnp.result_type(x))

    def takes(self, x: Any, name: str) -> Any:
        """An argument as an array of this type.

        Raises:
          TypeError: it has another shape, or a dtype that this one does not hold.
        """
        given = value_of(x)
        array = given if isinstance(given, (jax.Array, jax.ShapeDtypeStruct)) else jnp.asarray(given)
        if self.shape is not None and (
            len(array.shape) != len(self.shape) or any(n is not None and n != m for n, m in zip(self.shape, array.shape, strict=True))
        ):
            raise TypeError(f"`{name}` has shape {array.shape}, and the input signature says {self}")
        if array.dtype != self.dtype:
            kinds = ["biufc".find(d.kind.replace("u", "i")) for d in (array.dtype, self.dtype)]
            weak = getattr(array, "weak_type", False) and -1 not in kinds and kinds[0] <= kinds[1]
            if not weak and jnp.promote_types(array.dtype, self.dtype) != self.dtype:
                raise TypeError(f"`{name}` is {array.dtype}, and the input signature says {self}: convert it (`x.astype({self.dtype.name!r})`)")
            array = jax.ShapeDtypeStruct(array.shape, self.dtype) if isinstance(array, jax.ShapeDtypeStruct) else array.astype(self.dtype)
        return array


def as_abstract(x: Any) -> Any:
    """What `lower` is given for an argument that is a spec; anything else as it is.

    Raises:
      TypeError: a size is not known.
    """

    def one(x: Any) -> Any:
        if not isinstance(x, TensorSpec):
            return x
        if x.shape is None or None in x.shape:
            raise TypeError(f"{x} has a size that is not known, and a program is compiled for known ones: give it, or call the function")
        return jax.ShapeDtypeStruct(x.shape, x.dtype)

    return trees.map(one, x, is_leaf=lambda x: isinstance(x, TensorSpec))


class Signed:
    """A compiled function whose arguments are brought to the types of its input signature."""

    def __init__(self, function: Any, signature: Sequence[Any], bound: tuple[Any, ...] = ()) -> None:
        functools.update_wrapper(self, function)
        self._function, self.input_signature, self._bound = function, tuple(signature), bound

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*self._bound, *self._taken(args, kwargs))

    def _taken(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        names = list(inspect.signature(self._function).parameters)[len(self._bound) :]
        try:
            given = inspect.signature(self._function).bind(*self._bound, *args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{error}; the input signature has {len(self.input_signature)} arguments") from None
        values = [given[name] for name in names if name in given]
        if len(values) != len(self.input_signature):
            raise TypeError(f"{len(values)} arguments are given, and the input signature has {len(self.input_signature)}")

        def take(spec: Any, value: Any, name: str) -> Any:
            return spec.takes(value, name) if isinstance(spec, TensorSpec) else trees.map(lambda s, v: s.takes(v, name), spec, value)

        return [take(spec, value, name) for spec, value, name in zip(self.input_signature, values, names, strict=False)]

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> Any:
        """The compiled program for some arguments, or specs; for the input signature, if none are given."""
        given = args or self.input_signature
        return self._function.get_concrete_function(*self._bound, *self._taken(tuple(map(as_abstract, given)), kwargs))

    @property
    def function(self) -> Any:
        """Without the signature."""
        return self._function

    @property
    def bound_to(self) -> tuple[Any, ...]:
        """The object whose method it is, if it is one."""
        return self._bound

    def __get__(self, obj: Any, owner: type | None = None) -> Signed:
        return self if obj is None else Signed(self._function, self.input_signature, (obj,))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._function, name)
