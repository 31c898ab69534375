"""Whether an exception comes from a `raise` statement of the user's program, read from the traceback's bytecode."""

from __future__ import annotations

import dis

from autograph.runtime.errors import AutographError, Place
from autograph.runtime.places import HIDDEN

_RAISE = dis.opmap["RAISE_VARARGS"]


def explicit_raise(error: BaseException) -> Place | None:
    """The place of the `raise` or failed `assert` that raised `error`; None if an operation in it failed.

    A library that raises while it traces is not the user's doing: only the innermost frame counts, and it must not be ours or JAX's.
    """
    if isinstance(error, AutographError) or error.__traceback__ is None:
        return None
    tb = error.__traceback__
    while tb.tb_next is not None:
        tb = tb.tb_next
    code = tb.tb_frame.f_code
    if code.co_filename.startswith(HIDDEN) or "site-packages" in code.co_filename:
        return None
    return Place(code.co_filename, tb.tb_lineno) if code.co_code[tb.tb_lasti] == _RAISE else None
