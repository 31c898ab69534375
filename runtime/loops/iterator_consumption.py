"""The items of an iterator, one by one, where it is data-dependent how many of them Python would take.

An item is taken for every iteration that may be made.  What its iterator changes meanwhile (the position in an attribute) is, after the loop, what
the iterations that were made have left.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sized
from types import GeneratorType
from typing import Any

from autograph.runtime.branches.conditional import staged_cond
from autograph.runtime.branches.generator_cleanup import ends_something
from autograph.runtime.effects.error_codes import Ending, checked, ending
from autograph.runtime.errors.errors import NotStagedError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.state.attribute_reads import plain
from autograph.runtime.state.captured_state import ERROR, record_write
from autograph.runtime.state.iterators import has_held_parts, parts_of
from autograph.runtime.state.retrace import NeedsState
from autograph.runtime.state.state_refs import AttributeRef, ContainerItems, StateRef
from autograph.runtime.tracing.trace_context import CallSite, lifting

_NO_MORE = object()
_MOST = 1000  # items of an iterator whose end nobody knows


def first_and_step(items: Any) -> tuple[int, int] | None:
    """Where an `itertools.count` of integers stands, and its step."""
    found = re.fullmatch(r"count\((-?\d+)(?:, (-?\d+))?\)", repr(items)) if isinstance(items, itertools.count) else None
    return (int(found[1]), int(found[2] or 1)) if found is not None else None


class Taking:
    """The items of anything static; `left` tells whether the loop has ended, perhaps as a traced value; `held`: something else holds it, too."""

    def __init__(self, items: Any, left: Callable[[], Any], held: bool) -> None:
        self.items, self.left, self.held = items, left, held
        self.changed: dict[StateRef, Any] = {}  # what places hold after the items that were really taken

    def __iter__(self) -> Iterator[Any]:
        iterator = iter(self.items)
        for count in itertools.count():
            if self.left() is not False:
                self._check(iterator, count)
            try:
                x = self._next(iterator)
            except StopIteration:
                return
            yield x

    def _next(self, iterator: Any) -> Any:
        left = self.left()
        if left is False or isinstance(self.items, Sized):
            with ending(iterator):
                return next(iterator)
        around, recorded = lifting(), _jax.equations()
        code = around[-1].values.get(ERROR) if around else None
        with CallSite(None).scope("take") as frame, ending(iterator):
            x = next(iterator, _NO_MORE)
        if (around and around[-1].values.get(ERROR) is not code) or any(e.effects for e in _jax.recorded(recorded)):
            raise _refusal(iterator, "and taking one may fail or print")
        for place, before in frame.saved.items():
            now, real = place.get(), self.changed.get(place, before)
            if isinstance(now, ContainerItems) and not now.alike(real):
                raise _refusal(iterator, f"and taking one makes {place.name} longer or shorter")
            self.changed[place] = staged_cond(left, lambda real=real: real, lambda now=now: now, ())
        if x is _NO_MORE:
            raise StopIteration
        return x

    def _check(self, iterator: Any, count: int) -> None:
        """Taking one more can have no effects that are seen, and comes to an end."""
        if isinstance(self.items, Sized):
            return
        if isinstance(iterator, (itertools.count, itertools.cycle)) or count > _MOST:
            raise _refusal(self.items, "and it has no end" if count <= _MOST else f"and after {_MOST} of them there are still more")
        if any(isinstance(x, GeneratorType) and ends_something(x) for x in _chain(self.items)):
            raise _refusal(self.items, "and where it is left, a `finally` or a `with` around its `yield` would end")
        if self.held or has_held_parts(self.items):
            raise _refusal(self.items, "and what is left of it can be seen afterwards")

    def settle(self) -> None:
        """After the loop: places hold what the items have left that were really taken."""
        for place, value in self.changed.items():
            record_write(place)
            place.put(value)


def _chain(items: Any) -> list[Any]:
    return [items, *itertools.chain.from_iterable(map(_chain, parts_of(items)))]


def _refusal(items: Any, why: str) -> NotStagedError:
    return NotStagedError(
        f"it is data-dependent how many items of this `{type(items).__name__}` are taken, {why}", here(),
        "say how many are taken at most (`for _, x in zip(range(99), gen())`), go over a list, a range or an array, or decide by a static value",
    )  # fmt: skip


def needs_position(error: Ending) -> BaseException:
    """What is raised where it is data-dependent whether an iterator ends: the function is traced again with that object's numbers as constants.

    Where they are no inputs of the function, it is the error itself.
    """
    places = [AttributeRef(error.iterator, name) for name in plain(getattr(error.iterator, "__dict__", ()))]
    return NeedsState(pinned=places, refusal=error) if checked() else error
