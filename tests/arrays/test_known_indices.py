"""A NumPy array that is known, in every form of an index, in every use of a JAX array: what `jax.jit` gives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag

INDICES = {
    "int64": lambda: np.array([2, 0]),
    "int32": lambda: np.array([2, 0], np.int32),
    "uint8": lambda: np.array([2, 0], np.uint8),
    "negative": lambda: np.array([-1, 0]),
    "mask": lambda: np.array([True, False, True]),
    "pair": lambda: (np.array([2, 0]), np.array([1, 1])),
    "array and integer": lambda: (np.array([2, 0]), 1),
    "slice and array": lambda: (slice(None), np.array([2, 0])),
    "ix_": lambda: np.ix_(np.array([2, 0]), np.array([1, 2])),
    "item": lambda: np.array([1, 2])[0],
    "argsort": lambda: np.argsort(np.array([3.0, 1.0, 2.0])),
    "arange": lambda: np.arange(2),
    "nonzero": lambda: np.nonzero(np.array([1, 0, 1])),
    "triu_indices": lambda: np.triu_indices(3),
    "unravel_index": lambda: np.unravel_index(np.array([1, 4]), (3, 3)),
    "no axis": lambda: np.array(1),
    "two axes": lambda: np.array([[0, 1], [1, 2]]),
    "none": lambda: np.array([], int),
    "searchsorted": lambda: np.searchsorted(np.array([1.0, 2.0]), 1.5),
}


def branch(x, i):
    if x.sum() > 0:
        x = x.at[i].set(1)
    return x


def loop(x, i):
    y = x
    while y.sum() < 100:
        y = y.at[i].add(x[0, 1])
    return y


USES = {
    "load": lambda x, i: x[i],
    "set": lambda x, i: x.at[i].set(9.0),
    "add": lambda x, i: x.at[i].add(1),
    "get": lambda x, i: x.at[i].get(),
    "min": lambda x, i: x.at[i].min(0),
    "apply": lambda x, i: x.at[i].apply(jnp.sin),
    "fori_loop": lambda x, i: jax.lax.fori_loop(0, 2, lambda k, y: y.at[i].add(k), x),
    "vmap": lambda x, i: jax.vmap(lambda y: y.at[i[0] if isinstance(i, tuple) else i].set(0))(x),
    "grad": lambda x, i: jax.grad(lambda y: jnp.sum(y[i] ** 2))(x),
    "branch": branch,
    "loop": loop,
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("index", INDICES)
def test_as_under_jit(index, use):
    make, f = INDICES[index], USES[use]
    if index == "none" and use == "loop":
        pytest.skip("a loop that adds to nothing does not end")

    def whole(x):
        return f(x, make())

    x = jnp.arange(9.0).reshape(3, 3) + 1
    want = whole(x) if use in ("branch", "loop") else jax.jit(whole)(x)
    got = ag.function(whole)(x)
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize(
    "read",
    [
        lambda v, t: v[t],
        lambda v, t: v[None][:, t],
        lambda v, t: v[t, None],
        lambda v, t: v[[t[0], t[1]]],
        lambda v, t: v[np.ix_(t)],
        lambda v, t: jnp.asarray(v).at[t].set(7),
        lambda v, t: np.take(v, t),
    ],
)
@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_an_index_that_is_stored_into_later(read, kind):
    def f(v):
        t = np.array([0, 2, 1], kind)
        t[0] = 1
        a = read(v, t)
        t[:] = 0
        return a, read(v, t)

    v = np.array([2.0, 1.0, 3.0], np.float32)
    for want, got in zip(f(v.copy()), ag.function(f)(v.copy()), strict=True):
        np.testing.assert_array_equal(got, want)


def test_a_mask_that_is_stored_into_later():
    def f(v):
        m = np.zeros(3, bool)
        m[1] = True
        a = v[m]
        m[:] = True
        return a, v[m]

    v = np.array([2.0, 1.0, 3.0], np.float32)
    for want, got in zip(f(v.copy()), ag.function(f)(v.copy()), strict=True):
        np.testing.assert_array_equal(got, want)
