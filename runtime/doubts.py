"""Arrays of which only the traced values of an earlier call know whether they are one: a later call must not store into either."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from autograph.runtime import _jax
from autograph.runtime.points_to import doubt

_partners: dict[int, weakref.WeakValueDictionary[int, Any]] = {}  # by identity: the arrays that it may be


def remember(pairs: Iterable[tuple[Any, Any]]) -> None:
    """Only traced values know whether these arrays, which a call leaves in places or was given, are one."""
    for a, b in pairs:
        if a is b:
            continue
        if not (_jax.concrete(a) and _jax.concrete(b)):  # a call in the trace of another
            doubt(a, b)
            continue
        for x, y in ((a, b), (b, a)):
            if id(x) not in _partners:
                weakref.finalize(x, _partners.pop, id(x), None).atexit = False
            _partners.setdefault(id(x), weakref.WeakValueDictionary())[id(y)] = y


def any_remembered() -> bool:
    """Whether there are such arrays at all: mostly there are none."""
    return bool(_partners)


def among(arrays: Sequence[tuple[Any, Any]]) -> Iterator[tuple[Any, Any]]:
    """The pairs of keys of arrays, given with their keys, that are in doubt."""
    where: dict[int, list[Any]] = {}
    for key, x in arrays:
        if id(x) in _partners:
            where.setdefault(id(x), []).append((key, x))
    for (key, x), *_ in where.values():
        for other, y in _partners[id(x)].items():
            if other in where and y is where[other][0][1]:
                yield key, where[other][0][0]
