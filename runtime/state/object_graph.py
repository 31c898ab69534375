"""The objects that a compiled function reaches through its arguments: their arrays become inputs, everything else guards the compiled program.

Arrays in attributes, lists, tuples and dicts, path by path, are inputs like any argument, so a new array does not compile again.  Numbers and
strings are constants guarded by their value; other objects by identity.  Which object it is does not matter, only what it holds.
"""

from __future__ import annotations

import enum
import sys
import types
import weakref
from collections.abc import Iterable, Sequence, Set
from typing import Any

import numpy as np

from autograph.runtime.jaxapi import trees
from autograph.runtime.jaxapi.traces import ArrayImpl
from autograph.runtime.state.attribute_reads import EVERYTHING, NamespaceView, by_name, may_hold_array, plain, unseen
from autograph.runtime.state.program_keys import VALUES, IdentityKey, bound, key_of, key_of_all
from autograph.runtime.state.state_refs import AttributeRef, ContainerItems, ContentsRef, StateRef, is_intercepted
from autograph.runtime.values.abstract_values import AbstractValue, Static, is_container, one_level, type_of
from autograph.runtime.values.abstract_values import types as types_in
from autograph.runtime.values.values import ARRAYS, NUMBERS, DynamicLength, Poison, Unset

_IDENTICAL = (type, types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, enum.Enum)


class Unseen:
    """Attributes that are no state: what a trace sets in them stays, also when it is given up."""

    def __init__(self, **attributes: Any) -> None:
        vars(self).update(attributes)


def kept(obj: Any, unseen: Unseen, made: dict[str, Any]) -> None:
    """What code has made in an object that is there from then on, also where the trace is given up in which it has run.

    Variables, objects and functions are `unseen`, and no state; numbers, arrays and lists of them stay attributes, as they may change.
    """
    for name, value in made.items():
        if not any(isinstance(x, (*ARRAYS, *NUMBERS)) or is_container(x) for x in trees.leaves(value)):
            vars(unseen)[name] = vars(obj).pop(name)
        else:
            vars(unseen).setdefault(_LASTING, set()).add(name)


def lasts(place: StateRef) -> bool:
    """Whether an attribute stays where the trace is given up that has made it."""
    if not isinstance(place, AttributeRef):
        return False
    made = [x for x in getattr(place.obj, "__dict__", {}).values() if isinstance(x, Unseen)]
    return any(place.attribute in vars(x).get(_LASTING, ()) for x in made)


_LASTING = " lasting"  # the name of no attribute


def is_state(x: Any) -> bool:
    """Whether an object's attributes are looked at: one of the user's or a library's classes, not of Python's own."""
    cls = type(x)
    if (known := _states.get(cls)) is None or x.__class__ is not cls:
        known = _states[cls] = _is_state(x)
    return known


_states: weakref.WeakKeyDictionary[type, bool] = weakref.WeakKeyDictionary()


_NAMESPACES = {("types", "SimpleNamespace"), ("argparse", "Namespace")}  # of Python's own, and nothing but attributes


def _is_state(x: Any) -> bool:
    if isinstance(x, (*_IDENTICAL, *NUMBERS, *VALUES, *ARRAYS, Unseen)) or type(x) in (Poison, Unset):
        return False
    cls = type(x)
    if (cls.__module__, cls.__name__) in _NAMESPACES:
        return True
    return cls.__module__.split(".")[0] not in sys.stdlib_module_names and bool(cls.__dictoffset__ or slots_of(cls))


UNSEEN_SLOTS = frozenset({"_taken_by_user"})


def slots_of(cls: type) -> list[str]:
    """The names of the slots of a class, but for those that the runtime keeps for itself (`UNSEEN_SLOTS`)."""
    if (known := _known_slots.get(cls)) is not None:
        return known
    found = [
        s
        for k in cls.__mro__
        for s in ((k.__dict__.get("__slots__", ()),) if isinstance(k.__dict__.get("__slots__"), str) else k.__dict__.get("__slots__", ()))
    ]
    _known_slots[cls] = [s for s in found if s not in ("__weakref__", "__dict__") and s not in UNSEEN_SLOTS]
    return _known_slots[cls]


_known_slots: weakref.WeakKeyDictionary[type, list[str]] = weakref.WeakKeyDictionary()


def attributes(x: Any) -> list[str]:
    return [
        *(plain(x.__dict__) if type(x).__dictoffset__ else ()),
        *(s for s in slots_of(type(x)) if not isinstance(AttributeRef(x, s).get(), Unset)),
    ]


