"""A `finally` that leaves by `return`, `break` or `continue`: an error on its way out is given up."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from autograph.runtime.effects.handlers import code_now
from autograph.runtime.errors.errors import SourceSpan, StagedRaiseError, StagingError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.jaxapi.jax_errors import is_raw
from autograph.runtime.sequences.truth import truth


class overriding:
    """`with overriding() as leaves: try: ... finally: ...; leaves.jumps = flag`: where the flag is true, no error comes out.

    Raises:
      StagedRaiseError: (AG404) it is data-dependent whether there is an error, or whether the `finally` jumps while one is on its way.
    """

    def __init__(self) -> None:
        self.before, self.place = code_now(), here()
        self.jumps: Any = False  # does the `finally` jump?

    def __enter__(self) -> overriding:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> bool:
        jumps = truth(self.jumps)
        if jumps is False or not isinstance(error, (Exception, type(None))):
            return False
        if isinstance(error, StagingError) or (error is not None and is_raw(error) and _jax.recording()):
            return False
        if error is None:
            if code_now() is not self.before:
                raise _refusal("which may give up a data-dependent error", self.place)
            return False
        if jumps is not True:
            raise _refusal(f"where traced values say so, and {type(error).__name__} may be on its way", self.place) from None
        return True


def _refusal(why: str, place: SourceSpan | None) -> StagedRaiseError:
    return StagedRaiseError(
        f"the `finally` of this `try` may end by `return`, `break` or `continue`, {why}", place, "test for the error before, or jump after the `try`"
    )
