"""Values packed in the types that they were joined to; where a Python integer does not fit the error names the variable."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import jax

from autograph.runtime.errors import IntegerRangeError, Place
from autograph.runtime.packing import pack
from autograph.runtime.places import caller, place_of
from autograph.runtime.specs import Spec

LOOP, SIDES = "a loop variable", "the joint type of the two sides of this branch"


def fitted(values: Sequence[Any], specs: Sequence[Spec], names: Callable[[], Sequence[str]], what: str) -> list[Any]:
    """The arrays of some values, flat.  `names` gives their names, as far as they are known; `what` says what the types are those of.

    Raises:
      IntegerRangeError: (AG203) a Python integer does not fit.
    """
    packed: list[Any] = []
    for k, (value, spec) in enumerate(zip(values, specs, strict=True)):
        try:
            packed += pack(value, spec)
        except OverflowError as error:
            known = list(names())
            raise does_not_fit(error, what, known[k] if len(known) == len(values) else "") from None
    return packed


def does_not_fit(error: OverflowError, what: str, name: str = "") -> IntegerRangeError:
    """The error for an integer that is too large for the type of a variable, or for what a statement gives."""
    found = re.search(r"-?\d+", str(error))
    of = f"the type of {what}" if what == LOOP else what
    whose = "" if not name else f" `{name}`" if what == LOOP else f" for `{name}`"
    return IntegerRangeError(f"{error}, {of}{whose}", place_of(caller()), f"use a float, or {_wider(int(found[0]) if found else 0)}")


def too_large(number: int, place: Place) -> IntegerRangeError:
    """The error for an integer beside a traced one, which JAX would have to make an array of that one's type."""
    kind = "int64[]" if jax.config.jax_enable_x64 else "int32[]"  # type: ignore[attr-defined]
    return IntegerRangeError(
        f"the integer {number} does not fit {kind}, which is what JAX makes of integers", place, f"use a float, or {_wider(number)}"
    )


def _wider(number: int) -> str:
    """What holds an integer."""
    wider = f"an array of a type that holds it (`jnp.uint32({number})`)" if 0 <= number < 2**32 else "64 bits (`jax_enable_x64`)"
    if 0 <= number < 2**15:
        wider = f"an array of a wider type (`jnp.int32({number})`)"
    return wider
