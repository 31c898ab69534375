"""`isinstance`, `hasattr`, `callable` and `type` of values that may be traced, or None where only traced values know."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.runtime.arrays.numpys import Numpys
from autograph.runtime.effects.optional import is_none, is_not_none, read
from autograph.runtime.jaxapi._jax import ArrayImpl, Tracer
from autograph.runtime.messages.errors import OptionalError
from autograph.runtime.messages.places import here
from autograph.runtime.values.knowledge import known
from autograph.runtime.values.values import Blank, Maybe


def _either(x: Any, test: Callable[[Any], bool]) -> Any:
    """What a question about x answers; where only traced values know whether x is None, and the answer depends on it, a traced bool."""
    x = known(read(x))
    if builtins.isinstance(x, Numpys):
        x = x.shadow
    if type(x) is not Maybe:
        return test(x)
    none, value = test(None), not builtins.isinstance(x.value, Blank) and test(x.value)
    return none if none == value else is_none(x) if none else is_not_none(x)


def isinstance(x: Any, kinds: Any) -> Any:
    """`isinstance`: a bool, or a traced bool where only traced values know whether x is None."""
    return _either(x, lambda v: builtins.isinstance(v, kinds))


def hasattr(x: Any, name: Any) -> Any:
    """`hasattr`, likewise."""
    return _either(x, lambda v: builtins.hasattr(v, name))


def callable(x: Any) -> Any:
    """`callable`, likewise."""
    return _either(x, builtins.callable)


def type_of(x: Any) -> Any:
    """`type(x)`; of a traced value that of an array."""
    x = known(read(x))
    if type(x) is Maybe:
        raise OptionalError(
            "the type of a value that may be None, and traced values decide whether it is", here(), "test it before: `if x is not None:`"
        )
    if builtins.isinstance(x, Numpys):
        return np.ndarray
    return ArrayImpl if builtins.isinstance(x, Tracer) else type(x)
