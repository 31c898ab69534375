"""`autograph.optimizers` is `autograph.runtime.eager.optimizers`: `from autograph.optimizers import ...` as people write it."""

import sys

from autograph.runtime.eager.optimizers import *  # noqa: F403

sys.modules[__name__] = sys.modules["autograph.runtime.eager.optimizers"]
