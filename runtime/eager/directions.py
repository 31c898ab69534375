"""Directions that optax does not have in the form of Keras: transformations of gradients, as optax's, which are told the rate and the step.

optax adds epsilon to what is corrected for the first steps, and Keras and TensorFlow to what is not; with a large epsilon these are other steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from autograph.runtime.errors.extras import needed

optax = needed("optax", "optimizers")
moments = optax.tree_utils


class Moments(NamedTuple):
    """What is remembered: the step, means of the gradients and of their squares, and where it is asked for more."""

    count: Any
    mu: Any
    nu: Any
    more: Any = ()


def _transformation(first: Callable[[Any], Any], update: Callable[..., tuple[Any, Any]]) -> Any:
    """One of optax: `update(gradients, state, step)` gives the direction, and the new state."""
    return optax.GradientTransformationExtraArgs(first, lambda g, state, params=None, *, step, **_: update(g, state, step))


def by_rate() -> Any:
    """The gradients times the learning rate."""

    def update(gradients: Any, state: Any, params: Any = None, *, rate: Any, **_: Any) -> Any:
        return jax.tree.map(lambda g: (rate * g).astype(g.dtype), gradients), state

    return optax.GradientTransformationExtraArgs(lambda params: optax.EmptyState(), update)


def adam(beta_1: float, beta_2: float, epsilon: float, amsgrad: bool = False) -> Any:
    """Adam with epsilon beside the uncorrected root: `sqrt(1 - beta_2**t) / (1 - beta_1**t) * m / (sqrt(v) + epsilon)`.

    The last formula of section 2 of Kingma and Ba (2015, https://arxiv.org/abs/1412.6980).
    """

    def first(params: Any) -> Moments:
        return Moments(_zero(), _zeros(params), _zeros(params), _zeros(params) if amsgrad else ())

    def update(gradients: Any, state: Moments, step: Any) -> tuple[Any, Moments]:
        mu, nu, more = _moments(gradients, state, beta_1, beta_2)
        if amsgrad:
            more = nu_of = jax.tree.map(jnp.maximum, state.more, nu)
        else:
            nu_of = nu
        scale = jnp.sqrt(1 - _power(beta_2, step)) / (1 - _power(beta_1, step))
        return jax.tree.map(lambda m, v: (scale * m).astype(m.dtype) / (jnp.sqrt(v) + epsilon), mu, nu_of), Moments(_as(state, step), mu, nu, more)

    return _transformation(first, update)


def adamax(beta_1: float, beta_2: float, epsilon: float) -> Any:
    """The mean of the gradients over the largest of them, which fades (Kingma and Ba, 2015, section 7)."""

    def update(gradients: Any, state: Moments, step: Any) -> tuple[Any, Moments]:
        mu = moments.tree_update_moment(gradients, state.mu, beta_1, 1)
        nu = moments.tree_update_infinity_moment(gradients, state.nu, beta_2, 0.0)
        rest = 1 - _power(beta_1, step)
        return jax.tree.map(lambda m, u: (m / (rest * (u + epsilon))).astype(m.dtype), mu, nu), Moments(_as(state, step), mu, nu)

    return _transformation(lambda params: Moments(_zero(), _zeros(params), _zeros(params)), update)


def nadam(beta_1: float, beta_2: float, epsilon: float) -> Any:
    """Adam with Nesterov's momentum, which grows by `1 - 0.96**t / 2` (Dozat, 2016)."""

    def momentum(step: Any) -> Any:
        return beta_1 * (1.0 - 0.5 * _power(0.96, step))

    def update(gradients: Any, state: Moments, step: Any) -> tuple[Any, Moments]:
        mu, nu, _ = _moments(gradients, state, beta_1, beta_2)
        now, later = momentum(step), momentum(step + 1)
        # the momentum of all steps, those too in which this Variable had no gradient
        product = lax.fori_loop(state.count + 1, _as(state, step) + 1, lambda k, x: x * momentum(k), state.more)

        def direction(m: Any, v: Any, g: Any) -> Any:
            ahead = later * m / (1 - product * later) + (1 - now) * g / (1 - product)
            return (ahead / (jnp.sqrt(v / (1 - _power(beta_2, step))) + epsilon)).astype(m.dtype)

        return jax.tree.map(direction, mu, nu, gradients), Moments(_as(state, step), mu, nu, product)

    return _transformation(lambda params: Moments(_zero(), _zeros(params), _zeros(params), jnp.ones(())), update)


def _moments(gradients: Any, state: Moments, beta_1: float, beta_2: float) -> tuple[Any, Any, Any]:
    mu = moments.tree_update_moment(gradients, state.mu, beta_1, 1)
    nu = moments.tree_update_moment_per_elem_norm(gradients, state.nu, beta_2, 2)
    return mu, nu, state.more


def _zero() -> Any:
    return jnp.zeros((), jnp.int32)


def _as(state: Moments, step: Any) -> Any:
    return jnp.asarray(step, state.count.dtype)


def _zeros(params: Any) -> Any:
    return jax.tree.map(jnp.zeros_like, params)


def _power(base: float, step: Any) -> Any:
    return jnp.power(jnp.asarray(base, jnp.result_type(float)), jnp.asarray(step, jnp.result_type(float)))
