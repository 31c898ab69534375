"""The beginning of every `except` of converted code: errors of staging are not the program's, and go on."""

from __future__ import annotations

import sys

from autograph.runtime.effects.deferred import Exit
from autograph.runtime.explaining.raw_errors import is_raw
from autograph.runtime.jaxapi import _jax
from autograph.runtime.messages.errors import AutographError, StagingError


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
    if isinstance(error, (StagingError, Exit)) or (is_raw(error) and _jax.recording()):
        raise error
