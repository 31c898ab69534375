"""Learning rates that change with the step of the optimizer, with the names and definitions of Keras (https://keras.io/api/optimizers).

Each gives a function of the step, from 0: a schedule, as those of optax, whose arithmetic it is where optax has it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp

from autograph.runtime.arrays.variable_ref import value_of
from autograph.runtime.errors.errors import OptimizerError
from autograph.runtime.errors.extras import needed
from autograph.runtime.errors.source_spans import here

optax = needed("optax", "optimizers")


def exponential_decay(learning_rate: float, global_step: Any, decay_steps: float, decay_rate: float, staircase: bool = False) -> Callable[[], Any]:
    """A learning rate that falls with a step that is counted elsewhere: `learning_rate * decay_rate ** (global_step / decay_steps)`.

    >>> import autograph as ag
    >>> step = ag.Variable(10)
    >>> rate = ag.optimizers.exponential_decay(0.1, step, decay_steps=10, decay_rate=0.5)
    >>> float(rate())
    0.05000000074505806
    """
    schedule = ExponentialDecay(learning_rate, decay_steps, decay_rate, staircase)
    return lambda: schedule(value_of(global_step))


def ExponentialDecay(initial_learning_rate: float, decay_steps: float, decay_rate: float, staircase: bool = False) -> Callable[[Any], Any]:
    """`initial_learning_rate * decay_rate ** (step / decay_steps)`; optax's schedule.

    Args:
      staircase: whether the exponent is rounded down.

    >>> import autograph as ag
    >>> f"{float(ag.optimizers.ExponentialDecay(0.1, decay_steps=10, decay_rate=0.5)(20)):.3f}"
    '0.025'
    """
    _check_steps(decay_steps)
    return optax.exponential_decay(initial_learning_rate, decay_steps, decay_rate, staircase=staircase)  # type: ignore[no-any-return]


def PiecewiseConstantDecay(boundaries: Sequence[int], values: Sequence[float]) -> Callable[[Any], Any]:
    """The first of `values` up to the first of `boundaries` and in it, then the second, and so on.

    Args:
      boundaries: steps, each larger than the one before it.
      values: one more than boundaries.

    Raises:
      OptimizerError: (AG704) there are not as many.

    >>> import autograph as ag
    >>> rate = ag.optimizers.PiecewiseConstantDecay([10, 20], [1.0, 0.5, 0.25])
    >>> [float(rate(step)) for step in (10, 11, 21)]
    [1.0, 0.5, 0.25]
    """
    if len(boundaries) != len(values) - 1:
        raise OptimizerError(f"there are {len(boundaries)} boundaries and {len(values)} values", here(), "give one value more than boundaries")
    constants = [optax.constant_schedule(float(x)) for x in values]
    return optax.join_schedules(constants, [int(b) + 1 for b in boundaries])  # type: ignore[no-any-return]


def PolynomialDecay(
    initial_learning_rate: float, decay_steps: float, end_learning_rate: float = 0.0001, power: float = 1.0, cycle: bool = False
) -> Callable[[Any], Any]:
    """From the first learning rate to the last in `decay_steps` steps, by a power of what is left of them.

    Args:
      cycle: whether the steps are stretched when they are over, so that it goes up again and falls to the last.

    >>> import autograph as ag
    >>> f"{float(ag.optimizers.PolynomialDecay(1.0, 10, 0.0, power=2.0)(5)):.2f}"
    '0.25'
    """
    _check_steps(decay_steps)
    once = optax.polynomial_schedule(initial_learning_rate, end_learning_rate, power, decay_steps)
    return (lambda step: once(step / jnp.maximum(jnp.ceil(step / decay_steps), 1.0))) if cycle else once


def InverseTimeDecay(initial_learning_rate: float, decay_steps: float, decay_rate: float, staircase: bool = False) -> Callable[[Any], Any]:
    """`initial_learning_rate / (1 + decay_rate * step / decay_steps)`.

    Args:
      staircase: whether `step / decay_steps` is rounded down.

    >>> import autograph as ag
    >>> f"{float(ag.optimizers.InverseTimeDecay(0.1, 10, 0.5)(20)):.2f}"
    '0.05'
    """
    _check_steps(decay_steps)

    def schedule(step: Any) -> Any:
        passed = jnp.asarray(step) / decay_steps
        return initial_learning_rate / (1.0 + decay_rate * (jnp.floor(passed) if staircase else passed))

    return schedule


def CosineDecay(
    initial_learning_rate: float, decay_steps: float, alpha: float = 0.0, warmup_target: float | None = None, warmup_steps: int = 0
) -> Callable[[Any], Any]:
    """Half a cosine down to the share `alpha` (Loshchilov and Hutter, 2017, https://arxiv.org/abs/1608.03983).

    Args:
      warmup_target: what it rises to before, on a line of `warmup_steps` steps; by default it does not.

    >>> import autograph as ag
    >>> f"{float(ag.optimizers.CosineDecay(0.1, 10)(5)):.2f}"
    '0.05'
    """
    _check_steps(decay_steps)
    if warmup_target is None:
        return optax.cosine_decay_schedule(initial_learning_rate, decay_steps, alpha)  # type: ignore[no-any-return]
    rising = optax.linear_schedule(initial_learning_rate, warmup_target, warmup_steps)
    return optax.join_schedules([rising, optax.cosine_decay_schedule(warmup_target, decay_steps, alpha)], [warmup_steps])  # type: ignore[no-any-return]


def _check_steps(decay_steps: float) -> None:
    if decay_steps <= 0:
        raise OptimizerError(f"`decay_steps` is {decay_steps}", here(), "give a number above 0")
