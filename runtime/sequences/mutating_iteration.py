"""Lists that the body of a loop over them makes longer or shorter: each iteration takes the item that is at its place then, as in Python."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Sequence
from types import GeneratorType
from typing import Any

from autograph.runtime.errors.advice import changed_object
from autograph.runtime.errors.errors import EffectError
from autograph.runtime.errors.source_spans import here
from autograph.runtime.jaxapi import traces as _jax
from autograph.runtime.sequences.bounded_list import BoundedList, endless, grown_at_home
from autograph.runtime.sequences.rows import Range, counted, enumerate, unknown
from autograph.runtime.state.length_bounds import LengthBound, stack

_ITERATORS: tuple[type[Any], ...] = (
    builtins.enumerate,
    builtins.zip,
    builtins.reversed,
    builtins.map,
    builtins.filter,
    type(iter([])),
    type(builtins.reversed([])),
)
Body = Callable[..., Any]


def current(x: Any, state: Sequence[Any]) -> Any:
    """What a list that a loop runs over is now: a variable of the loop, or its home, may hold a `BoundedList` in its place."""
    base = x.base if isinstance(x, BoundedList) else x
    for held in state:
        if held is base or isinstance(held, BoundedList) and held.base is base:
            return held
    return next((b.home.get() for b in stack.bounds if b.home is not None and b.base is base and grown_at_home(b)), x)


def present(r: Range, state: Sequence[Any]) -> Range:
    """What a loop runs over, with the items that its lists hold now."""
    return r.again([current(x, state) for x in r.lists]) if r.again is not None else r


def unchanging(r: Range, body: Body) -> Body:
    """The body of a loop, which may not change the lists that the loop runs over if there is no telling what that would mean."""
    if not r.lists or r.again is not None:
        return body

    def watched(item: Any, *state: Any) -> Any:
        before = [current(x, state) for x in r.lists]
        out = body(item, *state)
        for old, x in zip(before, r.lists, strict=True):
            new = current(x, out if isinstance(out, (list, tuple)) else [out])
            if new is not old and [id(a) for a in (old.length, *old.buffers)] != [id(a) for a in (new.length, *new.buffers)]:
                raise _refusal(new)
        return out

    return watched


def longest(r: Range) -> list[tuple[LengthBound, int]]:
    """How many items the lists have at most that a loop runs over."""
    return [(x.kind.bound, x.kind.bound.top) for x in r.lists if isinstance(x, BoundedList)]


def refuse_endless(before: list[tuple[LengthBound, int]]) -> None:
    """Raise EffectError (AG405) if a loop without a limit has made a list longer that it runs over."""
    for bound, top in before:
        if bound.top > top:
            raise endless(bound)


class LiveWalk:
    """The items of anything static that a loop runs over, one after another; its lists may get another length."""

    def __init__(self, items: Any, take: Callable[[Any], Iterator[Any]] = iter) -> None:
        self.items, self.made, self.take = items, 0, take
        self.lists = _lists_in(items) if _jax.recording() else []
        self.state: Sequence[Any] = ()  # of the loop, before the next iteration

    def __iter__(self) -> Iterator[Any]:
        if not (self.lists and self.lists[0] is self.items):
            for x in self.take(self.items):
                self.made += 1
                yield x
            return
        while self.made < len(now := current(self.items, self.state)):
            self.made += 1
            yield now.item(self.made - 1) if isinstance(now, BoundedList) else now[self.made - 1]

    def rest(self) -> Range | None:
        """What is left, once it is data-dependent how much that is.

        Raises:
          EffectError: (AG405) the iterator cannot go on.
        """
        now = [current(x, self.state) for x in self.lists]
        changed = next((x for x in now if isinstance(x, BoundedList) and unknown(x.length)), None)
        if changed is None:
            return None
        if isinstance(self.items, builtins.enumerate):
            left = enumerate(changed, int(self.items.__reduce__()[1][1]) - self.made)
        elif now[0] is changed and self.lists[0] is self.items:
            left = counted([changed])
        else:
            raise _refusal(changed)
        left.start = self.made
        return left  # type: ignore[no-any-return]


def _lists_in(items: Any) -> list[Any]:
    """The lists that items are taken of: itself, or those below iterators of Python's."""
    if type(items) is list or isinstance(items, BoundedList):
        return [items]
    if isinstance(items, GeneratorType):
        return _lists_in(items.gi_frame.f_locals.get(".0")) if items.gi_frame is not None else []
    return [x for part in items.__reduce__()[1] for x in _lists_in(part)] if isinstance(items, _ITERATORS) else []


def _refusal(x: BoundedList) -> EffectError:
    return EffectError(
        f"{changed_object(x.kind.bound.place)} becomes longer or shorter while a loop runs over it by an iterator", here(),
        "run over the list itself (`for x in items`, `for k, x in enumerate(items)`), or change it after the loop", [(x.kind.bound.place, "")],
    )  # fmt: skip
