"""Values packed in the types that they were joined to; where a Python integer does not fit the error names the variable."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from autograph.runtime.errors.errors import IntegerRangeError, LoopTypeError, SourceSpan
from autograph.runtime.errors.large_integers import wider_instead
from autograph.runtime.errors.source_spans import caller, place_of
from autograph.runtime.state.type_text import describe
from autograph.runtime.values.abstract_values import AbstractValue
from autograph.runtime.values.flatten import flatten

LOOP, SIDES = "a loop variable", "the joint type of the two branches"


def cast_to_types(values: Sequence[Any], specs: Sequence[AbstractValue], names: Callable[[], Sequence[str]], what: str) -> list[Any]:
    """The arrays of some values, flat.  `names` gives their names, as far as they are known; `what` says what the types are those of.

    Raises:
      IntegerRangeError: (AG203) a Python integer does not fit.
    """
    packed: list[Any] = []
    for k, (value, spec) in enumerate(zip(values, specs, strict=True)):
        try:
            packed += flatten(value, spec)
        except OverflowError as error:
            known = list(names())
            raise does_not_fit(error, what, known[k] if len(known) == len(values) else "") from None
    return packed


def does_not_fit(error: OverflowError, what: str, name: str = "") -> IntegerRangeError:
    """The error for an integer that is too large for the type of a variable, or for what a statement gives."""
    found = re.search(r"-?\d+", str(error))
    of = f"the type of {what}" if what == LOOP else what
    whose = "" if not name else f" `{name}`" if what == LOOP else f" for `{name}`"
    return IntegerRangeError(f"{error}, {of}{whose}", place := place_of(caller()), wider_instead(int(found[0]) if found else 0, place))


def unsettled(
    names: Sequence[str], before: Sequence[AbstractValue], after: Sequence[AbstractValue], runs: int,
    places: Sequence[tuple[str, SourceSpan | None]] = (),
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
