"""Changes of Variables by several threads: none is lost."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

LOCK = threading.RLock()


class _Within(threading.local):
    depth = 0


within = _Within()  # how many calls of a compiled program this thread carries out on the host


class _Changing:
    """The lock; what a compiled program calls on the host belongs to the call that waits for it, and has it already."""

    def __enter__(self) -> None:
        if not within.depth:
            LOCK.acquire()

    def __exit__(self, *error: object) -> None:
        if not within.depth:
            LOCK.release()


CHANGING = _Changing()  # held while values are read, changed and put back


@contextmanager
def by_the_program() -> Iterator[None]:
    """On a thread of the compiled program, which another thread waits for."""
    within.depth += 1
    try:
        yield
    finally:
        within.depth -= 1
