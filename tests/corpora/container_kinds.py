"""The classes of the table of containers (`tests/corpora/containers.py`)."""
# ruff: noqa
# mypy: ignore-errors

import collections, dataclasses, types
import jax, jax.numpy as jnp, numpy as np

P = collections.namedtuple("P", "a b")


@dataclasses.dataclass
class Data:
    a: object
    b: object = 2.0


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: object
    b: object = 2.0


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Node:
    a: object
    b: object = 2.0


@dataclasses.dataclass(slots=True)
class Slotted:
    a: object
    b: object = 2.0


class Plain:
    def __init__(self, a, b=2.0):
        self.a, self.b = a, b

    def add(self, v):
        self.a = self.a + v


class Prop:
    def __init__(self, a):
        self._a = a

    @property
    def a(self):
        return self._a * 2

    @a.setter
    def a(self, v):
        self._a = v / 2


class Field:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, obj, owner=None):
        return self if obj is None else getattr(obj, self.name)

    def __set__(self, obj, v):
        setattr(obj, self.name, v)


class Desc:
    a = Field()

    def __init__(self, a):
        self.a = a


class Vec:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __add__(self, o):
        return Vec(self.a + o.a, self.b + o.b)

    def __mul__(self, s):
        return Vec(self.a * s, self.b * s)

    def __iadd__(self, o):
        self.a = self.a + o.a
        self.b = self.b + o.b
        return self


class Table:
    def __init__(self, items):
        self.items = items

    def __getitem__(self, k):
        return self.items[k]

    def __setitem__(self, k, v):
        self.items[k] = v

    def __len__(self):
        return len(self.items)

    def __iter__(self):
        return iter(self.items)


class Stack(list):
    def push(self, v):
        self.append(v)


class Registry(dict):
    def put(self, k, v):
        self[k] = v
