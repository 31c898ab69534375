"""pyti: indicators of prices, loops over lists with None and nan."""

from __future__ import annotations

import numpy as np
from pyti.aroon import aroon_up
from pyti.bollinger_bands import upper_bollinger_band
from pyti.chande_momentum_oscillator import chande_momentum_oscillator
from pyti.exponential_moving_average import exponential_moving_average
from pyti.hull_moving_average import hull_moving_average
from pyti.money_flow_index import money_flow_index
from pyti.on_balance_volume import on_balance_volume
from pyti.relative_strength_index import relative_strength_index
from pyti.simple_moving_average import simple_moving_average
from pyti.smoothed_moving_average import smoothed_moving_average
from pyti.true_range import true_range
from pyti.weighted_moving_average import weighted_moving_average
from pyti.williams_percent_r import williams_percent_r

from tests.campaigns.published import entry

PACKAGE = "pyti"


def _prices(rng: np.random.Generator) -> np.ndarray:
    return 50.0 + np.cumsum(rng.normal(size=16))


ENTRIES = [
    entry("simple_moving_average", lambda x: simple_moving_average(x, 4), lambda rng: (_prices(rng),)),
    entry("exponential_moving_average", lambda x: exponential_moving_average(x, 4), lambda rng: (_prices(rng),)),
    entry("weighted_moving_average", lambda x: weighted_moving_average(x, 4), lambda rng: (_prices(rng),)),
    entry("hull_moving_average", lambda x: hull_moving_average(x, 4), lambda rng: (_prices(rng),)),
    entry("smoothed_moving_average", lambda x: smoothed_moving_average(x, 4), lambda rng: (_prices(rng),)),
    entry("relative_strength_index", lambda x: relative_strength_index(x, 4), lambda rng: (_prices(rng),)),
    entry("relative_strength_index of a list", lambda x: relative_strength_index(x, 4), lambda rng: (_prices(rng).tolist(),)),
    entry("chande_momentum_oscillator", lambda x: chande_momentum_oscillator(x, 4), lambda rng: (_prices(rng),)),
    entry("aroon_up", lambda x: aroon_up(x, 4), lambda rng: (_prices(rng),)),
    entry("upper_bollinger_band", lambda x: upper_bollinger_band(x, 4), lambda rng: (_prices(rng),)),
    entry("true_range", lambda close, high, low: true_range(close, high, low), lambda rng: tuple(_prices(rng) for _ in range(3))),
    entry("williams_percent_r", lambda high, low, close: williams_percent_r(high, low, close, 4), lambda rng: tuple(_prices(rng) for _ in range(3))),
    entry("on_balance_volume", on_balance_volume, lambda rng: (_prices(rng), rng.random(16))),
    entry("money_flow_index", lambda c, h, l, v: money_flow_index(c, h, l, v, 4), lambda rng: (*(_prices(rng) for _ in range(3)), rng.random(16))),
]
