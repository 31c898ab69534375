"""Iterators and generators: what is taken of one in a block would be taken once, while the block is traced, and whichever way it goes."""

from __future__ import annotations

import gc
import itertools
from collections import deque
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType, GeneratorType, ModuleType
from typing import Any

from autograph.runtime.explaining.variables import users_variables
from autograph.runtime.frames import frames
from autograph.runtime.jaxapi.tracers import ArrayTracer
from autograph.runtime.messages.errors import EffectError
from autograph.runtime.messages.places import here
from autograph.runtime.state.objects import is_state
from autograph.runtime.values.values import ATOMS, ITERATORS

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


def is_held(x: Any) -> bool:
    """Whether a variable, an object or a container of the user's holds an iterator: what is left of it can be seen."""
    if any(v is x for _, _, v in users_variables(with_globals=True)):
        return True
    ours = {id(f.made) for f in frames()}
    holders = [r for r in gc.get_referrers(x) if id(r) not in ours and not type(r).__module__.startswith("autograph.")]
    return any(isinstance(r, (list, dict, deque, set)) and not _is_of_ours(r) or is_state(r) for r in holders)


def _is_of_ours(held: Any) -> bool:
    """Whether a dict holds the attributes of an object of ours."""
    owners = gc.get_referrers(held) if type(held) is dict else ()
    return any(type(o).__module__.startswith("autograph.") and getattr(o, "__dict__", None) is held for o in owners)


def parts_of(x: Any) -> tuple[Any, ...]:
    """The iterators that an iterator of Python's takes its items of."""
    if isinstance(x, GeneratorType):
        return ()
    held = x.__reduce__()[1] if isinstance(x, _MADE_OF_OTHERS) else gc.get_referents(x)
    return tuple(part for part in held if isinstance(part, ITERATORS))


def _iterators() -> Iterator[tuple[str, Any]]:
    for _, name, value in users_variables(with_globals=True):
        if type(value) in _NO_HOLDERS:
            continue
        if isinstance(value, ITERATORS):
            yield name, value
        elif isinstance(value, (list, tuple, deque)):
            yield from ((f"{name}[{k}]", x) for k, x in enumerate(value) if isinstance(x, ITERATORS))
        elif isinstance(value, dict):
            yield from ((f"{name}[{k!r}]", x) for k, x in value.items() if isinstance(x, ITERATORS))
        elif hasattr(value, "__dict__") and is_state(value):
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
