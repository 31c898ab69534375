"""`autograph.layers` is `autograph.runtime.eager.layers.layers`: `from autograph.layers import ...` as people write it."""

import sys

from autograph.runtime.eager.layers.layers import *  # noqa: F403

sys.modules[__name__] = sys.modules["autograph.runtime.eager.layers.layers"]