def places_in(x: Any) -> list[StateRef]:
    """The places of an object that the walk looks into."""
    held: list[StateRef] = [ContentsRef(x)] if is_container(x) else []
    return held + [AttributeRef(x, a) for a in own_attributes(x)]


def own_attributes(x: Any) -> list[str]:
    """The attributes of an object; of a container those of a class of the user's, unless they are what it contains."""
    return attributes(x) if not is_container(x) or is_state(x) and getattr(x, "__dict__", None) is not x else []


class ObjectWalk:
    """What some objects hold: `objects` in the order they were met, `arrays` with the places they stand in, `functions`, and `guards`.

    `dynamic` are places (the number of an object, and a name) whose numbers are inputs, because the function changes them; `variables` are the
    function's globals.  `pinned` are those whose numbers have to be known all the same; `made` are the codes of functions
    that are made anew in each call.

    A call needs the arrays and the guards; only a trace asks for the `slots`, the places with their specs, which a second walk finds.
    """

    def __init__(
        self,
        roots: Sequence[Any],
        places: Iterable[StateRef],
        dynamic: set[Any],
        variables: dict[str, Any],
        pinned: Set[Any] = frozenset(),
        made: Set[Any] = frozenset(),
        view: NamespaceView = EVERYTHING,
        slots: bool = False,
    ) -> None:
        self.objects: list[Any] = []
        self.arrays: list[Any] = []
        self.guards: list[Any] = []
        self._slots: list[tuple[StateRef, AbstractValue]] | None = [] if slots else None
        self.roots, self.places = roots, list(places)
        self.dynamic, self.variables, self.pinned, self.made, self.view = dynamic, variables, pinned, made, view
        self.unread: dict[int, frozenset[str]] = {}  # by identity of an object: the attributes that are not looked at
        self._seen: dict[int, int] = {}
        self.functions: list[Any] = list(getattr(roots, "functions", ()))
        self._numbers: dict[int, int] = {}  # which functions are one, though equal ones stand for each other
        for f in self.functions:
            self.guards.append(self._numbers.setdefault(id(f), len(self._numbers)))
        self._changing = {name[0] for name in (*dynamic, *pinned)}  # the objects in which such places are
        self._taken: list[Any] = []  # the arrays in the place that is looked at
        self._given = False  # is what is met part of an argument, whose numbers are inputs?
        for root in roots:
            self._given = is_container(root)
            self._visit(root)
        self._given = False
        for k, place in enumerate(self.places):
            met = id(place.obj) in self._seen
            if isinstance(place, ContentsRef):
                if not met:
                    self._visit(place.obj)
            elif not (
                met and isinstance(place, AttributeRef) and place.attribute in own_attributes(place.obj)
            ):  # else it is among those of the object
                self._take(place, place.get(), ("place", k))
        self.shared = self._shared()
        self.guards.append(self.shared)

    @property
    def slots(self) -> list[tuple[StateRef, AbstractValue]]:
        """The places in which the arrays stand, with what they are."""
        if self._slots is None:
            self._slots = ObjectWalk(self.roots, self.places, self.dynamic, self.variables, self.pinned, self.made, self.view, slots=True).slots
        return self._slots

    def _shared(self) -> Any:
        """Which of the arrays are one, and which are global variables: a store into one of them is seen in the others."""
        first: dict[int, Any] = {}
        arrays = [(k, x) for k, x in enumerate(self.arrays) if isinstance(x, ARRAYS) and x.ndim]
        same = tuple(k for k, x in arrays if first.setdefault(id(x), k) != k)
        named = self.variables if self.view.whole or self.view.stores else self.view.names & self.variables.keys()
        names = tuple((n, k) for n in named if (k := first.get(id(self.variables[n]))) is not None) if first else ()
        return (tuple(first[id(self.arrays[k])] for k in same), same, names) if same or names else None

    def number(self, obj: Any) -> int | None:
        """Which of the objects it is."""
        return self._seen.get(id(obj))

    def name_of(self, k: int) -> str:
        """The name of the place in which one of the arrays stands."""
        names = [place.name for place, spec in self.slots for _ in types_in([spec])]
        return names[k]

    def _visit(self, x: Any) -> None:
        known = self._seen.get(id(x))
        self.guards.append((type(x), known))
        if known is not None:
            return
        number = self._seen[id(x)] = len(self.objects)
        self.objects.append(x)
        if type(x) is list:
            self._take((ContentsRef, x), ContainerItems(None, x), (number, None))
            self._given = False
        elif is_container(x):
            self._take((ContentsRef, x), ContentsRef(x).get(), (number, None))
            self._given = False
        names = own_attributes(x)
        if names or not is_container(x):
            self.guards.append(tuple(names))
        own = x.__dict__ if type(x).__dictoffset__ else {}
        if not self.view.whole and by_name(type(x)):
            looked_at = [name for name in names if name in self.view.names or not self._skips(own, name)]
            if len(looked_at) < len(names):
                self.unread[id(x)] = frozenset(names).difference(looked_at)
            names = looked_at
            self.guards.append(tuple(names))
        for name in names:
            self._take((AttributeRef, x, name), own[name] if name in own else AttributeRef(x, name).get(), (number, name))

    def _skips(self, own: dict[str, Any], name: str) -> bool:
        """Whether an attribute of which the function does not know the name is not looked at: its values are no matter."""
        with unseen():
            return name in own and not (self.view.stores and may_hold_array(own[name]))

    def _take(self, place: Any, held: Any, name: Any) -> None:
        """What a place holds; the place is given, or how it is made."""
        around, self._taken = self._taken, []
        if not isinstance(held, ContainerItems):
            spec: AbstractValue = self._spec(held, name)
        else:
            keys = held.keys
            self.guards.append(
                (None if keys is None else tuple(map(key_of, keys)) if isinstance(held.keys, tuple) else frozenset(keys), len(held.values))
            )
            if (key := None if self._given or name[0] in self._changing else key_of_all(held.values)) is not None:
                self.guards.append(key)
                self._taken = around
                return
            spec = ContainerItems(keys, [self._spec(v, (*name, k)) for k, v in enumerate(held.values)])
        self.arrays += self._taken  # after those of the objects in it
        if self._taken and self._slots is not None:
            self._slots.append((place if isinstance(place, StateRef) else place[0](*place[1:]), spec))
        self._taken = around

    def _spec(self, v: Any, name: Any) -> AbstractValue:
        """The spec of a value whose arrays are inputs; notes them, and the guards of everything else."""
        if type(v) is ArrayImpl and self._slots is None:
            self.guards.append("array")
            self._taken.append(v)
            return None
        if isinstance(v, ARRAYS):
            t = type_of(v) if not isinstance(v, np.ndarray) or v.dtype.kind in "biufcV" else None
            self.guards.append(key_of(v) if t is None else "numpy" if isinstance(v, np.ndarray) and v.ndim else "array")
            self._taken += [] if t is None else [v]
            return t or Static(v)
        if isinstance(v, NUMBERS) and not isinstance(v, enum.Enum):
            if (self._given or name in self.dynamic) and name not in self.pinned:
                self.guards.append("array")
                self._taken.append(v)
                return type_of(v)
            self.guards.append(key_of(v))
            return Static(v)
        if isinstance(v, DynamicLength) and (kind := v.kind_of()) is not None:  # in a trace around
            self.guards.append((IdentityKey(kind[0]), kind[1]))
        elif not self.view.identical and (method := bound(v)) is not None and is_object(method[1]):
            self.guards.append((type(v), key_of(method[0])))
            self.functions.append(method[0])
            given, self._given = self._given, False
            self._visit(method[1])
            self._given = given
            return Static(v)
        elif is_container(v) or is_object(v):
            given, self._given = self._given, self._given and is_container(v)
            self._visit(v)
            self._given = given
            return Static(v)
        if v is None or not trees.is_node(v):
            self.guards.append(key_of(v, self.view.identical))
            if callable(v):
                self.guards.append(self._numbers.setdefault(id(v), len(self._numbers)))
                self.functions.append(v)
            return Static(v)
        parts, tree = trees.flatten(v, is_leaf=lambda x: x is not v)
        self.guards.append((type(v), tree if trees.is_own_node(v) else len(parts)))
        count = iter(range(1 << 30))
        return one_level(lambda x: self._spec(x, (*name, "part", next(count))), v)


def plain_attributes(cls: Any) -> bool:
    """Whether nothing of the class's own stands between `obj.a = v` and the object."""
    store: Any = cls.__setattr__
    return store is object.__setattr__


def is_object(v: Any) -> bool:
    """Whether a value is looked into by its attributes: an object of a class with plain attributes."""
    if not is_state(v) or isinstance(v, tuple):
        return False
    plain = plain_attributes(type(v)) or getattr(type(v).__setattr__, "plain", False)  # a layer that is not being built
    return plain or isinstance(v, trees.OBJECTS) or is_intercepted(v)
