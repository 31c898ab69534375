"""Arguments of a compiled function that are no arrays: constants, and objects whose state is looked at."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from typing import Any

import jax
import numpy as np

from autograph.runtime.jaxapi import trees
from autograph.runtime.jaxapi.traces import ArrayImpl
from autograph.runtime.state.object_graph import attributes, is_state
from autograph.runtime.state.program_keys import Alike, IdentityKey, bound, constant, key_of
from autograph.runtime.values.abstract_values import is_container
from autograph.runtime.values.values import ARRAYS, NUMBERS


class Leaf:
    """An argument, or a part of one, that is no array: constant, and part of the key of the compiled program."""

    def __init__(self, key: Any) -> None:
        self.key = key


jax.tree_util.register_pytree_node(Leaf, lambda x: ((), x.key), lambda key, _: Leaf(key))
_OBJECT = "an object"  # the key of one whose state is looked at, with its class
_METHOD = "a method"  # that of a method of one, with its class and function


def leaf_of_object(x: Any) -> Leaf:
    """What stands for an argument whose state is looked at."""
    return Leaf((_OBJECT, type(x)))


def leaf_of_method(x: Any, function: Any) -> Leaf:
    """What stands for a bound method, whose object is looked at."""
    return Leaf((_METHOD, type(x), key_of(function)))


class CallInputs:
    """What the objects hold that a function reaches, as its first argument."""

    def __init__(self, arrays: Sequence[Any], guards: Any) -> None:
        self.arrays, self.guards = arrays, guards


jax.tree_util.register_pytree_node(CallInputs, lambda h: (h.arrays, h.guards), lambda guards, arrays: CallInputs(arrays, guards))


def is_array(x: Any) -> bool:
    return (isinstance(x, ARRAYS) and not (isinstance(x, np.ndarray) and x.dtype.kind not in "biufcV")) or (
        isinstance(x, NUMBERS) and not isinstance(x, enum.Enum)
    )


def has_static(values: Iterable[Any]) -> bool:
    """Whether an argument, or a part of one, is no array or number."""
    return any(type(v) not in NUMBERS and not isinstance(v, jax.Array) and not _all_arrays(v) for v in values)


def _all_arrays(v: Any) -> bool:
    if hasattr(type(v), "__next__"):  # an iterator, of which JAX would warn
        return False
    return all(type(x) is ArrayImpl or is_array(x) for x in trees.leaves(v)) and trees.is_sortable(v)


class Roots(list[Any]):
    """The objects among the arguments of a call whose state is looked at; and the functions, of which equal ones stand for each other."""

    def __init__(self, identical: bool = False) -> None:
        super().__init__()
        self.functions: list[Any] = []
        self.identical = identical  # are these only themselves?


def wrapped(args: Any, objects: Roots, abstract: bool = False) -> Any:
    """Arguments as JAX takes them; notes the objects and containers among them whose state is looked at.

    `abstract`: a `jax.ShapeDtypeStruct` stands for an array, and is no object of the program.
    """

    if type(args) is ArrayImpl:
        return args

    def leaf(x: Any) -> Any:
        if is_array(x) or abstract and isinstance(x, jax.ShapeDtypeStruct):
            return x
        if (method := bound(x)) is not None and not objects.identical and is_state(method[1]) and not trees.is_node(method[1]):
            objects.append(method[1])
            objects.functions.append(method[0])
            return leaf_of_method(x, method[0])
        if is_state(x) or is_container(x):
            objects.append(x)
            return leaf_of_object(x)
        key = key_of(x, objects.identical)
        if type(key) is Alike:
            objects.functions.append(x)
        return Leaf(key)

    def whole(x: Any) -> bool:
        abstracts = abstract and is_container(x) and any(isinstance(part, jax.ShapeDtypeStruct) for part in trees.leaves(x))
        return hasattr(type(x), "__next__") or is_container(x) and not abstracts

    return leaf(args) if is_state(args) and not trees.is_node(args) else trees.map(leaf, args, is_leaf=whole)


def unwrapped(args: Any, objects: Iterable[Any]) -> Any:
    """Arguments as the user gave them, but for their arrays; `objects` are those among them whose state is looked at."""
    roots = iter(objects)

    def original(x: Any) -> Any:
        if not isinstance(x, Leaf):
            return x
        if type(x.key) is tuple and x.key[0] is _OBJECT:
            return next(roots)
        if type(x.key) is tuple and x.key[0] is _METHOD:
            return x.key[1](x.key[2].ref(), next(roots))
        return x.key.ref() if isinstance(x.key, IdentityKey) else constant(x.key)

    return trees.map(original, args, is_leaf=lambda x: isinstance(x, Leaf))


def mutable_parts(args: Sequence[Any], kwargs: dict[str, Any], containers: bool = False) -> list[Any]:
    """The registered objects in the arguments of a call, whose changes the caller sees, and the containers if they are not among the objects."""
    found: list[Any] = []
    stack = [*(kwargs[k] for k in sorted(kwargs, reverse=True)), *reversed(args)]
    while stack:
        x = stack.pop()
        if type(x) is ArrayImpl or isinstance(x, ARRAYS) or x is None or (is_container(x) and not containers):
            continue
        children = trees.children(x)
        if len(children) == 1 and children[0] is x:
            continue
        if is_container(x) or (not isinstance(x, tuple) and attributes(x)):
            found.append(x)
        stack += reversed(children)
    return found
