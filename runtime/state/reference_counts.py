"""What `sys.getrefcount` tells of an object that only a variable holds: Python 3.14 lends variables to calls, and counts nothing for that."""

from __future__ import annotations

import sys


def _of_argument(x: object) -> int:
    return sys.getrefcount(x)


def _of_variable() -> tuple[int, int]:
    x = object()
    return sys.getrefcount(x), _of_argument(x)


VARIABLE, ARGUMENT = _of_variable()  # where a variable is asked for; where a function asks for its argument, which a variable of the caller holds
