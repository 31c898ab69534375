"""What is read of a NumPy array that is known, at a place that is traced, stays what was read when the array is stored into later.

JAX keeps a constant by reference, and NumPy's stores change its memory: what is read must be of a copy.
"""

import jax
import numpy as np
import pytest

import autograph as ag

READS = {
    "integer": lambda a, v: a[v.argmax()] * 1,
    "view at an integer": lambda a, v: a[v.argmax()],
    "view of a view": lambda a, v: a[1:][v.argmin() % 2],
    "integers": lambda a, v: a[v.argsort()],
    "integers and a slice": lambda a, v: a[v.argsort(), 1:],
    "mask": lambda a, v: a[v > 1.5].sum(),
    "mask as a count": lambda a, v: a[v > 1.5].max(),
    "slice": lambda a, v: a[: v.argmax()].sum(),
    "slice of a length": lambda a, v: a[v.argmin() : v.argmin() + 2] * 1,
    "take": lambda a, v: np.take(a, v.argsort(), axis=0),
    "take method": lambda a, v: a.take(v.argsort(), axis=0),
    "where": lambda a, v: np.where((v > 1.5)[:, None], a, 0),
    "sum": lambda a, v: a * v[0],
    "rows": lambda a, v: [row[v.argmax()] for row in a],
    "dot": lambda a, v: a @ v,
    "concatenate": lambda a, v: np.concatenate([a[0], v]),
    "choose": lambda a, v: np.choose(v.argsort(), [a[0], a[1], a[2]]),
    "flat": lambda a, v: a.ravel()[v.argsort()],
    "turned": lambda a, v: a.T[v.argmax()],
}


def table(kind):
    return (np.arange(9) + 1).reshape(3, 3).astype(kind)


def straight(read, kind):
    def f(v):
        a = table(kind)
        a[0, 0] = 7
        b = read(a, v)
        a[:] = 5
        c = read(a, v)
        return b, c

    return f


def in_a_loop(read, kind):
    def f(v):
        a = table(kind)
        out = []
        for k in range(3):
            a[k] = 10 * k
            out.append(read(a, v))
        return out

    return f


def in_a_branch(read, kind):
    def f(v):
        a = table(kind)
        b = read(a, v)
        if v.sum() > 0:
            a[:] = 5
            c = read(a, v)
        else:
            c = b
        return b, c, a

    return f


def through_a_helper(read, kind):
    def store(a):
        a[1:] = 5

    def f(v):
        a = table(kind)
        b = read(a, v)
        store(a)
        return b, read(a, v)

    return f


@pytest.mark.parametrize("place", [straight, in_a_loop, in_a_branch, through_a_helper])
@pytest.mark.parametrize("kind", ["float32", "int32", "float64", "int64"])
@pytest.mark.parametrize("read", READS)
def test_what_was_read_stays(read, kind, place):
    f = place(READS[read], kind)
    v = np.array([2.0, 1.0, 3.0], np.float32)
    want = f(v.copy())
    got = ag.function(f)(v.copy())
    for w, g in zip(jax.tree.leaves(want), jax.tree.leaves(got), strict=True):
        np.testing.assert_allclose(np.asarray(g), w, rtol=1e-6)


class Pair(np.ndarray):
    """A class derived from `ndarray`, as programs of physics have them."""

    def scaled(self, x):
        if x > 0:
            return x * self[0]
        return x

    def filled(self, x):
        y = np.zeros(2)
        y[0] = x
        return y


PAIR = np.array([3.0, 4.0]).view(Pair)


@pytest.mark.parametrize("f", [lambda x: PAIR.scaled(x), lambda x: PAIR.filled(x), lambda x: PAIR.sum() * x])
def test_methods_of_a_class_derived_from_ndarray_are_converted(f):
    for x in (2.0, -1.0):
        np.testing.assert_allclose(ag.function(f)(np.float32(x)), f(np.float32(x)))


def test_a_view_as_a_derived_class_is_refused():
    with pytest.raises(ag.AutographError, match=r"AG406 `Pair` is derived from `np\.ndarray`, and is to be a view"):
        ag.function(lambda x: np.array([1.0, 2.0]).view(Pair).scaled(x))(1.0)


def _added(a):
    a += 1


STORES = {
    "item": lambda a: a.__setitem__(0, 5),
    "sort": lambda a: a.sort(),
    "fill": lambda a: a.fill(4),
    "put": lambda a: np.put(a, [0, 2], 6),
    "copyto": lambda a: np.copyto(a, np.array([7, 8, 9], a.dtype)),
    "add.at": lambda a: np.add.at(a, [0, 2], 3),
    "augmented": _added,
    "view": lambda a: a[::-1].__setitem__(slice(0, 2), 1),
}


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("kind", ["float32", "int32", "int64"])
def test_each_way_to_store_forgets_the_copy_that_reads_were_made_of(store, kind):
    def f(v):
        a = np.array([3, 1, 2], kind)
        first = a[v.argsort()]
        STORES[store](a)
        second = a[v.argsort()]
        if v[0] > 0:
            STORES[store](a)
        return first, second, a[v.argsort()]

    v = np.array([2.0, 1.0, 3.0], np.float32)
    for want, got in zip(f(v.copy()), ag.function(f)(v.copy()), strict=True):
        np.testing.assert_array_equal(got, want)
