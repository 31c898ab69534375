"""The beginning of every `except` of converted code: errors of staging are not the program's, and go on."""

from __future__ import annotations

import sys

from autograph.runtime.effects.error_codes import PathEnds
from autograph.runtime.errors.errors import AutographError, StagingError
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi.jax_errors import is_raw


def bare(error: AutographError) -> AutographError:
    """An error of ours that a statement of the user's raises itself: our frames are left out."""
    return error if _jax.full() else error.with_traceback(None)


def caught() -> None:
    """Raise the exception that an `except` has caught again, if it tells that something cannot be staged.

    Raises:
      AliasError: (AG407) a call had stored into an array when it raised the exception, and the old one is read afterwards.
    """
    error = sys.exception()
    if error is None:
        return
    if isinstance(error, (StagingError, PathEnds)) or (is_raw(error) and _jax.recording()):
        raise error
