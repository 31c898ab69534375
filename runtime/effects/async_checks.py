"""Error codes that are read later: a call of `ag.function(checks="deferred")` does not wait for what it has computed."""

from __future__ import annotations

import atexit
import sys
import threading
from typing import Any

from autograph.runtime.effects.error_codes import raise_code
from autograph.runtime.jaxapi.traces import FULL, boundary, number

_left: list[tuple[Any, Any, Any]] = []  # the function, the code of one of its calls, and the values in the error's text; the oldest first
_lock = threading.Lock()


def is_deferred(checks: Any) -> bool:
    """Whether the option `checks` of `ag.function` asks for codes to be read later.

    Raises:
      ValueError: it is neither "immediate" nor "deferred".
    """
    if checks not in ("immediate", "deferred"):
        raise ValueError(f'`checks` is "immediate" or "deferred", not {checks!r}')
    return bool(checks == "deferred")


def enqueue(function: Any, code: Any, values: Any) -> None:
    """The error code of a call, and the values in its text."""
    with _lock:
        _left.append((function, code, values))


@boundary
def check(function: Any = None) -> None:
    """Raise the first error of earlier calls of functions with `checks="deferred"` that has not been raised, if there is one.

    Args:
      function: such a function, whose calls alone are looked at; it does so itself when it is called again.

    >>> import autograph as ag
    >>> @ag.function(checks="deferred")
    ... def root(x):
    ...     assert x >= 0, f"root of {x}"
    ...     return x ** 0.5
    >>> y = root(-4.0)
    >>> ag.check()
    Traceback (most recent call last):
    AssertionError: root of -4.0
    this happened in an earlier call of `root`, whose checks are deferred
    """
    while True:
        with _lock:
            k = next((k for k, (owner, _, _) in enumerate(_left) if function is None or owner is function), None)
            if k is None:
                return
            owner, code, values = _left.pop(k)
        which = number(code)
        try:
            raise_code(which, (values or {}).get(which, ()))
        except Exception as error:
            error.add_note(f"this happened in an earlier call of `{getattr(owner, '__qualname__', owner)}`, whose checks are deferred")
            raise


@atexit.register
def _last() -> None:
    """At the end of the process: no error is lost."""
    try:
        check()
    except Exception as error:
        if not FULL and error.__traceback__ is not None:
            error = error.with_traceback(error.__traceback__.tb_next)  # without this function
        sys.excepthook(type(error), error, error.__traceback__)
