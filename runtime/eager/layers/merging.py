"""Layers that make one array of a list of them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from autograph.runtime.eager.layers.layer import Layer
from autograph.runtime.errors.errors import LayerError
from autograph.runtime.errors.source_spans import here


class _Merging(Layer):
    def call(self, inputs: Any) -> Any:
        if not isinstance(inputs, (list, tuple)) or not inputs:
            raise LayerError(f"`{self.name}` takes a list of arrays, and is given a `{type(inputs).__name__}`", here(), "give `[a, b]`")
        if not self._fit([x.shape for x in inputs]):
            raise LayerError(f"`{self.name}` is given shapes {', '.join(str(x.shape) for x in inputs)}", here(), "give arrays that fit together")
        return self.merge(list(inputs))

    def _fit(self, shapes: list[tuple[int, ...]]) -> bool:
        """Of each axis, one size; or 1."""
        return len(set(map(len, shapes))) == 1 and all(len(set(of_axis) - {1}) < 2 for of_axis in zip(*shapes, strict=True))

    def merge(self, arrays: list[Any]) -> Any:
        """One array of them."""
        raise NotImplementedError


class _ByTwos(_Merging):
    operation: Callable[[Any, Any], Any]

    def merge(self, arrays: list[Any]) -> Any:
        return functools.reduce(type(self).operation, arrays)


class Add(_ByTwos):
    """The sum of a list of arrays, of one shape.

    Raises:
      LayerError: (AG708) it is no list, or their shapes do not fit together.

    >>> import jax.numpy as jnp, autograph as ag
    >>> ag.layers.Add()([jnp.ones((2, 3)), jnp.ones((2, 3))]).tolist()
    [[2.0, 2.0, 2.0], [2.0, 2.0, 2.0]]
    """

    operation = staticmethod(jnp.add)


class Multiply(_ByTwos):
    """The product of a list of arrays, of one shape."""

    operation = staticmethod(jnp.multiply)


class Maximum(_ByTwos):
    """The largest of a list of arrays, of one shape, number by number."""

    operation = staticmethod(jnp.maximum)


class Minimum(_ByTwos):
    """The smallest of a list of arrays, of one shape, number by number."""

    operation = staticmethod(jnp.minimum)


class Average(Add):
    """The mean of a list of arrays, of one shape."""

    def merge(self, arrays: list[Any]) -> Any:
        return super().merge(arrays) / len(arrays)


class Subtract(_Merging):
    """The difference of two arrays, of one shape."""

    def merge(self, arrays: list[Any]) -> Any:
        if len(arrays) != 2:
            raise LayerError(f"`{self.name}` is given {len(arrays)} arrays", here(), "give two")
        return arrays[0] - arrays[1]


class Concatenate(_Merging):
    """A list of arrays, one after the other.

    Args:
      axis: along which; of the others, all have one size.

    >>> import jax.numpy as jnp, autograph as ag
    >>> ag.layers.Concatenate()([jnp.ones((2, 3)), jnp.ones((2, 4))]).shape
    (2, 7)
    """

    def __init__(self, axis: int = -1, **options: Any) -> None:
        super().__init__(**options)
        self.axis = axis

    def _fit(self, shapes: list[tuple[int, ...]]) -> bool:
        rank = len(shapes[0])
        if any(len(s) != rank for s in shapes) or not -rank <= self.axis < rank:
            return False
        return all(s[k] == shapes[0][k] for s in shapes for k in range(rank) if k != self.axis % rank)

    def merge(self, arrays: list[Any]) -> Any:
        return jnp.concatenate(arrays, self.axis)
