"""Frozen dataclasses as loop variables and results of branches: values, that code gives anew (`dataclasses.replace`), and never changes.

A loop carries the fields of one, and its body is given an object of the class with these fields: made without the class's own code, which has run
where the user's object was made.  JAX is told nothing of the class.  An object that has more than its fields, or whose class is a pytree, is left
as it is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax


class Fields:
    """The fields of an object, as a node of a tree."""

    __slots__ = ("cls", "names", "values")

    def __init__(self, cls: type, names: tuple[str, ...], values: Sequence[Any]) -> None:
        self.cls, self.names, self.values = cls, names, list(values)

    def __eq__(self, other: object) -> bool:  # of types
        return isinstance(other, Fields) and (self.cls, self.names, self.values) == (other.cls, other.names, other.values)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{self.cls.__name__}({', '.join(f'{n}={v!r}' for n, v in zip(self.names, self.values, strict=True))})"


jax.tree_util.register_pytree_with_keys(
    Fields, lambda x: (list(zip(map(jax.tree_util.GetAttrKey, x.names), x.values, strict=True)), (x.cls, x.names)),
    lambda kind, values: Fields(kind[0], kind[1], values), lambda x: (x.values, (x.cls, x.names)),
)  # fmt: skip


def is_value_object(x: Any) -> bool:
    """Whether it is an object of a frozen dataclass, and holds its fields and nothing else."""
    params = getattr(type(x), "__dataclass_params__", None)
    if params is None or not params.frozen or isinstance(x, type) or jax.tree_util.is_tree_node(type(x)):
        return False
    return getattr(x, "__dict__", {}).keys() == {f.name for f in dataclasses.fields(x)}


def opened(x: Any) -> Any:
    """A value, with its fields in the place of such an object; also in a tuple."""
    if type(x) is tuple and any(map(is_value_object, x)):
        return tuple(map(opened, x))
    if not is_value_object(x):
        return x
    held = vars(x)
    return Fields(type(x), tuple(held), [opened(v) for v in held.values()])


def closed(x: Any) -> Any:
    """The same with the objects."""
    if type(x) is tuple and any(isinstance(v, Fields) for v in x):
        return tuple(map(closed, x))
    if type(x) is not Fields:
        return x
    new: Any = object.__new__(x.cls)
    for name, value in zip(x.names, x.values, strict=True):
        object.__setattr__(new, name, closed(value))
    return new
