"""Whether what compiled programs do on the host is in order: JAX orders it for programs of one device only."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _Ordering(threading.local):
    ordered = True


ordering = _Ordering()

_REFUSAL = "ordered effects are not supported for more than 1 device"


def is_refused(error: ValueError) -> bool:
    """Whether this is JAX's error for a program of several devices that does something in order."""
    return _REFUSAL in str(error)


@contextmanager
def without_order() -> Iterator[None]:
    """In the block programs are traced that do things on the host in the order in which they come."""
    before, ordering.ordered = ordering.ordered, False
    try:
        yield
    finally:
        ordering.ordered = before
