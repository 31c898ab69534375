"""Iterators and generators: what is taken of one in a block would be taken once, while the block is traced, and whichever way it goes."""

from __future__ import annotations

import gc
import itertools
import sys
from collections import deque
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType, GeneratorType, ModuleType
from typing import Any

from autograph.runtime.explaining.variables import named_values, users_frames, users_variables
from autograph.runtime.frames import frames
from autograph.runtime.jaxapi._jax import Tracer
from autograph.runtime.jaxapi.tracers import ArrayTracer
from autograph.runtime.messages.errors import EffectError
from autograph.runtime.messages.places import here
from autograph.runtime.state.counting import VARIABLE
from autograph.runtime.state.objects import is_state
from autograph.runtime.values.values import ATOMS, ITERATORS

_OF_EACH_KIND: list[Any] = [[], (), range(0), ""]
_COPIED = frozenset({zip, enumerate, type(reversed([])), *map(type, map(iter, _OF_EACH_KIND))})  # whose `__reduce__` tells where they stand
_MADE_OF_OTHERS = (zip, map, filter, enumerate)
_NO_HOLDERS = frozenset({*ATOMS, ArrayTracer, FunctionType, BuiltinFunctionType, ModuleType, type})  # what variables mostly hold


class Positions:
    """Where the iterators stand that are there when a block begins: those that variables of the functions around hold, or what is in these."""

    def __init__(self) -> None:
        self.before = [(name, x, _position(x)) for name, x in _iterators()]

    def check(self) -> None:
        """Called when the block has been traced.

        Raises:
          EffectError: (AG405) it has taken items of one of them.
        """
        for name, x, before in self.before:
            if not _is_same(_position(x), before):
                raise EffectError(
                    f"a branch or loop that traced values decide takes from `{name}`, a `{type(x).__name__}` from outside of it: that would happen "
                    "once, while it is traced", here(),
                    "take the values before, as a list, or count an index in the block",
                )  # fmt: skip

    def moved(self) -> bool:
        """Whether one of them has given items since."""
        return any(not _is_same(_position(x), before) for _, x, before in self.before)


def is_held(x: Any, count: int) -> bool:
    """Whether x is an iterator that anything holds beside one variable of ours, where `count` references are counted: what is left of it can be seen.

    Python 3.14 lends us what a variable of the caller holds: then there is no reference more.
    """
    return isinstance(x, ITERATORS) and (count > VARIABLE + _noted(x) or any(v is x for _, _, v in users_variables()))


def has_held_parts(x: Any) -> bool:
    """The same of the iterators that it takes its items of."""
    parts = parts_of(x)
    return any(count > _PART + _noted(part) for part, count in zip(parts, _counts(parts), strict=True)) or any(map(has_held_parts, parts))


def _noted(x: Any) -> int:
    """How many of our own records hold it."""
    return sum(f.made.get(id(x)) is x for f in frames())


def _counts(parts: tuple[Any, ...]) -> list[int]:
    return [sys.getrefcount(x) for x in parts]


def parts_of(x: Any) -> tuple[Any, ...]:
    """The iterators that an iterator of Python's takes its items of."""
    if isinstance(x, GeneratorType):
        return ()
    held = x.__reduce__()[1] if isinstance(x, _MADE_OF_OTHERS) else gc.get_referents(x)
    return tuple(part for part in held if isinstance(part, ITERATORS))


def anew(x: Any) -> Any:
    """What gives the items that x would give, though these be taken; None where nobody knows, or that would be seen.

    >>> rest = iter([1, 2, 3])
    >>> next(rest), list(anew(rest)), next(rest)
    (1, [2, 3], 2)
    """
    kind = type(x)
    if not hasattr(kind, "__next__"):
        return None if isinstance(getattr(kind, "__iter__", None), FunctionType) else x
    if kind not in _COPIED or has_held_parts(x):
        return None
    make, parts, *state = x.__reduce__()
    made = [part if isinstance(part, int) else anew(part) for part in parts]
    if any(part is None for part in made):
        return None
    new = make(*made)
    if state and state[0] is not None:  # Python 3.13 gives None for a range
        new.__setstate__(state[0])
    return new


def _iterators() -> Iterator[tuple[str, Any]]:
    for name, value in [(name, x) for frame in users_frames() for name, x in named_values(frame).items() if type(x) not in _NO_HOLDERS]:
        if isinstance(value, ITERATORS):
            yield name, value
        elif isinstance(value, (list, tuple, deque)):
            yield from ((f"{name}[{k}]", x) for k, x in enumerate(value) if isinstance(x, ITERATORS))
        elif isinstance(value, dict):
            yield from ((f"{name}[{k!r}]", x) for k, x in value.items() if isinstance(x, ITERATORS))
        elif not isinstance(value, Tracer) and hasattr(value, "__dict__") and is_state(value):
            yield from ((f"{name}.{n}", x) for n, x in vars(value).items() if isinstance(x, ITERATORS))


def _position(x: Any) -> Any:
    """Something that changes when an item is taken."""
    if isinstance(x, GeneratorType):
        if x.gi_frame is None or x.gi_running:
            return x.gi_frame is None
        return x.gi_frame.f_lasti, [*x.gi_frame.f_locals.values()], _position(x.gi_yieldfrom)
    if isinstance(x, _MADE_OF_OTHERS):
        return [_position(part) for part in x.__reduce__()[1]]
    hint = getattr(x, "__length_hint__", None)
    return hint() if hint is not None else repr(x) if isinstance(x, (itertools.count, itertools.repeat)) else x


def _is_same(a: Any, b: Any) -> bool:
    if isinstance(a, (list, tuple)) and type(a) is type(b) and len(a) == len(b):
        return all(map(_is_same, a, b))
    return a is b or isinstance(a, (int, str)) and type(a) is type(b) and a == b


_OWNER: Any = zip(iter([]))
_PART = _counts(parts_of(_OWNER))[0]  # references to one that only its owner holds
