"""`autograph.callbacks` is `autograph.runtime.eager.layers.callbacks`: `from autograph.callbacks import ...` as people write it."""

import sys

from autograph.runtime.eager.layers.callbacks import *  # noqa: F403

sys.modules[__name__] = sys.modules["autograph.runtime.eager.layers.callbacks"]
