"""Stores into arrays: the object holds another value from then on, and the blocks around know that it has changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import lax

from autograph.runtime.arrays.objects import Array, content
from autograph.runtime.arrays.ties import others, same
from autograph.runtime.deferred import fine
from autograph.runtime.errors import AliasError
from autograph.runtime.heap import HeapLocation
from autograph.runtime.lifted import may_have_failed, touch
from autograph.runtime.places import variable_of


class Value(HeapLocation):
    """What an array holds."""

    error = AliasError

    def __init__(self, x: Array) -> None:
        self.obj, self.key = x, (id(x), "now")

    @property
    def name(self) -> str:  # type: ignore[override]
        found = variable_of(self.obj)
        return f"`{found}`" if found else "an array"

    def get(self) -> Any:
        return self.obj.now

    def put(self, value: Any) -> None:
        self.obj.now = content(value)

    def is_made_in(self, trace: Any) -> bool:
        return self.obj.home is trace


def change(x: Array, update: Callable[[Any, Any], Any]) -> None:
    """Let an array hold what `update` makes of its value, and so each other that may be it.

    The second argument of `update` says whether it is made: None where it surely is.
    """
    tied = [(y, same(x, y)) for y in others(x)]
    _put(x, update(x.now, _unless_failed(x, None)))
    for y, p in tied:
        _put(y, update(y.now, _unless_failed(y, p)))


def _unless_failed(x: Array, p: Any) -> Any:
    if not (x.lasts and may_have_failed()):
        return p
    return fine() if p is None else lax.bitwise_and(p, fine())


def _put(x: Array, new: Any) -> None:
    place = Value(x)
    touch(place, late=False)
    place.put(new)


def select(p: Any, new: Any, old: Any) -> Any:
    """What is stored where `p` says whether it is: None where it surely is."""
    if p is None:
        return new
    new, old = jnp.asarray(new), jnp.asarray(old)
    return jnp.where(p, new.astype(old.dtype), old)
