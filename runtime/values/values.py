"""What converted code holds in a variable: an array, a number, a pytree of them, anything static, `Unset`, or `Maybe`."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Callable
from types import GeneratorType
from typing import Any, Final, NoReturn

import jax
import numpy as np

from autograph.runtime.arrays.numpy_array import is_known
from autograph.runtime.jaxapi import trees
from autograph.runtime.jaxapi.tracers import ArrayTracer
from autograph.runtime.jaxapi.traces import Tracer

NUMBERS: Final = (bool, int, float, complex)
ARRAYS: Final = (ArrayTracer, jax.Array, np.ndarray, np.generic)  # ours first: to ask whether a tracer is a `jax.Array` takes long
CONTAINERS: Final = (list, dict, set, collections.deque, bytearray)


class _Sequence:
    def __getitem__(self, k: int) -> Any:
        raise IndexError


_OF_EACH_KIND: list[Any] = [[], (), range(1), range(1 << 70), "", b"", {}, {}.values(), {}.items(), set(), reversed([]), reversed({}), _Sequence()]
ITERATORS: Final[tuple[type, ...]] = (
    GeneratorType, reversed, zip, map, filter, enumerate, *(c for c in vars(itertools).values() if isinstance(c, type)),
    *map(type, map(iter, _OF_EACH_KIND)),
)  # fmt: skip


_ITERATORS = frozenset(ITERATORS)  # of which JAX warns where it meets one in a tree
_held: Final[dict[int, list[Any]]] = {}  # by identity: an object that our own records hold, and how many do


def ours(x: Any) -> int:
    """How many of the references to an object are our own."""
    found = _held.get(id(x))
    return found[1] + 1 if found is not None else 0


def held_by_us() -> list[Any]:
    """The objects that our own records hold."""
    return [x for x, _ in list(_held.values())]


LASTING: Final = set[str]()  # the modules whose objects are descriptions, which last as long as compiled programs; each adds itself


class Record:
    """Something of ours that holds an object of the user's for a while; `ours` counts them, to tell whether anybody else does."""

    __slots__ = ("_keys",)

    def holds(self, *objects: Any) -> None:
        held = (
            []
            if ATOMS.issuperset(map(type, objects))
            else [x for x in objects if type(x) not in ATOMS and not isinstance(x, ARRAYS) and type(x).__module__ not in LASTING]
        )
        self._keys = [id(x) for x in held]
        for x in held:
            _held.setdefault(id(x), [x, 0])[1] += 1

    def __del__(self, held: dict[int, list[Any]] = _held) -> None:  # bound here: when the interpreter ends, modules are emptied first
        for key in getattr(self, "_keys", ()):
            entry = held[key]
            entry[1] -= 1
            if not entry[1]:
                del held[key]


class DynamicLength:
    """Items of which it is data-dependent how many there are: `length`, of which `row(i)` is one."""

    length: Any

    def row(self, i: Any) -> Any:
        raise NotImplementedError

    def __getitem__(self, i: Any) -> Any:
        raise NotImplementedError

    def item(self, i: Any) -> Any:
        """The same, as code of the user's gets it."""
        return self.row(i)

    def known(self) -> Any:
        """The list or array that it is, where `length` is known."""
        raise NotImplementedError

    def kind_of(self) -> Any:
        """What tells it from another one of equal arrays, as an object and a number; None where that is its attributes."""
        return None

    def can_change(self) -> bool:
        """Whether it is what a list holds at the moment, and no value of its own."""
        return False

    def is_view(self) -> bool:
        """Whether it shows what another array holds at the moment."""
        return False

    def most(self) -> int:
        """How many there are at most."""
        raise NotImplementedError

    def refusal(self, why: str, advice: str = "") -> Exception:
        """The error for a use that has to know how many there are."""
        raise NotImplementedError


def counted_in(value: Any) -> DynamicLength | None:
    """The first of its parts of which it is data-dependent how many items it has."""
    return next((x for x in trees.leaves(value, is_leaf=lambda x: is_value(x) or isinstance(x, DynamicLength)) if isinstance(x, DynamicLength)), None)


class Found:
    """Descriptions that one trace has made, as a part of a pytree's structure: equal to themselves only."""

    def __init__(self, found: Any) -> None:
        self.found = found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Found) and self.found is other.found

    def __hash__(self) -> int:
        return id(self.found)


