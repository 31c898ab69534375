"""`autograph.losses` is `autograph.runtime.eager.losses`: `from autograph.losses import ...` as people write it."""

import sys

from autograph.runtime.eager.losses import *  # noqa: F403

sys.modules[__name__] = sys.modules["autograph.runtime.eager.losses"]
