"""What lower layers use of higher ones: these put it here when they are imported, and nothing lower imports them.

`face` is the package itself, whose names are what generated code calls; `call` is its `call`, which finds what is called in the place of a function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

face: Any = None


def call(function: Any) -> Callable[..., Any]:
    """What is called in the place of a function: see `callees.call`."""
    return face.call(function)  # type: ignore[no-any-return]
