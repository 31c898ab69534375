"""simple-pid: a controller, a class with state that is None at first."""

from __future__ import annotations

from typing import Any

import numpy as np
from simple_pid import PID

from tests.campaigns.published import entry

PACKAGE = "simple_pid"


def _clock() -> float:
    return 0.0


def _pid(**options: Any) -> Any:
    return PID(1.0, 0.5, 0.1, setpoint=1.0, sample_time=None, time_fn=_clock, **options)


def _heated(pid: Any, level: float, steps: int) -> tuple[float, np.ndarray]:
    seen = np.zeros(20)
    for k in range(steps):
        power = pid(level, dt=0.1)
        if power > 0:
            level += 0.3 * power
        level -= 0.02
        seen[k] = level
    return level, seen


ENTRIES = [
    entry("PID.__call__", lambda pid, level: pid(level, dt=0.1), lambda rng: (_pid(), rng.normal())),
    entry("PID.__call__ with limits", lambda pid, level: pid(level, dt=0.1), lambda rng: (_pid(output_limits=(-0.5, 0.5)), rng.normal())),
    entry("PID in a loop", _heated, lambda rng: (_pid(output_limits=(0, 2.0)), rng.normal(), 20)),
    entry("PID in a loop, proportional on measurement", _heated, lambda rng: (_pid(proportional_on_measurement=True), rng.normal(), 15)),
    entry("PID.set_auto_mode", lambda pid, last: pid.set_auto_mode(True, last), lambda rng: (_pid(auto_mode=False), rng.random())),
]
