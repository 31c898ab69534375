"""Classes: what Python calls by itself when objects are compared, read and changed."""

import functools
from dataclasses import dataclass
from functools import partial

import jax.numpy as jnp

from tests.corpora.language import construct, each, vectors

objects = partial(construct, section="Classes")

REALS = each(-2.5, 0.5, 2.25, 5.5)
PAIRS = [(1.0, 2.0), (2.0, 1.0), (1.5, 1.5), (-3.0, 0.0)]


class Shape:
    def __init__(self, side):
        self.side = side
        self.asked = 0

    @functools.cached_property
    def area(self):
        self.asked += 1
        if self.side > 1:
            return self.side * self.side
        return self.side * 0.0


@objects("`functools.cached_property` that branches, computed once", REALS)
def cached_property_(x):
    shape = Shape(x)
    total = shape.area + shape.area
    return total + 100 * shape.asked


@objects("`functools.cached_property`, first read in a traced branch, of an object that nothing reads afterwards", REALS)
def cached_property_in_a_branch(x):
    shape = Shape(x)
    if x > 1:
        return shape.area
    return x


@objects(
    "`functools.cached_property`, first read in a traced branch", REALS, refused={"vmap": "AG401", "jvp": "AG401"},
    why="whether the object has the attribute would depend on traced values, and nobody computes the condition first",
)  # fmt: skip
def cached_property_in_a_branch_and_behind(x):
    shape = Shape(x)
    y = x
    if x > 1:
        y = shape.area
    return y + shape.area


@functools.total_ordering
class Weight:
    def __init__(self, kilos):
        self.kilos = kilos

    def __eq__(self, other):
        return self.kilos == other.kilos

    def __lt__(self, other):
        if self.kilos < 0:
            return True
        return self.kilos < other.kilos


@objects("`functools.total_ordering`", PAIRS)
def total_ordering_(a, b):
    v, w = Weight(a), Weight(b)
    score = 0
    if v >= w:
        score += 1
    if v > w:
        score += 10
    if v <= w:
        score += 100
    if v != w:
        score += 1000
    return score


@functools.singledispatch
def doubled(x):
    return x * 2 if x > 1 else x


@doubled.register
def _(x: Weight):
    return Weight(x.kilos * 2 if x.kilos > 1 else x.kilos)


@doubled.register
def _(x: tuple):
    return tuple(map(doubled, x))


@objects("`functools.singledispatch`", REALS)
def singledispatch_(x):
    return doubled(x), doubled(Weight(x)).kilos, doubled((x, x + 1))


class Positive:
    """A descriptor that keeps what it is given above zero."""

    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, owner=None):
        return getattr(instance, self.name)

    def __set__(self, instance, value):
        if value < 0:
            value = -value
        setattr(instance, self.name, value)


class Account:
    balance = Positive()

    def __init__(self, balance):
        self.balance = balance


@objects("a descriptor with `__get__` and `__set__`", REALS)
def descriptor(x):
    account = Account(x)
    if account.balance > 2:
        account.balance -= 10
    account.balance += 1
    return account.balance


@dataclass(order=True)
class Version:
    major: float
    minor: float


@objects("tuples and lists of objects that compare themselves", PAIRS)
def tuples_of_objects(a, b):
    v, w = Version(a, 1.0), Version(b, a)
    score = 0
    if (v, 1) == (w, 1):
        score += 1
    if (w, 0) < (v, 1):
        score += 10
    if [v, w] != [w, v]:
        score += 100
    return score


class Meter:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return self.value == other.value

    __hash__ = None


@objects("`!=` that Python derives from `__eq__`", PAIRS)
def derived_unequal(a, b):
    if Meter(a) != Meter(b):
        return a - b
    return a + b


class Grid:
    def __init__(self, cells):
        self.cells = cells

    def __getitem__(self, place):
        return self.cells[place]

    def __setitem__(self, place, value):
        if value > 2:
            value = value * 10
        self.cells = self.cells.at[place].set(value)

    def __contains__(self, value):
        return jnp.any(self.cells == value)

    def __bool__(self):
        return self.cells[0] > 0


@objects("`__getitem__`, `__setitem__`, `__contains__`, `__bool__` of one's own", vectors([1.0, 3.0], [-2.0, 2.0], [2.0, 0.5]))
def container_of_ones_own(v):
    grid = Grid(v)
    if grid:
        grid[1] = grid[0] + 1
    grid[0] += 1
    if 2 in grid:
        return grid.cells * 100
    return grid.cells
