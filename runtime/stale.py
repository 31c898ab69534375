"""Variables of callers that would keep an array that a function they call has replaced by storing into it."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from autograph.runtime._jax import recording
from autograph.runtime.errors import AliasError
from autograph.runtime.places import assigned_names, caller, here, is_block, read_after, visible
from autograph.runtime.raw_errors import mark_of


def refuse_other_names(x: Any, stored: str, here_too: bool = False) -> None:
    """Called where an array that callers may hold is stored into as `stored`; `here_too`: other variables of the function itself are looked at.

    Raises:
      AliasError: (AG407) another variable of a function around holds it and is read later.
    """
    if not (isinstance(x, jax.Array) or (isinstance(x, np.ndarray) and recording())):  # others are changed in place
        return
    own = caller()
    gone = assigned_names(own) if here_too else []
    frame = own if here_too or own is None else visible(own.f_back)
    kinds = ("Staged",) if recording() else ("Form", "Staged")  # in a trace the plain form only calls the staged one
    while frame is not None and (frame is own or mark_of(frame.f_code) in kinds or is_block(frame.f_code)):
        for variable, held in frame.f_locals.items():
            if held is x and variable not in (stored, f"{stored}_", *gone) and variable.isidentifier() and read_after(frame, variable):
                raise AliasError(
                    f"{stored} is stored into, and `{variable}` in `{frame.f_code.co_name}` would keep the old array", here(),
                    f"read `{variable}` again after the call, or give it a copy before (`{variable}.copy()`)",
                )  # fmt: skip
        frame, gone = visible(frame.f_back), []
