"""The beginning of every `except` of converted code: errors of staging are not the program's, and go on."""

from __future__ import annotations

import sys

from autograph.runtime import _jax
from autograph.runtime.deferred import Exit
from autograph.runtime.errors import AliasError, StagingError
from autograph.runtime.places import here
from autograph.runtime.raw_errors import is_raw
from autograph.runtime.unwound import stored_before


def caught() -> None:
    """Raise the exception that an `except` has caught again, if it tells that something cannot be staged.

    Raises:
      AliasError: (AG407) a call had stored into an array when it raised the exception; the names of its caller hold the old one.
    """
    error = sys.exception()
    if error is None:
        return
    if isinstance(error, (StagingError, Exit)) or (is_raw(error) and _jax.recording()):
        raise error
    if (function := stored_before(error)) is not None:
        raise AliasError(
            f"`{function}` had stored into an array that it was given when it raised, and what follows this `except` would have the old one",
            here(), "let it raise before it stores, or catch the exception in it and return the array",
        ) from None  # fmt: skip
