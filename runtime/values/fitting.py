"""Values packed in the types that they were joined to; where a Python integer does not fit the error names the variable."""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable, Sequence
from typing import Any

import jax

from autograph.runtime.messages.errors import IntegerRangeError, LoopTypeError, Place
from autograph.runtime.messages.places import caller, place_of
from autograph.runtime.values.packing import pack
from autograph.runtime.values.spec_text import describe
from autograph.runtime.values.specs import Spec

TOO_LARGE = "An overflow was encountered while parsing an argument"  # what JAX says
LOOP, SIDES = "a loop variable", "the joint type of the two branches"


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
    return IntegerRangeError(f"{error}, {of}{whose}", place := place_of(caller()), _instead(int(found[0]) if found else 0, place))


def too_large(number: int, place: Place | None, what: str = "") -> IntegerRangeError:
    """The error for an integer that JAX would have to make an array of: an argument, or one beside a traced one."""
    kind = "int64[]" if jax.config.jax_enable_x64 else "int32[]"  # type: ignore[attr-defined]
    return IntegerRangeError(
        f"{what or f'the integer {number}'} does not fit {kind}, which is what JAX makes of integers",
        place,
        _instead(number, place),
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


def _instead(number: int, place: Place | None) -> str:
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


def unsettled(
    names: Sequence[str], before: Sequence[Spec], after: Sequence[Spec], runs: int, places: Sequence[tuple[str, Place | None]] = ()
) -> LoopTypeError:  # fmt: skip
    """The error where each run of an iteration gives other types than the one before; `places` are those outside that it changes so, and where."""
    k = next((k for k, (a, b) in enumerate(zip(before, after, strict=True)) if a != b), None)
    if k is None:  # what changes is a place outside
        name, place = places[0] if places else ("what the iterations leave in objects", None)
        return LoopTypeError(
            f"{name} holds another object, or one of another type, after each iteration, also after {runs} of them", place or place_of(caller()),
            "give it one type before the loop; what objects hold may be exchanged (`a.x, b.x = b.x, a.x`), lists inside of tuples may not",
        )  # fmt: skip
    else:
        what, advice = f"loop variable `{names[k]}`", f"start it with the type that an iteration gives it: {describe(after[k])}"
    return LoopTypeError(f"{what} has another type after each iteration, also after {runs} of them", place_of(caller()), advice)
