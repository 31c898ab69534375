"""What is printed of values that JAX does not know as trees: a deque, a Counter or a set with traced values in it, and what may be None.

They cross to the host as trees, and are there what Python would show.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax import lax

from autograph.runtime.values.values import NONE, UNSET, Maybe, traced


class _Float(float):
    """A number of an array, shown with the digits that its type has."""

    def __new__(cls, x: Any) -> _Float:
        made = super().__new__(cls, x)
        made._text = str(x)
        return made

    _text: str

    def __repr__(self) -> str:
        return self._text


def plain_number(x: Any) -> Any:
    """A number of Python's in the place of an array without axes, once its value is known: in a callback, JAX computes nothing."""
    if isinstance(x, (np.ndarray, np.generic, jax.Array)) and np.ndim(x) == 0:
        value = np.asarray(x)
        return _Float(value[()]) if value.dtype.kind == "f" else value.item()
    return x


class _Shown:
    """A value whose parts are arrays: it shows what `build` makes of them."""

    def __init__(self, build: Callable[..., Any], parts: Any) -> None:
        self.build, self.parts = build, parts

    def shown(self) -> Any:
        """What it is on the host."""
        return self.build(*map(plain_number, self.parts))

    def __repr__(self) -> str:
        return repr(self.shown())

    def __str__(self) -> str:
        return str(self.shown())

    def __format__(self, spec: str) -> str:
        return format(self.shown(), spec)


jax.tree_util.register_pytree_node(_Shown, lambda s: (s.parts, s.build), lambda build, parts: _Shown(build, parts))


def _either(none: Any, value: Any) -> Any:
    return None if none else value


def _deque(most: int | None) -> Callable[..., Any]:
    return lambda *items: collections.deque(items, most)


def _dict(cls: type, keys: tuple[Any, ...]) -> Callable[..., Any]:
    return lambda *values: cls(dict(zip(keys, values, strict=True)))


def printable(x: Any) -> Any:
    """A value as it is printed: what JAX takes for one thing, though it has traced values in it, and what may be None, are shown on the host."""
    if isinstance(x, Maybe):
        return x if x.bits & UNSET else _Shown(_either, (lax.eq(x.tag, np.int8(NONE)), printable(x.value)))
    if type(x) in (list, tuple):
        parts = [printable(v) for v in x]
        return x if all(a is b for a, b in zip(parts, x, strict=True)) else type(x)(parts)
    if type(x) is dict:
        values = [printable(v) for v in x.values()]
        return x if all(a is b for a, b in zip(values, x.values(), strict=True)) else dict(zip(x, values, strict=True))
    if type(x) is collections.deque and traced(*x):
        return _Shown(_deque(x.maxlen), tuple(map(printable, x)))
    if isinstance(x, collections.Counter) and traced(*x.values()):
        return _Shown(_dict(type(x), tuple(x)), tuple(map(printable, x.values())))
    return x
