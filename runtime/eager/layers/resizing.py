"""Layers that make images and sequences larger or smaller, with another shape or order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from autograph.runtime.eager.layers.layer import Layer
from autograph.runtime.eager.layers.windows import check_rank, sizes
from autograph.runtime.errors.errors import LayerError
from autograph.runtime.errors.source_spans import here


class UpSampling2D(Layer):
    """Images of more pixels.

    Args:
      size: how many times as many rows and columns, or one number for both.
      interpolation: "nearest", so that each is repeated; or another of `jax.image.resize`, as "bilinear".

    >>> import jax.numpy as jnp, autograph as ag
    >>> ag.layers.UpSampling2D(2)(jnp.array([1.0, 2.0]).reshape(1, 1, 2, 1))[0, :, :, 0].tolist()
    [[1.0, 1.0, 2.0, 2.0], [1.0, 1.0, 2.0, 2.0]]
    """

    def __init__(self, size: Any = 2, interpolation: str = "nearest", **options: Any) -> None:
        super().__init__(**options)
        self.size, self.interpolation = sizes(size, 2), interpolation
        known = ("nearest", "bilinear", "bicubic", "lanczos3", "lanczos5")
        if interpolation not in known:
            raise LayerError(f"there is no interpolation {interpolation!r}", here(), f"write one of {', '.join(map(repr, known))}")

    def call(self, inputs: Any) -> Any:
        check_rank(self, inputs.shape, 2)
        n, height, width, channels = inputs.shape
        if self.interpolation == "nearest":
            return jnp.repeat(jnp.repeat(inputs, self.size[0], 1), self.size[1], 2)
        return jax.image.resize(inputs, (n, height * self.size[0], width * self.size[1], channels), self.interpolation, antialias=False)


class UpSampling1D(Layer):
    """Sequences in which each step is repeated.

    Args:
      size: how many times.
    """

    def __init__(self, size: int = 2, **options: Any) -> None:
        super().__init__(**options)
        self.size = size

    def call(self, inputs: Any) -> Any:
        check_rank(self, inputs.shape, 1)
        return jnp.repeat(inputs, self.size, 1)


class ZeroPadding2D(Layer):
    """Zeros around images.

    Args:
      padding: how many rows and columns: a number, (rows, columns), or ((above, below), (left, right)).

    >>> import jax.numpy as jnp, autograph as ag
    >>> ag.layers.ZeroPadding2D(((1, 0), (2, 2)))(jnp.zeros((1, 4, 4, 3))).shape
    (1, 5, 8, 3)
    """

    rank = 2

    def __init__(self, padding: Any = 1, **options: Any) -> None:
        super().__init__(**options)
        self.padding = _sides(padding, self.rank)

    def call(self, inputs: Any) -> Any:
        check_rank(self, inputs.shape, self.rank)
        return jnp.pad(inputs, ((0, 0), *self.padding, (0, 0)))


class ZeroPadding1D(ZeroPadding2D):
    """Zeros before and after sequences.

    Args:
      padding: how many steps: a number, or (before, after).
    """

    rank = 1


class Cropping2D(Layer):
    """Images without what is at their sides.

    Args:
      cropping: how many rows and columns: a number, (rows, columns), or ((above, below), (left, right)).
    """

    rank = 2

    def __init__(self, cropping: Any = 0, **options: Any) -> None:
        super().__init__(**options)
        self.cropping = _sides(cropping, self.rank)

    def call(self, inputs: Any) -> Any:
        check_rank(self, inputs.shape, self.rank)
        for axis, (before, after) in enumerate(self.cropping, 1):
            size = inputs.shape[axis]
            if before + after >= size:
                raise LayerError(f"`{self.name}` is given shape {inputs.shape}, and cuts {before + after} of axis {axis}", here(), "cut less")
            inputs = jax.lax.slice_in_dim(inputs, before, size - after, axis=axis)
        return inputs


class Cropping1D(Cropping2D):
    """Sequences without their first and last steps.

    Args:
      cropping: how many: a number, or (before, after).
    """

    rank = 1

    def __init__(self, cropping: Any = 1, **options: Any) -> None:
        super().__init__(cropping, **options)


class Permute(Layer):
    """The axes in another order.

    Args:
      dims: the axes from 1, without that of the batch.

    >>> import jax.numpy as jnp, autograph as ag
    >>> ag.layers.Permute((2, 1))(jnp.zeros((5, 10, 64))).shape
    (5, 64, 10)
    """

    def __init__(self, dims: Sequence[int], **options: Any) -> None:
        super().__init__(**options)
        self.dims = tuple(dims)
        if sorted(self.dims) != list(range(1, len(self.dims) + 1)):
            raise LayerError(f"`dims` is {dims!r}", here(), "give each axis once, from 1: `(2, 1)`")

    def call(self, inputs: Any) -> Any:
        if inputs.ndim != len(self.dims) + 1:
            raise LayerError(f"`{self.name}` orders {len(self.dims)} axes, and is given shape {inputs.shape}", here(), "give all axes but the batch")
        return jnp.transpose(inputs, (0, *self.dims))


class RepeatVector(Layer):
    """A sequence of n steps that are alike, of shape (batch, n, features).

    Args:
      n: how many.
    """

    def __init__(self, n: int, **options: Any) -> None:
        super().__init__(**options)
        self.n = n

    def call(self, inputs: Any) -> Any:
        if inputs.ndim != 2:
            raise LayerError(f"`{self.name}` is given shape {inputs.shape}, and takes (batch, features)", here(), "flatten it: `ag.layers.Flatten()`")
        return jnp.repeat(inputs[:, None], self.n, 1)


def _sides(given: Any, rank: int) -> tuple[tuple[int, int], ...]:
    """How much before and after, of each axis."""
    if isinstance(given, int):
        return ((given, given),) * rank
    if rank == 1:
        given = (given,)
    if not isinstance(given, (tuple, list)) or len(given) != rank:
        raise LayerError(f"the sides are {given!r}", here(), "give a number, or one for each axis, or (before, after) for each")
    return tuple((int(x), int(x)) if isinstance(x, int) else (int(x[0]), int(x[1])) for x in given)
