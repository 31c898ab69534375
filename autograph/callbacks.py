"""`autograph.callbacks` is `autograph.runtime.networks.callbacks`: `from autograph.callbacks import ...` as people write it."""

import sys

from autograph.runtime.networks.callbacks import *  # noqa: F403

sys.modules[__name__] = sys.modules["autograph.runtime.networks.callbacks"]