class Copied(Record):
    """A container of which compiled code has a copy, so that a change of one would not show in the other: why that is, and what to do."""

    __slots__ = ("advice", "home", "of", "place", "value", "why")

    def __init__(self, value: Any, why: str, advice: str, place: Any = None, of: Any = None, home: Any = None) -> None:
        self.value, self.why, self.advice, self.place = value, why, advice, place
        self.of, self.home = of, home  # the list of which it is an item, if it was read of one, and (weakly) in which trace
        self.holds(value, *(() if of is None else (of,)))


class Poison:
    """What a container holds that may be one that has changed: reading it is an error.

    `make` gives the error, of a read at this line or else of the change.
    """

    __slots__ = ("make",)

    def __init__(self, make: Callable[[bool], Exception]) -> None:
        self.make = make

    def refuse(self, *_: Any) -> NoReturn:
        raise self.make(True) from None

    def __getattr__(self, name: str) -> Any:
        self.refuse()

    __bool__ = __len__ = __iter__ = __getitem__ = __setitem__ = __call__ = __contains__ = refuse  # type: ignore[assignment]
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = refuse
    __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = refuse
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = __neg__ = __pos__ = __abs__ = __invert__ = __divmod__ = __rdivmod__ = refuse
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = __int__ = __float__ = __complex__ = __index__ = __round__ = refuse  # type: ignore[assignment]
    __str__ = __repr__ = __format__ = __hash__ = refuse  # type: ignore[assignment]


class Unset:
    """The value of the variable `name` while it has none."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<{self.name} is unset>"


class Blank:
    """A place that is written before it is read: it takes the type of whatever it meets."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


blank: Final = Blank("blank")
nothing: Final = Blank("nothing")  # what a path gives that certainly ends in an error
SET, UNSET, NONE = 0, 1, 2  # tags
ATOMS: Final = frozenset({bool, int, float, complex, str, bytes, type(None), Unset, Blank, range, slice, type})


class Maybe:
    """What is set, unset or None depending on traced values: a value, an int8 tag, and which of `UNSET | NONE` are possible.

    `optional_values.py` makes it an operand: an operation on it is the operation on the value, and Python's error where there is none.
    """

    __slots__ = ("bits", "name", "tag", "value")

    def __init__(self, value: Any, tag: Any, bits: int, name: str = "") -> None:
        self.value, self.tag, self.bits, self.name = value, tag, bits, name

    def __repr__(self) -> str:
        return f"Maybe({self.value!r}, {self.tag!r}, {self.bits})"


def is_value(x: Any) -> bool:
    """Whether a part of a value is not looked into: None, what may be unset or None, and iterators."""
    return x is None or type(x) is not ArrayTracer and isinstance(x, Maybe) or type(x) in _ITERATORS


def parts(value: Any) -> list[Any]:
    """The leaves of a value; of what may be unset or None its value and its tag."""
    if type(value) in ATOMS:
        return [value]
    if isinstance(value, Maybe):
        return [*parts(value.value), value.tag]
    return [p for x in trees.leaves(value, is_leaf=is_value) for p in (parts(x) if isinstance(x, Maybe) else (x,))]


def map_maybe(fn: Callable[[Any], Any], value: Any, whole: type | tuple[type, ...] = ()) -> Any:
    """A value, with `fn` of the parts of it that may be unset or None in their place, but for those in objects that are kept `whole`."""
    if not has_maybe(value):
        return value
    leaves, tree = trees.flatten(value, is_leaf=lambda x: is_value(x) or isinstance(x, whole))
    after = [fn(x) if isinstance(x, Maybe) else x for x in leaves]
    return value if all(a is b for a, b in zip(after, leaves, strict=True)) else tree.unflatten(after)  # a list stays the object that it is


def has_maybe(value: Any) -> bool:
    """Whether a value that may be unset or None is part of a value."""
    if type(value) is tuple:
        return any(map(has_maybe, value))
    if type(value) in ATOMS or isinstance(value, ARRAYS):
        return False
    return any(isinstance(x, Maybe) for x in trees.leaves(value, is_leaf=is_value))


def traced(*values: Any) -> bool:
    """Whether any leaf is an array whose value is not known now."""
    return any(isinstance(x, Tracer) and not is_known(x) for v in values for x in parts(v))


def arrays_in(variables: dict[str, Any]) -> dict[str, Any]:
    """The arrays among variables.  Only classes that have a shape are asked: an object that stands for another may answer anything (`__class__`)."""
    return {name: value for name, value in variables.items() if hasattr(type(value), "ndim") and isinstance(value, ARRAYS)}
