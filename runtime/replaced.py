"""The arrays that the last store has replaced, and the new ones: what else holds the old is asked for right after it."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from autograph.runtime.frames import lifting


class _Replaced(threading.local):
    """The arrays that the last store of this thread has replaced, and the new ones; NumPy arrays replaced while somebody asks."""

    def __init__(self) -> None:
        self.pairs: list[tuple[Callable[[], Any], Callable[[], Any]]] = []
        self.asked = 0
        self.numpy: list[Any] = []


_replaced = _Replaced()


def last_replaced() -> list[tuple[Any, Any]]:
    """The arrays that the store just made has replaced, and the new ones."""
    remembers = last()
    pairs, remembers.pairs = [(old(), new()) for old, new in remembers.pairs], []
    return [(old, new) for old, new in pairs if old is not None and new is not None]


def weakly(pairs: list[tuple[Any, Any]]) -> list[tuple[Callable[[], Any], Callable[[], Any]]]:
    """Pairs that keep no array alive: of one that nobody else holds nobody will ask."""
    return [(weakref.ref(old), weakref.ref(new)) for old, new in pairs]


def last() -> Any:
    """What remembers the arrays that were replaced last: the block that is being traced, which forgets them at its end."""
    around = lifting()
    return around[-1] if around else _replaced


@contextmanager
def replaced_numpy() -> Iterator[list[Any]]:
    """The NumPy arrays that stores replace by traced ones while this runs."""
    outer, _replaced.numpy = _replaced.numpy, []
    _replaced.asked += 1
    try:
        yield _replaced.numpy
    finally:
        _replaced.asked -= 1
        _replaced.numpy = outer


def note_numpy(x: Any) -> None:
    """A NumPy array has been replaced."""
    _replaced.numpy += [x] if _replaced.asked else []
