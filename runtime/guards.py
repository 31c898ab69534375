"""A method of an object that is not a pytree: one compiled function for each state of the object.

The state is everything reached through its attributes, lists, tuples and dicts: numbers and strings by value, `jax.Array`s by identity
(they cannot change), NumPy arrays by identity and content, other objects by identity and by their attributes in turn.
"""

from __future__ import annotations

import types
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from autograph.runtime.errors import AttributeStateError
from autograph.runtime.places import here

_MOST_STATES = 16  # compiled functions kept for one object
_VALUES = (bool, int, float, complex, str, bytes, type(None))


def fingerprint(obj: Any) -> tuple[tuple[Any, ...], list[Any]]:
    """The state of an object, and the objects whose identity is part of it (kept alive, so that no identity is used again)."""
    parts: list[Any] = []
    held: list[Any] = []
    seen: set[int] = set()
    stack = [obj]
    while stack:
        x = stack.pop()
        if type(x) in _VALUES:
            parts.append((type(x), repr(x) if type(x) in (float, complex) else x))
            continue
        if isinstance(x, np.ndarray):
            parts.append((id(x), x.shape, str(x.dtype), x.tobytes()))
            held.append(x)
            continue
        parts.append(id(x))
        held.append(x)
        if id(x) in seen or isinstance(x, (jax.Array, type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType)):
            continue
        seen.add(id(x))
        if isinstance(x, dict):
            parts.append(tuple(map(id, x)))
            stack += x.values()
        elif isinstance(x, (list, tuple, set, frozenset)):
            parts.append(len(x))
            stack += x
        else:
            attributes = {**getattr(x, "__dict__", {}), **{n: getattr(x, n) for k in type(x).__mro__ for n in _slots(k) if hasattr(x, n)}}
            parts.append(tuple(attributes))
            stack += attributes.values()
    return tuple(parts), [h for h in held if h is not obj]


def _slots(cls: type) -> tuple[str, ...]:
    slots = cls.__dict__.get("__slots__", ())
    return tuple(s for s in ((slots,) if isinstance(slots, str) else slots) if s not in ("__weakref__", "__dict__"))


def _refuse_changed(key: tuple[Any, ...], states: OrderedDict[Any, Any]) -> None:
    """JAX keeps the constant that it made of a NumPy array, by identity: a changed one would be the old one in a new program."""
    arrays = {part[0]: part for part in key if isinstance(part, tuple) and len(part) == 4 and isinstance(part[3], bytes)}
    for old in states:
        for part in old:
            if isinstance(part, tuple) and part and part[0] in arrays and part != arrays[part[0]]:
                raise AttributeStateError(
                    "a NumPy array that the object holds has changed since the method was compiled", here(),
                    "hold a `jnp` array, or put a new NumPy array in its place",
                )  # fmt: skip


class Guarded:
    """The compiled methods of one function, for each object and state of it."""

    def __init__(self, fn: Callable[..., Any], watched: Callable[[Any], Any], options: dict[str, Any]) -> None:
        self.fn, self.watched, self.options = fn, watched, options
        self.by_id: dict[int, tuple[Any, OrderedDict[Any, Any]]] = {}

    def _states(self, obj: Any) -> OrderedDict[Any, Any]:
        entry = self.by_id.get(id(obj))
        if entry is not None and entry[0]() is obj:
            return entry[1]
        states: OrderedDict[Any, Any] = OrderedDict()
        try:
            key = id(obj)
            ref: Any = weakref.ref(obj, lambda _: self.by_id.pop(key, None))
        except TypeError:  # slots without `__weakref__`: held
            ref = lambda: obj  # noqa: E731
        self.by_id[id(obj)] = ref, states
        return states

    def bound(self, obj: Any) -> Any:
        """The compiled method for the object as it is now."""
        states = self._states(obj)
        key, held = fingerprint(obj)
        found = states.get(key)
        if found is None:
            _refuse_changed(key, states)
            states[key] = found = jax.jit(self._method(obj), **self.options), held
            if len(states) > _MOST_STATES:
                states.popitem(last=False)
        return found[0]

    def _method(self, obj: Any) -> Callable[..., Any]:
        """The method, holding its object weakly: a cache of ours keeps no object alive."""
        fn = self.watched(self.fn)
        try:
            ref: Any = weakref.ref(obj)
        except TypeError:
            ref = lambda: obj  # noqa: E731

        def method(*args: Any, **kwargs: Any) -> Any:
            return fn(ref(), *args, **kwargs)

        method.__name__ = getattr(self.fn, "__name__", "method")
        return method
