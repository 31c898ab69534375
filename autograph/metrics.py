"""`autograph.metrics` is `autograph.runtime.eager.metrics`: `from autograph.metrics import ...` as people write it."""

import sys

from autograph.runtime.eager.metrics import *  # noqa: F403

sys.modules[__name__] = sys.modules["autograph.runtime.eager.metrics"]
