"""`autograph.layers` is `autograph.runtime.networks.layers`: `from autograph.layers import ...` as people write it."""

import sys

from autograph.runtime.networks.layers import *  # noqa: F403

sys.modules[__name__] = sys.modules["autograph.runtime.networks.layers"]
