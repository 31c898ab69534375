"""Specs as errors show them."""

from __future__ import annotations

import dataclasses
import enum
import functools
from typing import Any

from autograph.runtime.errors.advice import for_keys, for_length
from autograph.runtime.errors.errors import SourceSpan
from autograph.runtime.jaxapi import trees
from autograph.runtime.state.formatting import Text
from autograph.runtime.state.state_refs import AttributeRef, ContainerItems, StateRef
from autograph.runtime.values.abstract_values import AbstractValue, ArrayType, Option, Static, is_leaf, type_of
from autograph.runtime.values.joins import Mismatch, is_blank
from autograph.runtime.values.values import ARRAYS, NONE, NUMBERS, UNSET

OF_UNKNOWN_LENGTH = "a list of data-dependent length"  # as `describe` shows the kind of a `Growing`
_TEXTS = "a compiled program selects only numbers and arrays: keep a number, and make the text from it outside"


def describe(spec: AbstractValue) -> str:
    """A spec as an error shows it."""
    if isinstance(spec, Static):
        v = spec.value
        if type(v) in NUMBERS:
            return f"the number {v!r}"
        return _value_text(v, repr(spec))
    if isinstance(spec, ArrayType):
        return f"{spec!r}" + (" (weak)" if spec.weak else "")
    if isinstance(spec, Option):
        others = [word for bit, word in ((UNSET, "unset"), (NONE, "None")) if spec.bits & bit]
        return " or ".join([*([] if is_blank(spec.value) else [describe(spec.value)]), *others])
    if isinstance(spec, Text):
        return "a text with traced values"
    return _tree_text(spec) if trees.is_node(spec) else _value_text(spec, repr(spec))


def _value_text(v: Any, text: str) -> str:
    """A value that is the same in all iterations or on a side, without an address."""
    if isinstance(v, enum.Enum):
        return f"{type(v).__name__}.{v.name}"
    if isinstance(v, ARRAYS):
        found = type_of(v)
        return describe(found) if found is not None else f"an array of {v.dtype}"
    if callable(v) and not isinstance(v, type) and (name := getattr(v, "__name__", "")):
        return f"the function `{name}`"
    return f"a `{type(v).__name__}`" if " at 0x" in text or "Tracer" in text else text


def instead(a: AbstractValue, b: AbstractValue, usual: str, place: SourceSpan | None = None) -> str:
    """What to write instead where two values have no joint type: the usual advice, or what helps for values that are no arrays."""
    if isinstance(a, ContainerItems) and isinstance(b, ContainerItems):
        return usual if not isinstance(a.keys, tuple) else for_keys(place)
    if isinstance(a, dict) and isinstance(b, dict) and (only := [k for k in (*a, *b) if not (k in a and k in b)]):
        return f"give both dicts the same keys: {', '.join(map(repr, only))} {'is' if len(only) == 1 else 'are'} in one of them only"
    if any(isinstance(s, Text) for part in (a, b) for s in trees.leaves(part, is_leaf=lambda x: is_leaf(x) or isinstance(x, Text))):
        return _TEXTS
    values = [s.value for s in (a, b) if isinstance(s, Static) and not isinstance(s.value, (*NUMBERS, *ARRAYS)) and s.value is not None]
    if any(isinstance(v, enum.Enum) for v in values):
        return "a compiled program selects only numbers and arrays: make it an `IntEnum`"
    if any(isinstance(v, (str, bytes)) for v in values):
        return _TEXTS
    if any(callable(v) and hasattr(v, "__name__") for v in values):
        return "a compiled program selects only numbers and arrays: keep a number, and call the functions in the branches of an `if`"
    if len({type(v) for v in values if _has_fields(v)}) == 2:
        return "one of two classes cannot be chosen: call the method in both branches, or use one class with all fields"
    if len(values) == 2 and all(map(_has_fields, values)):
        frozen = "make its class a value (`@dataclass(frozen=True)`)" if dataclasses.is_dataclass(values[0]) else _PYTREE
        return f"set the attributes of the object that is there, or {frozen}"
    if any(map(_has_fields, values)):
        return "register its class as a pytree (`jax.tree_util.register_dataclass`), so that its arrays can be chosen"
    if {type(a), type(b)} == {list, tuple}:
        return "one is a list and the other a tuple: make both a tuple (`tuple(...)`) or both a list"
    return usual


