"""`isinstance`, `hasattr`, `callable` and `type` of values that may be traced, or None where that is data-dependent."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.runtime.arrays.numpy_array import MutableArray
from autograph.runtime.effects.error_codes import checked
from autograph.runtime.effects.optional_values import is_none, is_not_none, read
from autograph.runtime.errors.errors import OptionalError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi.tracers import CHANGED, GIVEN, OF_NUMPY, Array, numpys_type
from autograph.runtime.jaxapi.traces import ArrayImpl, Tracer
from autograph.runtime.values.path_conditions import known
from autograph.runtime.values.values import Blank, Maybe


def _either(x: Any, test: Callable[[Any], bool], of_array: Callable[[Array, Callable[[Any], bool]], bool] = lambda x, test: test(_shown(x))) -> Any:
    """What a question about x answers, `of_array` about an array.

    Where it is data-dependent whether x is None, and the answer depends on it, a traced bool.
    """
    x = known(read(x))
    if builtins.isinstance(x, Array):
        return of_array(x, test)
    if type(x) is not Maybe:
        return test(x)
    none, value = test(None), not builtins.isinstance(x.value, Blank) and test(x.value)
    return none if none == value else is_none(x) if none else is_not_none(x)


def _shown(x: Array) -> Any:
    """What Python's functions look at: of an array of NumPy's one that NumPy has made."""
    return x.shadow if builtins.isinstance(x, MutableArray) else x


def _of_array(x: Array, test: Callable[[Any], bool]) -> bool:
    """What a question answers about what an array stands for: a number that was given, or that NumPy computes; JAX's array where nobody knows."""
    answer = test(_shown(x))
    if builtins.isinstance(x, MutableArray):
        CHANGED.numpys = CHANGED.numpys or test(x) is not answer
        return answer
    if x.ndim:
        CHANGED.other = CHANGED.other or test(_NUMPYS) is not answer
        return answer
    if answer and test([]):  # not that it is an array: that it can be iterated, or is an object
        return _of_number(x, test, answer)
    if not answer and any(map(test, _SCALARS)):
        _note_asked(x)
    return answer or (scalar := scalar_of(x)) is not None and test(scalar(0))


def _of_number(x: Array, test: Callable[[Any], bool], answer: bool) -> bool:
    """What a number answers, if an array without axes stands for one; else what the array does."""
    if any(test(number) is not answer for number in _SCALARS):
        _note_asked(x)
    return answer if (scalar := scalar_of(x)) is None else test(scalar(0))


def _has(x: Array, test: Callable[[Any], bool]) -> bool:
    answer = test(_shown(x))
    return answer if x.ndim or builtins.isinstance(x, MutableArray) else _of_number(x, test, answer)


def _note_asked(x: Array) -> None:
    """It matters what the caller has given: if that is not known, the function is traced again."""
    if (x.scalar is None or x.scalar is GIVEN) and checked():
        CHANGED.scalars = True


_NUMPYS = np.zeros(1)
_SCALARS = (True, 1, 1.0, 1j, np.bool_(True), np.int32(1), np.int64(1), np.float32(1), np.float64(1), np.complex64(1), np.complex128(1))


def scalar_of(x: Any) -> Any:
    """The type of the number that an array without axes stands for; None of an array, and where nobody knows.

    What Python's numbers are computed of has a weak type in JAX.  Only an `ag.function` knows what its caller has given: under `jax.jit` an array is
    one, as without us.
    """
    if x.scalar is OF_NUMPY:
        return numpys_type(x)
    if x.scalar is not None and x.scalar is not GIVEN:
        return x.scalar or None
    if not checked() or not getattr(x.aval, "weak_type", False):
        return None
    return {"f": float, "c": complex}.get(x.dtype.kind, int)


def isscalar(x: Any) -> bool:
    """`np.isscalar` of an array."""
    return bool(_of_array(x, np.isscalar)) if type(x) is Array else np.isscalar(x)


def isinstance(x: Any, kinds: Any) -> Any:
    """`isinstance`: a bool, or a traced bool where it is data-dependent whether x is None."""
    return _either(x, lambda v: builtins.isinstance(v, kinds), _of_array)


def hasattr(x: Any, name: Any) -> Any:
    """`hasattr`, likewise."""
    return _either(x, lambda v: builtins.hasattr(v, name), _has)


def callable(x: Any) -> Any:
    """`callable`, likewise."""
    return _either(x, builtins.callable)


def type_of(x: Any) -> Any:
    """`type(x)`; of a traced value that of an array."""
    x = known(read(x))
    if type(x) is Maybe:
        raise OptionalError(
            "`type()` of an optional value, and it is data-dependent whether that is None", here(), "test it before: `if x is not None:`"
        )
    if builtins.isinstance(x, MutableArray):
        CHANGED.numpys = True
        return np.ndarray
    if builtins.isinstance(x, Array):
        if x.ndim:
            CHANGED.other = True
        else:
            _note_asked(x)
            return scalar_of(x) or ArrayImpl
    return ArrayImpl if builtins.isinstance(x, Tracer) else type(x)
