"""How many hold an array: what one variable or place holds alone need not be looked for."""

from __future__ import annotations

import functools
import sys
from typing import Any

import jax
import jax.numpy as jnp


def is_held_elsewhere(x: Any) -> bool:
    """Whether something holds an array beside a place or variable, a variable of ours, and the question itself."""
    alone, more = _counts()
    refused = _is_refused(x)  # first: the frame keeps what it is asked for
    return sys.getrefcount(x) > alone + (more if refused else 0)


def _is_refused(x: Any) -> bool:
    """Whether the error that is handled is JAX's, which has refused to store into an array, as the plain form tries."""
    error = sys.exception()
    tb = error.__traceback__.tb_next if type(error) is TypeError and error.__traceback__ is not None else None
    return tb is not None and tb.tb_next is None and tb.tb_frame.f_locals.get("self") is x


@functools.cache
def _counts() -> tuple[int, int]:
    """How many references there are to an array that nothing else holds; and how many more in the error of JAX that refuses to store into it."""

    def asked(x: Any) -> int:
        return sys.getrefcount(x)

    def stored(x: Any) -> int:
        return asked(x)

    with jax.ensure_compile_time_eval():
        x = jnp.zeros(1)
    alone = stored(x)
    try:
        x[0] = 0
    except TypeError:
        refused = _is_refused(x)
        return alone, stored(x) - alone if refused else 0
    return alone, 0
