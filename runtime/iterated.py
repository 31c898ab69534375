"""Arrays that a loop runs over while stores make others of them: NumPy's iterators take each row as it is when its turn comes.

Where rows are taken one by one they are those of what the array has become; a compiled loop has taken all of them, and refuses the store.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import jax
import numpy as np

from autograph.runtime._jax import recording
from autograph.runtime.arrays.numpys import Numpys
from autograph.runtime.errors import AliasError, Place
from autograph.runtime.places import here
from autograph.runtime.replaced import loops, now
from autograph.runtime.shared import origin
from autograph.runtime.views import note_old_part, part


class Live:
    """The rows of an array that Python takes one by one, each as it is when its turn comes."""

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        self.array = array

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, k: int) -> Any:
        x = present_array(self.array)
        return part(x[range(len(self))[k]], x)


class _Chunked(Live):
    """The same where nothing is traced: JAX takes many rows at once, until there is a store."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        taken = 0
        for row in self.array:
            if present_array(self.array) is not self.array:
                break
            taken += 1
            yield row
        for k in range(taken, len(self)):
            yield self[k]


def live_rows(x: Any) -> Any:
    """Of an array its rows, each as it is when its turn comes; anything else itself.

    >>> import jax.numpy as jnp, autograph.runtime as ag
    >>> [int(row) for row in reversed(ag.live_rows(jnp.array([1, 2])))]
    [2, 1]
    """
    if isinstance(x, Numpys):
        return x
    if isinstance(x, jax.Array):
        return x if not x.ndim else Live(x) if recording() else _Chunked(x)
    return Live(x) if isinstance(x, (np.ndarray, np.flatiter)) and recording() and np.ndim(x) else x


def present_array(x: Any) -> Any:
    """What an array is now.

    Raises:
      AliasError: (AG407) that is not known.
    """
    if (new := now(x)) is None or any(now(b) is not b for b in _bases(x)):
        raise _refusal(here(), None)
    if new is x:
        note_old_part(x)
    return new


def _bases(x: Any) -> Iterator[Any]:
    """The arrays of NumPy's that one is a view of."""
    while isinstance(x, (np.ndarray, np.flatiter)) and x.base is not None:
        x = x.base
        yield x


class going_over:
    """While the body of a compiled loop is traced that runs over the rows of these arrays."""

    def __init__(self, arrays: Sequence[Any]) -> None:
        self.loop = (arrays, here()) if arrays else None

    def __enter__(self) -> None:
        if self.loop is not None:
            loops().append(self.loop)

    def __exit__(self, *error: object) -> None:
        if self.loop is not None:
            loops().pop()


def refuse_iterated(x: Any) -> None:
    """Called where an array is stored into.

    Raises:
      AliasError: (AG407) a compiled loop runs over its rows.
    """
    for arrays, place in loops():
        if any(origin(a) is origin(x) for a in arrays):
            raise _refusal(here(), place)


def _refusal(place: Place | None, loop: Place | None) -> AliasError:
    return AliasError(
        "an array is stored into while a loop runs over its rows, which would stay what they were when the loop began", place,
        "run over the array by its name (`for x in a`) or over its places (`for k in range(len(a))`), or over a copy (`a.copy()`)",
        [(loop, "the loop over it")] if loop is not None else [],
    )  # fmt: skip