_PYTREE = "make its class a pytree (`@dataclass`, and `jax.tree_util.register_dataclass`)"


def _has_fields(v: Any) -> bool:
    return hasattr(v, "__dict__") or bool(getattr(type(v), "__slots__", ()))


def instead_of_change(m: Mismatch, location: StateRef, place: SourceSpan | None, usual: str) -> str:
    """`instead`, where what differs is what a place holds: of a list or deque how many items there are."""
    if isinstance(m.a, ContainerItems) and isinstance(m.b, ContainerItems) and m.a.keys is None:
        return for_length(place, type(location.obj).__name__)
    return instead(m.a, m.b, usual, place)


def for_iterations(m: Mismatch, name: str) -> str:
    """What to write instead where an iteration of a loop gives a variable another type or shape."""
    if isinstance(m.a, tuple) and isinstance(m.b, tuple) and len(m.b) > len(m.a):
        return f"a tuple that gets longer cannot be carried: make `{name}` a list and append to it, in a `while` with `ag.loop(max_steps=...)`"
    if any(OF_UNKNOWN_LENGTH in describe(spec) for spec in (m.a, m.b)):
        return (
            f"a list that grows in a loop cannot be replaced by another list: keep one, take items with `{name}.pop(0)` and add them with "
            f"`{name}.append(x)`; or use an array and a number that counts its items"
        )
    if isinstance(m.a, list) and isinstance(m.b, list):
        return f"a list that is created again with another length cannot be carried: change the one that is there (`{name}.append(x)`)"
    a, b = (getattr(type_of(s), "shape", None) if is_leaf(s) else None for s in (m.a, m.b))
    if a is None or b is None or a == b:
        return f"start `{name}` with the type and shape that an iteration gives it"
    if len(a) == len(b) and sum(x != y for x, y in zip(a, b, strict=True)) == 1 and all(x <= y for x, y in zip(a, b, strict=True)):
        return f"a loop variable keeps its shape: if iterations make `{name}` longer, keep a fixed-size buffer and a counter, or append to a list"
    if len(a) == len(b) and all(x >= y for x, y in zip(a, b, strict=True)):
        return (
            f"a loop variable keeps its shape: store what an iteration computes into `{name}` (`{name}[1:-1] = ...`); "
            f"only if every iteration gives {b}, start it with that shape"
        )
    return f"a loop variable keeps its shape: start `{name}` with shape {b}, or keep a fixed-size buffer"


def two(m: Mismatch, one: str, other: str) -> str:
    """What a place holds at two times or on two sides."""
    a, b = pair(described(m.a), described(m.b))
    return f"{m.path} {a} {one} and {b} {other}".strip()


def pair(a: str, b: str) -> tuple[str, str]:
    """Two values; two objects of one class look the same."""
    return a, f"another {b[2:]}" if a == b and b.startswith("a `") else b


def described(spec: AbstractValue) -> str:
    """What a place holds, as an error shows it."""
    if not isinstance(spec, ContainerItems):
        return describe(spec)
    if isinstance(spec.keys, tuple):
        return f"it has the key{'s' * (len(spec.keys) != 1)} {', '.join(map(repr, spec.keys))}" if spec.keys else "it has no key"
    count = len(spec.values) if spec.keys is None else len(spec.keys)
    return f"it has {count} items" if count != 1 else "it has 1 item"


def _tree_text(spec: AbstractValue) -> str:
    inner = trees.map(lambda s: _ShownType(describe(s)), spec, is_leaf=lambda x: is_leaf(x) or isinstance(x, (Option, Text)))
    return repr(inner)


class _ShownType(str):
    def __repr__(self) -> str:
        return str(self)


def where_to_begin(place: StateRef, block: str) -> str:
    """What to write where an attribute or variable has no value before a loop or branch that gives it one."""
    if not isinstance(place, AttributeRef) or isinstance(place.obj, type):
        return f"give it a value before the {block}"
    if isinstance(getattr(type(place.obj), place.attribute, None), functools.cached_property):
        return f"read it before the {block}: what it keeps is an attribute from then on"
    return f"give it a value in `{type(place.obj).__name__}.__init__` (`self.{place.attribute} = None`, or a number), or before the {block}"
