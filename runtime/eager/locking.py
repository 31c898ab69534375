"""Changes of Variables by several threads: none is lost."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _Changing:
    """A lock that a thread may take several times; what a compiled program calls on the host belongs to the call that waits for it."""

    def __init__(self) -> None:
        self._lock, self._within = threading.RLock(), threading.local()

    def __enter__(self) -> None:
        if not self._is_within():
            self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        if not self._is_within():
            self._lock.release()

    def _is_within(self) -> bool:
        return getattr(self._within, "depth", 0) > 0

    @contextmanager
    def by_the_program(self) -> Iterator[None]:
        """On a thread of the compiled program, which another thread waits for."""
        self._within.depth = getattr(self._within, "depth", 0) + 1
        try:
            yield
        finally:
            self._within.depth -= 1


CHANGING = _Changing()  # held while values are read, changed and put back
