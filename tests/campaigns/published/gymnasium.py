"""gymnasium: the environments of classic control, classes with state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium.envs.classic_control.acrobot import AcrobotEnv, bound, rk4, wrap
from gymnasium.envs.classic_control.cartpole import CartPoleEnv
from gymnasium.envs.classic_control.continuous_mountain_car import Continuous_MountainCarEnv
from gymnasium.envs.classic_control.mountain_car import MountainCarEnv
from gymnasium.envs.classic_control.pendulum import PendulumEnv, angle_normalize

from tests.campaigns.published import entry

PACKAGE = "gymnasium"


def _reset(make: Callable[[], Any], rng: np.random.Generator) -> Any:
    env = make()
    env.reset(seed=int(rng.integers(1000)))
    return env


def _balanced(env: Any, gain: float) -> tuple[float, int]:
    """An episode with a controller: the environment ends it."""
    total, steps = 0.0, 0
    state = env.state
    while steps < 60:
        action = 1 if state[2] + gain * state[3] > 0 else 0
        state, reward, terminated, _, _ = env.step(action)
        total += reward
        steps += 1
        if terminated:
            break
    return total, steps


def _swung(env: Any, torques: np.ndarray) -> float:
    total = 0.0
    for u in torques:
        _, reward, _, _, _ = env.step(np.array([u]))
        total += reward
    return total


def _driven(env: Any, steps: int) -> tuple[float, int]:
    total = 0.0
    for k in range(steps):
        _, reward, terminated, _, _ = env.step(2 if env.state[1] >= 0 else 0)
        total += reward
        if terminated:
            return total, k
    return total, steps


ENTRIES = [
    entry("CartPoleEnv.step", CartPoleEnv.step, lambda rng: (_reset(CartPoleEnv, rng), 1)),
    entry("CartPoleEnv, a static action", CartPoleEnv.step, lambda rng: (_reset(CartPoleEnv, rng), 1), static=(1,)),
    entry("CartPoleEnv, an episode", _balanced, lambda rng: (_reset(CartPoleEnv, rng), 0.1 + rng.random())),
    entry("PendulumEnv.step", PendulumEnv.step, lambda rng: (_reset(PendulumEnv, rng), rng.normal(size=1) * 3)),
    entry("PendulumEnv, an episode", _swung, lambda rng: (_reset(PendulumEnv, rng), rng.normal(size=15) * 3)),
    entry("MountainCarEnv.step", MountainCarEnv.step, lambda rng: (_reset(MountainCarEnv, rng), 2)),
    entry("MountainCarEnv, an episode", _driven, lambda rng: (_reset(MountainCarEnv, rng), 150)),
    entry("Continuous_MountainCarEnv.step", Continuous_MountainCarEnv.step, lambda rng: (_reset(Continuous_MountainCarEnv, rng), rng.normal(size=1))),
    entry("AcrobotEnv.step", AcrobotEnv.step, lambda rng: (_reset(AcrobotEnv, rng), 2)),
    entry("angle_normalize", angle_normalize, lambda rng: (rng.normal() * 9,)),
    entry("wrap", wrap, lambda rng: (rng.normal() * 30, -np.pi, np.pi)),
    entry("bound", bound, lambda rng: (rng.normal(), -0.5, 0.5)),
    entry("rk4", lambda y, t: rk4(lambda s: np.array([s[1], -np.sin(s[0])]), y, t), lambda rng: (rng.normal(size=2), [0, 0.1, 0.2])),
]
