"""Cyclic garbage that the trace of a function leaves behind, collected without a look at all that was there before."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """While this runs nothing is collected by itself: what is made stays in the youngest generation."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def collect_recent() -> None:
    """Collect what was made while the collector was `paused`."""
    gc.collect(0)
