"""A loop with a static trip count is rolled by our choice: where that cannot be it is unrolled, as under `jax.jit`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograph.runtime.errors.errors import AutographError
from autograph.runtime.errors.raise_sites import is_fault
from autograph.runtime.state.speculation import Speculation
from autograph.runtime.tracing.trace_context import CallSite, attempt


def compiled_or_unrolled(code: Any, compiled: Callable[[], Any], unrolled: Callable[[str], Any], way: str = "unrolled") -> Any:
    """What `compiled()` gives; where it is refused, `unrolled(why)`.

    Nothing that the refused run has changed is left.  A loop with this code that has been refused in this trace is not tried again this `way`.
    """
    place = CallSite(code)
    refused = place.memory.get((way, code))
    if refused is None:
        speculation = Speculation(positions=True)
        try:
            with place.scope(way) as run, attempt():
                return compiled()
        except Exception as error:
            if speculation.has_moved() or is_fault(error):  # what it has taken is gone
                raise
            refused = error.with_traceback(None)
        speculation.roll_back(run)
        if place.key:
            place.memory[way, code] = refused
    try:
        return unrolled(_reason(refused))
    except (AutographError, OverflowError) as error:
        alike = isinstance(refused, OverflowError) and isinstance(error, OverflowError)
        if isinstance(refused, AutographError) and (alike or refused.id == getattr(error, "id", "")):
            raise refused from None  # which tells of the loop, and of its variable
        raise


def _reason(error: Exception) -> str:
    if isinstance(error, AutographError):
        return error.message
    if isinstance(error, OverflowError):
        return "a Python number does not fit int32"
    return str(error).splitlines()[0] if str(error) else type(error).__name__
