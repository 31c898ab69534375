"""Indices as NumPy takes them, stores through rows, and views that an object keeps."""

import collections

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag

INDICES = {
    "array": lambda: np.array([0, 2]),
    "arrays": lambda: (np.array([0, 2]), np.array([0, -1])),
    "lists": lambda: ([0, 2], [0, -1]),
    "list and slice": lambda: ([0, 2], slice(None)),
    "empty list": lambda: [],
    "empty array": lambda: np.array([], int),
    "range": lambda: range(1, 3),
    "mask": lambda: np.array([True, False, True]),
    "integers": lambda: (np.int64(1), np.uint8(1)),
}


@pytest.mark.parametrize("made", [np.zeros, jnp.zeros])
@pytest.mark.parametrize("kind", INDICES)
def test_indices(kind, made):
    index = INDICES[kind]

    def f(x):
        c = made((3, 3))
        c[index()] = x
        c[index()] += x
        return c

    want = np.zeros((3, 3))
    want[index()] = 2.0
    want[index()] += 2.0
    np.testing.assert_allclose(ag.function(f)(2.0), want)


def test_a_store_through_a_row():
    def f(x):
        c = np.zeros((2, 2), np.float32)
        if x > 0:
            c[0][1] = x
        return c.sum()

    assert [float(ag.function(f)(x)) for x in (2.0, -2.0)] == [2.0, 0.0]


class Model:
    pass


KEPT = {
    "attribute": lambda x: x[0],
    "list": lambda x: [x.T, 1],
    "dict in a list": lambda x: [1, {"tail": x[1:]}],
    "tuple": lambda x: (x[1:], x.T),
}


@pytest.mark.parametrize("kind", KEPT)
def test_views_that_an_object_keeps(kind):
    keep = KEPT[kind]

    def fit(m, x):
        m.kept = keep(x)
        return x[0] + 1

    x, m, n = np.arange(6, dtype=np.float32).reshape(3, 2), Model(), Model()
    np.testing.assert_allclose(ag.function(fit)(m, x), fit(n, x))
    assert str(m.kept).replace("Array", "array") == str(n.kept)


class Table:
    n = np.ones(2, np.float32)
    items = [jnp.zeros(2), jnp.zeros(2)]
    sums = jnp.zeros(2)


def test_arrays_of_a_class():
    def doubled(x):
        if x > 5:
            Table.n *= 2
        return Table.n.sum()

    def item(i):
        Table.items[i][0] = 7.0
        return Table.items[1][0]

    def added(x):
        if x > 0:
            Table.sums[0] += x
        return Table.sums[0]

    assert [float(ag.function(doubled)(x)) for x in (3.0, 6.0, 3.0)] == [2.0, 4.0, 4.0]
    assert float(ag.function(item)(1)) == 7
    assert [float(ag.function(added)(x)) for x in (2.0, -1.0, 2.0)] == [2.0, 2.0, 4.0]


COUNTS = collections.defaultdict(float)


def test_a_key_that_a_read_makes_in_a_branch_is_there_where_the_branch_is_taken():
    def look(x):
        if x > 5:
            return COUNTS["q"] + x
        return x

    assert float(ag.function(look)(1.0)) == 1.0
    assert not COUNTS
    assert float(ag.function(look)(6.0)) == 6.0
    assert dict(COUNTS) == {"q": 0.0}
    COUNTS.clear()
    with pytest.raises(ag.AutographError, match="AG405 `COUNTS`.*key 'q'"):
        jax.jit(ag.convert(look))(1.0)
    assert not COUNTS


def test_an_error_in_an_iteration_that_is_not_made():
    def first(d, v):
        d = dict(d)
        for x in v:
            r = d.pop("a")
            if x > 1.5:
                return r
        return 0.0

    for f in (ag.function(first), jax.jit(ag.convert(first))):
        assert float(f({"a": 2.0}, jnp.array([2.0, 1.0]))) == 2


def test_an_argument_that_is_stored_into_and_returned_or_none():
    def bump(y, k):
        if k < 0:
            return None
        y[0] = k
        return y

    given = [1.0, 2.0]
    assert ag.function(bump)(given, 5.0) is given and float(given[0]) == 5
    assert ag.function(bump)(given, -1.0) is None and float(given[0]) == 5


def test_equal_dataclasses_are_two_objects():
    from dataclasses import dataclass

    @dataclass
    class Point:
        v: float = 1.0

    def stored(x):
        c = Point()
        t = c if x > 0.5 else Point()
        t.v = x
        return c.v

    with pytest.raises(ag.AutographError, match="AG202"):
        ag.function(stored)(0.0)
