"""The arrays that stores have replaced, and what they have become: what else holds an old one is asked for after the store or call."""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import jax

from autograph.runtime.frames import lifting

_MOST = 1000  # arrays that others have become, before those that nobody holds any more are dropped


class Log:
    """What arrays have become in one block, or outside of all.

    It keeps an array alive as long as one that has become it; a traced value, which must not outlive its trace, it does not.
    """

    def __init__(self) -> None:
        self.count = 0
        self.since = 0  # the number of the entry before those of the last store or call
        self._news: dict[int, tuple[Any, Any, int]] = {}  # by identity of the old, weakly: what gives the new, and the number; in their order
        self._olds: dict[int, tuple[Any, list[Any]]] = {}  # by identity of the new: it, and all that have become it, weakly

    def note(self, old: Any, new: Any) -> None:
        """An array has become another, and so have those that had become the one; without another, it is not known what."""
        if old is new:
            return
        self.count += 1
        known = self._olds.pop(id(old), None)
        entry = self._news.get(id(old))
        ref = entry[0] if entry is not None else weakref.ref(old, functools.partial(_forget, self._news, id(old)))
        older = [*(known[1] if known is not None and known[0]() is old else ()), ref]
        for ref in older:
            if (x := ref()) is not None and x is not new:
                self._news.pop(id(x), None)
                self._news[id(x)] = ref, _held(new), self.count
        if new is not None:
            known = self._olds.get(id(new))
            self._olds[id(new)] = weakref.ref(new), [*(known[1] if known is not None and known[0]() is new else ()), *older]
        if len(self._olds) > _MOST and self.count % _MOST == 0:
            self._olds = {k: (new, [r for r in refs if r() is not None]) for k, (new, refs) in self._olds.items() if new() is not None}

    def last(self) -> list[tuple[Any, Any]]:
        """The arrays that the last store or call has replaced, and what they have become; None where that is not known."""
        found = []
        for old, new, number in reversed(self._news.values()):
            if number <= self.since:
                break
            x, after = old(), new()
            if x is not None and (after is not None or new is _unknown):
                found.append((x, after))
        return found[::-1]

    def olds(self, new: Any) -> list[Any]:
        """The arrays that have become another one, and that somebody still holds."""
        known = self._olds.get(id(new))
        return [x for ref in known[1] if (x := ref()) is not None] if known is not None and known[0]() is new else []

    def now(self, x: Any) -> Any:
        """What an array is now; None if that is not known."""
        entry = self._news.get(id(x))
        return entry[1]() if entry is not None and entry[0]() is x else x

    def became(self, old: Any, new: Any) -> bool:
        """Whether one array is what another has become."""
        entry = self._news.get(id(old))
        return entry is not None and new is not None and entry[1]() is new


def _unknown() -> None:
    """What an array has become of which that is not known."""


class _Kept:
    """As a weak reference, but it keeps the array; a cell of ours would be taken for one of the user's by who looks for what holds it."""

    __slots__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.x = x

    def __call__(self) -> Any:
        return self.x


def _held(x: Any) -> Callable[[], Any]:
    return _unknown if x is None else weakref.ref(x) if isinstance(x, jax.core.Tracer) else _Kept(x)


def _forget(news: dict[int, Any], key: int, ref: Any) -> None:
    """An array that had become another is gone."""
    if key in news and news[key][0] is ref:
        del news[key]


class _Replaced(threading.local):
    """The log of this thread outside of all blocks; and the arrays replaced while somebody asks."""

    def __init__(self) -> None:
        self.log = Log()
        self.asked = 0
        self.all: list[Any] = []
        self.loops: list[tuple[Any, Any]] = []  # the compiled loops that are being traced: the arrays whose rows they have taken, and where


_replaced = _Replaced()


def log() -> Log:
    """That of the block that is being traced, which ends with it."""
    around = lifting()
    if not around:
        return _replaced.log
    if around[-1].log is None:
        around[-1].log = Log()
    return around[-1].log  # type: ignore[no-any-return]


def now(x: Any) -> Any:
    """What stores have made of an array in the blocks that are being traced and outside of all; None if that is not known."""
    for known in [_replaced.log, *(frame.log for frame in lifting() if frame.log is not None)]:
        x = x if x is None else known.now(x)
    return x


def loops() -> list[tuple[Any, Any]]:
    """The compiled loops whose bodies are being traced: the arrays whose rows they have taken, and where they stand."""
    return _replaced.loops


def has_become(old: Any, new: Iterable[Any]) -> bool:
    """Whether stores have made one of these arrays of another, in a block that is being traced or outside of all."""
    logs = [_replaced.log, *(frame.log for frame in lifting() if frame.log is not None)]
    return any(known.became(old, x) for known in logs for x in new)


@contextmanager
def replaced_meanwhile() -> Iterator[list[Any]]:
    """The arrays that stores replace while this runs, as they are known outside of blocks."""
    outer, _replaced.all = _replaced.all, []
    _replaced.asked += 1
    try:
        yield _replaced.all
    finally:
        _replaced.asked -= 1
        outer += _replaced.all if _replaced.asked else ()
        _replaced.all = outer


def note_replaced(x: Any, after: Any, origin: Callable[[Any], Any]) -> None:
    """A store has replaced an array."""
    own, outside = log(), origin(x)
    own.since = own.count
    own.note(x, after)
    if outside is not x:
        own.note(outside, after)
    _replaced.all += [x, outside] if _replaced.asked else []
