"""Integers that JAX has no type for: what is said of them, and what to write."""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable

import jax

from autograph.runtime.errors.errors import IntegerRangeError, SourceSpan
from autograph.runtime.errors.source_spans import caller, place_of

TOO_LARGE = "An overflow was encountered while parsing an argument"  # what JAX says


def too_large(number: int, place: SourceSpan | None, what: str = "") -> IntegerRangeError:
    """The error for an integer that JAX would have to make an array of: an argument, or one beside a traced one."""
    kind = "int64[]" if jax.config.jax_enable_x64 else "int32[]"  # type: ignore[attr-defined]
    return IntegerRangeError(
        f"{what or f'the integer {number}'} does not fit {kind}, which is what JAX makes of integers",
        place,
        wider_instead(number, place),
    )


def argument_too_large(error: OverflowError, state: Callable[[int], str] = str) -> Exception:
    """The error for an integer that JAX cannot take as an argument; any other error is given back.

    `state` gives the name of what an object or a variable outside of the function holds, by its number.
    """
    found = re.match(rf"{TOO_LARGE}.* argument path is (.*)\. Got .* with value (-?\d+)$", str(error))
    if found is None:
        return error
    path, number = found[1], int(found[2])
    outside = re.match(r"state_\D*(\d+)", path)
    what = state(int(outside[1])) if outside else f"`{path}`"
    return too_large(number, place_of(caller()), f"{what} is {number}, which")


def wider_instead(number: int, place: SourceSpan | None) -> str:
    line = linecache.getline(place.file, place.line) if place is not None else ""
    exact = re.search(r"[^%]%|//|<<|>>|[&|^]", line)  # a float would give other numbers
    return f"use {_wider(number)}" if exact else f"use a float, if it need not be exact, or {_wider(number)}"


def _wider(number: int) -> str:
    """What holds an integer."""
    wide = jax.config.jax_enable_x64  # type: ignore[attr-defined]
    if 0 <= number < 2**15:
        return f"an array of a wider type (`jnp.int32({number})`)"
    if 0 <= number < 2**32:
        return f"an array of a type that holds it (`jnp.uint32({number})`)"
    if -(2**63) <= number < 2**63 and not wide:
        return '64 bits: `jax.config.update("jax_enable_x64", True)` before the first computation'
    return f"an array of a type that holds it (`jnp.uint64`{'' if wide else ', with `jax_enable_x64`'})" if 0 <= number < 2**64 else "smaller numbers"
