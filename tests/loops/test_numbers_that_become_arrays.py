"""Variables that are a number before a loop and an array in it, or the other way: carried as an array only where no iteration can tell."""

import jax.numpy as jnp
import numpy as np
import pytest

import autograph as ag


class Holder:
    def __init__(self, y):
        self.y = y


def summed(xs):
    y = 1.0
    for v in xs:
        y = jnp.sum(y) * xs + v
    return y


def reduced(xs):
    y = jnp.ones(2)
    for v in xs:
        y = y.sum() + v
    return y


def in_an_object(xs):
    h = Holder(1.0)
    for v in xs:
        h.y = jnp.sum(h.y) * xs + v
    return h.y


def replaced_by_a_number(xs):
    h = Holder(jnp.zeros(2))
    for v in xs:
        h.y = v * 1
    return h.y.sum()


def by_elements(xs):
    y = 0.0
    for v in xs:
        y = jnp.where(y > v, y, y + xs)
    return y


@pytest.mark.parametrize("f", [summed, reduced, in_an_object, replaced_by_a_number, by_elements])
def test_a_loop_that_is_made(f):
    xs = jnp.array([1.0, 2.0, 3.0])
    want, got = f(xs), ag.function(f)(xs)
    assert np.shape(want) == np.shape(got)
    np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize("number_first", [True, False])
def test_a_loop_that_may_make_no_iteration_is_refused(number_first):
    def f(xs):
        y, k = (1.0 if number_first else jnp.ones(3)), 0.0
        while k < xs.sum():
            y, k = (jnp.sum(y) * xs if number_first else y.sum()), k + 1
        return y

    with pytest.raises(ag.AutographError, match="AG201 loop variable `y` is float32"):
        ag.function(f)(jnp.array([1.0, 2.0, 3.0]))
